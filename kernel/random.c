/* Philox4x32-10: ten rounds that mix a counter of four words under a key of
 * two.
 *
 * Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1,
 * 2, 3", SC'11. */
#include "config.h"

#include "plan/random.h"

#include <math.h>

#include "plan/elem.h"

enum { ROUNDS = 10, WORDS = 4 };

void random_block(uint64_t seed, uint64_t block, uint32_t *x)
{
	uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
	x[0] = (uint32_t)block;
	x[1] = (uint32_t)(block >> 32);
	x[2] = x[3] = 0;
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t a = (uint64_t)x[0] * 0xd2511f53;
		uint64_t b = (uint64_t)x[2] * 0xcd9e8d57;
		uint32_t y[4] = { (uint32_t)(b >> 32) ^ x[1] ^ key[0],
				  (uint32_t)b,
				  (uint32_t)(a >> 32) ^ x[3] ^ key[1],
				  (uint32_t)a };
		for (int j = 0; j < 4; j++)
			x[j] = y[j];
		key[0] += 0x9e3779b9;
		key[1] += 0xbb67ae85;
	}
}

uint32_t random_word(uint64_t seed, uint64_t n)
{
	uint32_t x[WORDS];
	random_block(seed, n / WORDS, x);
	return x[n % WORDS];
}

/* ---- elements ---------------------------------------------------------- */

/* Between 0 and 1, neither of them. */
static double fraction(uint32_t word)
{
	return ((double)word + 0.5) * 0x1p-32;
}

static double draw(const plan_constant *c, const uint32_t *words)
{
	double u = fraction(words[0]);
	if (c->law == PLAN_UNIFORM)
		return c->a + (c->b - c->a) * u;
	double angle = 2 * 3.14159265358979323846 * fraction(words[1]);
	return c->a + c->b * sqrt(-2 * log(u)) * cos(angle);
}

void random_elements(const plan_constant *c, dtype type, int64_t first,
		     int64_t n, void *to)
{
	uint32_t words[WORDS];
	int each = c->law == PLAN_UNIFORM ? 1 : 2, have = WORDS / each;
	for (int64_t i = 0; i < n; i++) {
		int at = (int)((first + i) % have);
		if (i == 0 || at == 0)
			random_block(c->key, (uint64_t)((first + i) / have),
				     words);
		double v = draw(c, words + at * each);
		if (type == DT_F32)
			((float *)to)[i] = (float)v;
		else
			elem_set_bits(type, to, i, elem_encode(type, v));
	}
}
