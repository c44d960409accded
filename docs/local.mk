dist_doc_DATA = \
	LICENSE \
	NOTICE \
	%D%/README.md \
	%D%/adding-an-operator.md \
	%D%/auto.md \
	%D%/building.md \
	%D%/coverage.md \
	%D%/cuda.md \
	%D%/descriptor.md \
	%D%/distributed.md \
	%D%/export.md \
	%D%/generation.md \
	%D%/gradients.md \
	%D%/json.md \
	%D%/kernels.md \
	%D%/language.md \
	%D%/library-c.md \
	%D%/machines.md \
	%D%/pipelines.md \
	%D%/placement.md \
	%D%/plan-format.md \
	%D%/planners.md \
	%D%/python.md \
	%D%/report.md \
	%D%/report.png \
	%D%/search.md \
	%D%/simulate.md \
	%D%/solver.md \
	%D%/stages.md \
	%D%/tofu.md \
	%D%/topology.md \
	%D%/training.md \
	%D%/verify.md

# Documents that are made: the grammar out of bison's and flex's files, the
# reference of the operator library out of the library, by a tdlc that runs
# here.
if TDLC
nodist_doc_DATA = %D%/grammar.md
if RUNS_TDLC
nodist_doc_DATA += %D%/library.md %D%/library.html
endif
CLEANFILES += $(nodist_doc_DATA)

%D%/grammar.md: dsl/gram.y dsl/scan.l dsl/grammar.awk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(AWK) -f $(srcdir)/dsl/grammar.awk \
		$(srcdir)/dsl/scan.l $(srcdir)/dsl/gram.y >$@-t && mv $@-t $@
to_reference = $(AM_V_GEN)$(MKDIR_P) $(@D) && \
	$(TDLC_FOR_BUILD) doc --opdefs=$(srcdir)/opdefs -o $@
%D%/library.md: tdlc$(EXEEXT) $(dist_opdefs_DATA) $(dist_opdefs_onnx_DATA)
	$(to_reference)
%D%/library.html: tdlc$(EXEEXT) $(dist_opdefs_DATA) $(dist_opdefs_onnx_DATA)
	$(to_reference) --format=html
endif

# The site of the documents, in the folder site; MkDocs makes it.
site: $(nodist_doc_DATA)
	$(PYTHON) $(srcdir)/%D%/site.py . $@
.PHONY: site
clean-local: clean-site
clean-site:
	rm -rf site
.PHONY: clean-site
EXTRA_DIST += %D%/site.py

# The coverage of ONNX; tests/onnx/coverage.py checks that it is current.
coverage-doc: tdlc$(EXEEXT)
	TDLC=./tdlc TDL_OPDEFS=$(srcdir)/opdefs \
		$(PYTHON) $(srcdir)/tests/onnx/coverage.py --write
.PHONY: coverage-doc
