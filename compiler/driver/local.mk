bin_PROGRAMS += tdlc
tdlc_SOURCES = \
	%D%/commands.def \
	%D%/driver.c %D%/driver.h \
	%D%/main.c
tdlc_CPPFLAGS = $(AM_CPPFLAGS) -DPKGDATADIR='"$(pkgdatadir)"'
tdlc_LDADD = \
	base/libbase.a \
	$(JANSSON_LIBS)
