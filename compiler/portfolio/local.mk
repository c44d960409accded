tdlc_SOURCES += \
	%D%/auto.c %D%/auto.h \
	%D%/complete_search.c %D%/complete_search.h \
	%D%/frontier.c \
	%D%/one_planner.c \
	%D%/pins.c %D%/pins.h \
	%D%/price_sweep.c %D%/price_sweep.h \
	%D%/programs.c %D%/programs.h \
	%D%/request.h
