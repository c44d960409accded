/* Kernels in CUDA, check_kernel.h: on the host, tests/cuda/emulate.h. */
#include "config.h"

#include <check.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/codegen/codegen.h"
#include "tests/unit/check_kernel.h"

/* tests/cuda/emulate.c */
typedef const char *emulator(const char *name, const unsigned grid[3],
			     const unsigned block[3], size_t shared,
			     void **params);

struct built {
	void *library;
	emulator *run;
	const kernels *all;
	plan_launch *launch;
};

enum { MAX_WORDS = 3 + 2 * MAX_NVARS + MAX_NINPUTS * (MAX_NDIM + 1) +
		   MAX_NDIM };

/* ---- bindings ---------------------------------------------------------- */

/* All are words; every other kernel has indices of 32 bits. */
static int define(FILE *f, const char *name, int n)
{
	fprintf(f, "#undef %s\n#define %s (p.w[%d])\n", name, name, n);
	return n + 1;
}

static int define_place(FILE *f, const char *name, const char *type, int ndim,
			int n)
{
	fprintf(f, "#undef %s\n#define %s ((%s *)p.w[%d])\n", name, name, type,
		n++);
	for (int d = 0; d < ndim; d++)
		n = define(f, arena_printf(mem, "%s_STRIDE_%d", name, d), n);
	return n;
}

static void write_bindings(FILE *f, int i, const kernel *k)
{
	int n = 0;
	for (int v = 0; v < k->nvars; v++) {
		n = define(f, arena_printf(mem, "TDL_LO_%d", v), n);
		n = define(f, arena_printf(mem, "TDL_COUNT_%d", v), n);
	}
	for (int in = 0; in < k->ninputs; in++)
		n = define_place(f, arena_printf(mem, "TDL_IN_%d", in),
				 "const void", k->inputs[in].ndim, n);
	n = define_place(f, "TDL_OUT", "void", k->nout, n);
	n = define_place(f, "TDL_FAULT", "tdl_fault", 0, n);
	fprintf(f, "#undef TDL_NWORDS\n#define TDL_NWORDS %d\n", n);
	fprintf(f, "#undef TDL_INT\n#define TDL_INT int%d_t\n",
		i % 2 ? 32 : 64);
	fprintf(f, "#undef TDL_KERNEL\n#define TDL_KERNEL tdl_kernel_%d\n", i);
	fprintf(f, "#undef TDL_PART\n#define TDL_PART(x) tdl_kernel_%d_##x\n",
		i);
}

static int64_t origin(const tdl_block *b, int ndim, size_t size)
{
	return (int64_t)(intptr_t)b->data +
	       tdl_start(b, ndim) * (int64_t)size;
}

static void set_words(const kernel *k, const tdl_args *a, int64_t *w)
{
	for (int v = 0; v < k->nvars; v++) {
		*w++ = a->lo[v];
		*w++ = a->hi[v] - a->lo[v];
	}
	for (int i = 0; i < k->ninputs; i++) {
		int ndim = k->inputs[i].ndim;
		*w++ = origin(&a->in[i], ndim, dtype_size(k->inputs[i].type));
		for (int d = 0; d < ndim; d++)
			*w++ = a->in[i].stride[d];
	}
	*w++ = origin(&a->out, k->nout, dtype_size(k->type));
	for (int d = 0; d < k->nout; d++)
		*w++ = a->out.stride[d];
	*w = (int64_t)(intptr_t)&a->fault;
}

/* ---- building ---------------------------------------------------------- */

static void compile(const char *text, const char *library)
{
	const char *srcdir = getenv("srcdir");
	srcdir = srcdir ? srcdir : ".";
	char *command = arena_printf(
		mem, "sh '%s/tests/cuda/emulate.sh' '-I%s/include' -o '%s' "
		     "'%s'", srcdir, srcdir, library, text);
	ck_assert_int_eq(system(command), 0);
}

built *built_open(const kernels *all)
{
	built *b = ARENA_NEW(mem, built);
	char folder[] = "/tmp/tdl-check-XXXXXX";
	ck_assert_ptr_nonnull(mkdtemp(folder));
	char *text = arena_printf(mem, "%s/kernels.cu", folder);
	char *library = arena_printf(mem, "%s/kernels.so", folder);
	FILE *f = fopen(text, "w");
	ck_assert_ptr_nonnull(f);
	b->all = all;
	b->launch = ARENA_ARRAY(mem, plan_launch, all->n);
	fputs("#include \"tdl/cuda.h\"\n", f);
	for (int i = 0; i < all->n; i++) {
		write_bindings(f, i, all->at[i]);
		fputs(codegen_cuda(mem, all->at[i], &b->launch[i]), f);
	}
	fclose(f);
	compile(text, library);
	b->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	ck_assert_msg(b->library != NULL, "%s", dlerror());
	*(void **)&b->run = dlsym(b->library, "emu_run");
	ck_assert_ptr_nonnull(b->run);
	unlink(text);
	unlink(library);
	rmdir(folder);
	return b;
}

int built_run(built *b, int i, tdl_args *args)
{
	const kernel *k = b->all->at[i];
	plan_kernel pk = {.kernel = k, .launch = b->launch[i]};
	const unsigned block[3] = {(unsigned)pk.launch.threads, 1, 1};
	unsigned grid[3] = {1, 1, 1};
	int64_t w[MAX_WORDS];
	void *params[] = {w};
	box space = {.n = k->nvars};
	memcpy(space.lo, args->lo, sizeof(space.lo));
	memcpy(space.hi, args->hi, sizeof(space.hi));
	int64_t items = plan_launch_items(&pk, &space);
	if (items == 0)
		return 0;
	grid[0] = (unsigned)pick(1, items < 8 ? items + 2 : 8);
	set_words(k, args, w);
	const char *why = b->run(arena_printf(mem, "tdl_kernel_%d", i), grid,
				 block, (size_t)pk.launch.shared, params);
	ck_assert_msg(!why, "%s: %s\n%s", k->name, why, built_text(k));
	return *(int *)&args->fault ? TDL_INDEX_OUTSIDE : 0;
}

void built_close(built *b)
{
	dlclose(b->library);
}

const char *built_text(const kernel *k)
{
	plan_launch launch;
	return codegen_cuda(mem, k, &launch);
}
