/* Mutations of texts of numbers and words, tokens.h. */
#include "config.h"

#include <string.h>

#include "tests/fuzz/tokens.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned seed)
{
	fuzz_random r = fuzz_seed(seed);
	if (size == 0 || fuzz_below(&r, 8) == 0)
		return LLVMFuzzerMutate(data, size, max);
	arena *a = arena_new();
	span text = { arena_strndup(a, (const char *)data, size), (int)size };
	for (int n = 1 + fuzz_below(&r, 4); n > 0; n--)
		text = tokens_mutate(a, &r, text);
	size = (size_t)text.n < max ? (size_t)text.n : max;
	memcpy(data, text.at, size);
	arena_free(a);
	return size;
}
