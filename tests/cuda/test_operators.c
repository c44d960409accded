/* Tests: compiler/codegen */
/* The kernels of all operators of the library, and of their gradients, in CUDA
 * against the interpreter. */
#include "config.h"

#include <check.h>
#include <stdlib.h>

#include "tests/cuda/operators.h"
#include "tests/unit/check_kernel.h"
#include "tests/unit/suite.h"

START_TEST(operators)
{
	const char *srcdir = getenv("srcdir");
	kernel_list list = {0};
	kernels all = {0};
	mem = arena_new();
	int n = operators_list(
		mem, arena_printf(mem, "%s/opdefs", srcdir ? srcdir : "."), 1,
		7, &list);
	ck_assert_int_gt(n, 100);
	for (int i = 0; i < list.n; i++)
		vec_push(mem, &all, ARENA_COPY(mem, list.at[i], 1));
	check_all(&all);
	arena_free(mem);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("operators in CUDA");
	TCase *c = tcase_create("operators");
	tcase_add_test(c, operators);
	suite_add_tcase(s, c);
	return s;
}
