/* The fake driver's memory.  An allocation on a device ends just before a page
 * without access, is filled with 0xcb, and is accessible only to kernels and
 * copies, while they run: a program that reads it on the host gets a signal.
 * As with the real one, neither a copy from pageable memory nor a fill has been
 * done when the call returns, and streams that do not block do not wait for
 * them. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "driver.h"
#include "queue.h"

enum {
	PAGE = 4096,
	ALIGNMENT = 256,
	POISON = 0xcb,
	BEHIND = 0x5a, /* between the end of an allocation and the page */
};

typedef struct block {
	struct block *next;
	unsigned char *map, *data;
	size_t mapped, size;
	int device; /* -1: the host's, pinned */
	bool ours, open;
} block;

static block *blocks;
static size_t used[MAX_DEVICES];
static int opened = -1; /* the device whose work may use memory; -1: none */

/* ---- blocks -------------------------------------------------------------- */

/* The block that has all n bytes at p. */
static block *find(const void *p, size_t n)
{
	const uintptr_t at = (uintptr_t)p;
	for (block *b = blocks; b; b = b->next) {
		const uintptr_t from = (uintptr_t)b->data;
		if (at >= from && at <= from + b->size &&
		    n <= from + b->size - at && (n > 0 || at < from + b->size))
			return b;
	}
	return NULL;
}

int fake_device_of(const void *p, size_t n, bool *pinned)
{
	pthread_mutex_lock(&fake_lock);
	const block *b = find(p, n);
	const int device = b ? b->device : -1;
	*pinned = b && b->device < 0;
	pthread_mutex_unlock(&fake_lock);
	return device;
}

static void protect(block *b, bool open)
{
	if (b->device < 0 || b->open == open)
		return;
	mprotect(b->map, b->mapped - PAGE,
		 open ? PROT_READ | PROT_WRITE : PROT_NONE);
	b->open = open;
}

void memory_open(CUcontext c)
{
	const int device = c ? c->device : -1;
	if (device == opened)
		return;
	opened = device;
	for (block *b = blocks; b; b = b->next)
		protect(b, c && b->device >= 0 && (b->device == device ||
						   c->peers[b->device]));
}

/* For a copy, which needs no rights to a peer's memory. */
static void open_for(const void *p)
{
	block *b = find(p, 1);
	if (b)
		protect(b, true);
	opened = MAX_DEVICES; /* no device: the next memory_open() sets all */
}

static block *new_block(size_t size, int device)
{
	const size_t whole = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	const size_t body = (whole + PAGE - 1) & ~(size_t)(PAGE - 1);
	block *b = calloc(1, sizeof *b);
	if (!b)
		return NULL;
	b->mapped = body + PAGE;
	b->map = mmap(NULL, b->mapped, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (b->map == MAP_FAILED) {
		free(b);
		return NULL;
	}
	b->data = b->map + body - whole;
	b->size = size;
	b->device = device;
	b->ours = b->open = true;
	memset(b->data, POISON, size);
	memset(b->data + size, BEHIND, whole - size);
	mprotect(b->map + body, PAGE, PROT_NONE);
	b->next = blocks;
	blocks = b;
	if (device >= 0)
		protect(b, false);
	opened = MAX_DEVICES;
	return b;
}

/* False if something was written past its end. */
static bool delete_block(block *b)
{
	bool intact = true;
	for (block **p = &blocks; *p; p = &(*p)->next)
		if (*p == b) {
			*p = b->next;
			break;
		}
	if (b->ours) {
		protect(b, true);
		for (const unsigned char *q = b->data + b->size;
		     q < b->map + b->mapped - PAGE; q++)
			intact = intact && *q == BEHIND;
		munmap(b->map, b->mapped);
	}
	free(b);
	return intact;
}

/* ---- allocation ---------------------------------------------------------- */

static size_t total(void)
{
	const char *s = getenv("FAKE_CUDA_MEMORY");
	return (size_t)(s ? strtoull(s, NULL, 10) : 4096) << 20;
}

bool fake_take(int device, size_t nbytes)
{
	pthread_mutex_lock(&fake_lock);
	const bool has = nbytes <= total() - used[device];
	if (has)
		used[device] += nbytes;
	pthread_mutex_unlock(&fake_lock);
	return has;
}

FAKE_EXPORT CUresult cuMemGetInfo(size_t *available, size_t *all)
{
	ENTER(NEEDS_CONTEXT);
	*all = total();
	*available = total() - used[current()->device];
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuDeviceTotalMem(size_t *bytes, CUdevice dev)
{
	ENTER(NEEDS_INIT);
	if (dev < 0 || dev >= device_count())
		return leave(CUDA_ERROR_INVALID_DEVICE);
	*bytes = total();
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuMemAlloc(CUdeviceptr *p, size_t size)
{
	ENTER(NEEDS_CONTEXT);
	const int device = current()->device;
	const CUresult refused = refuse_in_capture();
	if (refused)
		return leave(refused);
	if (size == 0)
		return leave(CUDA_ERROR_INVALID_VALUE);
	if (size > total() - used[device])
		return leave(CUDA_ERROR_OUT_OF_MEMORY);
	block *b = new_block(size, device);
	if (!b)
		return leave(CUDA_ERROR_OUT_OF_MEMORY);
	used[device] += size;
	*p = (CUdeviceptr)(uintptr_t)b->data;
	note("allocated %zu bytes on %d", size, device);
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuMemFree(CUdeviceptr p)
{
	ENTER(NEEDS_CONTEXT);
	block *b = find((void *)(uintptr_t)p, 0);
	if (p == 0)
		return leave(CUDA_SUCCESS);
	if (!b || b->device < 0 || (CUdeviceptr)(uintptr_t)b->data != p)
		return leave(CUDA_ERROR_INVALID_VALUE);
	const CUresult refused = refuse_in_capture();
	if (refused)
		return leave(refused);
	const CUresult result = finish_device(-1);
	used[b->device] -= b->size;
	return leave(delete_block(b) ? result : CUDA_ERROR_ILLEGAL_ADDRESS);
}

FAKE_EXPORT CUresult cuMemHostAlloc(void **p, size_t size, unsigned flags)
{
	ENTER(NEEDS_CONTEXT);
	const CUresult refused = refuse_in_capture();
	if (refused)
		return leave(refused);
	if (size == 0 || flags > 7)
		return leave(CUDA_ERROR_INVALID_VALUE);
	block *b = new_block(size, -1);
	if (!b)
		return leave(CUDA_ERROR_OUT_OF_MEMORY);
	*p = b->data;
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuMemAllocHost(void **p, size_t size)
{
	return cuMemHostAlloc(p, size, 0);
}

FAKE_EXPORT CUresult cuMemFreeHost(void *p)
{
	ENTER(NEEDS_CONTEXT);
	block *b = find(p, 0);
	if (!b || b->device >= 0 || !b->ours || b->data != p)
		return leave(CUDA_ERROR_INVALID_VALUE);
	const CUresult result = finish_device(-1);
	return leave(delete_block(b) ? result : CUDA_ERROR_ILLEGAL_ADDRESS);
}

FAKE_EXPORT CUresult cuMemHostGetDevicePointer(CUdeviceptr *at, void *p,
					       unsigned flags)
{
	ENTER(NEEDS_CONTEXT);
	const block *b = find(p, 0);
	if (!b || b->device >= 0 || flags)
		return leave(CUDA_ERROR_INVALID_VALUE);
	*at = (CUdeviceptr)(uintptr_t)p;
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuMemHostRegister(void *p, size_t size, unsigned flags)
{
	ENTER(NEEDS_CONTEXT);
	if (!p || size == 0 || flags > 15)
		return leave(CUDA_ERROR_INVALID_VALUE);
	if (find(p, 0) || find((char *)p + size - 1, 1))
		return leave(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
	block *b = calloc(1, sizeof *b);
	if (!b)
		return leave(CUDA_ERROR_OUT_OF_MEMORY);
	*b = (block){.next = blocks, .data = p, .size = size, .device = -1};
	blocks = b;
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuMemHostUnregister(void *p)
{
	ENTER(NEEDS_CONTEXT);
	block *b = find(p, 0);
	if (!b || b->device >= 0 || b->ours || b->data != p)
		return leave(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
	const CUresult result = finish_device(-1);
	delete_block(b);
	return leave(result);
}

/* ---- copies -------------------------------------------------------------- */

typedef struct copy {
	void *to;
	const void *from;
	size_t n;
	void *staged; /* its own copy of pageable memory */
} copy;

static CUresult step_copy(void *arg, bool first)
{
	const copy *c = arg;
	(void)first;
	open_for(c->to);
	open_for(c->from);
	memmove(c->to, c->from, c->n);
	return CUDA_SUCCESS;
}

static void release_copy(void *arg)
{
	copy *c = arg;
	free(c->staged);
	free(c);
}

/* Where memory is, by the pointer. */
typedef enum place {
	ON_DEVICE,
	PINNED,
	PAGEABLE,
	NOWHERE, /* beyond the end of a block */
} place;

static place place_of(const void *p, size_t n)
{
	const block *b = find(p, n);
	if (b)
		return b->device < 0 ? PINNED : ON_DEVICE;
	b = find(p, 0);
	return b ? NOWHERE : PAGEABLE;
}

static bool fits(place p, bool of_device)
{
	return of_device ? p == ON_DEVICE || p == PINNED
			 : p == PINNED || p == PAGEABLE;
}

typedef struct copy_kind {
	const char *what;
	bool to_device, from_device;
} copy_kind;
static const copy_kind up = {"copy up", true, false};
static const copy_kind down = {"copy down", false, true};
static const copy_kind across = {"copy across", true, true};

static CUresult enqueue_copy(const copy_kind *k, void *to, const void *from,
			     size_t n, CUstream s, bool wait)
{
	const place a = place_of(to, n), b = place_of(from, n);
	if (n == 0)
		return CUDA_SUCCESS;
	if (!fits(a, k->to_device) || !fits(b, k->from_device))
		return CUDA_ERROR_INVALID_VALUE;
	const bool pageable = a == PAGEABLE || b == PAGEABLE;
	if (pageable && captures_now(s))
		return spoil_capture(s);
	copy *c = malloc(sizeof *c);
	if (!c)
		abort();
	*c = (copy){to, from, n, NULL};
	if (b == PAGEABLE) {
		c->staged = malloc(n);
		if (!c->staged)
			abort();
		c->from = memcpy(c->staged, from, n);
	}
	const fake_work w = {
		.what = k->what,
		.step = step_copy,
		.release = release_copy,
		.arg = c};
	const CUresult result = enqueue(s, &w);
	if (result || !(wait || a == PAGEABLE) || c->staged)
		return result;
	return finish_stream(s);
}

static void *at(CUdeviceptr p)
{
	return (void *)(uintptr_t)p;
}

static CUresult copy_now(const copy_kind *k, void *to, const void *from,
			 size_t n)
{
	const CUresult refused = refuse_in_capture();
	return refused ? refused : enqueue_copy(k, to, from, n, NULL, true);
}

FAKE_EXPORT CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t n)
{
	ENTER(NEEDS_CONTEXT);
	return leave(copy_now(&up, at(to), from, n));
}

FAKE_EXPORT CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t n)
{
	ENTER(NEEDS_CONTEXT);
	return leave(copy_now(&down, to, at(from), n));
}

/* Not even the real one waits for a copy within a device. */
FAKE_EXPORT CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t n)
{
	ENTER(NEEDS_CONTEXT);
	const CUresult refused = refuse_in_capture();
	return leave(refused ? refused
			     : enqueue_copy(&across, at(to), at(from), n, NULL,
					    false));
}

FAKE_EXPORT CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from,
				       size_t n, CUstream s)
{
	ENTER(NEEDS_CONTEXT);
	return leave(enqueue_copy(&up, at(to), from, n, s, false));
}

FAKE_EXPORT CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t n,
				       CUstream s)
{
	ENTER(NEEDS_CONTEXT);
	return leave(enqueue_copy(&down, to, at(from), n, s, false));
}

FAKE_EXPORT CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from,
				       size_t n, CUstream s)
{
	ENTER(NEEDS_CONTEXT);
	return leave(enqueue_copy(&across, at(to), at(from), n, s, false));
}

FAKE_EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t n,
				   CUstream s)
{
	ENTER(NEEDS_CONTEXT);
	const copy_kind any = {"copy", place_of(at(to), n) != PAGEABLE,
			       place_of(at(from), n) != PAGEABLE};
	return leave(enqueue_copy(&any, at(to), at(from), n, s, false));
}

FAKE_EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext of_to,
				       CUdeviceptr from, CUcontext of_from,
				       size_t n, CUstream s)
{
	ENTER(NEEDS_CONTEXT);
	const block *a = find(at(to), n), *b = find(at(from), n);
	if (n && (!a || !b || a->device != of_to->device ||
		  b->device != of_from->device))
		return leave(CUDA_ERROR_INVALID_VALUE);
	return leave(enqueue_copy(&across, at(to), at(from), n, s, false));
}

/* ---- fills --------------------------------------------------------------- */

typedef struct fill {
	unsigned char *to;
	size_t n, width;
	unsigned value;
} fill;

static CUresult step_fill(void *arg, bool first)
{
	const fill *f = arg;
	(void)first;
	open_for(f->to);
	for (size_t i = 0; i < f->n; i++)
		memcpy(f->to + i * f->width, &f->value, f->width);
	return CUDA_SUCCESS;
}

static CUresult enqueue_fill(CUdeviceptr to, unsigned value, size_t n,
			     size_t width, CUstream s)
{
	if (n == 0)
		return CUDA_SUCCESS;
	if (to % width || n > SIZE_MAX / width ||
	    !fits(place_of(at(to), n * width), true))
		return CUDA_ERROR_INVALID_VALUE;
	fill *f = malloc(sizeof *f);
	if (!f)
		abort();
	*f = (fill){at(to), n, width, value};
	const fake_work w = {
		.what = "fill", .step = step_fill, .release = free, .arg = f};
	return enqueue(s, &w);
}

FAKE_EXPORT CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t n)
{
	ENTER(NEEDS_CONTEXT);
	const CUresult refused = refuse_in_capture();
	return leave(refused ? refused : enqueue_fill(to, value, n, 1, NULL));
}

FAKE_EXPORT CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t n)
{
	ENTER(NEEDS_CONTEXT);
	const CUresult refused = refuse_in_capture();
	return leave(refused ? refused : enqueue_fill(to, value, n, 4, NULL));
}

FAKE_EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value,
				     size_t n, CUstream s)
{
	ENTER(NEEDS_CONTEXT);
	return leave(enqueue_fill(to, value, n, 1, s));
}

FAKE_EXPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t n,
				      CUstream s)
{
	ENTER(NEEDS_CONTEXT);
	return leave(enqueue_fill(to, value, n, 4, s));
}
