#!/bin/bash
#SBATCH --job-name=resnet
#SBATCH -A vision
#SBATCH --ntasks=1 --cpus-per-task=8
#SBATCH --gres=gpu:a100:2        # both cards of the box
#SBATCH --mem=64G
##SBATCH --mem=128G
#SBATCH -t 2-12:00:00
#SBATCH -o logs/%x-%j.out

set -euo pipefail
module purge && module load cuda/12.4
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
torchrun --nproc_per_node="$SLURM_GPUS_ON_NODE" train.py --epochs 90 "$@"
