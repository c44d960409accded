examplesdir = $(docdir)/examples
dist_examples_DATA = \
	%D%/README.md \
	%D%/conv1d.tdl
slurmdir = $(examplesdir)/slurm
dist_slurm_DATA = %D%/slurm/train.sbatch
# Needs what is in tests/.
EXTRA_DIST += %D%/resnet50.py
EXTRA_DIST += %D%/characters %D%/digits
