examplesdir = $(docdir)/examples
dist_examples_DATA = \
	%D%/README.md \
	%D%/conv1d.tdl
modelsdir = $(examplesdir)/models
dist_models_DATA = \
	%D%/models/README.md \
	%D%/models/alexnet.tdl \
	%D%/models/bert.tdl \
	%D%/models/blocks.tdl \
	%D%/models/densenet121.tdl \
	%D%/models/gpt2.tdl \
	%D%/models/gpt3.tdl \
	%D%/models/inception_v3.tdl \
	%D%/models/llama.tdl \
	%D%/models/mlp.tdl \
	%D%/models/moe.tdl \
	%D%/models/resnet.tdl \
	%D%/models/rnn.tdl \
	%D%/models/transformer.tdl \
	%D%/models/unet.tdl \
	%D%/models/vgg19.tdl \
	%D%/models/vit.tdl \
	%D%/models/wresnet.tdl
tourdir = $(examplesdir)/tour
dist_tour_DATA = \
	%D%/tour/mpi.md \
	%D%/tour/operator.md \
	%D%/tour/plan.md \
	%D%/tour/pytorch.md \
	%D%/tour/threads.md \
	%D%/tour/training.md
embeddir = $(examplesdir)/embed
dist_embed_DATA = %D%/embed/embed.c
buildsdir = $(examplesdir)/builds
dist_builds_DATA = \
	%D%/builds/CMakeLists.txt \
	%D%/builds/Makefile \
	%D%/builds/Makefile.am \
	%D%/builds/configure.ac \
	%D%/builds/main.c \
	%D%/builds/meson.build \
	%D%/builds/net.tdl
buildspartsdir = $(buildsdir)/parts
dist_buildsparts_DATA = %D%/builds/parts/twice.tdl
slurmdir = $(examplesdir)/slurm
dist_slurm_DATA = %D%/slurm/train.sbatch %D%/slurm/train-gpu.sbatch
# Needs what is in tests/.
EXTRA_DIST += %D%/resnet50.py
EXTRA_DIST += %D%/characters %D%/digits
