#!/bin/sh
#SBATCH -J cavity -N1
#SBATCH --ntasks-per-node 16
#SBATCH --mem-per-cpu 2000
#SBATCH -t 45
#SBATCH -D /scratch/cavity
#SBATCH --export=ALL,OMP_PROC_BIND=close

blockMesh
mpirun -np "$SLURM_NTASKS" icoFoam -parallel
srun --ntasks=1 reconstructPar
