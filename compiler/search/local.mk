noinst_LIBRARIES += %D%/libsearch.a
%C%_libsearch_a_SOURCES = \
	%D%/branch.c \
	%D%/eliminate.c %D%/eliminate.h \
	%D%/order.c %D%/order.h \
	%D%/problem.c %D%/problem.h \
	%D%/search.h \
	%D%/solve.c %D%/solve.h
