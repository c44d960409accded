/* The small floats of kernels in CUDA against the interpreter's, on GPUs with
 * instructions for some and without: every code, and floats around all places
 * where rounding changes. */
#include "config.h"

#include <check.h>
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/eval.h"
#include "tests/unit/suite.h"

/* tests/cuda/emulate.c */
typedef const char *emulator(const char *name, const unsigned grid[3],
			     const unsigned block[3], size_t shared,
			     void **params);

enum { NTAILS = 3, NHEADS = 1 << 20 };

static const dtype types[] = {
	DT_F16, DT_BF16, DT_F8E4M3FN, DT_F8E4M3FNUZ, DT_F8E5M2, DT_F8E5M2FNUZ,
	DT_F8E8M0, DT_F6E2M3, DT_F6E3M2, DT_F4E2M1,
};
static const int archs[] = { 750, 800, 890 };

static arena *mem;
static emulator *run;

static void *build(int arch)
{
	const char *srcdir = getenv("srcdir");
	srcdir = srcdir ? srcdir : ".";
	char folder[] = "/tmp/tdl-check-XXXXXX";
	ck_assert_ptr_nonnull(mkdtemp(folder));
	char *library = arena_printf(mem, "%s/kernels.so", folder);
	char *text = arena_printf(mem, "%s/tests/cuda/conversions.cu", srcdir);
	char *command = arena_printf(
		mem, "sh '%s/tests/cuda/emulate.sh' '-I%s/include' "
		     "-D__CUDA_ARCH__=%d -o '%s' '%s'", srcdir, srcdir, arch,
		library, text);
	ck_assert_int_eq(system(command), 0);
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	ck_assert_msg(handle != NULL, "%s", dlerror());
	*(void **)&run = dlsym(handle, "emu_run");
	ck_assert_ptr_nonnull(run);
	unlink(library);
	rmdir(folder);
	return handle;
}

static void convert(const char *way, dtype t, const void *x, void *y, int n)
{
	const unsigned one[3] = { 1, 1, 1 };
	void *params[] = { &x, &y, &n };
	const char *why = run(arena_printf(mem, "%s_%s", way, dtype_name(t)),
			      one, one, 0, params);
	ck_assert_msg(!why, "%s", why);
}

/* Element i of y is what the interpreter has, or both are NaN. */
static void compare(dtype t, const void *y, int i, double want, float from)
{
	double got = elem_get_f64(t, y, i);
	bool same = isnan(want) ? isnan(got) :
		got == want && signbit(got) == signbit(want);
	if (!same) /* Check notes each assertion */
		ck_abort_msg("%s of %a: %a, not %a", dtype_name(t),
			     (double)from, got, want);
}

/* Every float with one of these ends: the last bit that f16 drops, or has, is
 * before them. */
static void check_to(dtype t)
{
	static const uint32_t tails[NTAILS] = { 0, 1, 0xfff };
	float *x = malloc(NHEADS * sizeof(*x));
	void *y = malloc(NHEADS * dtype_size(t)), *one = malloc(8);
	for (int k = 0; k < NTAILS; k++) {
		for (uint32_t i = 0; i < NHEADS; i++) {
			uint32_t bits = i << 12 | tails[k];
			memcpy(&x[i], &bits, sizeof(bits));
		}
		convert("to", t, x, y, NHEADS);
		for (int i = 0; i < NHEADS; i++) {
			elem_set_f64(t, one, 0, (double)x[i]);
			compare(t, y, i, elem_get_f64(t, one, 0), x[i]);
		}
	}
	free(one);
	free(y);
	free(x);
}

static void check_from(dtype t)
{
	int n = 1 << dtype_bits(t);
	char *x = calloc((size_t)n, dtype_size(t));
	float *y = malloc((size_t)n * sizeof(*y));
	for (int i = 0; i < n; i++)
		memcpy(x + (size_t)i * dtype_size(t), &i, dtype_size(t));
	convert("from", t, x, y, n);
	for (int i = 0; i < n; i++)
		compare(DT_F32, y, i, elem_get_f64(t, x, i), (float)i);
	free(y);
	free(x);
}

START_TEST(conversions)
{
	mem = arena_new();
	void *handle = build(archs[_i]);
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		check_from(types[i]);
		check_to(types[i]);
	}
	dlclose(handle);
	arena_free(mem);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("conversions in CUDA");
	TCase *c = tcase_create("conversions");
	tcase_add_loop_test(c, conversions, 0,
			    sizeof(archs) / sizeof(*archs));
	suite_add_tcase(s, c);
	return s;
}
