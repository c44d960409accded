/* Tests: runtime/cuda */
/* Boxes copied and combined by the kernels of pack.cu, run on the host,
 * against runs_of() and reducer_combine(): random boxes in random regions of
 * every type, whole or runs of elements, at odd addresses. */
#include "config.h"

#include <check.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/elem.h"
#include "kernel/eval.h"
#include "layout/mesh.h"
#include "layout/runs.h"
#include "runtime/cuda/module.h"
#include "runtime/cuda/pack.h"
#include "tests/unit/suite.h"

enum { ROOM = 1 << 16, MOST_SOURCES = 5, POISON = 0xa5 };

typedef const char *emu_run_fn(const char *name, const unsigned *grid,
			       const unsigned *block, size_t shared, void **p);

static emu_run_fn *emu_run;
static uint64_t seed = 1;

static int64_t draw(int64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((seed >> 33) % (uint64_t)n);
}

/* ---- a device that is the host ----------------------------------------- */

static CUresult device_alloc(CUdeviceptr *at, size_t n)
{
	*at = (CUdeviceptr)(uintptr_t)malloc(n);
	return CUDA_SUCCESS;
}

static CUresult device_free(CUdeviceptr at)
{
	free((void *)(uintptr_t)at);
	return CUDA_SUCCESS;
}

static CUresult device_put(CUdeviceptr to, const void *from, size_t n,
			   CUstream s)
{
	(void)s;
	memcpy((void *)(uintptr_t)to, from, n);
	return CUDA_SUCCESS;
}

static CUresult device_wait(CUstream s)
{
	(void)s;
	return CUDA_SUCCESS;
}

static CUresult device_launch(CUfunction k, unsigned gx, unsigned gy,
			      unsigned gz, unsigned bx, unsigned by,
			      unsigned bz, unsigned shared, CUstream s,
			      void **params, void **extra)
{
	/* Any grid gives the same. */
	unsigned grid[] = { 1 + (unsigned)draw(gx), gy, gz };
	unsigned block[] = { bx, by, bz };
	(void)s;
	(void)extra;
	const char *why = emu_run((const char *)k, grid, block, shared,
				  params);
	ck_assert_msg(!why, "%s: %s", (const char *)k, why);
	return CUDA_SUCCESS;
}

bool cuda_enter(const cuda *c, int gpu, failure *f)
{
	(void)c;
	(void)gpu;
	(void)f;
	return true;
}

CUfunction cuda_function(const cuda *c, const cuda_module *m, int gpu,
			 const char *name, failure *f)
{
	(void)c;
	(void)m;
	(void)gpu;
	(void)f;
	return (CUfunction)(uintptr_t)name;
}

/* Compiles the text for the host. */
bool cuda_modules_load(cuda *c, int n, const char *const *texts,
		       const char *what, cuda_module *modules, failure *f)
{
	const char *srcdir = getenv("srcdir") ? getenv("srcdir") : ".";
	char folder[] = "/tmp/test_pack.XXXXXX";
	void *at;
	(void)what;
	(void)f;
	ck_assert_int_eq(n, 1);
	ck_assert_ptr_nonnull(mkdtemp(folder));
	char *text = arena_printf(c->a, "%s/pack.cu", folder);
	char *library = arena_printf(c->a, "%s/pack.so", folder);
	FILE *to = fopen(text, "w");
	ck_assert(to && fputs(texts[0], to) >= 0 && fclose(to) == 0);
	ck_assert_int_eq(system(arena_printf(
		c->a, "sh %s/tests/cuda/emulate.sh -I%s/include -o %s %s",
		srcdir, srcdir, library, text)), 0);
	void *handle = dlopen(library, RTLD_NOW);
	ck_assert_msg(handle != NULL, "%s", dlerror());
	at = dlsym(handle, "emu_run");
	memcpy(&emu_run, &at, sizeof(at));
	*modules = (cuda_module){ 0 };
	unlink(text);
	unlink(library);
	rmdir(folder);
	return true;
}

void cuda_module_unload(cuda *c, cuda_module *m)
{
	(void)c;
	(void)m;
}

static void open_device(cuda *c)
{
	*c = (cuda){ .a = arena_new(), .ngpus = 1 };
	c->gpus = ARENA_NEW(c->a, cuda_gpu);
	c->api.cuMemAlloc = device_alloc;
	c->api.cuMemFree = device_free;
	c->api.cuMemcpyHtoDAsync = device_put;
	c->api.cuStreamSynchronize = device_wait;
	c->api.cuLaunchKernel = device_launch;
}

/* ---- a plan that combines all there is --------------------------------- */

static bool combines(reducer r, dtype t)
{
	return r != RED_NONE && r != RED_ARGMAX && r != RED_ARGMIN &&
	       reducer_takes(r, t);
}

/* A COMBINE for each reducer and type: as much of a plan as is looked at. */
static plan *plan_of_all(arena *a)
{
	enum { MOST = (int)DT_COUNT * (int)RED_COUNT };
	plan *p = ARENA_NEW(a, plan);
	*p = (plan){ .mesh = { 1, { 2 } },
		     .tensors = ARENA_ARRAY(a, plan_tensor, MOST),
		     .nodes = ARENA_ARRAY(a, plan_node, MOST),
		     .kernels = ARENA_ARRAY(a, plan_kernel, MOST),
		     .buffers = ARENA_ARRAY(a, plan_buffer, MOST),
		     .program = ARENA_ARRAY(a, plan_instr, MOST) };
	for (int r = 0; r < RED_COUNT; r++) {
		for (int t = 0; t < DT_COUNT; t++) {
			if (!combines((reducer)r, (dtype)t))
				continue;
			int i = p->ninstrs++;
			kernel *k = ARENA_NEW(a, kernel);
			*k = (kernel){ .reducer = (reducer)r, .nvars = 1,
				       .vars = ARENA_NEW(a, kvar) };
			k->vars[0].kind = KVAR_REDUCE;
			p->kernels[i].kernel = k;
			p->tensors[i].type = (dtype)t;
			p->nodes[i] = (plan_node){ .kernel = i };
			p->buffers[i].tensor = i;
			p->program[i] = (plan_instr){ .op = PLAN_COMBINE,
						      .node = i, .to = i };
		}
	}
	return p;
}

/* ---- random jobs ------------------------------------------------------- */

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static box draw_box(int ndim)
{
	box b = { .n = ndim };
	int64_t room = 3000;
	for (int d = 0; d < ndim; d++) {
		int64_t n = 1 + draw(smaller(room, draw(3) ? 9 : 300));
		b.lo[d] = draw(1000);
		b.hi[d] = b.lo[d] + n;
		room = room / n > 0 ? room / n : 1;
	}
	return b;
}

/* A region that holds a box: as large, larger in some dimensions, or just a
 * run of elements. */
static region draw_region(const box *b)
{
	region r = { .at = *b };
	for (int d = 0; d < b->n; d++) {
		if (draw(3))
			continue;
		r.at.lo[d] -= smaller(draw(3), b->lo[d]);
		r.at.hi[d] += draw(3);
	}
	r.count = box_volume(&r.at);
	if (draw(2)) {
		int64_t first = r.count, last = 0, at = 0, step = 1;
		for (int d = b->n - 1; d >= 0; d--) {
			at += (b->lo[d] - r.at.lo[d]) * step;
			step *= r.at.hi[d] - r.at.lo[d];
		}
		first = at;
		at = 0;
		step = 1;
		for (int d = b->n - 1; d >= 0; d--) {
			at += (b->hi[d] - 1 - r.at.lo[d]) * step;
			step *= r.at.hi[d] - r.at.lo[d];
		}
		last = at + 1;
		r.first = draw(first + 1);
		r.count = last - r.first;
	}
	return r;
}

/* Random memory for a region: a multiple of an element, not of more. */
static pack_block draw_block(arena *a, const region *r, dtype t,
			     unsigned char **end)
{
	size_t size = dtype_size(t);
	size_t n = (size_t)r->count * size, skip = (size_t)draw(4) * size;
	unsigned char *memory = arena_alloc(a, n + skip + 32);
	memory = (unsigned char *)(((uintptr_t)memory + 15) / 16 * 16);
	for (size_t i = 0; i < n + skip; i++)
		memory[i] = (unsigned char)draw(256);
	memory += skip;
	elem_clean(t, memory, r->count);
	if (dtype_is_float(t))
		for (int64_t i = 0; i < r->count; i++)
			elem_set_f64(t, memory, i, (double)(draw(999) - 300) /
				     (double)(1 + draw(64)));
	*end = memory + n;
	return (pack_block){ (CUdeviceptr)(uintptr_t)memory, *r };
}

static void judge(const box *at, dtype t, reducer r, const region *to,
		  unsigned char *want, int n, const pack_block *from)
{
	int64_t size = (int64_t)dtype_size(t);
	for (int i = 0; i < n; i++) {
		const unsigned char *src = (void *)(uintptr_t)from[i].data;
		runs x = runs_of(at, to, &from[i].held);
		while (runs_next(&x)) {
			if (i > 0)
				reducer_combine(r, t, want + x.dst * size,
						src + x.src * size, x.n);
			else
				memcpy(want + x.dst * size,
				       src + x.src * size,
				       (size_t)(x.n * size));
		}
	}
}

typedef struct trial {
	dtype type;
	reducer reducer;
	box at;
	pack_block to;
	unsigned char *want;
} trial;

static trial draw_trial(arena *a, pack_list *l, dtype t, reducer r)
{
	trial x = { .type = t, .reducer = r,
		    .at = draw_box((int)draw(5)) };
	pack_block from[MOST_SOURCES];
	unsigned char *end;
	bool zeros = r == RED_NONE && draw(2);
	int n = r == RED_NONE ? 1 : 1 + (int)draw(MOST_SOURCES);
	region to = draw_region(&x.at);
	x.to = draw_block(a, &to, t, &end);
	x.want = ARENA_COPY(a, (unsigned char *)(uintptr_t)x.to.data,
			    to.count * (int64_t)dtype_size(t));
	region same = draw_region(&x.at);
	for (int i = 0; i < n; i++) {
		region held = draw(2) ? same : draw_region(&x.at);
		from[i] = draw_block(a, &held, t, &end);
	}
	if (zeros) {
		int64_t size = to.count * (int64_t)dtype_size(t);
		from[0] = (pack_block){ .held = to };
		from[0].data = (CUdeviceptr)(uintptr_t)arena_calloc(
			a, (size_t)size + 1, 1);
	}
	judge(&x.at, t, r, &to, x.want, n, from);
	if (zeros)
		pack_zeros(l, t, &x.at, &x.to);
	else if (r == RED_NONE)
		pack_copy(l, t, &x.at, &x.to, from);
	else
		pack_combine(l, t, r, &x.at, &x.to, n, from);
	return x;
}

/* The bits are equal, but for the sign and the payload of a NaN, which IEEE 754
 * leaves open. */
static bool is_right(const trial *x)
{
	const void *got = (const void *)(uintptr_t)x->to.data;
	for (int64_t i = 0; i < x->to.held.count; i++) {
		if (dtype_is_float(x->type) &&
		    isnan(elem_get_f64(x->type, got, i)) &&
		    isnan(elem_get_f64(x->type, x->want, i)))
			continue;
		if (elem_get_bits(x->type, got, i) !=
		    elem_get_bits(x->type, x->want, i))
			return false;
	}
	return true;
}

START_TEST(test_all)
{
	enum { ROUNDS = 12, MOST = ROUNDS * (int)DT_COUNT * (int)RED_COUNT };
	arena *a = arena_new();
	failure f = { 0 };
	cuda c;
	open_device(&c);
	cuda_stage all = { .p = plan_of_all(a) };
	c.parts = &all;
	c.nparts = 1;
	packer *k = pack_open(&c, true, &f);
	ck_assert_ptr_nonnull(k);
	pack_list *l = pack_new(k, 0), *none = pack_new(k, 0);
	trial *trials = ARENA_ARRAY(a, trial, MOST);
	int n = 0;
	for (int i = 0; i < ROUNDS; i++)
		for (int r = 0; r < RED_COUNT; r++)
			for (int t = 0; t < DT_COUNT; t++)
				if (r == RED_NONE ||
				    combines((reducer)r, (dtype)t))
					trials[n++] = draw_trial(a, l, (dtype)t,
								 (reducer)r);
	ck_assert(pack_is_empty(none) && !pack_is_empty(l));
	ck_assert(pack_upload(k, &f) && pack_run(k, none, NULL, &f) &&
		  pack_run(k, l, NULL, &f));
	for (int i = 0; i < n; i++) {
		const trial *x = &trials[i];
		ck_assert_msg(is_right(x), "trial %d: %s of %s, box of %d "
			      "dimensions", i, reducer_name(x->reducer),
			      dtype_name(x->type), x->at.n);
	}
	int at = 0;
	ck_assert(pack_reached(k, 0, (CUdeviceptr)(uintptr_t)&at, 7, NULL,
			       &f));
	ck_assert_int_eq(at, 7);
	pack_close(k);
	arena_free(c.a);
	arena_free(a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("pack");
	TCase *t = tcase_create("pack");
	tcase_add_test(t, test_all);
	suite_add_tcase(s, t);
	return s;
}
