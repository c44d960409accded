#include "config.h"

#include "runtime/cuda/kernels.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "runtime/cuda/module.h"

/* Kernels in one text, approximately: many enough that the prelude takes a
 * small share, few enough that every processor has a text to compile. */
enum { TEXT_KERNELS = 16, WAVES = 4 };

/* A kernel on a GPU. */
typedef struct function {
	CUfunction at;
	int resident; /* blocks that the GPU runs at a time */
} function;

struct cuda_kernels {
	cuda *c;
	const plan *p; /* any stage's, as they share the table */
	arena *a;
	binding *bindings;   /* by kernel */
	function *functions; /* at [kernel * ngpus + gpu] */
	int nmodules;
	cuda_module *modules;
	void *library; /* from dlopen() */
	opaque_fn *opaque;
};

/* ---- texts ------------------------------------------------------------- */

/* A kernel with its bindings. */
typedef struct bound {
	int kernel;
	const char *define, *source;
	uint64_t hash; /* of both */
} bound;

typedef struct texts {
	int n;
	const char **at;
	int *of;	   /* by kernel: its text; -1: none */
	const char **name; /* by kernel */
} texts;

static int compare_content(const bound *x, const bound *y)
{
	int order = (x->hash > y->hash) - (x->hash < y->hash);
	if (order == 0)
		order = strcmp(x->define, y->define);
	return order ? order : strcmp(x->source, y->source);
}

static int by_content(const void *x, const void *y)
{
	return compare_content(x, y);
}

/* The kernels in use, sorted so that equal ones are adjacent. */
static bound *sort_kernels(const cuda_kernels *k, arena *a, int *n)
{
	bound *all = ARENA_ARRAY(a, bound, k->p->nkernels);
	*n = 0;
	for (int i = 0; i < k->p->nkernels; i++) {
		const binding *b = &k->bindings[i];
		const char *source = k->p->kernels[i].cuda;
		if (!b->used)
			continue;
		uint64_t hash = hash_str(HASH_SEED, b->define);
		all[(*n)++] = (bound){ i, b->define, source,
				       hash_str(hash, source) };
	}
	if (*n > 0)
		qsort(all, (size_t)*n, sizeof(*all), by_content);
	return all;
}

/* The number of bits of a kernel's hash that select its text. */
static int text_bits(int nkernels)
{
	int bits = 0;
	while (nkernels > TEXT_KERNELS << bits)
		bits++;
	return bits;
}

typedef VEC(char) bytes;

static void append(arena *a, bytes *to, const char *s)
{
	for (; *s; s++)
		vec_push(a, to, *s);
}

static void end_text(arena *a, bytes *text, texts *to)
{
	if (text->n == 0)
		return;
	vec_push(a, text, '\0');
	to->at[to->n++] = text->at;
	*text = (bytes){ 0 };
}

/* Makes the texts, each kernel once.  Its name follows from the kernel alone,
 * and so do the bits that choose its text.  So plans with the same kernels, in
 * any order, find each other's texts in the cache; if a plan has some more, it
 * finds those texts that none of these is in, unless it has more texts. */
static texts make_texts(const cuda_kernels *k, arena *a)
{
	texts t = { .at = ARENA_ARRAY(a, const char *, k->p->nkernels + 1),
		    .of = ARENA_ARRAY(a, int, k->p->nkernels),
		    .name = ARENA_ARRAY(a, const char *, k->p->nkernels) };
	bytes text = { 0 };
	int n;
	bound *all = sort_kernels(k, a, &n);
	int bits = text_bits(n);
	for (int i = 0; i < k->p->nkernels; i++)
		t.of[i] = -1;
	for (int i = 0; i < n; i++) {
		int at = all[i].kernel;
		if (i > 0 && compare_content(&all[i - 1], &all[i]) == 0) {
			t.name[at] = t.name[all[i - 1].kernel];
			t.of[at] = t.n;
			continue;
		}
		if (i > 0 && bits > 0 && (all[i - 1].hash ^ all[i].hash) >>
					 (64 - bits))
			end_text(a, &text, &t);
		if (text.n == 0)
			append(a, &text, "#include \"tdl/cuda.h\"\n");
		t.name[at] = arena_printf(a, "tdl_kernel_%016" PRIx64,
					  all[i].hash);
		t.of[at] = t.n;
		append(a, &text, bind_text(a, &k->bindings[at], t.name[at],
					   all[i].source));
	}
	end_text(a, &text, &t);
	return t;
}

/* ---- opening ----------------------------------------------------------- */

static bool find_function(cuda_kernels *k, int i, int gpu, const texts *t,
			  failure *f)
{
	const plan_launch *l = &k->p->kernels[i].launch;
	function *to = &k->functions[i * k->c->ngpus + gpu];
	int blocks = 0;
	to->at = cuda_function(k->c, &k->modules[t->of[i]], gpu, t->name[i], f);
	if (!to->at ||
	    !CUDA_CALL(&k->c->api, f,
		       cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks,
		       to->at, l->threads, (size_t)l->shared))
		return false;
	to->resident = blocks * k->c->gpus[gpu].nprocessors;
	return blocks > 0 ||
	       fail_with(f, CLI_MACHINE, "the kernel of '%s' takes more of the "
			 "GPU than there is: %d threads, %d bytes of shared "
			 "memory", k->p->kernels[i].kernel->name, l->threads,
			 (int)l->shared);
}

static bool load(cuda_kernels *k, failure *f)
{
	arena *work = arena_new();
	texts t = make_texts(k, work);
	k->modules = ARENA_ARRAY(k->a, cuda_module, t.n);
	k->nmodules = t.n;
	bool good = cuda_modules_load(k->c, t.n, t.at, "the generated kernels",
				      k->modules, f);
	for (int i = 0; good && i < k->p->nkernels; i++)
		for (int g = 0; good && t.of[i] >= 0 && g < k->c->ngpus; g++)
			good = find_function(k, i, g, &t, f);
	arena_free(work);
	return good;
}

static binding *bind_parts(const cuda_kernels *k)
{
	const cuda *c = k->c;
	bind_part *parts = ARENA_ARRAY(k->a, bind_part, c->nparts);
	for (int i = 0; i < c->nparts; i++)
		parts[i] = (bind_part){ c->parts[i].p, c->parts[i].number,
					c->parts[i].nworkers };
	return bind_all_kernels(k->a, c->nparts, parts);
}

cuda_kernels *kernels_open(cuda *c, const backend_options *o, failure *f)
{
	cuda_kernels *k = ARENA_NEW(c->a, cuda_kernels);
	*k = (cuda_kernels){ .c = c, .p = c->parts[0].p, .a = c->a };
	k->bindings = bind_parts(k);
	k->functions = ARENA_ARRAY(k->a, function, k->p->nkernels * c->ngpus);
	k->opaque = backend_opaque(k->a, k->p, o->library, &k->library, f);
	if (k->opaque && load(k, f))
		return k;
	kernels_close(k);
	return NULL;
}

void kernels_close(cuda_kernels *k)
{
	for (int i = 0; i < k->nmodules; i++)
		cuda_module_unload(k->c, &k->modules[i]);
	if (k->library)
		dlclose(k->library);
}

/* ---- launches ---------------------------------------------------------- */

bool kernels_on_gpu(const cuda_kernels *k, int i)
{
	return k->p->kernels[i].cuda != NULL;
}

bool kernels_may_fault(const cuda_kernels *k, int i)
{
	return kernels_on_gpu(k, i) &&
	       strstr(k->p->kernels[i].cuda, "TDL_FAULT");
}

opaque_fn kernels_opaque(const cuda_kernels *k, int i)
{
	return k->opaque[i];
}

/* Blocks take items in turn.  There are a few blocks for each that the GPU runs
 * at a time, so that all end at about the same time. */
launch kernels_launch(const cuda_kernels *k, arena *a, int i, int gpu,
		      const bind_run *r)
{
	const plan_kernel *x = &k->p->kernels[i];
	const function *f = &k->functions[i * k->c->ngpus + gpu];
	const binding *b = &k->bindings[i];
	int64_t items = plan_launch_items(x, &r->space);
	int64_t most = (int64_t)f->resident * WAVES;
	launch l = { .function = f->at,
		     .blocks = (unsigned)(items < most ? items : most),
		     .threads = (unsigned)x->launch.threads,
		     .shared = (unsigned)x->launch.shared,
		     .words = ARENA_ARRAY(a, int64_t, b->nwords) };
	bind_words(b, r, l.words);
	return l;
}
