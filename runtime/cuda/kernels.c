#include "config.h"

#include "runtime/cuda/kernels.h"

#include <dlfcn.h>
#include <string.h>

#include "base/vec.h"
#include "runtime/cuda/module.h"

/* Kernels in one text: enough to make the prelude's share small, few enough for
 * all processors to have a text to compile. */
enum { TEXT_KERNELS = 12, WAVES = 4 };

/* A kernel on a GPU. */
typedef struct function {
	CUfunction at;
	int resident; /* blocks that it runs at a time */
} function;

struct cuda_kernels {
	cuda *c;
	const plan *p; /* any stage's: they share the table */
	arena *a;
	binding *bindings;   /* by kernel */
	function *functions; /* [kernel * ngpus + gpu] */
	int nmodules;
	cuda_module *modules;
	void *library; /* of dlopen() */
	opaque_fn *opaque;
};

/* ---- texts ------------------------------------------------------------- */

typedef VEC(char) bytes;

static void append(arena *a, bytes *to, const char *s)
{
	for (; *s; s++)
		vec_push(a, to, *s);
}

static void append_kernel(arena *a, bytes *to, const char *source,
			  const binding *b)
{
	append(a, to, "\n");
	append(a, to, b->define);
	append(a, to, source);
	append(a, to, b->undefine);
}

typedef struct texts {
	int n;
	const char **at;
	int *of; /* by kernel: its text, -1 for none */
} texts;

static texts make_texts(const cuda_kernels *k, arena *a)
{
	texts t = { .at = ARENA_ARRAY(a, const char *, k->p->nkernels + 1),
		    .of = ARENA_ARRAY(a, int, k->p->nkernels) };
	bytes text = { 0 };
	int in_text = 0;
	for (int i = 0; i < k->p->nkernels; i++) {
		t.of[i] = -1;
		if (!k->bindings[i].used)
			continue;
		if (in_text == 0)
			append(a, &text, "#include \"tdl/cuda.h\"\n");
		append_kernel(a, &text, k->p->kernels[i].cuda,
			      &k->bindings[i]);
		t.of[i] = t.n;
		if (++in_text < TEXT_KERNELS)
			continue;
		vec_push(a, &text, '\0');
		t.at[t.n++] = text.at;
		text = (bytes){ 0 };
		in_text = 0;
	}
	if (in_text) {
		vec_push(a, &text, '\0');
		t.at[t.n++] = text.at;
	}
	return t;
}

/* ---- opening ----------------------------------------------------------- */

static bool find_function(cuda_kernels *k, int i, int gpu,
			  const cuda_module *m, failure *f)
{
	const plan_launch *l = &k->p->kernels[i].launch;
	function *to = &k->functions[i * k->c->ngpus + gpu];
	char name[40];
	int blocks = 0;
	snprintf(name, sizeof(name), "tdl_kernel_%d", i);
	to->at = cuda_function(k->c, m, gpu, name, f);
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
			good = find_function(k, i, g, &k->modules[t.of[i]], f);
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

/* Blocks take items in turn; a few blocks for each that the GPU runs at a time,
 * so that all end at about the same time. */
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
