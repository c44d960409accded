examplesdir = $(docdir)/examples
dist_examples_DATA = \
	%D%/README.md \
	%D%/conv1d.tdl
