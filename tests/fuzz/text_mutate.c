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

/* The beginning of one and the end of the other. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1,
				 const uint8_t *data2, size_t size2,
				 uint8_t *out, size_t max, unsigned seed)
{
	fuzz_random r = fuzz_seed(seed);
	size_t n1 = (size_t)fuzz_below(&r, (int)size1 + 1);
	size_t from = (size_t)fuzz_below(&r, (int)size2 + 1);
	n1 = n1 < max ? n1 : max;
	memcpy(out, data1, n1);
	size_t n2 = size2 - from < max - n1 ? size2 - from : max - n1;
	memcpy(out + n1, data2 + from, n2);
	return n1 + n2;
}
