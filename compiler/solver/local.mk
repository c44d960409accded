noinst_LIBRARIES += %D%/libsolver.a
%C%_libsolver_a_SOURCES = \
	%D%/branch.c %D%/branch.h \
	%D%/conditioning.c %D%/conditioning.h \
	%D%/eliminate.c %D%/eliminate.h \
	%D%/elimination_order.c %D%/elimination_order.h \
	%D%/ilp.h \
	%D%/ilp_solve.c \
	%D%/ilp_write.c \
	%D%/local_search.c %D%/local_search.h \
	%D%/message_passing.c %D%/message_passing.h \
	%D%/messages.h \
	%D%/mini_bucket.c %D%/mini_bucket.h \
	%D%/minplus.c %D%/minplus.h \
	%D%/problem.c %D%/problem.h \
	%D%/quotient.c %D%/quotient.h \
	%D%/solve.c %D%/solve.h \
	%D%/table_store.c %D%/table_store.h \
	%D%/wcsp.c %D%/wcsp.h

EXTRA_DIST += %D%/README.md
