/* Tests: include/tdl
 *
 * test_product with the tiles that processors with AVX-512 have, whatever this
 * one has: compilers make several vectors of each. */
#pragma GCC diagnostic ignored "-Wpsabi"
#ifndef __AVX512F__
#define __AVX512F__ 1
#endif
#include "tests/unit/test_product.c"
