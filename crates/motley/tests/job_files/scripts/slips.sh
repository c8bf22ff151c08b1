#!/bin/bash
#SBATCH --cpu-per-task=4
#SBATCH -t tomorrow
#SBATCH --mem=lots
#SBATCH -n zero
#SBATCH -o out-%a-%q
#SBATCH --dependency=afterok:1?afterok:2
#SBATCH --gres=gpu:1 --gpus=2
#SBATCH --mem-per-cpu=1G
#SBATCH --job-name="open
#SBATCH 4
#SBATCH --hold=yes
#SBATCH --chdir
#SBATCH --gres=shard:2
#SBATCH --array=5-1
#SBATCH --export=NOT_SET
#SBATCH -Z

true
