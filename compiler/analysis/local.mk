noinst_LIBRARIES += %D%/libanalysis.a
%C%_libanalysis_a_SOURCES = \
	%D%/strategy.c %D%/strategy.h
