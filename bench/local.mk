EXTRA_DIST += %D%/README.md %D%/bench.py

# BENCH_FLAGS='-k 4 resnet50' and so on.
bench: tdlc$(EXEEXT) tdlrun$(EXEEXT)
	TDLC=./tdlc TDLRUN=./tdlrun $(PYTHON) $(srcdir)/%D%/bench.py \
		$(BENCH_FLAGS)
.PHONY: bench
