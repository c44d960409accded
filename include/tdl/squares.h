/* Squares of tensors that are read across their rows: turned, so that what
 * computes with them goes along rows.  For after tdl/product.h. */
#ifndef TDL_SQUARES_H
#define TDL_SQUARES_H

#include "tdl/generated.h"

/* Elements of any type with so many bits. */
typedef uint32_t tdl_bits_32 __attribute__((may_alias));
typedef uint64_t tdl_bits_64 __attribute__((may_alias));

/* Turns a block of rows that are `step' apart, of as many elements as there are
 * rows, in vectors of 32 bytes, a row each.  The rows that the next block down
 * begins with are fetched meanwhile. */
static inline void tdl_turn_block_32(const tdl_bits_32 *from, int64_t step,
				     tdl_bits_32 *to)
{
	typedef uint32_t row __attribute__((vector_size(32)));
	row x[8], y[8], z[8];
	TDL_UNROLL
	for (int i = 0; i < 8; i++) {
		memcpy(&x[i], from + i * step, sizeof(x[i]));
		__builtin_prefetch(from + (i + TDL_SQUARE) * step);
	}
	TDL_UNROLL
	for (int i = 0; i < 8; i += 2) {
		y[i] = TDL_SHUFFLE(row, x[i], x[i + 1], 0, 8, 1, 9, 4, 12, 5,
				   13);
		y[i + 1] = TDL_SHUFFLE(row, x[i], x[i + 1], 2, 10, 3, 11, 6, 14,
				       7, 15);
	}
	TDL_UNROLL
	for (int i = 0; i < 8; i++) {
		const int j = (i & 4) + (i >> 1 & 1);
		z[i] = i & 1 ? TDL_SHUFFLE(row, y[j], y[j + 2], 2, 3, 10, 11, 6,
					   7, 14, 15)
			     : TDL_SHUFFLE(row, y[j], y[j + 2], 0, 1, 8, 9, 4,
					   5, 12, 13);
	}
	TDL_UNROLL
	for (int i = 0; i < 4; i++) {
		x[i] = TDL_SHUFFLE(row, z[i], z[i + 4], 0, 1, 2, 3, 8, 9, 10,
				   11);
		x[i + 4] = TDL_SHUFFLE(row, z[i], z[i + 4], 4, 5, 6, 7, 12, 13,
				       14, 15);
	}
	TDL_UNROLL
	for (int i = 0; i < 8; i++)
		memcpy(to + i * TDL_SQUARE, &x[i], sizeof(x[i]));
}

static inline void tdl_turn_block_64(const tdl_bits_64 *from, int64_t step,
				     tdl_bits_64 *to)
{
	typedef uint64_t row __attribute__((vector_size(32)));
	row x[4], y[4];
	TDL_UNROLL
	for (int i = 0; i < 4; i++) {
		memcpy(&x[i], from + i * step, sizeof(x[i]));
		__builtin_prefetch(from + (i + TDL_SQUARE) * step);
	}
	TDL_UNROLL
	for (int i = 0; i < 4; i += 2) {
		y[i] = TDL_SHUFFLE(row, x[i], x[i + 1], 0, 4, 2, 6);
		y[i + 1] = TDL_SHUFFLE(row, x[i], x[i + 1], 1, 5, 3, 7);
	}
	TDL_UNROLL
	for (int i = 0; i < 2; i++) {
		x[i] = TDL_SHUFFLE(row, y[i], y[i + 2], 0, 1, 4, 5);
		x[i + 2] = TDL_SHUFFLE(row, y[i], y[i + 2], 2, 3, 6, 7);
	}
	TDL_UNROLL
	for (int i = 0; i < 4; i++)
		memcpy(to + i * TDL_SQUARE, &x[i], sizeof(x[i]));
}

/* Turns a square of rows that are `step' apart: its element (row, col) goes to
 * to[col * TDL_SQUARE + row].  There are TDL_SQUARE rows and columns at
 * most. */
#define TDL_TURN(bits, block)                                              \
	static inline void tdl_turn_##bits(                                \
		const void *square, int64_t step, int64_t rows,            \
		int64_t cols, void *turned)                                \
	{                                                                  \
		const tdl_bits_##bits *from = square;                      \
		tdl_bits_##bits *to = turned;                              \
		const bool whole = rows == TDL_SQUARE && cols == rows;     \
		for (int c = 0; whole && c < TDL_SQUARE; c += block)       \
			for (int r = 0; r < TDL_SQUARE; r += block)        \
				tdl_turn_block_##bits(from + r * step + c, \
						      step,                \
						      to + c * TDL_SQUARE + r);\
		for (int64_t c = 0; !whole && c < cols; c++)               \
			for (int64_t r = 0; r < rows; r++)                 \
				to[c * TDL_SQUARE + r] =                   \
					from[r * step + c];                \
	}

TDL_TURN(32, 8)
TDL_TURN(64, 4)

#undef TDL_TURN

#endif
