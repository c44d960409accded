/* Fuzz target: descriptors, as .tdd files. */
#include "config.h"

#include <string.h>

#include "compiler/analysis/descriptor.h"
#include "tests/fuzz/fuzz.h"

/* Regions of a block, for sizes of 1 to 7. */
static void instantiate(arena *a, const desc_op *op, const desc_stage *s)
{
	int64_t *values = ARENA_ARRAY(a, int64_t, op->space->natoms);
	box *needs = ARENA_ARRAY(a, box, s->ninputs);
	for (int i = 0; i < s->nstrategies; i++)
		for (int64_t size = 1; size < 8; size += 3) {
			for (int j = 0; j < op->space->natoms; j++)
				values[j] = size;
			descriptor_needs(op, s, &s->strategies[i], values, 0,
					 (size + 1) / 2, needs);
		}
}

/* The reader accepts only what the writer would have written. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n;
	arena *a = arena_new();
	diag_sink *s = diag_sink_new(a);
	descriptor *d = descriptor_read(a, s, "fuzz.tdd", data, size);
	fuzz_print(s);
	FUZZ_CHECK(!d == (diag_errors(s) > 0));
	if (d) {
		void *copy = descriptor_write(a, d, &n);
		FUZZ_CHECK(n == size && !memcmp(copy, data, n));
		for (int i = 0; i < d->nops; i++)
			for (int j = 0; j < d->ops[i]->nstages; j++)
				instantiate(a, d->ops[i],
					    &d->ops[i]->stages[j]);
	}
	arena_free(a);
	return 0;
}
