# What tdlrun takes from oneDNN, CUDA, NCCL and cuDNN: headers when it is built;
# the libraries are loaded when it runs, and found there beside the headers too.

# TDL_WITH_LOADED(NAME, INCLUDES, WHAT-FOR, MORE-FLAGS, PLACES):
# --with-NAME[=DIR], DIR/include having the headers.  Sets $have_NAME,
# NAME_CPPFLAGS and NAME_LIBS; defines HAVE_NAME and the conditional NAME.
# Unless it says where, the compiler's own path and PLACES are searched.
AC_DEFUN([TDL_WITH_LOADED], [
m4_pushdef([have], [have_$1])
m4_pushdef([NAME], m4_toupper([$1]))
AC_ARG_WITH([$1], [AS_HELP_STRING([--with-$1@<:@=DIR@:>@],
	[$3, with the headers in DIR/include; auto])],
	[], [with_$1=auto])
AS_CASE([$with_$1],
	[no], [tdl_places=],
	[yes|auto], [tdl_places="- $5"],
	[tdl_places=$with_$1])
have=no
NAME[]_CPPFLAGS= NAME[]_LIBS=
AC_MSG_CHECKING([for the headers of $1])
tdl_save_CPPFLAGS=$CPPFLAGS
for tdl_place in $tdl_places; do
	AS_IF([test "$tdl_place" = -], [tdl_flags=],
		[tdl_flags="-isystem $tdl_place/include"])
	CPPFLAGS="$tdl_save_CPPFLAGS $4 $tdl_flags"
	AC_COMPILE_IFELSE([AC_LANG_PROGRAM([$2])],
		[have=yes NAME[]_CPPFLAGS=$tdl_flags; break])
done
CPPFLAGS=$tdl_save_CPPFLAGS
AS_IF([test $have = yes && test "$tdl_place" != -], [
	for tdl_lib in "$tdl_place/lib64" "$tdl_place/lib"; do
		AS_IF([test -d "$tdl_lib"],
			[NAME[]_LIBS="$NAME[]_LIBS -Wl,-rpath,$tdl_lib"])
	done
])
AC_MSG_RESULT([$have])
AS_IF([test $have = yes],
	[AC_DEFINE([HAVE_]NAME, [1], [whether tdlrun can use it])],
	[AS_CASE([$with_$1], [no|auto], [],
		[AC_MSG_ERROR([no headers for --with-$1=$with_$1 dnl
(see config.log)])])])
AM_CONDITIONAL(NAME, [test $have = yes])
AC_SUBST(NAME[_CPPFLAGS])
AC_SUBST(NAME[_LIBS])
m4_popdef([NAME])
m4_popdef([have])])

# TDL_WITH_ONEDNN: of version 2, whose threads are OpenMP's or none.
AC_DEFUN([TDL_WITH_ONEDNN], [
TDL_WITH_LOADED([onednn], [#include <dnnl.h>
#if DNNL_VERSION_MAJOR != 2
#error oneDNN 2
#endif
#if DNNL_CPU_THREADING_RUNTIME != DNNL_RUNTIME_OMP
#if DNNL_CPU_THREADING_RUNTIME != DNNL_RUNTIME_SEQ
#error OpenMP, or no threads
#endif
#endif], [compute kernels on the processor by oneDNN], [], [])])

# TDL_WITH_CUDA, TDL_WITH_NCCL, TDL_WITH_CUDNN: in this order; the latter two
# go with CUDA alone.  Which headers the toolkit's libraries have is found out
# with CUDA's.
AC_DEFUN([TDL_WITH_CUDA], [
TDL_WITH_LOADED([cuda], [#include <cuda.h>
#include <nvrtc.h>
#include <cublasLt.h>
#if CUDA_VERSION < 12000
#error CUDA 12 or later
#endif], [run plans on GPUs],
	[], [${CUDA_PATH-} ${CUDA_HOME-} /usr/local/cuda /opt/cuda])
tdl_with_cuda="$CUDA_CPPFLAGS"])

AC_DEFUN([TDL_NEEDS_CUDA],
[AS_IF([test $have_cuda = no], [
	AS_CASE([${with_$1-auto}], [no|auto], [with_$1=no],
		[AC_MSG_ERROR([--with-$1 goes with CUDA, which is absent dnl
(--with-cuda=DIR)])])
])])

AC_DEFUN([TDL_WITH_NCCL], [
TDL_NEEDS_CUDA([nccl])
TDL_WITH_LOADED([nccl], [#include <nccl.h>],
	[connect GPUs by NCCL], [$CUDA_CPPFLAGS], [])])

AC_DEFUN([TDL_WITH_CUDNN], [
TDL_NEEDS_CUDA([cudnn])
TDL_WITH_LOADED([cudnn], [#include <cudnn.h>],
	[use cuDNN on GPUs], [$CUDA_CPPFLAGS], [])])
