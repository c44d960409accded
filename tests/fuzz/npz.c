/* Fuzz target: NumPy's .npz files. */
#include "config.h"

#include <stdlib.h>

#include "runtime/exec/npz.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_MEMBERS = 8 };

/* Reads a member as each of these, into as much memory as that takes. */
static void read_as_all(npz *z, const char *name)
{
	static const array wanted[] = {
		{ .type = DT_F32 },
		{ .type = DT_F32, .ndim = 1, .dims = { 3 } },
		{ .type = DT_F32, .ndim = 2, .dims = { 2, 3 } },
		{ .type = DT_BF16, .ndim = 2, .dims = { 2, 3 } },
		{ .type = DT_I64, .ndim = 1, .dims = { 3 } },
		{ .type = DT_BOOL, .ndim = 3, .dims = { 2, 1, 3 } },
		{ .type = DT_F64, .ndim = 2, .dims = { 0, 3 } },
	};
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		array x = wanted[i];
		failure f = { 0 };
		x.name = name;
		x.data = malloc((size_t)array_nbytes(&x) + 1);
		FUZZ_CHECK(x.data);
		bool good = npz_read(z, &x, &f);
		FUZZ_CHECK(good == (f.status == CLI_OK));
		free(x.data);
		/* An array has the shape that the file says. */
		failure g = { 0 };
		if (good)
			FUZZ_CHECK(npz_shape(z, &x, &g) &&
				   x.ndim == wanted[i].ndim);
		else
			FUZZ_CHECK(npz_shape(z, &x, &g) ==
				   (g.status == CLI_OK));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	arena *a = arena_new();
	failure f = { 0 };
	npz *z = npz_open(a, fuzz_file(data, size), &f);
	FUZZ_CHECK(!z == (f.status != CLI_OK));
	for (int i = 0; z && i < MAX_MEMBERS && npz_name(z, i); i++)
		read_as_all(z, npz_name(z, i));
	if (z)
		npz_close(z);
	arena_free(a);
	return 0;
}
