/* The backend `cuda': workers on GPUs, with memory there and programs that are
 * replayed. */
#include "config.h"

#include "runtime/cuda/cuda.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "runtime/cuda/kernels.h"
#include "runtime/cuda/library.h"
#include "runtime/cuda/link.h"
#include "runtime/cuda/program.h"
#include "runtime/cuda/staging.h"
#include "runtime/exec/backend.h"
#include "runtime/exec/communicator.h"

bool cuda_enter(const cuda *c, int gpu, failure *f)
{
	return CUDA_CALL(&c->api, f, cuCtxSetCurrent, c->gpus[gpu].context);
}

void cuda_note(const cuda *c, const char *fmt, ...)
{
	va_list ap;
	if (c->again)
		return;
	fputs("tdlrun: note: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* ---- GPUs -------------------------------------------------------------- */

static bool attribute(const cuda *c, CUdevice_attribute what, CUdevice device,
		      int *value, failure *f)
{
	return CUDA_CALL(&c->api, f, cuDeviceGetAttribute, value, what, device);
}

/* Opens streams.  Transfers have priority: after a kernel that fills the GPU
 * they would only begin when it ends, and so would everything that waits for
 * them. */
static bool open_streams(const cuda_api *api, cuda_gpu *g, failure *f)
{
	int least = 0, greatest = 0;
	return CUDA_CALL(api, f, cuCtxGetStreamPriorityRange, &least,
			 &greatest) &&
	       CUDA_CALL(api, f, cuStreamCreateWithPriority, &g->compute,
			 CU_STREAM_NON_BLOCKING, least) &&
	       CUDA_CALL(api, f, cuStreamCreateWithPriority, &g->comm,
			 CU_STREAM_NON_BLOCKING, greatest);
}

static bool open_gpu(cuda *c, cuda_gpu *g, int ordinal, failure *f)
{
	const cuda_api *api = &c->api;
	int major, minor;
	CUdevice device;
	if (!CUDA_CALL(api, f, cuDeviceGet, &device, ordinal) ||
	    !attribute(c, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device,
		       &major, f) ||
	    !attribute(c, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device,
		       &minor, f) ||
	    !attribute(c, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device,
		       &g->nprocessors, f))
		return false;
	g->arch = 10 * major + minor;
	g->device = device;
	return CUDA_CALL(api, f, cuDevicePrimaryCtxRetain, &g->context,
			 device) &&
	       CUDA_CALL(api, f, cuCtxSetCurrent, g->context) &&
	       open_streams(api, g, f);
}

static void close_gpu(cuda *c, cuda_gpu *g)
{
	const cuda_api *api = &c->api;
	if (!g->context)
		return;
	if (api->cuCtxSetCurrent(g->context) == CUDA_SUCCESS) {
		if (g->staging)
			staging_close(g->staging);
		if (g->compute)
			api->cuStreamDestroy(g->compute);
		if (g->comm)
			api->cuStreamDestroy(g->comm);
		for (int l = 0; g->messages && l < c->order.nlinks; l++)
			if (g->messages[l])
				api->cuStreamDestroy(g->messages[l]);
	}
	api->cuDevicePrimaryCtxRelease(g->device);
}

static bool reaches(const cuda *c, int from, int to)
{
	int can = 0;
	return c->api.cuDeviceCanAccessPeer(&can, c->gpus[from].device,
					    c->gpus[to].device) ==
		       CUDA_SUCCESS && can;
}

/* The number of GPUs that can access each other's memory, as workers do. */
static int count_peers(const cuda *c)
{
	for (int n = 1; n < c->ngpus; n++)
		for (int i = 0; i < n; i++) {
			if (reaches(c, i, n) && reaches(c, n, i))
				continue;
			cuda_note(c, "GPUs %d and %d do not read each other's "
				  "memory: %d of %d are used; with --comm nccl "
				  "all are", c->gpus[i].device,
				  c->gpus[n].device, n, c->ngpus);
			return n;
		}
	return c->ngpus;
}

static bool enable_peers(cuda *c, failure *f)
{
	for (int i = 0; i < c->ngpus; i++)
		for (int j = 0; j < c->ngpus; j++) {
			CUresult r;
			if (i == j)
				continue;
			if (!cuda_enter(c, i, f))
				return false;
			r = c->api.cuCtxEnablePeerAccess(c->gpus[j].context, 0);
			if (r != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED &&
			    !cuda_good(&c->api, r, "cuCtxEnablePeerAccess", f))
				return false;
		}
	return true;
}

/* Opens the GPUs.  Workers of one process use the GPUs in turn; so do
 * processes, each of which has one. */
bool cuda_gpus_open(cuda *c, int neighbour, failure *f)
{
	int visible = 0, all;
	if (!api_open(&c->api, f) ||
	    !CUDA_CALL(&c->api, f, cuDeviceGetCount, &visible))
		return false;
	if (visible < 1)
		return fail_with(f, CLI_MACHINE, "there is no GPU to run on; "
				 "use --backend cpu");
	c->ngpus = visible < c->nworkers ? visible : c->nworkers;
	c->gpus = ARENA_ARRAY(c->a, cuda_gpu, c->ngpus);
	for (int i = 0; i < c->ngpus; i++)
		if (!open_gpu(c, &c->gpus[i], (neighbour + i) % visible, f))
			return false;
	all = c->ngpus;
	c->ngpus = count_peers(c);
	for (int i = c->ngpus; i < all; i++)
		close_gpu(c, &c->gpus[i]);
	return enable_peers(c, f);
}

void cuda_gpus_close(cuda *c)
{
	for (int i = 0; c->gpus && i < c->ngpus; i++)
		close_gpu(c, &c->gpus[i]);
}

/* ---- memory ------------------------------------------------------------ */

bool cuda_has_room(const cuda *c, int gpu, double nbytes, const char *what,
		   failure *f)
{
	size_t has = 0, all = 0;
	if (!cuda_enter(c, gpu, f) ||
	    !CUDA_CALL(&c->api, f, cuMemGetInfo, &has, &all))
		return false;
	return nbytes <= (double)has ||
	       fail_with(f, CLI_MACHINE, "GPU %d has %zu bytes of memory free, "
			 "%s %.0f", c->gpus[gpu].device, has, what, nbytes);
}

double cuda_arena_bytes(const cuda *c, int gpu)
{
	double needed = 0;
	for (int w = 0; w < c->nworkers; w++)
		if (cuda_gpu_of(c, w) == gpu)
			needed += (double)cuda_part(c, w)->p->arena_bytes;
	return needed;
}

static bool check_memory(const cuda *c, int gpu, failure *f)
{
	double needed = cuda_arena_bytes(c, gpu);
	return cuda_has_room(c, gpu, needed, "its workers need", f);
}

/* The stream of a worker's copies: that of its kernels, so that waiting for it
 * waits for both. */
static CUstream stream_of(const cuda *c, int worker)
{
	return c->gpus[cuda_gpu_of(c, worker)].compute;
}

static bool finish(const cuda *c, int worker, failure *f)
{
	return CUDA_CALL(&c->api, f, cuStreamSynchronize,
			 stream_of(c, worker));
}

static bool take(const cuda *c, CUdeviceptr *to, size_t n, failure *f)
{
	return c->link->alloc ? c->link->alloc(c, to, n, f)
			      : CUDA_CALL(&c->api, f, cuMemAlloc, to, n);
}

static void give_back(const cuda *c, CUdeviceptr at)
{
	if (c->link->free)
		c->link->free(c, at);
	else
		c->api.cuMemFree(at);
}

static void *alloc_cuda(void *state, int worker, int64_t nbytes)
{
	cuda *c = state;
	failure ignored = { 0 };
	size_t n = nbytes > 0 ? (size_t)nbytes : 1;
	CUdeviceptr m = 0;
	if (cuda_enter(c, cuda_gpu_of(c, worker), &ignored) &&
	    take(c, &m, n, &ignored) &&
	    CUDA_CALL(&c->api, &ignored, cuMemsetD8Async, m, 0, n,
		      stream_of(c, worker)) && finish(c, worker, &ignored))
		return (void *)(uintptr_t)m;
	if (m)
		give_back(c, m);
	return NULL;
}

/* Work in flight has to end before its memory is freed. */
static void free_cuda(void *state, int worker, void *memory, int64_t nbytes)
{
	cuda *c = state;
	failure ignored = { 0 };
	(void)nbytes;
	if (c->program)
		program_close(c->program);
	c->program = NULL;
	if (memory && cuda_enter(c, cuda_gpu_of(c, worker), &ignored))
		give_back(c, (CUdeviceptr)(uintptr_t)memory);
}

/* The staging memory of a worker's GPU, which becomes the current one. */
static staging *enter_staging(const cuda *c, int worker, failure *f)
{
	int gpu = cuda_gpu_of(c, worker);
	return cuda_enter(c, gpu, f) ? c->gpus[gpu].staging : NULL;
}

static bool put_cuda(void *state, int worker, void *to, const void *from,
		     int64_t n, failure *f)
{
	staging *s = n > 0 ? enter_staging(state, worker, f) : NULL;
	return n == 0 || (s && staging_put(s, (CUdeviceptr)(uintptr_t)to, from,
					   (size_t)n, f));
}

static bool get_cuda(void *state, int worker, void *to, const void *from,
		     int64_t n, failure *f)
{
	staging *s = n > 0 ? enter_staging(state, worker, f) : NULL;
	return n == 0 ||
	       (s && staging_get(s, to, (CUdeviceptr)(uintptr_t)from,
				 (size_t)n, f));
}

/* Waits for copies to the GPUs before a step begins, so that no queue has to
 * wait for that of the copies. */
static bool inputs_arrived(const cuda *c, failure *f)
{
	for (int g = 0; g < c->ngpus; g++)
		if (!cuda_enter(c, g, f) ||
		    !staging_arrived(c->gpus[g].staging, f))
			return false;
	return true;
}

/* ---- opening ----------------------------------------------------------- */

static void close_cuda(void *state)
{
	cuda *c = state;
	if (c->program)
		program_close(c->program);
	if (c->library)
		library_close(c->library);
	if (c->kernels)
		kernels_close(c->kernels);
	cuda_gpus_close(c);
	arena_free(c->a);
}

/* Opens libraries.  Without them all kernels are generated; worker 0's process
 * says so unless that was asked for. */
static bool open_library(cuda *c, const backend_options *o, failure *f)
{
	library_options how = { .tf32 = c->tf32 };
	failure missing = { 0 };
	if (o->kernels == KERNELS_GENERATED)
		return true;
	c->library = library_open_on(c, &how, &missing);
	if (!c->library && o->kernels == KERNELS_LIBRARY)
		*f = missing;
	else if (missing.status != CLI_OK && c->first == 0)
		cuda_note(c, "%s: kernels that it could have computed are "
			  "generated ones", missing.text);
	return f->status == CLI_OK;
}

static bool open_staging(cuda *c, int gpu, failure *f)
{
	c->gpus[gpu].staging = staging_open(c, gpu, f);
	return c->gpus[gpu].staging != NULL;
}

static void *open_cuda(const plan_pipeline *p, const backend_options *o,
		       failure *f)
{
	if (o->kernels == KERNELS_INTERPRETER) {
		fail_with(f, CLI_USAGE, "the interpreter runs on the host "
			  "alone: --kernels interpreter goes with --backend "
			  "cpu");
		return NULL;
	}
	arena *a = arena_new();
	cuda *c = ARENA_NEW(a, cuda);
	*c = (cuda){ .a = a, .p = p, .first = o->first,
		     .nworkers = o->nworkers, .tf32 = o->tf32,
		     .again = o->again, .link = link_of(o->members) };
	c->arenas = ARENA_ARRAY(a, CUdeviceptr, c->nworkers);
	cuda_parts_open(c);
	bool good = cuda_gpus_open(c, o->neighbour, f) &&
		    cuda_messages_open(c, f);
	for (int gpu = 0; good && gpu < c->ngpus; gpu++)
		good = check_memory(c, gpu, f) && open_staging(c, gpu, f);
	if (good)
		c->kernels = kernels_open(c, o, f);
	if (c->kernels && open_library(c, o, f))
		return c;
	close_cuda(c);
	return NULL;
}

/* ---- running ----------------------------------------------------------- */

static bool attach_cuda(void *state, const communicator *comm, void *link,
			int first, unsigned char *const *arenas, failure *f)
{
	cuda *c = state;
	(void)first;
	for (int w = 0; w < c->nworkers; w++)
		c->arenas[w] = (CUdeviceptr)(uintptr_t)arenas[w];
	c->program = program_open(c, comm, link, f);
	return c->program != NULL;
}

static bool step_cuda(void *state, failure *f)
{
	cuda *c = state;
	return inputs_arrived(c, f) && program_step(c->program, f);
}

static void *copy_cuda(void *state, int worker, int instr)
{
	return program_copy(((cuda *)state)->program, instr, worker);
}

static int64_t received_cuda(void *state, int stage, int instr)
{
	return program_received(((cuda *)state)->program, stage, instr);
}

static int64_t used_cuda(void *state, int stage)
{
	return program_used(((cuda *)state)->program, stage);
}

static void copies_cuda(void *state, int64_t *planned, int64_t *used)
{
	const cuda *c = state;
	*planned = *used = 0;
	if (c->library)
		library_copies(c->library, planned, used);
}

static void abandon_cuda(void *state)
{
	cuda *c = state;
	if (c->program)
		program_abandon(c->program);
}

const backend backend_cuda = {
	.name = "cuda",
	.open = open_cuda,
	.alloc = alloc_cuda,
	.free = free_cuda,
	.close = close_cuda,
	.put = put_cuda,
	.get = get_cuda,
	.attach = attach_cuda,
	.step = step_cuda,
	.copy = copy_cuda,
	.received = received_cuda,
	.used = used_cuda,
	.copies = copies_cuda,
	.abandon = abandon_cuda,
};
