# What configure.ac says more than once.

# TDL_ENABLE(NAME, DEFAULT, HELP): yes or no in $enable_NAME.  HELP is that of
# the option that changes the default.
AC_DEFUN([TDL_ENABLE],
[AC_ARG_ENABLE([$1],
	[AS_HELP_STRING(m4_if([$2], [yes], [[--disable-$1]], [[--enable-$1]]),
		[$3])])
AS_CASE(["${enable_$1:=$2}"], [yes|no], [],
	[AC_MSG_ERROR([--enable-$1 is yes or no, not '$enable_$1'])])])

# TDL_PROG_GENERATOR(VAR, PROGRAM, DEBIAN-PACKAGE, FOLDER): a program that
# makes C.  A release carries what it makes, and does without the program.
AC_DEFUN([TDL_PROG_GENERATOR],
[AC_ARG_VAR([$1], [path of $2])
AC_PATH_PROG([$1], [$2])
AS_IF([test -n "$$1"], [],
	[test -f "$srcdir/.tarball-version"], [$1="$MISSING $2"],
	[AC_MSG_ERROR([$2 is missing; it makes C in $4/ (Debian: $3)])])])

# TDL_LIBRARY(VAR, MODULE, DEBIAN-PACKAGE)
AC_DEFUN([TDL_LIBRARY],
[PKG_CHECK_MODULES([$1], [$2], [],
	[AC_MSG_ERROR([the library $2 is missing (Debian: $3)])])])

# TDL_OPTIONAL_LIBRARY(VAR, MODULE): $have_module, and the conditional
# HAVE_VAR.  It has to link, too: Debian's isl does not bring the gmp it names.
AC_DEFUN([TDL_OPTIONAL_LIBRARY],
[m4_pushdef([have], [have_]m4_tolower([$1]))
PKG_CHECK_MODULES([$1], [$2], [have=yes], [have=no])
AS_IF([test $have = yes], [
	tdl_save_LIBS=$LIBS
	LIBS="$$1_LIBS $LIBS"
	AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [], [have=no])
	LIBS=$tdl_save_LIBS
])
AM_CONDITIONAL([HAVE_$1], [test $have = yes])
m4_popdef([have])])

# TDL_WITH_MPI: --with-mpi[=DIR], for workers as processes.  $have_mpi, the
# conditional MPI, and HAVE_MPI; an error only where it is asked for and missing.
AC_DEFUN([TDL_WITH_MPI],
[AC_ARG_VAR([MPI_CFLAGS], [C compiler flags for Open MPI])
AC_ARG_VAR([MPI_LIBS], [linker flags for Open MPI])
AC_ARG_WITH([mpi],
	[AS_HELP_STRING([--with-mpi@<:@=DIR@:>@],
		[run workers as MPI processes, with the Open MPI in DIR; auto])],
	[], [with_mpi=auto])
have_mpi=no
AS_CASE([$with_mpi],
	[no], [],
	[yes|auto], [PKG_CHECK_MODULES([MPI], [ompi-c], [have_mpi=yes], [:])],
	[MPI_CFLAGS="-I$with_mpi/include"
	MPI_LIBS="-L$with_mpi/lib -Wl,-rpath,$with_mpi/lib -lmpi"
	have_mpi=yes])
AS_IF([test $have_mpi = yes], [
	tdl_save_LIBS=$LIBS tdl_save_CPPFLAGS=$CPPFLAGS
	LIBS="$MPI_LIBS $LIBS" CPPFLAGS="$CPPFLAGS $MPI_CFLAGS"
	AC_LINK_IFELSE([AC_LANG_PROGRAM([#include <mpi.h>],
		[return MPI_Init(0, 0);])], [], [have_mpi=no])
	LIBS=$tdl_save_LIBS CPPFLAGS=$tdl_save_CPPFLAGS
])
AS_IF([test $have_mpi = yes],
	[AC_DEFINE([HAVE_MPI], [1], [whether workers can be MPI processes])],
	[MPI_CFLAGS= MPI_LIBS=
	AS_CASE([$with_mpi], [no|auto], [],
		[AC_MSG_ERROR([no Open MPI for --with-mpi=$with_mpi dnl
(Debian: libopenmpi-dev)])])])
AM_CONDITIONAL([MPI], [test $have_mpi = yes])])

# TDL_WITH_HWLOC: --with-hwloc, for the levels of a machine that is measured.
# $have_hwloc and HAVE_HWLOC; an error only where it is asked for and missing.
AC_DEFUN([TDL_WITH_HWLOC],
[AC_ARG_WITH([hwloc],
	[AS_HELP_STRING([--with-hwloc],
		[find the levels of the machine for tdlrun --calibrate; auto])],
	[], [with_hwloc=auto])
have_hwloc=no
AS_IF([test "$with_hwloc" != no],
	[PKG_CHECK_MODULES([HWLOC], [hwloc >= 2.5], [have_hwloc=yes], [:])])
AS_IF([test $have_hwloc = yes], [
	tdl_save_LIBS=$LIBS tdl_save_CPPFLAGS=$CPPFLAGS
	LIBS="$HWLOC_LIBS $LIBS" CPPFLAGS="$CPPFLAGS $HWLOC_CFLAGS"
	AC_LINK_IFELSE([AC_LANG_PROGRAM([#include <hwloc.h>],
		[hwloc_topology_t t; return hwloc_topology_init(&t);])], [],
		[have_hwloc=no])
	LIBS=$tdl_save_LIBS CPPFLAGS=$tdl_save_CPPFLAGS
])
AS_IF([test $have_hwloc = yes],
	[AC_DEFINE([HAVE_HWLOC], [1], [whether hwloc finds levels])],
	[HWLOC_CFLAGS= HWLOC_LIBS=
	AS_CASE([$with_hwloc], [no|auto], [],
		[AC_MSG_ERROR([no hwloc for --with-hwloc dnl
(Debian: libhwloc-dev)])])])])

# TDL_CHECK_FLAGS(FLAGS): stops where a program does not link with them.
AC_DEFUN([TDL_CHECK_FLAGS],
[AS_IF([test -n "$1"], [
	AC_MSG_CHECKING([whether $CC links with $1])
	tdl_save_CFLAGS=$CFLAGS
	CFLAGS="$CFLAGS $1"
	AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
		[AC_MSG_RESULT([yes])],
		[AC_MSG_RESULT([no])
		AC_MSG_ERROR([$CC does not link with $1])])
	CFLAGS=$tdl_save_CFLAGS
])])
