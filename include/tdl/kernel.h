/* The C interface of an opaque function's kernel.
 *
 * An operator description (TDL) may call a function that it does not define:
 *
 *	opaque cholesky(m[N, N]) -> l[N, N] = "tdl_cholesky"
 *
 * The string names a C function of type tdl_kernel, built into the runtime or
 * in the library given to `tdlrun --kernels-from':
 *
 *	int tdl_cholesky(const tdl_kernel_call *call);
 *
 * It is called once for each point of the operator's other dimensions, possibly
 * by several threads at a time, and must not keep a pointer of the call, nor
 * wait for another call: workers may share a thread. */
#ifndef TDL_KERNEL_H
#define TDL_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element types of a tdl_view.  TDL_F16 is IEEE binary16, TDL_BF16 the upper
 * half of a TDL_F32; TDL_BOOL is a byte, 0 or 1.  The last rows are ONNX's
 * types of 8 bits and less, each in a byte: floats in the lower bits, integers
 * as int8_t and uint8_t. */
enum {
	TDL_F64,
	TDL_F32,
	TDL_F16,
	TDL_BF16,
	TDL_I64,
	TDL_I32,
	TDL_I16,
	TDL_I8,
	TDL_U64,
	TDL_U32,
	TDL_U16,
	TDL_U8,
	TDL_BOOL,
	TDL_F8E4M3FN,
	TDL_F8E4M3FNUZ,
	TDL_F8E5M2,
	TDL_F8E5M2FNUZ,
	TDL_F8E8M0,
	TDL_F6E2M3,
	TDL_F6E3M2,
	TDL_F4E2M1,
	TDL_I4,
	TDL_U4,
	TDL_I2,
	TDL_U2
};

/* An argument or a result: element (i0, i1, ..), 0 <= i_d < dims[d], is at
 * data + i0 * strides[0] + i1 * strides[1] + .., in elements. */
typedef struct tdl_view {
	void *data;
	int dtype;
	int ndim;
	const int64_t *dims;
	const int64_t *strides;
} tdl_view;

/* The value of an attribute: n values, 1 if it is not a list.  Integers, bools
 * (0 or 1), axes and element types are in ints, floats in floats, strings in
 * strings; the other pointers are NULL. */
typedef struct tdl_attr {
	const char *name;
	int n;
	const int64_t *ints;
	const double *floats;
	const char *const *strings;
} tdl_attr;

/* One call.  Inputs are the function's arguments, in order, and must not be
 * written; dimensions that the caller fixed (a[b, :, :]) are removed.  Outputs
 * are its results, in order.  One whose data is NULL is not wanted, and its
 * other fields are not set; results beyond noutputs are not wanted either.
 * Attributes are in the order of the declaration. */
typedef struct tdl_kernel_call {
	int ninputs;
	const tdl_view *inputs;
	int noutputs;
	const tdl_view *outputs;
	int nattrs;
	const tdl_attr *attrs;
} tdl_kernel_call;

/* Writes every element of the wanted results.  Returns 0; any other value stops
 * the run with a message that names the function and the value. */
typedef int tdl_kernel(const tdl_kernel_call *call);

#ifdef __cplusplus
}
#endif

#endif
