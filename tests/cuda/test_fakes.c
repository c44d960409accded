/* The fake libraries themselves: that they do what the real ones do, and find
 * what these would not forgive. */
#include <check.h>
#include <cublasLt.h>
#include <cuda.h>
#include <cudnn.h>
#include <nccl.h>
#include <nvrtc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define GOOD(call) ck_assert_int_eq((int)(call), 0)
#define IS(call, error) ck_assert_int_eq((int)(call), (int)(error))

static const char text[] =
	"extern \"C\" __global__ void add(float *x, int n, float by)\n"
	"{\n"
	"	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;\n"
	"	     i += gridDim.x * blockDim.x)\n"
	"		x[i] += by;\n"
	"}\n"
	"extern \"C\" __global__ void copy(float *to, const float *from)\n"
	"{\n"
	"	to[threadIdx.x] = from[threadIdx.x];\n"
	"}\n"
	"extern \"C\" __global__ void stuck(float *x)\n"
	"{\n"
	"	if (threadIdx.x < 7)\n"
	"		__syncthreads();\n"
	"	x[0] = 1;\n"
	"}\n"
	"extern \"C\" __global__ void apart(float *x)\n"
	"{\n"
	"	x[threadIdx.x] = __shfl_down_sync(\n"
	"		threadIdx.x < 16 ? 0x1ffff : ~0u, 1.0f, 1);\n"
	"}\n"
	"extern \"C\" __global__ void total(float *x)\n"
	"{\n"
	"	extern __shared__ float all[];\n"
	"	__shared__ float warps[32];\n"
	"	all[threadIdx.x] = x[threadIdx.x];\n"
	"	__syncthreads();\n"
	"	float s = all[blockDim.x - 1 - threadIdx.x];\n"
	"	for (int d = 16; d > 0; d /= 2)\n"
	"		s += __shfl_xor_sync(~0u, s, d);\n"
	"	if (threadIdx.x % 32 == 0)\n"
	"		warps[threadIdx.x / 32] = s;\n"
	"	__syncthreads();\n"
	"	if (threadIdx.x == 0) {\n"
	"		for (unsigned i = 1; i < blockDim.x / 32; i++)\n"
	"			s += warps[i];\n"
	"		x[0] = s;\n"
	"	}\n"
	"}\n"
	"extern \"C\" __global__ void odd(float *x)\n"
	"{\n"
	"	*(float4 *)(x + 1) = make_float4(1, 2, 3, 4);\n"
	"}\n";

enum {
	N = 100,
};

static CUcontext context;
static CUmodule module;

/* The first device of a process that has not used it. */
static void begin(int seed)
{
	char number[20];
	CUdevice device;
	snprintf(number, sizeof number, "%d", seed);
	setenv("FAKE_CUDA_SEED", number, 1);
	GOOD(cuInit(0));
	GOOD(cuDeviceGet(&device, 0));
	GOOD(cuDevicePrimaryCtxRetain(&context, device));
	GOOD(cuCtxSetCurrent(context));
}

static nvrtcResult compile(const char *source, const char *option, char **image)
{
	nvrtcProgram p;
	size_t n = 0;
	GOOD(nvrtcCreateProgram(&p, source, "t.cu", 0, NULL, NULL));
	const nvrtcResult result = nvrtcCompileProgram(p, 1, &option);
	GOOD(nvrtcGetProgramLogSize(p, &n));
	char *log = malloc(n);
	GOOD(nvrtcGetProgramLog(p, log));
	if (result) {
		*image = log;
	} else {
		free(log);
		GOOD(nvrtcGetCUBINSize(p, &n));
		*image = malloc(n);
		GOOD(nvrtcGetCUBIN(p, *image));
	}
	GOOD(nvrtcDestroyProgram(&p));
	return result;
}

static char *image;

static void compile_once(void)
{
	GOOD(compile(text, "--gpu-architecture=sm_90", &image));
}

static CUfunction kernel(const char *name)
{
	CUfunction f;
	if (!module)
		GOOD(cuModuleLoadData(&module, image));
	GOOD(cuModuleGetFunction(&f, module, name));
	return f;
}

static CUdeviceptr memory(size_t n)
{
	CUdeviceptr p;
	GOOD(cuMemAlloc(&p, n));
	return p;
}

static CUstream stream(void)
{
	CUstream s;
	GOOD(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	return s;
}

static CUevent event(void)
{
	CUevent e;
	GOOD(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
	return e;
}

static void add(CUstream s, CUdeviceptr x, float by)
{
	int n = N;
	void *params[] = {&x, &n, &by};
	GOOD(cuLaunchKernel(kernel("add"), 2, 1, 1, 32, 1, 1, 0, s, params,
			    NULL));
	by = -1e30f; /* the call has taken it */
}

static float first_of(CUstream s, CUdeviceptr x)
{
	float y;
	GOOD(cuMemcpyDtoHAsync(&y, x, sizeof y, s));
	GOOD(cuStreamSynchronize(s));
	return y;
}

/* In how many of some seeds a function, in a process of its own, returns
 * false. */
static int failures(int (*holds)(void), int seeds)
{
	int n = 0, status;
	for (int seed = 1; seed <= seeds; seed++) {
		const pid_t child = fork();
		if (child == 0) {
			begin(seed);
			_exit(!holds());
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert(WIFEXITED(status));
		n += WEXITSTATUS(status) != 0;
	}
	return n;
}

/* ---- memory -------------------------------------------------------------- */

START_TEST(test_memory)
{
	float y[N + 1], x[N + 1] = {3};
	unsigned char first;
	begin(1);
	CUdeviceptr p = memory(sizeof(float) * N);
	GOOD(cuMemcpyDtoH(&first, p + 7, 1));
	ck_assert_int_eq(first, 0xcb);
	GOOD(cuMemcpyHtoD(p, x, sizeof(float) * N));
	IS(cuMemcpyHtoD(p, x, sizeof x), CUDA_ERROR_INVALID_VALUE);
	IS(cuMemcpyDtoH(y, p + 4, sizeof(float) * N),
	   CUDA_ERROR_INVALID_VALUE);
	IS(cuMemcpyDtoD(p, (CUdeviceptr)(uintptr_t)x, 4),
	   CUDA_ERROR_INVALID_VALUE);
	GOOD(cuMemcpyDtoH(y, p, sizeof(float) * N));
	ck_assert(memcmp(x, y, sizeof(float) * N) == 0);
	GOOD(cuMemFree(p));
	IS(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
	setenv("FAKE_CUDA_MEMORY", "1", 1);
	IS(cuMemAlloc(&p, 2 << 20), CUDA_ERROR_OUT_OF_MEMORY);
}
END_TEST

START_TEST(test_host_keeps_off)
{
	begin(1);
	const CUdeviceptr p = memory(4096);
	GOOD(cuMemsetD8(p, 0, 4096));
	GOOD(cuCtxSynchronize());
	*(volatile char *)(uintptr_t)p = 1; /* ends the process */
}
END_TEST

/* Work of a stream that does not block does not wait for a copy of the
 * default stream, which returns before it is done. */
static int copy_is_late(void)
{
	static const float x[N] = {5};
	const CUstream s = stream();
	const CUdeviceptr p = memory(sizeof x);
	GOOD(cuMemcpyHtoD(p, x, sizeof x));
	add(s, p, 1);
	return first_of(s, p) == 6;
}

START_TEST(test_pageable_copy)
{
	ck_assert_int_gt(failures(copy_is_late, 20), 0);
}
END_TEST

/* ---- streams ------------------------------------------------------------- */

static int with_event(bool recorded)
{
	const CUstream a = stream(), b = stream();
	const CUevent e = event();
	const CUdeviceptr p = memory(sizeof(float) * N);
	GOOD(cuMemsetD8Async(p, 0, sizeof(float) * N, a));
	add(a, p, 1);
	if (recorded)
		GOOD(cuEventRecord(e, a));
	GOOD(cuStreamWaitEvent(b, e, 0));
	add(b, p, 1);
	const float y = first_of(b, p);
	GOOD(cuStreamSynchronize(a));
	return y == 2;
}

static int ordered(void)
{
	return with_event(true);
}

static int unordered(void)
{
	return with_event(false);
}

START_TEST(test_events)
{
	ck_assert_int_eq(failures(ordered, 20), 0);
	ck_assert_int_gt(failures(unordered, 20), 0);
}
END_TEST

static void host_function(void *arg)
{
	*(CUresult *)arg = cuCtxSynchronize();
}

START_TEST(test_host_function)
{
	CUresult inside = CUDA_SUCCESS;
	begin(1);
	const CUstream s = stream();
	GOOD(cuLaunchHostFunc(s, host_function, &inside));
	/* It is done, without that anybody asks. */
	for (int i = 0; i < 5000 && !inside; i++)
		usleep(1000);
	ck_assert_int_eq(inside, CUDA_ERROR_NOT_PERMITTED);
	GOOD(cuStreamDestroy(s));
}
END_TEST

/* ---- kernels ------------------------------------------------------------- */

static CUresult launch(const char *name, int threads, CUdeviceptr x)
{
	void *params[] = {&x};
	return cuLaunchKernel(kernel(name), 1, 1, 1, (unsigned)threads, 1, 1,
			      (unsigned)threads * 4, NULL, params, NULL);
}

START_TEST(test_kernels)
{
	float x[256], sum = 0;
	begin(1);
	const CUdeviceptr p = memory(sizeof x);
	for (int i = 0; i < 256; i++)
		sum += x[i] = (float)i;
	GOOD(cuMemcpyHtoD(p, x, sizeof x));
	GOOD(launch("total", 256, p));
	ck_assert(first_of(NULL, p) == sum);
	IS(launch("total", 1025, p), CUDA_ERROR_INVALID_VALUE);
	CUfunction f;
	IS(cuModuleGetFunction(&f, module, "none"), CUDA_ERROR_NOT_FOUND);
	setenv("FAKE_CUDA_ARCH", "80", 1);
	IS(cuModuleLoadData(&module, image), CUDA_ERROR_NO_BINARY_FOR_GPU);
}
END_TEST

static const struct {
	const char *kernel;
	CUresult error;
} wrong[] = {
	{"stuck", CUDA_ERROR_LAUNCH_FAILED},
	{"apart", CUDA_ERROR_LAUNCH_FAILED},
	{"odd", CUDA_ERROR_MISALIGNED_ADDRESS},
};

START_TEST(test_wrong_kernels)
{
	CUdeviceptr other;
	begin(1);
	const CUdeviceptr p = memory(4096);
	GOOD(launch(wrong[_i].kernel, 32, p));
	IS(cuCtxSynchronize(), wrong[_i].error);
	/* The context is of no use any more. */
	IS(cuMemAlloc(&other, 4), wrong[_i].error);
}
END_TEST

START_TEST(test_illegal_address)
{
	begin(1);
	const CUdeviceptr p = memory(4096);
	GOOD(launch("total", 32, p + 4096 - 4 * 16));
	IS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(test_compiler)
{
	char *log;
	IS(compile("__global__ void f(int *x) { *x = y; }",
		   "--gpu-architecture=sm_90", &log),
	   NVRTC_ERROR_COMPILATION);
	ck_assert_ptr_nonnull(strstr(log, "y"));
	free(log);
	IS(compile("#include <stdint.h>\n", "--gpu-architecture=sm_12", &log),
	   NVRTC_ERROR_INVALID_OPTION);
	free(log);
	IS(compile("#include <vector>\n", "--gpu-architecture=sm_90", &log),
	   NVRTC_ERROR_COMPILATION);
	free(log);
}
END_TEST

/* ---- graphs -------------------------------------------------------------- */

/* Two streams in one graph: what they add to is joined by events, or, at the
 * first point, not. */
static int captured(bool joined)
{
	const CUstream a = stream(), b = stream();
	const CUevent fork_at = event(), join_at = event();
	const CUdeviceptr p = memory(sizeof(float) * N);
	CUgraph graph;
	CUgraphExec exec;
	float y = 0;
	kernel("add");
	GOOD(cuMemsetD8Async(p, 0, sizeof(float) * N, a));
	GOOD(cuStreamSynchronize(a));
	GOOD(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	if (!joined)
		GOOD(cuEventRecord(fork_at, a));
	GOOD(cuMemsetD32Async(p, 0x3f800000, N, a));
	if (joined)
		GOOD(cuEventRecord(fork_at, a));
	GOOD(cuStreamWaitEvent(b, fork_at, 0));
	add(b, p, 4);
	GOOD(cuEventRecord(join_at, b));
	GOOD(cuStreamWaitEvent(a, join_at, 0));
	GOOD(cuStreamEndCapture(a, &graph));
	GOOD(cuGraphInstantiate(&exec, graph, 0));
	GOOD(cuGraphDestroy(graph));
	for (int i = 0; i < 3; i++) {
		GOOD(cuGraphLaunch(exec, a));
		y = first_of(a, p);
		if (y != 5)
			break;
	}
	GOOD(cuGraphExecDestroy(exec));
	return y == 5;
}

static int captured_joined(void)
{
	return captured(true);
}

static int captured_apart(void)
{
	return captured(false);
}

START_TEST(test_graphs)
{
	ck_assert_int_eq(failures(captured_joined, 10), 0);
	ck_assert_int_gt(failures(captured_apart, 10), 0);
}
END_TEST

START_TEST(test_capture_refuses)
{
	CUgraph graph;
	CUdeviceptr p;
	float x[4];
	begin(1);
	const CUstream a = stream(), b = stream();
	const CUevent e = event(), before = event();
	p = memory(16);
	kernel("add");
	GOOD(cuEventRecord(before, b));
	/* The other stream is not joined. */
	GOOD(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
	GOOD(cuEventRecord(e, a));
	GOOD(cuStreamWaitEvent(b, e, 0));
	GOOD(cuMemsetD8Async(p, 0, 16, b));
	IS(cuStreamEndCapture(a, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
	/* No allocation, no waiting, no pageable memory. */
	CUdeviceptr other;
	GOOD(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
	IS(cuMemAlloc(&other, 4), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	IS(cuMemsetD8Async(p, 0, 16, a),
	   CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	IS(cuStreamEndCapture(a, &graph),
	   CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	GOOD(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
	IS(cuStreamSynchronize(a), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	IS(cuStreamEndCapture(a, &graph),
	   CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	GOOD(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
	IS(cuMemcpyHtoDAsync(p, x, 16, a),
	   CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	IS(cuStreamEndCapture(a, &graph),
	   CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	/* An event from before. */
	GOOD(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
	IS(cuStreamWaitEvent(a, before, 0),
	   CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
	IS(cuStreamEndCapture(a, &graph),
	   CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	GOOD(cuMemsetD8Async(p, 0, 16, a));
	GOOD(cuStreamSynchronize(a));
}
END_TEST

/* ---- several GPUs -------------------------------------------------------- */

START_TEST(test_peers)
{
	CUcontext second;
	CUfunction f;
	CUstream s;
	float y;
	setenv("FAKE_CUDA_DEVICES", "2", 1);
	begin(1);
	const CUdeviceptr p = memory(128);
	GOOD(cuMemsetD32(p, 0x40000000, 32));
	GOOD(cuCtxSynchronize());
	GOOD(cuDevicePrimaryCtxRetain(&second, 1));
	GOOD(cuCtxSetCurrent(second));
	const CUdeviceptr q = memory(128);
	GOOD(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	if (_i == 1)
		GOOD(cuCtxEnablePeerAccess(context, 0));
	CUdeviceptr to = q, from = p;
	void *params[] = {&to, &from};
	f = kernel("copy");
	GOOD(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, params, NULL));
	IS(cuStreamSynchronize(s), _i == 1 ? CUDA_SUCCESS
					   : CUDA_ERROR_ILLEGAL_ADDRESS);
	if (_i == 0)
		return;
	GOOD(cuMemcpyDtoH(&y, q, 4));
	ck_assert(y == 2);
	/* A stream of the other device. */
	GOOD(cuCtxSetCurrent(context));
	IS(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, params, NULL),
	   CUDA_ERROR_INVALID_HANDLE);
}
END_TEST

/* ---- NCCL ---------------------------------------------------------------- */

typedef int rank_fn(ncclComm_t comm, int rank, int nranks, CUstream s);

/* How many of n ranks find something wrong. */
static int ranks(int n, rank_fn *f)
{
	int wrong_ranks = 0, status;
	ncclUniqueId id;
	pid_t children[8];
	GOOD(ncclGetUniqueId(&id));
	for (int r = 0; r < n; r++) {
		children[r] = fork();
		if (children[r])
			continue;
		char host[20];
		ncclComm_t comm;
		snprintf(host, sizeof host, "host-%d", r);
		setenv("NCCL_HOSTID", host, 1);
		begin(r + 1);
		GOOD(ncclCommInitRank(&comm, n, id, r));
		_exit(!f(comm, r, n, stream()));
	}
	for (int r = 0; r < n; r++) {
		ck_assert_int_eq(waitpid(children[r], &status, 0), children[r]);
		wrong_ranks += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	}
	return wrong_ranks;
}

/* n floats, from + i. */
static CUdeviceptr counting(int n, float from, CUstream s)
{
	const CUdeviceptr p = memory(sizeof(float) * (size_t)n);
	float x[4096];
	for (int i = 0; i < n; i++)
		x[i] = from + (float)i;
	GOOD(cuMemcpyHtoDAsync(p, x, sizeof(float) * (size_t)n, s));
	return p;
}

static float element(CUdeviceptr p, int i, CUstream s)
{
	return first_of(s, p + sizeof(float) * (size_t)i);
}

static void *at(CUdeviceptr p)
{
	return (void *)(uintptr_t)p;
}

static int collectives(ncclComm_t comm, int rank, int n, CUstream s)
{
	enum {
		COUNT = 500,
	};
	const CUdeviceptr x = counting(COUNT * n, (float)(1000 * rank), s);
	const CUdeviceptr y = memory(sizeof(float) * COUNT * (size_t)n);
	bool good = true;
	GOOD(ncclAllReduce(at(x), at(y), COUNT, ncclFloat, ncclSum, comm, s));
	good = good && element(y, 7, s) ==
			       (float)(500 * n * (n - 1) + 7 * n);
	GOOD(ncclReduceScatter(at(x), at(y), COUNT, ncclFloat, ncclMax, comm,
			       s));
	good = good && element(y, 3, s) ==
			       (float)(1000 * (n - 1) + rank * COUNT + 3);
	GOOD(ncclAllGather(at(x), at(y), COUNT, ncclFloat, comm, s));
	good = good && element(y, COUNT + 5, s) == 1005;
	GOOD(ncclAlltoAll(at(x), at(y), COUNT, ncclFloat, comm, s));
	good = good && element(y, COUNT + 5, s) ==
			       (float)(1000 + rank * COUNT + 5);
	GOOD(ncclBroadcast(at(x), at(y), COUNT, ncclFloat, 1, comm, s));
	good = good && element(y, 9, s) == 1009;
	GOOD(ncclGroupStart());
	GOOD(ncclSend(at(x), COUNT, ncclFloat, (rank + 1) % n, comm, s));
	GOOD(ncclRecv(at(y), COUNT, ncclFloat, (rank + n - 1) % n, comm, s));
	GOOD(ncclGroupEnd());
	good = good && element(y, 2, s) ==
			       (float)(1000 * ((rank + n - 1) % n) + 2);
	return good;
}

static int split(ncclComm_t comm, int rank, int n, CUstream s)
{
	ncclComm_t half;
	int size, number;
	GOOD(ncclCommSplit(comm, rank % 2, n - rank, &half, NULL));
	GOOD(ncclCommCount(half, &size));
	GOOD(ncclCommUserRank(half, &number));
	const CUdeviceptr x = counting(2, (float)rank, s);
	GOOD(ncclAllReduce(at(x), at(x), 2, ncclFloat, ncclSum, half, s));
	const float sum = element(x, 0, s);
	GOOD(ncclCommDestroy(half));
	/* The greatest rank has the least key. */
	return size == n / 2 && number == (n - 1 - rank) / 2 &&
	       sum == (rank % 2 ? 4 : 2);
}

static int in_graph(ncclComm_t comm, int rank, int n, CUstream s)
{
	CUgraph graph;
	CUgraphExec exec;
	const CUdeviceptr x = counting(3, 1, s);
	(void)rank;
	GOOD(cuStreamSynchronize(s));
	GOOD(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	GOOD(ncclAllReduce(at(x), at(x), 3, ncclFloat, ncclSum, comm, s));
	GOOD(cuStreamEndCapture(s, &graph));
	GOOD(cuGraphInstantiate(&exec, graph, 0));
	GOOD(cuGraphLaunch(exec, s));
	GOOD(cuGraphLaunch(exec, s));
	return element(x, 0, s) == (float)(n * n);
}

/* Leaves while there is a graph of its calls, or after that. */
static int abort_captured(ncclComm_t comm, CUstream s, bool live)
{
	CUgraph graph;
	CUgraphExec exec;
	const CUdeviceptr x = counting(3, 1, s);
	GOOD(cuStreamSynchronize(s));
	GOOD(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	GOOD(ncclAllReduce(at(x), at(x), 3, ncclFloat, ncclSum, comm, s));
	GOOD(cuStreamEndCapture(s, &graph));
	GOOD(cuGraphInstantiate(&exec, graph, 0));
	GOOD(cuGraphDestroy(graph));
	if (!live)
		GOOD(cuGraphExecDestroy(exec));
	signal(SIGALRM, SIG_DFL);
	alarm(2);
	GOOD(ncclCommAbort(comm));
	return 1;
}

static int after_graph(ncclComm_t comm, int rank, int n, CUstream s)
{
	(void)rank;
	(void)n;
	return abort_captured(comm, s, false);
}

static int before_graph(ncclComm_t comm, int rank, int n, CUstream s)
{
	(void)rank;
	(void)n;
	return abort_captured(comm, s, true);
}

static int mismatched(ncclComm_t comm, int rank, int n, CUstream s)
{
	ncclResult_t error = ncclSuccess;
	const CUdeviceptr x = counting(8, 0, s);
	(void)n;
	GOOD(ncclAllReduce(at(x), at(x), rank ? 8 : 4, ncclFloat, ncclSum, comm,
			   s));
	for (int i = 0; i < 5000 && !error; i++) {
		usleep(1000);
		cuStreamQuery(s);
		GOOD(ncclCommGetAsyncError(comm, &error));
	}
	GOOD(ncclCommAbort(comm));
	GOOD(cuStreamSynchronize(s));
	return error == ncclInvalidUsage;
}

/* A rank that does not come any more; the others can leave. */
static int deserted(ncclComm_t comm, int rank, int n, CUstream s)
{
	ncclResult_t error = ncclSuccess;
	const CUdeviceptr x = counting(8, 0, s);
	(void)n;
	if (rank == 1)
		_exit(0);
	GOOD(ncclAllReduce(at(x), at(x), 8, ncclFloat, ncclSum, comm, s));
	/* The child stays known until its parent has waited for it. */
	for (int i = 0; i < 300 && !error; i++) {
		usleep(1000);
		cuStreamQuery(s);
		GOOD(ncclCommGetAsyncError(comm, &error));
	}
	IS(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	GOOD(ncclCommAbort(comm));
	GOOD(cuStreamSynchronize(s));
	return 1;
}

static int refused(ncclComm_t comm, int rank, int n, CUstream s)
{
	float host[4];
	const CUdeviceptr x = counting(8, 0, s);
	(void)rank;
	IS(ncclAllReduce(host, at(x), 4, ncclFloat, ncclSum, comm, s),
	   ncclInvalidArgument);
	IS(ncclAllReduce(at(x), at(x), 9, ncclFloat, ncclSum, comm, s),
	   ncclInvalidArgument);
	IS(ncclAllReduce(at(x), at(x + 4), 4, ncclFloat, ncclSum, comm, s),
	   ncclInvalidArgument);
	IS(ncclSend(at(x), 1, ncclFloat, n, comm, s), ncclInvalidArgument);
	return 1;
}

static rank_fn *const rank_tests[] = {collectives, split, in_graph,
				      after_graph, deserted, refused};

START_TEST(test_ranks)
{
	ck_assert_int_eq(ranks(4, rank_tests[_i]), 0);
}
END_TEST

/* One at least is told; the others wait for it. */
START_TEST(test_mismatch)
{
	ck_assert_int_lt(ranks(4, mismatched), 4);
}
END_TEST

/* None comes back. */
START_TEST(test_abort_of_captured)
{
	ck_assert_int_eq(ranks(2, before_graph), 2);
}
END_TEST

START_TEST(test_one_gpu)
{
	ncclUniqueId id;
	ncclComm_t comm;
	int status;
	GOOD(ncclGetUniqueId(&id));
	const pid_t child = fork();
	begin(1);
	IS(ncclCommInitRank(&comm, 2, id, child == 0), ncclInvalidUsage);
	if (child == 0)
		_exit(0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* ---- cuBLASLt ------------------------------------------------------------ */

static cublasLtMatrixLayout_t matrix(int rows, int cols, int ld, int batches,
				     int64_t stride)
{
	cublasLtMatrixLayout_t l;
	GOOD(cublasLtMatrixLayoutCreate(&l, CUDA_R_32F, (uint64_t)rows,
					(uint64_t)cols, ld));
	GOOD(cublasLtMatrixLayoutSetAttribute(
		l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batches,
		sizeof batches));
	GOOD(cublasLtMatrixLayoutSetAttribute(
		l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
		sizeof stride));
	return l;
}

/* y[batch][j][i] = sum over k of x[batch][i][k] x[batch][k][j], by columns,
 * with the first transposed. */
START_TEST(test_matmul)
{
	enum {
		M = 3,
		K = 4,
		COLS = 5,
		LD = 6,
	};
	const float one = 1, zero = 0;
	cublasLtHandle_t handle;
	cublasLtMatmulDesc_t desc;
	cublasLtMatmulPreference_t preference;
	cublasLtMatmulHeuristicResult_t found;
	const int32_t t = CUBLAS_OP_T;
	const uint32_t aligned = 4;
	int n;
	begin(1);
	const CUstream s = stream();
	const CUdeviceptr a = counting(200, 1, s), d = counting(200, 0, s);
	GOOD(cublasLtCreate(&handle));
	GOOD(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
	GOOD(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA,
					    &t, sizeof t));
	IS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA,
					  &t, 8),
	   CUBLAS_STATUS_INVALID_VALUE);
	GOOD(cublasLtMatmulPreferenceCreate(&preference));
	for (int i = 0; i < 4; i++)
		GOOD(cublasLtMatmulPreferenceSetAttribute(
			preference,
			(cublasLtMatmulPreferenceAttributes_t)(
				CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES +
				i),
			&aligned, sizeof aligned));
	const cublasLtMatrixLayout_t la = matrix(K, M, LD, 2, 50);
	const cublasLtMatrixLayout_t lb = matrix(K, COLS, K, 2, 0);
	const cublasLtMatrixLayout_t lc = matrix(M, COLS, M, 2, 20);
	const cublasLtMatrixLayout_t thin = matrix(K, M, K - 1, 2, 50);
	const cublasLtMatrixLayout_t clash = matrix(M, COLS, M, 2, 7);
	IS(cublasLtMatmulAlgoGetHeuristic(handle, desc, thin, lb, lc, lc,
					  preference, 1, &found, &n),
	   CUBLAS_STATUS_INVALID_VALUE);
	IS(cublasLtMatmulAlgoGetHeuristic(handle, desc, la, lb, clash, clash,
					  preference, 1, &found, &n),
	   CUBLAS_STATUS_NOT_SUPPORTED);
	GOOD(cublasLtMatmulAlgoGetHeuristic(handle, desc, la, lb, lc, lc,
					    preference, 1, &found, &n));
	ck_assert_int_eq(n, 1);
	GOOD(cublasLtMatmul(handle, desc, &one, at(a), la, at(a), lb, &zero,
			    at(d), lc, at(d), lc, &found.algo, NULL, 0, s));
	IS(cublasLtMatmul(handle, desc, &one, at(a + 2), la, at(a), lb, &zero,
			  at(d), lc, at(d), lc, &found.algo, NULL, 0, s),
	   CUBLAS_STATUS_INVALID_VALUE);
	for (int batch = 0; batch < 2; batch++)
		for (int j = 0; j < COLS; j++)
			for (int i = 0; i < M; i++) {
				float sum = 0;
				for (int k = 0; k < K; k++)
					sum += (float)(1 + batch * 50 + i * LD +
						       k) *
					       (float)(1 + j * K + k);
				ck_assert(element(d, batch * 20 + j * M + i,
						  s) == sum);
			}
}
END_TEST

/* ---- cuDNN --------------------------------------------------------------- */

typedef struct convolution {
	cudnnTensorDescriptor_t x, y;
	cudnnFilterDescriptor_t w;
	cudnnConvolutionDescriptor_t c;
} convolution;

static void describe(convolution *v)
{
	static const int x[] = {2, 3, 7, 6}, w[] = {4, 3, 3, 2};
	static const int y[] = {2, 4, 4, 5}; /* (7 + 2 - 3) / 2 + 1, .. */
	static const int xs[] = {126, 42, 6, 1}, ys[] = {80, 20, 5, 1};
	static const int pad[] = {1, 0}, stride[] = {2, 1};
	static const int dilation[] = {1, 1};
	GOOD(cudnnCreateTensorDescriptor(&v->x));
	GOOD(cudnnCreateTensorDescriptor(&v->y));
	GOOD(cudnnCreateFilterDescriptor(&v->w));
	GOOD(cudnnCreateConvolutionDescriptor(&v->c));
	GOOD(cudnnSetTensorNdDescriptor(v->x, CUDNN_DATA_FLOAT, 4, x, xs));
	GOOD(cudnnSetTensorNdDescriptor(v->y, CUDNN_DATA_FLOAT, 4, y, ys));
	GOOD(cudnnSetFilterNdDescriptor(v->w, CUDNN_DATA_FLOAT,
					CUDNN_TENSOR_NCHW, 4, w));
	GOOD(cudnnSetConvolutionNdDescriptor(v->c, 2, pad, stride, dilation,
					     CUDNN_CROSS_CORRELATION,
					     CUDNN_DATA_FLOAT));
}

static double inner(CUdeviceptr a, CUdeviceptr b, int n, CUstream s)
{
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += (double)element(a, i, s) * (double)element(b, i, s);
	return sum;
}

/* The gradients are the adjoints of the convolution, and one element of it is
 * what it should be. */
START_TEST(test_convolution)
{
	const float one = 1, zero = 0;
	cudnnHandle_t h;
	convolution v;
	begin(1);
	const CUstream s = stream();
	const CUdeviceptr x = counting(252, -100, s), w = counting(72, -30, s);
	const CUdeviceptr y = counting(160, -50, s), to_x = memory(252 * 4);
	const CUdeviceptr to_w = memory(72 * 4), to_y = memory(160 * 4);
	const CUdeviceptr space = memory(4096);
	GOOD(cudnnCreate(&h));
	GOOD(cudnnSetStream(h, s));
	describe(&v);
	GOOD(cudnnConvolutionForward(
		h, &one, v.x, at(x), v.w, at(w), v.c,
		CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, at(space), 4096,
		&zero, v.y, at(to_y)));
	GOOD(cudnnConvolutionBackwardData(
		h, &one, v.w, at(w), v.y, at(y), v.c,
		CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, at(space), 4096, &zero, v.x,
		at(to_x)));
	GOOD(cudnnConvolutionBackwardFilter(
		h, &one, v.x, at(x), v.y, at(y), v.c,
		CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, at(space), 4096, &zero,
		v.w, at(to_w)));
	float sum = 0; /* image 1, channel 2, row 0, column 3 */
	for (int c = 0; c < 3; c++)
		for (int i = 1; i < 3; i++)
			for (int j = 0; j < 2; j++)
				sum += (float)(-100 + 126 + c * 42 +
					       (i - 1) * 6 + 3 + j) *
				       (float)(-30 + (2 * 3 + c) * 6 + i * 2 +
					       j);
	ck_assert(element(to_y, 80 + 2 * 20 + 3, s) == sum);
	const double all = inner(to_y, y, 160, s);
	ck_assert(all != 0 && inner(to_x, x, 252, s) == all &&
		  inner(to_w, w, 72, s) == all);
	IS(cudnnConvolutionForward(
		   h, &one, v.x, at(x), v.w, at(w), v.c,
		   CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, at(space), 16,
		   &zero, v.y, at(to_y)),
	   CUDNN_STATUS_BAD_PARAM);
}
END_TEST

int main(void)
{
	if (system("command -v ${CXX:-c++} >/dev/null")) {
		puts("SKIP: there is no C++ compiler");
		return 77;
	}
	Suite *s = suite_create("fakes");
	TCase *t = tcase_create("fakes");
	tcase_set_timeout(t, 60);
	tcase_add_unchecked_fixture(t, compile_once, NULL);
	tcase_add_test(t, test_memory);
	tcase_add_test_raise_signal(t, test_host_keeps_off, 11);
	tcase_add_test(t, test_pageable_copy);
	tcase_add_test(t, test_events);
	tcase_add_test(t, test_host_function);
	tcase_add_test(t, test_kernels);
	tcase_add_loop_test(t, test_wrong_kernels, 0, 3);
	tcase_add_test(t, test_illegal_address);
	tcase_add_test(t, test_compiler);
	tcase_add_test(t, test_graphs);
	tcase_add_test(t, test_capture_refuses);
	tcase_add_loop_test(t, test_peers, 0, 2);
	tcase_add_loop_test(t, test_ranks, 0,
			    sizeof rank_tests / sizeof rank_tests[0]);
	tcase_add_test(t, test_mismatch);
	tcase_add_test(t, test_abort_of_captured);
	tcase_add_test(t, test_one_gpu);
	tcase_add_test(t, test_matmul);
	tcase_add_test(t, test_convolution);
	suite_add_tcase(s, t);
	SRunner *runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	const int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	free(image);
	return failed > 0;
}
