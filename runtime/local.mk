# The runtime: everything but main() in an archive, so that tests can use it.
# It links neither flex, bison nor protobuf, and includes base and plan alone.
noinst_LIBRARIES += %D%/libruntime.a
%C%_libruntime_a_SOURCES = \
	%D%/run/agree.c %D%/run/agree.h \
	%D%/exec/backend.c %D%/exec/backend.h \
	%D%/exec/backend_row.c \
	%D%/run/progress_bar.c %D%/run/progress_bar.h \
	%D%/run/checkpoint.c %D%/run/checkpoint.h \
	%D%/comm/prefetch.c %D%/comm/prefetch.h \
	%D%/comm/single_process.c \
	%D%/comm/barrier.c %D%/comm/barrier.h \
	%D%/comm/peer_monitor.c %D%/comm/peer_monitor.h \
	%D%/exec/communicator.c %D%/exec/communicator.h \
	%D%/comm/heartbeat.c %D%/comm/heartbeat.h \
	%D%/comm/progress.c %D%/comm/progress.h \
	%D%/comm/rendezvous.c %D%/comm/rendezvous.h \
	%D%/comm/threads.c \
	%D%/comm/scheduler.c %D%/comm/scheduler.h \
	%D%/cpu/build.c %D%/cpu/build.h \
	%D%/cpu/chains.c \
	%D%/cpu/chunks.c %D%/cpu/chunks.h \
	%D%/exec/build_cache.c %D%/exec/build_cache.h \
	%D%/cpu/cpu.c %D%/cpu/cpu_parts.h %D%/cpu/shares.c %D%/cpu/shares.h %D%/cpu/onednn.h \
	%D%/cpu/kernels/cholesky.c \
	%D%/cpu/kernels/builtin.c %D%/exec/builtin.h \
	%D%/cpu/kernels/matrix.c \
	%D%/cpu/kernels/order.c \
	%D%/exec/calibrated.c %D%/exec/calibrated.h \
	%D%/run/calibrate.c %D%/run/calibrate.h \
	%D%/run/calibrate_fit.c \
	%D%/run/data.c %D%/run/data.h \
	%D%/run/evaluate.c %D%/run/evaluate.h \
	%D%/run/generate.c %D%/run/generate.h \
	%D%/exec/fail.c %D%/exec/fail.h \
	%D%/exec/invent.c %D%/exec/invent.h \
	%D%/run/inputs.c %D%/run/inputs.h \
	%D%/run/log.c %D%/run/log.h \
	%D%/run/machine_levels.c %D%/run/machine_levels.h \
	%D%/exec/executor.c %D%/exec/executor.h \
	%D%/exec/executor_constants.c \
	%D%/exec/executor_folds.c \
	%D%/exec/executor_chains.c \
	%D%/exec/executor_kept.c \
	%D%/exec/executor_figures.c \
	%D%/exec/executor_outputs.c \
	%D%/exec/executor_parts.c %D%/exec/executor_parts.h \
	%D%/exec/executor_runs.c \
	%D%/exec/executor_spans.c \
	%D%/exec/executor_step.c \
	%D%/exec/npz.c %D%/exec/npz.h \
	%D%/run/options.h \
	%D%/exec/profiling.c %D%/exec/profiling.h \
	%D%/run/profile_file.c %D%/run/profile_file.h \
	%D%/run/run.c %D%/run/run.h \
	%D%/run/learning_rate.c %D%/run/learning_rate.h \
	%D%/run/session.c %D%/run/session.h \
	%D%/run/stop.c %D%/run/stop.h \
	%D%/run/trace.c %D%/run/trace.h \
	%D%/exec/thread_pool.c %D%/exec/thread_pool.h \
	%D%/run/train.c %D%/run/train.h \
	%D%/run/train_open.c \
	%D%/run/train_report.c \
	%D%/run/training.h \
	%D%/exec/verify.c %D%/exec/verify.h
nodist_%C%_libruntime_a_SOURCES = %D%/cpu/headers.h
if ONEDNN
%C%_libruntime_a_SOURCES += %D%/cpu/onednn.c %D%/cpu/onednn.def \
	%D%/cpu/onednn_call.c %D%/cpu/onednn_parts.h
else
%C%_libruntime_a_SOURCES += %D%/cpu/onednn_none.c
endif
if CUDA
%C%_libruntime_a_SOURCES += \
	%D%/cuda/api.c %D%/cuda/api.def %D%/cuda/api.h \
	%D%/cuda/cublaslt.c %D%/cuda/cublaslt.def %D%/cuda/cublaslt.h \
	%D%/cuda/cuda.c %D%/cuda/cuda.h \
	%D%/cuda/cudnn.def %D%/cuda/cudnn.h \
	%D%/cuda/exchange.c %D%/cuda/exchange.h \
	%D%/cuda/host.c %D%/cuda/host.h \
	%D%/cuda/kernels.c %D%/cuda/kernels.h \
	%D%/cuda/epilogue.c %D%/cuda/epilogue.h \
	%D%/cuda/library.c %D%/cuda/library.h \
	%D%/cuda/link.h %D%/cuda/local.c \
	%D%/cuda/module.c %D%/cuda/module.h \
	%D%/cuda/order.c \
	%D%/cuda/pack.c %D%/cuda/pack.h \
	%D%/cuda/parts.h %D%/cuda/program.c %D%/cuda/program.h \
	%D%/cuda/stages.c \
	%D%/cuda/staging.c %D%/cuda/staging.h \
	%D%/cuda/step.c \
	%D%/cuda/turns.c
nodist_%C%_libruntime_a_SOURCES += %D%/cuda/headers.h %D%/cuda/pack_text.h
if CUDNN
%C%_libruntime_a_SOURCES += %D%/cuda/cudnn.c
else
%C%_libruntime_a_SOURCES += %D%/cuda/cudnn_none.c
endif
endif
if NCCL
%C%_libruntime_a_SOURCES += %D%/comm/nccl.c \
	%D%/cuda/nccl.c %D%/cuda/nccl.def \
	%D%/cuda/nccl_api.c %D%/cuda/nccl_api.h \
	%D%/cuda/nccl_groups.c %D%/cuda/nccl_parts.h \
	%D%/cuda/nccl_memory.c %D%/cuda/nccl_memory.h
endif
if MPI
%C%_libruntime_a_SOURCES += %D%/comm/mpi_heartbeat.c %D%/comm/mpi_heartbeat.h \
	%D%/comm/mpi_exchange.c %D%/comm/mpi_exchange.h \
	%D%/comm/mpi_wait.c %D%/comm/mpi_wait.h \
	%D%/comm/mpi.c
endif

# What --calibrate runs: plans that tdlc makes, which are installed; without one
# that runs here there are none.
EXTRA_DIST += %D%/calibration/kernels.tdl %D%/calibration/links.tdl \
	%D%/calibration/links.pins
calibrationdir = $(pkgdatadir)/calibration
if TDLC
if RUNS_TDLC
nodist_calibration_DATA = %D%/calibration/kernels.plan \
	%D%/calibration/links.plan
endif
endif
CLEANFILES += %D%/calibration/kernels.plan %D%/calibration/links.plan
to_plan = $(AM_V_GEN)$(MKDIR_P) $(@D) && \
	$(TDLC_FOR_BUILD) plan --opdefs=$(srcdir)/opdefs --no-fuse -o $@-t
# Their kernels are C for the headers of this build.
%D%/calibration/kernels.plan: %D%/calibration/kernels.tdl $(kernel_headers) \
		| tdlc$(EXEEXT)
	$(to_plan) -k 1 $(srcdir)/%D%/calibration/kernels.tdl >/dev/null && \
		mv $@-t $@
%D%/calibration/links.plan: %D%/calibration/links.tdl \
		%D%/calibration/links.pins $(kernel_headers) | tdlc$(EXEEXT)
	$(to_plan) -k 2 --pins=$(srcdir)/%D%/calibration/links.pins \
		$(srcdir)/%D%/calibration/links.tdl >/dev/null && mv $@-t $@
tdlrun_CPPFLAGS = $(AM_CPPFLAGS) -DPKGDATADIR='"$(pkgdatadir)"'

bin_PROGRAMS += tdlrun
tdlrun_SOURCES = %D%/run/main.c
tdlrun_LDADD = %D%/libruntime.a $(plan_libs) base/libbase.a \
	$(LIBZIP_LIBS) $(ZLIB_LIBS) $(JANSSON_LIBS) $(MPI_LIBS) \
	$(HWLOC_LIBS) $(ONEDNN_LIBS) $(CUDA_LIBS) $(NCCL_LIBS) \
	$(CUDNN_LIBS)

# The headers of generated kernels: installed, and as text in tdlrun, which
# hands them to the compiler whether they are installed or not.
kernel_headers = \
	include/tdl/functions.h \
	include/tdl/generated.h \
	include/tdl/kernels.h \
	include/tdl/panels.h \
	include/tdl/planes.h \
	include/tdl/product.h \
	include/tdl/scalar.h \
	include/tdl/squares.h \
	include/tdl/sums.h
tdlincludedir = $(includedir)/tdl
tdlinclude_HEADERS = $(kernel_headers) include/tdl/cuda.h \
	include/tdl/kernel.h include/tdl/tensor_cores.h

%D%/cpu/headers.h: $(kernel_headers) %D%/cpu/headers.sh
	$(AM_V_GEN)$(MKDIR_P) %D%/cpu && \
	(cd $(srcdir) && $(SHELL) %D%/cpu/headers.sh $(kernel_headers)) \
		>$@.tmp && mv $@.tmp $@
%D%/cpu/build.$(OBJEXT): %D%/cpu/headers.h
CLEANFILES += %D%/cpu/headers.h

# The same for GPUs.
device_headers = \
	include/tdl/cuda.h \
	include/tdl/functions.h \
	include/tdl/scalar.h \
	include/tdl/tensor_cores.h
%D%/cuda/headers.h: $(device_headers) %D%/cpu/headers.sh
	$(AM_V_GEN)$(MKDIR_P) %D%/cuda && \
	(cd $(srcdir) && $(SHELL) %D%/cpu/headers.sh $(device_headers)) \
		>$@.tmp && mv $@.tmp $@
%D%/cuda/module.$(OBJEXT): %D%/cuda/headers.h
CLEANFILES += %D%/cuda/headers.h

# The device's part of pack.c.
%D%/cuda/pack_text.h: %D%/cuda/pack.cu %D%/cpu/headers.sh
	$(AM_V_GEN)$(MKDIR_P) %D%/cuda && \
	(cd $(srcdir) && $(SHELL) %D%/cpu/headers.sh %D%/cuda/pack.cu) \
		>$@.tmp && mv $@.tmp $@
%D%/cuda/pack.$(OBJEXT): %D%/cuda/pack_text.h
CLEANFILES += %D%/cuda/pack_text.h

EXTRA_DIST += %D%/README.md %D%/cpu/headers.sh %D%/cuda/pack.cu
