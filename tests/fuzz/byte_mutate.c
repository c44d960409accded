/* Mutations of formats without structure that one could keep. */
#include "config.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

/* Half of the time numbers of one byte, and copies of parts. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned seed)
{
	fuzz_random r = fuzz_seed(seed);
	if (size == 0 || fuzz_below(&r, 2))
		return LLVMFuzzerMutate(data, size, max);
	for (int n = 1 + fuzz_below(&r, 3); n > 0; n--) {
		size_t at = (size_t)fuzz_below(&r, (int)size);
		size_t from = (size_t)fuzz_below(&r, (int)size);
		size_t most = size - (at > from ? at : from);
		size_t len = (size_t)fuzz_below(&r, 16);
		if (fuzz_below(&r, 2))
			data[at] = (uint8_t)fuzz_integer(&r);
		else
			memmove(data + at, data + from,
				len < most ? len : most);
	}
	return size;
}
