# The Python package `tdl': in the build tree python/tdl, which a PYTHONPATH of
# build/python finds; `make python' makes a wheel of it, in python/dist.

python_modules = \
	%D%/tdl/__init__.py \
	%D%/tdl/_lib.py \
	%D%/tdl/checkpoints.py \
	%D%/tdl/context.py \
	%D%/tdl/dtensors.py \
	%D%/tdl/errors.py \
	%D%/tdl/export.py \
	%D%/tdl/layouts.py \
	%D%/tdl/objects.py \
	%D%/tdl/parallel.py \
	%D%/tdl/products.py \
	%D%/tdl/torch.py \
	%D%/tdl/traffic.py
EXTRA_DIST += $(python_modules) %D%/README.md %D%/pyproject.toml.in %D%/setup.py

# Links, so that it is of the library and of the operators as they are.
if TDLC
noinst_DATA += %D%/stamp
endif
%D%/stamp: Makefile $(python_modules) libtdl.so
	$(AM_V_GEN)rm -rf %D%/tdl && $(MKDIR_P) %D%/tdl && \
	for file in $(python_modules) include/tdl/tdl.h opdefs; do \
		ln -s '$(abs_top_srcdir)'/$$file %D%/tdl/ || exit; \
	done && \
	ln -s '$(abs_top_builddir)/libtdl.so' %D%/tdl/ && touch $@

python: %D%/stamp
	rm -rf %D%/wheel && $(MKDIR_P) %D%/wheel/tdl
	cp -RL %D%/tdl/*.py %D%/tdl/tdl.h %D%/tdl/libtdl.so %D%/tdl/opdefs \
		%D%/wheel/tdl/
	cp '$(srcdir)/%D%/README.md' '$(srcdir)/%D%/setup.py' \
		'$(srcdir)/LICENSE' %D%/wheel/
	sed 's|@VERSION[@]|$(VERSION)|' '$(srcdir)/%D%/pyproject.toml.in' \
		>%D%/wheel/pyproject.toml
	cd %D%/wheel && '$(PYTHON)' -m pip wheel -q --no-deps \
		--no-build-isolation -w ../dist .
.PHONY: python

clean-local: clean-python
clean-python:
	rm -rf %D%/tdl %D%/wheel %D%/dist %D%/stamp
.PHONY: clean-python
