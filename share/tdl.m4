# tdl.m4 - tdlc in a package that uses Autoconf.		serial 1
#
# TDL_PROG_TDLC([MINIMUM-VERSION], [IF-FOUND], [IF-NOT-FOUND])
#
# Looks for tdlc on PATH and sets TDLC (the user may give it, and TDLCFLAGS).
# Without IF-NOT-FOUND it is an error when tdlc is absent or older than
# MINIMUM-VERSION.  The Automake conditional HAVE_TDLC says whether it is there.
# In Makefile.am, a rule for .tdl files that also knows what they import:
#
#	SUFFIXES = .tdl .json
#	.tdl.json:
#		$(TDLC) compile $(TDLCFLAGS) -I $(srcdir) --emit=json \
#			-MD -MF $@.d -o $@ $<
#	-include net.json.d
#	CLEANFILES = net.json net.json.d
AC_DEFUN([TDL_PROG_TDLC],
[AC_ARG_VAR([TDLC], [the TDL compiler])
AC_ARG_VAR([TDLCFLAGS], [options for `tdlc compile'])
AC_PATH_PROG([TDLC], [tdlc])
tdl_found=no
AS_IF([test -n "$TDLC"], [
	AC_CACHE_CHECK([the version of tdlc], [tdl_cv_tdlc_version],
		[tdl_cv_tdlc_version=`"$TDLC" --version 2>/dev/null |
			sed -n '1s/.* //p'`])
	AS_VERSION_COMPARE([${tdl_cv_tdlc_version:-0}], [m4_default([$1], [0])],
		[], [tdl_found=yes], [tdl_found=yes])
])
AM_CONDITIONAL([HAVE_TDLC], [test $tdl_found = yes])
AS_IF([test $tdl_found = yes], [m4_default([$2], [:])],
	[m4_default([$3],
		[AC_MSG_ERROR([tdlc m4_ifval([$1], [$1 or later ])is needed])])])
])
