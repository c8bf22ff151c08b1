#!/usr/bin/env Rscript
#SBATCH --job-name=bootstrap
#SBATCH --time=1-06
#SBATCH --mem=3GB
#SBATCH -e err-%j.txt

rounds <- as.integer(commandArgs(trailingOnly = TRUE)[1])
means <- replicate(rounds, mean(sample(rnorm(1e4), replace = TRUE)))
saveRDS(means, sprintf("means-%s.rds", Sys.getenv("SLURM_JOB_ID")))
