#!/bin/bash
#SBATCH -J align
#SBATCH -a 1-48
#SBATCH -c 4
#SBATCH --mem-per-cpu=4G
#SBATCH --time=06:00:00
#SBATCH --output=logs/%A_%a.out
#SBATCH --error=logs/%A_%a.err

sample=$(sed -n "${SLURM_ARRAY_TASK_ID}p" samples.txt)
bwa mem -t "$SLURM_CPUS_PER_TASK" ref.fa "reads/$sample.fq.gz" |
    samtools sort -@ 2 -o "bam/$sample.bam" -
