#include "config.h"

#include "compiler/cost/measured.h"

#include <math.h>

/* ---- products ---------------------------------------------------------- */

/* Two curves, and the position of a product between them.  A product with a
 * shorter side than any measured takes as long as the shortest measured one
 * with its other sides, whose work is that many times larger. */
typedef struct between {
	const curve *low, *high;
	double part, times;
} between;

static const curve *long_sides(const measured_list *all)
{
	for (int i = 0; i < all->n; i++)
		if (all->at[i].least == 0)
			return &all->at[i].curve;
	return NULL;
}

/* The position of `at' between x and y, by logarithms. */
static double part_between(double x, double y, double at)
{
	if (at <= x)
		return 0;
	return at >= y ? 1 : log(at / x) / log(y / x);
}

/* The side of a cube of that many operations. */
static double cube(double work)
{
	return cbrt(work / 2);
}

/* The curves of products whose least side is like this one's: the next below,
 * and the next above, or that of products without a short side, which is about
 * as far away as its sides are longer. */
static between curves_near(const measured_list *all, const kernel_load *l)
{
	kernel_side side = kernel_least_side(l);
	double least = l->extent[side];
	const curve *square = long_sides(all);
	const measured_kernels *low = NULL;
	for (int i = 0; i < all->n; i++) {
		const measured_kernels *x = &all->at[i];
		if (x->least == 0 || x->side != side)
			continue;
		if (low && (double)x->least >= least)
			return (between){ &low->curve, &x->curve,
					  part_between((double)low->least,
						       (double)x->least,
						       least), 1 };
		low = x;
		if ((double)x->least >= least)
			return (between){ &x->curve, &x->curve, 0,
					  (double)x->least / fmax(least, 1) };
	}
	if (!low || !square) {
		const curve *one = low ? &low->curve
					    : square ? square
						     : &all->at[0].curve;
		return (between){ one, one, 0, 1 };
	}
	return (between){ &low->curve, square,
			  part_between((double)low->least,
				       fmax(cube(l->work),
					    2 * (double)low->least),
				       least), 1 };
}

/* The operations per second of the largest product measured. */
static double fastest(const curve *c)
{
	const curve_point *last = &c->at[c->n - 1];
	return last->size / last->seconds;
}

/* Seconds by one of two curves.  A product smaller than all that were measured
 * with such a side takes less, in proportion to products without a short
 * side. */
static double one_seconds(const curve *c, const curve *square, double work)
{
	double s = curve_seconds(c, work), part = work / c->at[0].size;
	if (part >= 1 || !square)
		return s;
	return fmin(s, fmax(s * part, curve_seconds(square, work)));
}

/* Products side by side have one start-up. */
static double product_seconds(const measured_list *all, const kernel_load *l)
{
	between b = curves_near(all, l);
	const curve *square = long_sides(all);
	double work = l->work * b.times;
	double x = one_seconds(b.low, square, work);
	double y = one_seconds(b.high, square, work);
	double one = x * pow(y / x, b.part);
	double begin = fmin(one, b.high->at[0].seconds);
	if (l->count <= 1)
		return one;
	return begin + l->count * fmax(one - begin, work / fastest(b.high));
}

/* ---- all --------------------------------------------------------------- */

/* The curves of a class in a type, or in another of the same width; NULL. */
static const measured_list *list_like(const measured_device *d, kernel_class c,
				      dtype type)
{
	const measured_list *all = d->kernels[c];
	if (all[type].n > 0)
		return &all[type];
	for (int t = 0; t < DT_COUNT; t++)
		if (all[t].n > 0 && dtype_size(t) == dtype_size(type) &&
		    dtype_is_float(t) == dtype_is_float(type))
			return &all[t];
	return NULL;
}

/* The curves to use for a class: if it was not measured in such a type, those
 * of the class of which it is a special case, if these were; for machines
 * measured before the class existed, in all types. */
static const measured_list *list_of(const measured_device *d, kernel_class c,
				    dtype type)
{
	static const kernel_class like[KERNEL_CLASSES] = {
		[KERNEL_CHOICE] = KERNEL_INNER,
		[KERNEL_POOL] = KERNEL_INNER,
		[KERNEL_BRANCH] = KERNEL_FUNCTION,
		[KERNEL_TURNED_PRODUCT] = KERNEL_PRODUCT,
		[KERNEL_TURNED_WINDOW] = KERNEL_WINDOW,
	};
	const measured_list *own = list_like(d, c, type);
	if (!own && like[c])
		own = list_like(d, like[c], type);
	if (own)
		return own;
	own = &d->kernels[c][DT_F32];
	return own->n > 0 || !like[c] ? own : &d->kernels[like[c]][DT_F32];
}

double measured_kernel_seconds(const measured_device *d, const kernel_form *f,
			       const kernel_load *l)
{
	const measured_list *all = list_of(d, f->class, f->type);
	if (all->n == 0)
		return 0;
	if (f->side[SIDE_DEPTH])
		return product_seconds(all, l);
	return curve_seconds(&all->at[0].curve, l->work);
}
