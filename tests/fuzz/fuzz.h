/* The interface of the fuzz targets.
 *
 * A target is a program of its own: LLVMFuzzerTestOneInput() of libFuzzer's
 * interface gets one input and returns, however broken that is.  Faults end in
 * abort(): a crash, a sanitizer's finding, FUZZ_CHECK().  Source:
 * llvm.org/docs/LibFuzzer.html. */
#ifndef TDL_TESTS_FUZZ_FUZZ_H
#define TDL_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "dsl/dsl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A changed input in place of data[0..size), of at most max bytes; and one made
 * of two.  A seed always gives the same. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1,
				 const uint8_t *data2, size_t size2,
				 uint8_t *out, size_t max, unsigned seed);

/* Changes bytes, knowing nothing of them; libFuzzer's, or replay.c's. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/* Ends the program, saying what does not hold. */
#define FUZZ_CHECK(holds) \
	((holds) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #holds))
void fuzz_fail(const char *file, int line, const char *what)
	__attribute__((noreturn));

/* A file in memory with these bytes, for what reads files; the path is valid
 * until the next call. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* Prints the diagnostics to where nobody reads them. */
void fuzz_print(const diag_sink *s);

/* The folder of the operator library: $TDL_OPDEFS, or that of the source. */
const char *fuzz_opdefs(void);

/* The whole library, in a, which must have no errors. */
tdl_modules *fuzz_library(arena *a);

/* ---- what mutators share ------------------------------------------------ */

/* xorshift64*; the state is not 0. */
typedef struct fuzz_random {
	uint64_t state;
} fuzz_random;

fuzz_random fuzz_seed(unsigned seed);
/* 0 <= the number < n; 0 for n <= 0. */
int fuzz_below(fuzz_random *r, int n);
/* An integer that code is likely to have forgotten. */
int64_t fuzz_integer(fuzz_random *r);
double fuzz_real(fuzz_random *r);

#endif
