#!/bin/bash

# Joins what the simulations before it have left.
#SBATCH --job-name="join results"
#SBATCH --dependency=afterok:1201:1202,afterany:cleanup
#SBATCH --priority=50
#SBATCH -t 20:00

python3 join.py runs/*.h5
