#!/usr/bin/env python3
#SBATCH --job-name=infer
#SBATCH --gpus-per-task=v100:1
#SBATCH --time=INFINITE

import os, sys
print("job", os.environ["SLURM_JOB_ID"], "of", sys.argv[1:])
