#!/bin/bash
#SBATCH -J climate
#SBATCH -c16
#SBATCH --requeue --open-mode=truncate
#SBATCH --output=climate-%j.%t.out

if [ "${SLURM_RESTART_COUNT:-0}" -gt 0 ]; then
    exec ./climate --resume restart.nc
fi
./climate --write-every 30m
