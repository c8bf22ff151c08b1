#!/bin/bash
#SBATCH --job-name=sweep --array=0-40:20,7,8
#SBATCH -n 2

alpha=$(awk "BEGIN { print $SLURM_ARRAY_TASK_ID / 100 }")
./model --alpha "$alpha" --out "out/$SLURM_ARRAY_TASK_ID"
