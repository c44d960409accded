/* Kernels in C, check_kernel.h. */
#include "config.h"

#include <check.h>

#include "compiler/codegen/codegen.h"
#include "runtime/cpu/build.h"
#include "tests/unit/check_kernel.h"

struct built {
	void *library;
	cpu_kernel **kernels;
};

built *built_open(const kernels *all)
{
	built *b = ARENA_NEW(mem, built);
	const char **c = ARENA_ARRAY(mem, const char *, all->n);
	failure why = {0};
	for (int i = 0; i < all->n; i++)
		c[i] = codegen_c(mem, all->at[i]);
	b->kernels = ARENA_ARRAY(mem, cpu_kernel *, all->n);
	b->library = cpu_build(all->n, c, b->kernels, NULL, &why);
	ck_assert_msg(b->library != NULL, "%s", why.text);
	return b;
}

int built_run(built *b, int i, tdl_args *args)
{
	return b->kernels[i](args);
}

bool built_keeps(void)
{
	return true;
}

int built_products(void)
{
	return 3;
}

void built_close(built *b)
{
	cpu_close(b->library);
}

const char *built_text(const kernel *k)
{
	return codegen_c(mem, k);
}
