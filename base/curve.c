#include "config.h"

#include "base/curve.h"

#include <math.h>

double curve_seconds(const curve *c, double size)
{
	const curve_point *at = c->at, *last = &at[c->n - 1];
	int i = 1;
	if (size <= at[0].size)
		return at[0].seconds;
	if (size >= last->size)
		return last->seconds * (size / last->size);
	while (at[i].size < size)
		i++;
	const curve_point *x = &at[i - 1], *y = &at[i];
	double part = log(size / x->size) / log(y->size / x->size);
	return x->seconds * pow(y->seconds / x->seconds, part);
}
