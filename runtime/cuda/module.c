#include "config.h"

#include "runtime/cuda/module.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/jobs.h"
#include "base/vec.h"
#include "runtime/cuda/headers.h"
#include "runtime/exec/build_cache.h"
#include "runtime/exec/thread_pool.h"

enum { MAX_IMAGE = 1 << 30, LOG = 1500 };
static const char image_name[] = "kernels.cubin";

/* The kind of code that NVRTC makes for a GPU: code for exactly this GPU, or
 * text that the driver compiles, for a GPU newer than NVRTC knows. */
typedef struct target {
	int arch; /* 90 for sm_90 or compute_90 */
	bool is_text;
} target;

/* One text for one target. */
typedef struct job {
	const char *text;
	target to;
	void *image; /* in the builder's arena */
	failure f;
} job;

typedef struct builder {
	const cuda_api *api;
	arena *a; /* used by the caller's thread only */
	const char *what;
	const char *cache; /* NULL: none */
	int major, minor;  /* version of NVRTC */
	bool tf32;
	int ntargets;
	target *targets;
	int *target_of; /* by GPU; equal GPUs share one */
	int njobs;
	job *jobs; /* at [text * ntargets + target] */
	atomic_int next;
} builder;

/* ---- targets ----------------------------------------------------------- */

static int supported(arena *a, const cuda_api *api, int **archs, failure *f)
{
	int n = 0;
	if (!NVRTC_CALL(api, f, nvrtcGetNumSupportedArchs, &n))
		return 0;
	*archs = ARENA_ARRAY(a, int, n);
	if (!NVRTC_CALL(api, f, nvrtcGetSupportedArchs, *archs))
		return 0;
	return n;
}

/* Finds the target for a GPU.  Code runs on GPUs of its own generation that are
 * not older; text runs on any that is not older. */
static bool find_target(arena *a, const cuda_api *api, int arch, target *t,
			failure *f)
{
	int *archs = NULL, n = supported(a, api, &archs, f);
	*t = (target){ 0 };
	for (int i = 0; i < n; i++)
		if (archs[i] <= arch && archs[i] > t->arch)
			t->arch = archs[i];
	t->is_text = t->arch / 10 != arch / 10;
	if (t->arch)
		return true;
	return fail_with(f, CLI_MACHINE, "NVRTC does not compile for this GPU, "
			 "whose architecture sm_%d is too old", arch);
}

/* ---- compiling --------------------------------------------------------- */

/* The text says which multiply-adds are fused, so results do not depend on the
 * compiler. */
enum { NFLAGS = 6 };
static void flags_of(const builder *b, const target *t, char *arch,
		     size_t size, const char *flags[NFLAGS])
{
	snprintf(arch, size, "--gpu-architecture=%s_%d",
		 t->is_text ? "compute" : "sm", t->arch);
	flags[0] = arch;
	flags[1] = "--std=c++17";
	flags[2] = "--fmad=false";
	flags[3] = "--device-as-default-execution-space";
	flags[4] = "--disable-warnings";
	flags[5] = b->tf32 ? "-DTDL_TF32=1" : "-DTDL_TF32=0";
}

static bool explain(const builder *b, nvrtcProgram program, failure *f)
{
	size_t n = 0;
	char *log = NULL;
	if (b->api->nvrtcGetProgramLogSize(program, &n) == NVRTC_SUCCESS && n)
		log = calloc(n + 1, 1);
	if (log && b->api->nvrtcGetProgramLog(program, log) != NVRTC_SUCCESS)
		log[0] = '\0';
	fail_with(f, CLI_INPUT, "NVRTC does not compile %s:\n%.*s", b->what,
		  LOG, log ? log : "");
	free(log);
	return false;
}

static void *take_image(const builder *b, arena *a, nvrtcProgram program,
			const target *t, size_t *size, failure *f)
{
	const cuda_api *api = b->api;
	bool good = t->is_text ? NVRTC_CALL(api, f, nvrtcGetPTXSize, program,
					    size) :
				 NVRTC_CALL(api, f, nvrtcGetCUBINSize, program,
					    size);
	char *image = good ? arena_alloc(a, *size + 1) : NULL;
	good = good && (t->is_text ?
			NVRTC_CALL(api, f, nvrtcGetPTX, program, image) :
			NVRTC_CALL(api, f, nvrtcGetCUBIN, program, image));
	return good ? image : NULL;
}

static void *compile(const builder *b, arena *a, job *j, size_t *size)
{
	const char *texts[header_count], *names[header_count], *flags[NFLAGS];
	const cuda_api *api = b->api;
	nvrtcProgram program;
	nvrtcResult result;
	char arch[64];
	void *image = NULL;
	for (int i = 0; i < header_count; i++) {
		names[i] = headers[i].name;
		texts[i] = headers[i].text;
	}
	if (!NVRTC_CALL(api, &j->f, nvrtcCreateProgram, &program, j->text,
			"kernels.cu", header_count, texts, names))
		return NULL;
	flags_of(b, &j->to, arch, sizeof(arch), flags);
	result = api->nvrtcCompileProgram(program, NFLAGS, flags);
	if (result == NVRTC_ERROR_COMPILATION)
		explain(b, program, &j->f);
	else if (nvrtc_good(api, result, "nvrtcCompileProgram", &j->f))
		image = take_image(b, a, program, &j->to, size, &j->f);
	api->nvrtcDestroyProgram(&program);
	return image;
}

/* ---- the cache --------------------------------------------------------- */

typedef VEC(char) bytes;

static void append(arena *a, bytes *to, const char *s)
{
	for (; *s; s++)
		vec_push(a, to, *s);
}

static const char *key_of(const builder *b, arena *a, const job *j)
{
	const char *flags[NFLAGS];
	char arch[64];
	bytes key = { 0 };
	append(a, &key, arena_printf(a, "NVRTC %d.%d\n", b->major, b->minor));
	flags_of(b, &j->to, arch, sizeof(arch), flags);
	for (int i = 0; i < NFLAGS; i++)
		append(a, &key, arena_printf(a, "%s\n", flags[i]));
	for (int i = 0; i < header_count; i++)
		append(a, &key, headers[i].text);
	append(a, &key, "\n\f\n");
	append(a, &key, j->text);
	vec_push(a, &key, '\0');
	return key.at;
}

/* Stores an image in the cache, if there is one.  A failure is no error. */
static void keep(const builder *b, arena *a, const char *hash, const char *key,
		 const void *image, size_t size)
{
	failure ignored = { 0 };
	const char *folder = cache_begin(a, b->cache, &ignored);
	if (!folder)
		return;
	if (!file_write(path_join(a, folder, image_name), image, size) ||
	    cache_commit(a, b->cache, folder, hash, key, image_name) == folder)
		cache_remove(folder);
}

static void *cached(arena *a, const char *path)
{
	size_t size;
	return file_read(a, diag_sink_new(a), path, MAX_IMAGE, &size);
}

static void build(const builder *b, arena *a, job *j)
{
	const char *key = key_of(b, a, j);
	const char *hash = arena_printf(a, "%016" PRIx64 "%016" PRIx64,
					hash_str(HASH_SEED, key),
					hash_str(1, key));
	const char *found = cache_find(a, b->cache, hash, key, image_name);
	size_t size = 0;
	j->image = found ? cached(a, found) : NULL;
	if (j->image)
		return;
	j->image = compile(b, a, j, &size);
	if (j->image && b->cache)
		keep(b, a, hash, key, j->image, size);
}

/* ---- all jobs ---------------------------------------------------------- */

typedef struct build_threads {
	builder *b;
	arena **arenas; /* by thread */
} build_threads;

static void work(void *arg, int thread)
{
	build_threads *x = arg;
	builder *b = x->b;
	for (int i; (i = atomic_fetch_add(&b->next, 1)) < b->njobs;)
		build(b, x->arenas[thread], &b->jobs[i]);
}

/* Builds the images.  They live until the arenas are freed. */
static bool build_all(builder *b, build_threads *x, thread_pool *t, failure *f)
{
	bool good = true;
	thread_pool_run(t, thread_pool_size(t), work, x);
	for (int i = 0; i < b->njobs; i++) {
		if (b->jobs[i].image)
			continue;
		if (good)
			*f = b->jobs[i].f;
		good = false;
	}
	return good;
}

static bool load_all(cuda *c, const builder *b, int n, cuda_module *modules,
		     failure *f)
{
	for (int i = 0; i < n; i++) {
		const job *jobs = b->jobs + i * b->ntargets;
		modules[i].on = ARENA_ARRAY(c->a, CUmodule, c->ngpus);
		for (int g = 0; g < c->ngpus; g++)
			if (!cuda_enter(c, g, f) ||
			    !CUDA_CALL(&c->api, f, cuModuleLoadData,
				       &modules[i].on[g],
				       jobs[b->target_of[g]].image))
				return false;
	}
	return true;
}

static bool find_targets(const cuda *c, builder *b, failure *f)
{
	b->targets = ARENA_ARRAY(b->a, target, c->ngpus);
	b->target_of = ARENA_ARRAY(b->a, int, c->ngpus);
	for (int g = 0; g < c->ngpus; g++) {
		target t;
		int i = 0;
		if (!find_target(b->a, b->api, c->gpus[g].arch, &t, f))
			return false;
		while (i < b->ntargets && (b->targets[i].arch != t.arch ||
					   b->targets[i].is_text != t.is_text))
			i++;
		if (i == b->ntargets)
			b->targets[b->ntargets++] = t;
		b->target_of[g] = i;
	}
	return true;
}

static bool make_jobs(const cuda *c, builder *b, int n,
		      const char *const *texts, failure *f)
{
	if (!find_targets(c, b, f))
		return false;
	b->njobs = n * b->ntargets;
	b->jobs = ARENA_ARRAY(b->a, job, b->njobs);
	for (int i = 0; i < b->njobs; i++)
		b->jobs[i] = (job){ texts[i / b->ntargets],
				    b->targets[i % b->ntargets] };
	return true;
}

bool cuda_modules_load(cuda *c, int n, const char *const *texts,
		       const char *what, cuda_module *modules, failure *f)
{
	builder b = { .api = &c->api, .a = arena_new(), .what = what,
		      .tf32 = c->tf32 };
	thread_pool *t = NULL;
	bool good = cache_open(b.a, &b.cache, f) &&
		    NVRTC_CALL(&c->api, f, nvrtcVersion, &b.major, &b.minor) &&
		    make_jobs(c, &b, n, texts, f);
	if (good && n > 0) {
		int most = processors(NULL);
		t = thread_pool_open(most < b.njobs ? most : b.njobs, false);
		good = t || fail_with(f, CLI_MACHINE, "out of memory");
	}
	if (t) {
		int size = thread_pool_size(t);
		build_threads x = { &b, ARENA_ARRAY(b.a, arena *, size) };
		for (int i = 0; i < size; i++)
			x.arenas[i] = arena_new();
		good = build_all(&b, &x, t, f) &&
		       load_all(c, &b, n, modules, f);
		for (int i = 0; i < size; i++)
			arena_free(x.arenas[i]);
		thread_pool_close(t);
	}
	arena_free(b.a);
	return good;
}

void cuda_module_unload(cuda *c, cuda_module *m)
{
	failure ignored = { 0 };
	for (int g = 0; m->on && g < c->ngpus; g++)
		if (m->on[g] && cuda_enter(c, g, &ignored))
			c->api.cuModuleUnload(m->on[g]);
	m->on = NULL;
}

CUfunction cuda_function(const cuda *c, const cuda_module *m, int gpu,
			 const char *name, failure *f)
{
	CUfunction function;
	bool good = cuda_enter(c, gpu, f) &&
		    CUDA_CALL(&c->api, f, cuModuleGetFunction, &function,
			      m->on[gpu], name);
	return good ? function : NULL;
}
