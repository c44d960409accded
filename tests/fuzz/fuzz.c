#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"

void fuzz_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	abort();
}

/* One file is made and written again for each input. */
const char *fuzz_file(const uint8_t *data, size_t size)
{
	static char path[64];
	static int fd = -1;
	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0);
	FUZZ_CHECK(pwrite(fd, data, size, 0) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

void fuzz_print(const diag_sink *s)
{
	static FILE *nowhere;
	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	FUZZ_CHECK(nowhere);
	diag_print(s, nowhere, true);
}

/* ---- the library -------------------------------------------------------- */

const char *fuzz_opdefs(void)
{
	const char *given = getenv("TDL_OPDEFS");
	return given && *given ? given : FUZZ_OPDEFS;
}

static int is_tdl(const struct dirent *e)
{
	return path_ends_in(e->d_name, ".tdl");
}

static void load_folder(tdl_modules *m, const char *dir)
{
	struct dirent **all;
	int n = scandir(dir, &all, is_tdl, alphasort);
	FUZZ_CHECK(n > 0);
	for (int i = 0; i < n; i++) {
		dsl_load(m, path_join(m->arena, dir, all[i]->d_name));
		free(all[i]);
	}
	free(all);
}

tdl_modules *fuzz_library(arena *a)
{
	const char *dir = fuzz_opdefs();
	diag_sink *s = diag_sink_new(a);
	tdl_modules *m = dsl_new(a, s, &dir, 1);
	load_folder(m, dir);
	load_folder(m, path_join(a, dir, "onnx"));
	if (diag_errors(s))
		diag_print(s, stderr, false);
	FUZZ_CHECK(!diag_errors(s));
	return m;
}

/* ---- random numbers ----------------------------------------------------- */

fuzz_random fuzz_seed(unsigned seed)
{
	fuzz_random r = { seed * UINT64_C(0x9e3779b97f4a7c15) + 1 };
	fuzz_below(&r, 1);
	return r;
}

static uint64_t next(fuzz_random *r)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return r->state * UINT64_C(0x2545f4914f6cdd1d);
}

int fuzz_below(fuzz_random *r, int n)
{
	uint64_t v = next(r) >> 32;
	return n > 0 ? (int)(v % (uint64_t)n) : 0;
}

int64_t fuzz_integer(fuzz_random *r)
{
	static const int64_t edges[] = {
		-1, 0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65,
		127, 128, 255, 256, 1023, 1024, 4096, 65535, 65536, 1 << 20,
		INT32_MAX, INT32_MIN, (int64_t)INT32_MAX + 1, UINT32_MAX,
		(int64_t)1 << 46, (int64_t)1 << 50, (int64_t)1 << 60,
		INT64_MAX, INT64_MIN, INT64_MAX - 1, -2, -3,
	};
	const int n = sizeof(edges) / sizeof(*edges);
	int64_t v = edges[fuzz_below(r, fuzz_below(r, 3) ? 12 : n)];
	return fuzz_below(r, 8) ? v : (int64_t)next(r) >> fuzz_below(r, 64);
}

double fuzz_real(fuzz_random *r)
{
	static const double edges[] = { 0, -0.0, 1, -1, 0.5, 1e-310, 1e308,
					-1e308, 3.5, 1e-6, 1e20 };
	const int n = sizeof(edges) / sizeof(*edges);
	int i = fuzz_below(r, n + 2);
	return i < n ? edges[i] : i == n ? (double)NAN : (double)INFINITY;
}
