/* Random numbers for tests: splitmix64, the same everywhere. */
#ifndef TDL_TESTS_UNIT_DRAW_H
#define TDL_TESTS_UNIT_DRAW_H

#include <stdint.h>

typedef struct draw {
	uint64_t state;
} draw;

static inline uint64_t draw_bits(draw *d)
{
	uint64_t x = d->state += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* lo <= value <= hi */
static inline int draw_int(draw *d, int lo, int hi)
{
	return lo + (int)(draw_bits(d) % (uint64_t)(hi - lo + 1));
}

#endif
