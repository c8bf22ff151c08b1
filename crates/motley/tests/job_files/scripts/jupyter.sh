#!/bin/bash
#SBATCH -J notebook
#SBATCH -H
#SBATCH --gpus=1 --cpus-per-gpu=6
#SBATCH --mem-per-gpu=24G
#SBATCH --time=08:00:00
#SBATCH --output=%u-%N-%j.log

port=$((8000 + SLURM_JOB_ID % 1000))
jupyter lab --no-browser --ip="$SLURMD_NODENAME" --port="$port"
