/* Boxes of elements that workers get from each other's arenas, for the host and
 * for kernels, which have int64_t before they come here. */
#ifndef TDL_COMPILER_EXPORT_PROGRAM_BOXES_H
#define TDL_COMPILER_EXPORT_PROGRAM_BOXES_H

enum { MAX_NDIM = 12 };

enum piece_kind {
	PIECE_COPY,
	PIECE_ADD,   /* combined with what is there */
	PIECE_ZEROS, /* nothing is read */
};

/* A box that a worker gets from an arena.  Places and steps are in bytes. */
struct piece {
	int to_worker, from_worker;
	piece_kind kind;
	int64_t to, from;
	int ndim;
	int64_t count[MAX_NDIM], to_step[MAX_NDIM], from_step[MAX_NDIM];
};

/* The parameter of a kernel: n elements. */
struct boxes {
	char *to;
	const char *from;
	piece p;
	int64_t n;
};

enum reducer { RED_NONE, RED_SUM, RED_PROD, RED_MAX, RED_MIN, RED_AND, RED_OR };

enum type {
	TYPE_F64,
	TYPE_F32,
	TYPE_F16,
	TYPE_BF16,
	TYPE_I64,
	TYPE_I32,
	TYPE_I16,
	TYPE_I8,
	TYPE_U64,
	TYPE_U32,
	TYPE_U16,
	TYPE_U8,
	TYPE_BOOL,
};

/* ROW(reducer, type) for all that can be combined. */
#define COMBINERS_OF(ROW, R)                                             \
	ROW(R, F64) ROW(R, F32) ROW(R, F16) ROW(R, BF16) ROW(R, I64)     \
	ROW(R, I32) ROW(R, I16) ROW(R, I8) ROW(R, U64) ROW(R, U32)       \
	ROW(R, U16) ROW(R, U8)
#define COMBINERS(ROW)                                                   \
	COMBINERS_OF(ROW, SUM) COMBINERS_OF(ROW, PROD)                   \
	COMBINERS_OF(ROW, MAX) COMBINERS_OF(ROW, MIN)                    \
	ROW(AND, BOOL) ROW(OR, BOOL)

/* The kernels, in transfer.cu. */
extern "C" __global__ void copy_1(const boxes b);
extern "C" __global__ void copy_2(const boxes b);
extern "C" __global__ void copy_4(const boxes b);
extern "C" __global__ void copy_8(const boxes b);
#define ROW(R, T) extern "C" __global__ void combine_##R##_##T(const boxes b);
COMBINERS(ROW)
#undef ROW

#endif
