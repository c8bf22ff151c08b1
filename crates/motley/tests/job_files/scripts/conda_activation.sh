#!/bin/bash -l
#SBATCH --job-name=annotate
#SBATCH --cpus-per-task=2
#SBATCH --mem=6000M
#SBATCH --export=NONE
#SBATCH -o /dev/null
#SBATCH --no-requeue

source "$HOME/miniforge3/etc/profile.d/conda.sh"
conda activate annotate
annotate --threads "$SLURM_CPUS_PER_TASK" --in "$SLURM_SUBMIT_DIR/in.fa"
