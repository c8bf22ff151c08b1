#!/bin/bash
#SBATCH --partition=gpu-long
#SBATCH -q high --constraint="ib&avx512"
#SBATCH --nodes=4 --ntasks-per-node=8
#SBATCH --mail-type=END,FAIL
#SBATCH --mail-user=ann@site
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --array=1-200%8
#SBATCH --signal=B:USR1@120 --open-mode=append
#SBATCH -w node[03-06]
#SBATCH --begin=tomorrow

hostname
#SBATCH --time=10
