/* The fake driver: devices, contexts, errors. */
#include "driver.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
static bool initialised;
static struct CUctx_st contexts[MAX_DEVICES];
static _Thread_local CUcontext stack[16];
static _Thread_local int depth; /* of the stack; the top is current */

/* ---- the environment ----------------------------------------------------- */

static long setting(const char *name, long otherwise)
{
	const char *s = getenv(name);
	return s && *s ? strtol(s, NULL, 10) : otherwise;
}

int device_count(void)
{
	const long n = setting("FAKE_CUDA_DEVICES", 1);
	return n < 0 ? 0 : n > MAX_DEVICES ? MAX_DEVICES : (int)n;
}

int device_arch(void)
{
	return (int)setting("FAKE_CUDA_ARCH", 90);
}

unsigned fake_random(unsigned n)
{
	static uint64_t state;
	static bool seeded;
	if (!seeded)
		state = (uint64_t)setting("FAKE_CUDA_SEED", 1) + 1;
	seeded = true;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)((state * 2685821657736338717u) >> 33) % n;
}

void note(const char *fmt, ...)
{
	static FILE *log;
	static bool opened;
	const char *path = getenv("FAKE_CUDA_LOG");
	if (!opened && path)
		log = fopen(path, "a");
	opened = true;
	if (!log)
		return;
	va_list ap;
	va_start(ap, fmt);
	fprintf(log, "%d: ", (int)getpid());
	vfprintf(log, fmt, ap);
	fputc('\n', log);
	fflush(log);
	va_end(ap);
}

int injected(const char *function)
{
	static long calls;
	const char *s = getenv("FAKE_CUDA_FAIL");
	const size_t n = strlen(function);
	/* The symbol may be that of a version. */
	if (!s || strncmp(s, function, strcspn(s, ":")) ||
	    (n != strcspn(s, ":") && function[strcspn(s, ":")] != '_'))
		return 0;
	s += strcspn(s, ":");
	if (*s != ':')
		return 0;
	char *end;
	const long which = strtol(s + 1, &end, 10);
	if (++calls != which || *end != ':')
		return 0;
	note("%s fails on demand", function);
	return strcmp(end + 1, "hang") ? atoi(end + 1) : -1;
}

/* ---- calls --------------------------------------------------------------- */

CUcontext current(void)
{
	return depth > 0 ? stack[depth - 1] : NULL;
}

CUcontext context_of(int device)
{
	return &contexts[device];
}

CUresult enter(const char *function, fake_needs needs)
{
	pthread_mutex_lock(&fake_lock);
	count_call();
	if (in_host_function())
		return CUDA_ERROR_NOT_PERMITTED;
	if (needs >= NEEDS_INIT && !initialised)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (needs >= NEEDS_CONTEXT) {
		const CUcontext c = current();
		if (!c)
			return CUDA_ERROR_INVALID_CONTEXT;
		if (c->retained == 0)
			return CUDA_ERROR_CONTEXT_IS_DESTROYED;
		if (c->error)
			return c->error;
	}
	const int code = injected(function);
	return code > 0 ? (CUresult)code : CUDA_SUCCESS;
}

CUresult leave(CUresult result)
{
	pthread_mutex_unlock(&fake_lock);
	return result;
}

/* ---- errors -------------------------------------------------------------- */

static const struct {
	CUresult code;
	const char *name, *text;
} errors[] = {
#define E(code, text) {CUDA_##code, "CUDA_" #code, text}
	E(SUCCESS, "no error"),
	E(ERROR_INVALID_VALUE, "invalid argument"),
	E(ERROR_OUT_OF_MEMORY, "out of memory"),
	E(ERROR_NOT_INITIALIZED, "initialization error"),
	E(ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
	E(ERROR_INVALID_DEVICE, "invalid device ordinal"),
	E(ERROR_INVALID_IMAGE, "device kernel image is invalid"),
	E(ERROR_INVALID_CONTEXT, "invalid device context"),
	E(ERROR_NO_BINARY_FOR_GPU,
	  "no kernel image is available for execution on the device"),
	E(ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
	E(ERROR_INVALID_HANDLE, "invalid resource handle"),
	E(ERROR_NOT_FOUND, "named symbol not found"),
	E(ERROR_NOT_READY, "device not ready"),
	E(ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
	E(ERROR_LAUNCH_OUT_OF_RESOURCES,
	  "too many resources requested for launch"),
	E(ERROR_PEER_ACCESS_ALREADY_ENABLED,
	  "peer access is already enabled"),
	E(ERROR_PEER_ACCESS_UNSUPPORTED,
	  "peer access is not supported between these two devices"),
	E(ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
	E(ERROR_HOST_MEMORY_ALREADY_REGISTERED,
	  "part or all of the requested memory range is already mapped"),
	E(ERROR_HOST_MEMORY_NOT_REGISTERED,
	  "pointer does not correspond to a registered memory region"),
	E(ERROR_MISALIGNED_ADDRESS, "misaligned address"),
	E(ERROR_LAUNCH_FAILED, "unspecified launch failure"),
	E(ERROR_NOT_PERMITTED, "operation not permitted"),
	E(ERROR_NOT_SUPPORTED, "operation not supported"),
	E(ERROR_STREAM_CAPTURE_UNSUPPORTED,
	  "operation not permitted when stream is capturing"),
	E(ERROR_STREAM_CAPTURE_INVALIDATED,
	  "operation failed due to a previous error during capture"),
	E(ERROR_STREAM_CAPTURE_MERGE,
	  "operation would result in a merge of separate capture sequences"),
	E(ERROR_STREAM_CAPTURE_UNMATCHED,
	  "capture was not ended in the same stream as it began"),
	E(ERROR_STREAM_CAPTURE_UNJOINED,
	  "capturing stream has unjoined work"),
	E(ERROR_STREAM_CAPTURE_ISOLATION,
	  "dependency created on uncaptured work in another stream"),
	E(ERROR_STREAM_CAPTURE_IMPLICIT,
	  "operation would make the legacy stream depend on a capturing "
	  "blocking stream"),
	E(ERROR_CAPTURED_EVENT,
	  "operation not permitted on an event last recorded in a capturing "
	  "stream"),
	E(ERROR_STREAM_CAPTURE_WRONG_THREAD,
	  "attempt to terminate a thread-local capture sequence from another "
	  "thread"),
	E(ERROR_UNKNOWN, "unknown error"),
#undef E
};

static CUresult find_error(CUresult error, bool named, const char **text)
{
	*text = NULL;
	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
		if (errors[i].code == error)
			*text = named ? errors[i].name : errors[i].text;
	return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

FAKE_EXPORT CUresult cuGetErrorName(CUresult error, const char **text)
{
	return find_error(error, true, text);
}

FAKE_EXPORT CUresult cuGetErrorString(CUresult error, const char **text)
{
	return find_error(error, false, text);
}

/* ---- devices ------------------------------------------------------------- */

FAKE_EXPORT CUresult cuInit(unsigned flags)
{
	ENTER(NEEDS_NOTHING);
	if (flags)
		return leave(CUDA_ERROR_INVALID_VALUE);
	if (device_count() == 0)
		return leave(CUDA_ERROR_NO_DEVICE);
	initialised = true;
	for (int i = 0; i < MAX_DEVICES; i++)
		contexts[i].device = i;
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuDriverGetVersion(int *version)
{
	*version = (int)setting("FAKE_CUDA_VERSION", CUDA_VERSION);
	return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDeviceGetCount(int *count)
{
	ENTER(NEEDS_INIT);
	*count = device_count();
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	ENTER(NEEDS_INIT);
	if (ordinal < 0 || ordinal >= device_count())
		return leave(CUDA_ERROR_INVALID_DEVICE);
	*device = ordinal;
	return leave(CUDA_SUCCESS);
}

static bool is_device(CUdevice d)
{
	return d >= 0 && d < device_count();
}

FAKE_EXPORT CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
	ENTER(NEEDS_INIT);
	if (!is_device(dev) || len < 1)
		return leave(CUDA_ERROR_INVALID_DEVICE);
	snprintf(name, (size_t)len, "a fake GPU");
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
	ENTER(NEEDS_INIT);
	if (!is_device(dev))
		return leave(CUDA_ERROR_INVALID_DEVICE);
	memset(uuid, 0, sizeof *uuid);
	uuid->bytes[15] = (char)(dev + 1);
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuDeviceGetPCIBusId(char *id, int len, CUdevice dev)
{
	ENTER(NEEDS_INIT);
	if (!is_device(dev) || len < 13)
		return leave(CUDA_ERROR_INVALID_VALUE);
	snprintf(id, (size_t)len, "0000:%02x:00.0", dev + 1);
	return leave(CUDA_SUCCESS);
}

static int attribute_of(CUdevice_attribute a, CUdevice dev)
{
	switch ((int)a) {
	case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
	case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X: return 1024;
	case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: return 0x7fffffff;
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return 48 << 10;
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
		return 227 << 10;
	case CU_DEVICE_ATTRIBUTE_WARP_SIZE: return 32;
	case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK: return 65536;
	case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
	case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return 1000000;
	case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return 4096;
	case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return 32 << 20;
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return 3;
	case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
	case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
	case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING: return 1;
	case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID: return dev + 1;
	case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return 2048;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
		return device_arch() / 10;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
		return device_arch() % 10;
	case CU_DEVICE_ATTRIBUTE_INTEGRATED:
	case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
	case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS: return 0;
	default: return -1;
	}
}

FAKE_EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute a,
					  CUdevice dev)
{
	ENTER(NEEDS_INIT);
	if (!is_device(dev))
		return leave(CUDA_ERROR_INVALID_DEVICE);
	*value = attribute_of(a, dev);
	return leave(*value < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuDeviceCanAccessPeer(int *can, CUdevice dev,
					   CUdevice peer)
{
	ENTER(NEEDS_INIT);
	if (!is_device(dev) || !is_device(peer))
		return leave(CUDA_ERROR_INVALID_DEVICE);
	*can = dev != peer && !getenv("FAKE_CUDA_NO_PEERS");
	return leave(CUDA_SUCCESS);
}

/* ---- contexts ------------------------------------------------------------ */

FAKE_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev)
{
	ENTER(NEEDS_INIT);
	if (!is_device(dev))
		return leave(CUDA_ERROR_INVALID_DEVICE);
	contexts[dev].retained++;
	*ctx = &contexts[dev];
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice dev)
{
	ENTER(NEEDS_INIT);
	if (!is_device(dev) || contexts[dev].retained == 0)
		return leave(CUDA_ERROR_INVALID_CONTEXT);
	contexts[dev].retained--;
	sleep((unsigned)setting("FAKE_CUDA_RELEASE", 0));
	return leave(CUDA_SUCCESS);
}

static bool is_context(CUcontext c)
{
	return c >= contexts && c < contexts + MAX_DEVICES && c->retained > 0;
}

FAKE_EXPORT CUresult cuCtxSetCurrent(CUcontext ctx)
{
	ENTER(NEEDS_INIT);
	if (ctx && !is_context(ctx))
		return leave(CUDA_ERROR_INVALID_CONTEXT);
	if (depth == 0)
		depth = 1;
	stack[depth - 1] = ctx;
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuCtxGetCurrent(CUcontext *ctx)
{
	ENTER(NEEDS_INIT);
	*ctx = current();
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuCtxPushCurrent(CUcontext ctx)
{
	ENTER(NEEDS_INIT);
	if (!is_context(ctx) || depth == sizeof stack / sizeof stack[0])
		return leave(CUDA_ERROR_INVALID_CONTEXT);
	stack[depth++] = ctx;
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuCtxPopCurrent(CUcontext *ctx)
{
	ENTER(NEEDS_INIT);
	if (depth == 0)
		return leave(CUDA_ERROR_INVALID_CONTEXT);
	depth--;
	if (ctx)
		*ctx = stack[depth];
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuCtxGetDevice(CUdevice *dev)
{
	ENTER(NEEDS_CONTEXT);
	*dev = current()->device;
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuCtxSynchronize(void)
{
	ENTER(NEEDS_CONTEXT);
	const CUresult refused = refuse_in_capture();
	return leave(refused ? refused : finish_device(current()->device));
}

FAKE_EXPORT CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
	ENTER(NEEDS_CONTEXT);
	if (flags)
		return leave(CUDA_ERROR_INVALID_VALUE);
	if (!is_context(peer) || peer == current())
		return leave(CUDA_ERROR_INVALID_CONTEXT);
	if (getenv("FAKE_CUDA_NO_PEERS"))
		return leave(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
	if (current()->peers[peer->device])
		return leave(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
	current()->peers[peer->device] = true;
	return leave(CUDA_SUCCESS);
}
