/* Two inputs become one, for formats without structure that one could keep. */
#include "config.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

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
