/* Tests: compiler/codegen */
/* The rules of copies to shared memory, and of matrices that are loaded from
 * there, as tests/cuda/emulate.c knows them. */
#include "config.h"

#include <check.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "tests/unit/suite.h"

enum { LANES = 32, WORDS = 4 };

/* tests/cuda/emulate.c */
typedef const char *emulator(const char *name, const unsigned grid[3],
			     const unsigned block[3], size_t shared,
			     void **params);

static emulator *run;
static void *library;

static void build(void)
{
	arena *a = arena_new();
	const char *srcdir = getenv("srcdir");
	srcdir = srcdir ? srcdir : ".";
	char folder[] = "/tmp/tdl-check-XXXXXX";
	ck_assert_ptr_nonnull(mkdtemp(folder));
	char *path = arena_printf(a, "%s/copies.so", folder);
	char *command = arena_printf(
		a,
		"sh '%s/tests/cuda/emulate.sh' '-I%s/include' -o '%s' "
		"'%s/tests/cuda/copies.cu'",
		srcdir, srcdir, path, srcdir);
	ck_assert_int_eq(system(command), 0);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	ck_assert_msg(library != NULL, "%s", dlerror());
	*(void **)&run = dlsym(library, "emu_run");
	ck_assert_ptr_nonnull(run);
	unlink(path);
	rmdir(folder);
	arena_free(a);
}

static void leave(void)
{
	dlclose(library);
}

static _Alignas(16) uint32_t from[LANES * WORDS], to[LANES * WORDS];

/* NULL, or what was wrong. */
static const char *launch(const char *name)
{
	const unsigned grid[3] = {1, 1, 1}, block[3] = {LANES, 1, 1};
	void *x = from, *y = to, *params[] = {&x, &y};
	for (int i = 0; i < LANES * WORDS; i++)
		from[i] = (uint32_t)i * 0x10001u;
	memset(to, 0xff, sizeof to);
	return run(name, grid, block, 0, params);
}

/* Of two matrices whose elements are counted, those that a lane gets: PTX ISA,
 * "ldmatrix", the figure of fragments. */
static void check_load(const char *name, int n, bool transposed)
{
	const char *why = launch(name);
	ck_assert_msg(!why, "%s: %s", name, why);
	for (int lane = 0; lane < LANES; lane++)
		for (int m = 0; m < n; m++) {
			int row = lane / 4, col = lane % 4 * 2;
			int low = transposed ? col * 8 + row : row * 8 + col;
			int high = low + (transposed ? 8 : 1);
			ck_assert_uint_eq(to[lane * WORDS + m],
					  (uint32_t)(m * 64 + low) |
						  (uint32_t)(m * 64 + high)
							  << 16);
		}
}

START_TEST(loads)
{
	check_load("load_2", 2, false);
	check_load("load_4", 4, false);
	check_load("load_2_transposed", 2, true);
	check_load("load_4_transposed", 4, true);
}
END_TEST

static void check_fails(const char *name, const char *how)
{
	const char *why = launch(name);
	ck_assert_msg(why && strstr(why, how), "%s: %s", name,
		      why ? why : "nothing was wrong");
}

START_TEST(copies)
{
	const char *why = launch("waited");
	ck_assert_msg(!why, "%s", why);
	for (int lane = 0; lane < LANES; lane++)
		for (int m = 0; m < WORDS; m++)
			ck_assert_uint_eq(to[lane * WORDS + m],
					  from[m * LANES + lane]);
	check_fails("not_waited", "a copy is under way");
	check_fails("not_grouped", "a copy is under way");
	check_fails("no_barrier", "a copy is under way");
	check_fails("twice", "a copy is under way");
	check_fails("between_rows", "at no multiple of 16");
	check_fails("nobody_waits", "ends before its copies");
	check_fails("from_between", "misaligned");
	check_fails("to_global", "not in shared memory");
	check_fails("of_global", "not in shared memory");
	why = launch("waited");
	ck_assert_msg(!why, "%s", why);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("copies in CUDA");
	TCase *c = tcase_create("copies");
	tcase_add_unchecked_fixture(c, build, leave);
	tcase_add_test(c, loads);
	tcase_add_test(c, copies);
	suite_add_tcase(s, c);
	return s;
}
