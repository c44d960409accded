/* NumPy's .npz files: zip archives of named arrays. */
#ifndef TDL_RUNTIME_EXEC_NPZ_H
#define TDL_RUNTIME_EXEC_NPZ_H

#include <stdint.h>

#include "base/dtype.h"
#include "kernel/kernel.h"
#include "runtime/exec/fail.h"

/* An array in memory: dense, row-major. */
typedef struct array {
	const char *name;
	dtype type;
	int ndim;
	int64_t dims[MAX_NDIM];
	void *data;
} array;

int64_t array_nelem(const array *x);
int64_t array_nbytes(const array *x);

/* Opens a file for reading.  NULL, with *f set, if it is not a zip of arrays
 * with distinct names. */
typedef struct npz npz;
npz *npz_open(arena *a, const char *path, failure *f);
void npz_close(npz *z);

/* The names; NULL after the last. */
const char *npz_name(const npz *z, int i);

bool npz_has(const npz *z, const char *name);

/* A number, never 0, that is equal for files whose arrays have the same names,
 * sizes and checksums.  Reads only the file's directory; reading the arrays
 * compares the checksums with the elements. */
uint64_t npz_digest(const npz *z);

/* Sets x->ndim and x->dims to those of the array called x->name.  Returns
 * false, with *f set, unless it exists, has elements of x->type and is as long
 * as its shape says. */
bool npz_shape(npz *z, array *x, failure *f);

/* Reads the array called x->name into x->data, which has room for it.  Returns
 * false, with *f set, unless it has exactly x's type and shape.  Types that
 * NumPy lacks are stored as integers of as many bytes: bf16 as u16, floats of 8
 * bits and less as u8, i4 and i2 as i8, u4 and u2 as u8. */
bool npz_read(npz *z, const array *x, failure *f);

/* Writes n arrays atomically; equal arrays give equal bytes.  Does not copy the
 * data, so it takes no memory beside the arrays. */
bool npz_write(const char *path, int n, const array *arrays, failure *f);

#endif
