#include "config.h"

#include "plan/random_elements.h"

#include <math.h>

#include "kernel/elem.h"
#include "kernel/random.h"

enum { WORDS = 4 }; /* per block */

/* A number strictly between 0 and 1. */
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
