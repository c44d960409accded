EXTRA_DIST += %D%/README.md %D%/bench.py %D%/search.py

# BENCH_FLAGS='-k 4 resnet50' and so on.
bench: tdlc$(EXEEXT) tdlrun$(EXEEXT)
	TDLC=./tdlc TDLRUN=./tdlrun $(PYTHON) $(srcdir)/%D%/bench.py \
		$(BENCH_FLAGS)
.PHONY: bench

# SEARCH_FLAGS='FILE.wcsp...'
bench-search: tdlc$(EXEEXT)
	TDLC=./tdlc $(PYTHON) $(srcdir)/%D%/search.py $(SEARCH_FLAGS)
.PHONY: bench-search
