/* Tests: runtime/cuda */
/* The fake libraries themselves: that they do what the real ones do, and find
 * what these would not forgive.  Here are the driver and the compiler. */
#include <check.h>
#include <nvrtc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fakes.h"

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
	"__device__ float turn(float *x, bool waits, bool meets)\n"
	"{\n"
	"	__shared__ __align__(16) float all[32 * 4];\n"
	"	const int at = threadIdx.x * 4;\n"
	"	tdl_begin_copy(all + at, x + at);\n"
	"	tdl_end_copies();\n"
	"	if (waits)\n"
	"		tdl_wait_for_copies();\n"
	"	if (meets)\n"
	"		__syncthreads();\n"
	"	const float *mine = all + (31 - threadIdx.x) * 4;\n"
	"	return mine[0] * mine[1] * mine[2] + mine[3];\n"
	"}\n"
	"extern \"C\" __global__ void turned(float *x)\n"
	"{\n"
	"	const float y = turn(x, true, true);\n"
	"	__syncthreads();\n"
	"	x[threadIdx.x] = y;\n"
	"}\n"
	"extern \"C\" __global__ void early(float *x)\n"
	"{\n"
	"	assert(turn(x, true, false) == 0);\n"
	"}\n"
	"extern \"C\" __global__ void careless(float *x)\n"
	"{\n"
	"	turn(x, false, true);\n"
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
void begin(int seed)
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

CUdeviceptr memory(size_t n)
{
	CUdeviceptr p;
	GOOD(cuMemAlloc(&p, n));
	return p;
}

CUstream stream(void)
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

/* n floats, from + i. */
CUdeviceptr counting(int n, float from, CUstream s)
{
	const CUdeviceptr p = memory(sizeof(float) * (size_t)n);
	float x[4096];
	for (int i = 0; i < n; i++)
		x[i] = from + (float)i;
	GOOD(cuMemcpyHtoDAsync(p, x, sizeof(float) * (size_t)n, s));
	return p;
}

float element(CUdeviceptr p, int i, CUstream s)
{
	return first_of(s, p + sizeof(float) * (size_t)i);
}

void *at(CUdeviceptr p)
{
	return (void *)(uintptr_t)p;
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
	{"early", CUDA_ERROR_LAUNCH_FAILED},
	{"careless", CUDA_ERROR_LAUNCH_FAILED},
};

/* A thread multiplies three elements that another one copied, and adds the
 * fourth. */
START_TEST(test_copies)
{
	begin(1);
	const CUstream s = stream();
	const CUdeviceptr p = counting(128, 0, s);
	GOOD(cuStreamSynchronize(s));
	GOOD(launch("turned", 32, p));
	GOOD(cuCtxSynchronize());
	ck_assert(element(p, 30, s) == 4 * 5 * 6 + 7);
	ck_assert(element(p, 0, s) == 124.f * 125 * 126 + 127);
}
END_TEST

START_TEST(test_wrong_kernels)
{
	CUdeviceptr other;
	begin(1);
	const CUdeviceptr p = memory(4096);
	GOOD(cuMemsetD8Async(p, 0, 4096, NULL));
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

int main(void)
{
	if (system("command -v ${CXX:-c++} >/dev/null")) {
		puts("SKIP: there is no C++ compiler");
		return 77;
	}
	setenv("CK_DEFAULT_TIMEOUT", "900", 0); /* against tests that hang */
	Suite *s = suite_create("fakes");
	TCase *t = tcase_create("fakes");
	tcase_add_unchecked_fixture(t, compile_once, NULL);
	tcase_add_test(t, test_memory);
	tcase_add_test_raise_signal(t, test_host_keeps_off, 11);
	tcase_add_test(t, test_pageable_copy);
	tcase_add_test(t, test_events);
	tcase_add_test(t, test_host_function);
	tcase_add_test(t, test_kernels);
	tcase_add_test(t, test_copies);
	tcase_add_loop_test(t, test_wrong_kernels, 0,
			    sizeof wrong / sizeof wrong[0]);
	tcase_add_test(t, test_illegal_address);
	tcase_add_test(t, test_compiler);
	tcase_add_test(t, test_graphs);
	tcase_add_test(t, test_capture_refuses);
	tcase_add_loop_test(t, test_peers, 0, 2);
	add_nccl_tests(t);
	add_product_tests(t);
	suite_add_tcase(s, t);
	SRunner *runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	const int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	free(image);
	return failed > 0;
}
