/* Kernels in CUDA, check_kernel.h: on the host, tests/cuda/emulate.h. */
#include "config.h"

#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/codegen/codegen.h"
#include "tests/cuda/binding.h"
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
		/* Every other one has indices of 32 bits. */
		fputs(codegen_cuda_words(mem, all->at[i],
					 arena_printf(mem, "tdl_kernel_%d", i),
					 i % 2 ? 32 : 64), f);
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
	int64_t w[BINDING_WORDS];
	void *params[] = {w};
	box space = {.n = k->nvars};
	memcpy(space.lo, args->lo, sizeof(space.lo));
	memcpy(space.hi, args->hi, sizeof(space.hi));
	int64_t items = plan_launch_items(&pk, &space);
	if (items == 0)
		return 0;
	grid[0] = (unsigned)pick(1, items < 8 ? items + 2 : 8);
	binding_words(k, args, &args->fault, w);
	const char *why = b->run(arena_printf(mem, "tdl_kernel_%d", i), grid,
				 block, (size_t)pk.launch.shared, params);
	ck_assert_msg(!why, "%s: %s\n%s", k->name, why, built_text(k));
	return *(int *)&args->fault ? TDL_INDEX_OUTSIDE : 0;
}

bool built_keeps(void)
{
	return false;
}

int built_products(void)
{
	return 256;
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
