EXTRA_DIST += \
	%D%/README.md \
	%D%/alpa.py \
	%D%/auto.py \
	%D%/beside.py \
	%D%/bench.py \
	%D%/cpu.py \
	%D%/experts.py \
	%D%/generation.py \
	%D%/gpu.py \
	%D%/highs.py \
	%D%/larger.py \
	%D%/losses.py \
	%D%/machines.py \
	%D%/pins/moe-data.pins \
	%D%/pins/moe-experts.pins \
	%D%/pipeline_nets.py \
	%D%/pipelines.py \
	%D%/placement.py \
	%D%/plans.py \
	%D%/rows.py \
	%D%/search.py \
	%D%/strategies.py \
	%D%/tiles.c \
	%D%/tofu.py \
	%D%/training.py

# The program that `make bench` alone needs.
EXTRA_PROGRAMS = %D%/strategies
%C%_strategies_SOURCES = %D%/strategies.c
%C%_strategies_LDADD = \
	compiler/analysis/libanalysis.a \
	$(graph_libs) \
	compiler/expand/libexpand.a \
	$(dsl_libs) \
	$(plan_libs) \
	base/libbase.a \
	$(PROTOBUF_C_LIBS) \
	$(JANSSON_LIBS) \
	$(ZLIB_LIBS)
CLEANFILES += $(EXTRA_PROGRAMS)

# BENCH_FLAGS='-k 4 resnet50' and so on.
bench: tdlc$(EXEEXT) tdlrun$(EXEEXT)
	TDLC=./tdlc TDLRUN=./tdlrun $(PYTHON) $(srcdir)/%D%/bench.py \
		$(BENCH_FLAGS)
.PHONY: bench bench-strategies

bench-strategies: tdlc$(EXEEXT) %D%/strategies$(EXEEXT)
	TDLC=./tdlc STRATEGIES=%D%/strategies \
		$(PYTHON) $(srcdir)/%D%/strategies.py
bench: bench-strategies

# SEARCH_FLAGS='FILE.wcsp...'
bench-search: tdlc$(EXEEXT)
	TDLC=./tdlc $(PYTHON) $(srcdir)/%D%/search.py $(SEARCH_FLAGS)
.PHONY: bench-search

# PLACEMENT_FLAGS='-k 8 FILE.json...'
bench-placement: tdlc$(EXEEXT)
	TDLC=./tdlc $(PYTHON) $(srcdir)/%D%/placement.py $(PLACEMENT_FLAGS)
.PHONY: bench-placement

# ROWS=TABLE GRAPHS=FOLDER, ROWS_FLAGS='mcap gpt'
bench-rows: tdlc$(EXEEXT)
	TDLC=./tdlc $(PYTHON) $(srcdir)/%D%/rows.py $(ROWS_FLAGS)
.PHONY: bench-rows

# PLANS_FLAGS='--repeat 9 gpt3-96'
bench-plans: tdlc$(EXEEXT)
	TDLC=./tdlc $(PYTHON) $(srcdir)/%D%/plans.py $(PLANS_FLAGS)
.PHONY: bench-plans

# OLD=BUILD, that of another commit; BESIDE_FLAGS='--repeat 9 plan search.grid'
bench-beside: tdlc$(EXEEXT)
	TDLC=./tdlc $(PYTHON) $(srcdir)/%D%/beside.py $(OLD) $(BESIDE_FLAGS)
.PHONY: bench-beside

# PIPELINES_FLAGS='--every 5 --from 2 moe'
bench-pipelines: tdlc$(EXEEXT) tdlrun$(EXEEXT)
	TDLC=./tdlc TDLRUN=./tdlrun $(PYTHON) $(srcdir)/%D%/pipelines.py \
		$(PIPELINES_FLAGS)
.PHONY: bench-pipelines

# EXPERTS_FLAGS='--topology cpu --run'
bench-experts: tdlc$(EXEEXT) tdlrun$(EXEEXT)
	TDLC=./tdlc TDLRUN=./tdlrun TDL_OPDEFS=$(srcdir)/opdefs \
		$(PYTHON) $(srcdir)/%D%/experts.py $(EXPERTS_FLAGS)
.PHONY: bench-experts

# LOSSES_FLAGS='--size layers=2 --steps 5'
bench-losses: tdlc$(EXEEXT) tdlrun$(EXEEXT)
	TDLC=./tdlc TDLRUN=./tdlrun TDL_OPDEFS=$(srcdir)/opdefs \
		$(PYTHON) $(srcdir)/%D%/losses.py $(LOSSES_FLAGS)
.PHONY: bench-losses

# AUTO_FLAGS='--every 20 mlp gpt2'
bench-auto: tdlc$(EXEEXT)
	TDLC=./tdlc TDL_OPDEFS=$(srcdir)/opdefs \
		$(PYTHON) $(srcdir)/%D%/auto.py $(AUTO_FLAGS)
.PHONY: bench-auto

# ALPA_FLAGS='gpt'
bench-alpa: tdlc$(EXEEXT)
	TDLC=./tdlc TDL_OPDEFS=$(srcdir)/opdefs \
		$(PYTHON) $(srcdir)/%D%/alpa.py $(ALPA_FLAGS)
.PHONY: bench-alpa

# LARGER_FLAGS='-k 4 --memory 8GB vgg19 wresnet'
bench-larger: tdlc$(EXEEXT)
	TDLC=./tdlc TDL_OPDEFS=$(srcdir)/opdefs \
		$(PYTHON) $(srcdir)/%D%/larger.py $(LARGER_FLAGS)
.PHONY: bench-larger

# MACHINES_FLAGS='--rounds 9 gpt2'
bench-machines: tdlc$(EXEEXT) tdlrun$(EXEEXT) $(nodist_calibration_DATA)
	TDLC=./tdlc TDLRUN=./tdlrun $(PYTHON) $(srcdir)/%D%/machines.py \
		$(MACHINES_FLAGS)
.PHONY: bench-machines

# TRAINING_FLAGS='--repeat 5 digits'
bench-training: tdlc$(EXEEXT) tdlrun$(EXEEXT)
	TDLC=./tdlc TDLRUN=./tdlrun $(PYTHON) $(srcdir)/%D%/training.py \
		$(TRAINING_FLAGS)
.PHONY: bench-training

# CPU_FLAGS='--batch 1 --train bert'
bench-cpu: tdlc$(EXEEXT) python/stamp
	TDLC=./tdlc PYTHONPATH=python $(PYTHON) $(srcdir)/%D%/cpu.py \
		$(CPU_FLAGS)
.PHONY: bench-cpu

# GENERATION_FLAGS='--rows 4 -k 2' and so on.
bench-generation: tdlc$(EXEEXT) tdlrun$(EXEEXT)
	TDLC=./tdlc TDLRUN=./tdlrun $(PYTHON) $(srcdir)/%D%/generation.py \
		$(GENERATION_FLAGS)
.PHONY: bench-generation

# Compiled as tdlrun compiles kernels.  TILES_FLAGS=SECONDS
bench-tiles:
	$(MKDIR_P) %D%
	$(CC) -std=gnu11 -O3 -march=native -fwrapv -ffp-contract=off \
		-fno-math-errno -fno-trapping-math -I$(srcdir)/include \
		$(srcdir)/%D%/tiles.c -o %D%/tiles$(EXEEXT) -lm
	%D%/tiles$(EXEEXT) $(TILES_FLAGS)
.PHONY: bench-tiles
CLEANFILES += %D%/tiles$(EXEEXT)

# TOFU_FLAGS='figure11'
bench-tofu: tdlc$(EXEEXT)
	TDLC=./tdlc TDL_OPDEFS=$(srcdir)/opdefs \
		$(PYTHON) $(srcdir)/%D%/tofu.py $(TOFU_FLAGS)
.PHONY: bench-tofu

# On a machine with a GPU.  GPU_FLAGS='--precision f32 resnet50'
bench-gpu: tdlc$(EXEEXT) tdlrun$(EXEEXT)
	TDLC=./tdlc TDLRUN=./tdlrun $(PYTHON) $(srcdir)/%D%/gpu.py $(GPU_FLAGS)
.PHONY: bench-gpu
