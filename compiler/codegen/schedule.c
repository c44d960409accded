#include "config.h"

#include "compiler/codegen/schedule.h"

#include <stdlib.h>

/* A product is packed where each side has at least this many elements .. */
enum { LEAST_SIDE = 4, LEAST_DEPTH = 4 };
/* .. or a long vector is multiplied by a matrix that lies across. */
enum { LEAST_ACROSS = 16 };

static loop_set output_loops(const nest *n)
{
	loop_set s = 0;
	for (int l = 0; l < n->n; l++)
		if (!n->loops[l].reduced)
			s |= loop_bit(l);
	return s;
}

/* The number of points of some loops, at most `cap`. */
static int64_t points(const nest *n, loop_set s, int64_t cap)
{
	int64_t p = 1;
	for (int l = 0; l < n->n && p; l++)
		if (s & loop_bit(l))
			p = n->loops[l].extent > cap / p
				    ? cap
				    : p * n->loops[l].extent;
	return p;
}

int64_t step_of(const nest *n, const kexpr *e, int l)
{
	int64_t step = 0;
	int ndim = e->kind == KX_READ ? kx_ndim(e) : 0;
	for (int d = 0; d < ndim; d++) {
		linear x = linear_of(n, e->args[d]);
		if (!x.affine)
			step += loops_of(n, e->args[d]) & loop_bit(l) ? FAR_STEP
								      : 0;
		else if (x.coef[l])
			step += d < ndim - 1 || llabs(x.coef[l]) > FAR_STEP
					? FAR_STEP
					: llabs(x.coef[l]);
	}
	for (int i = 0; i < e->nargs; i++)
		step += step_of(n, e->args[i], l);
	return step;
}

/* ---- products ---------------------------------------------------------- */

static bool may_be_product(const kernel *k)
{
	const kexpr *e = k->body;
	return k->reducer == RED_SUM && e->kind == KX_FN && e->fn == FN_MUL &&
	       (dtype_is_float(e->type) ||
		(dtype_is_int(e->type) && k->type == e->type));
}

/* Divides the loops among the sides.  A quotient is a loop around the
 * product, or its variable is not divided: a side has to be a box.  Returns
 * the variables that must not be divided. */
static uint32_t divide_loops(schedule *s)
{
	const nest *n = &s->nest;
	loop_set out = output_loops(n);
	loop_set left = loops_of(n, s->left) & out;
	loop_set right = loops_of(n, s->right) & out;
	uint32_t whole = 0;
	s->rows = left & ~right;
	s->cols = right & ~left;
	s->outer = out & ~s->rows & ~s->cols;
	s->depth = (n->n ? ~(loop_set)0 >> (64 - n->n) : 0) & ~out;
	for (int l = 0; l < n->n; l++)
		if (n->loops[l].part == LOOP_QUOTIENT &&
		    !(s->outer & loop_bit(l)))
			whole |= (uint32_t)1 << n->loops[l].var;
	return whole;
}

static void swap_sides(schedule *s)
{
	const kexpr *e = s->left;
	loop_set rows = s->rows;
	s->left = s->right;
	s->right = e;
	s->left_first = !s->left_first;
	s->rows = s->cols;
	s->cols = rows;
}

/* Columns run along a vector: they are the side that the innermost loop of
 * the result is in, unless that is short. */
static void choose_columns(schedule *s)
{
	loop_set out = output_loops(&s->nest);
	if (s->rows & loop_bit(set_last(out)))
		swap_sides(s);
	if (points(&s->nest, s->cols, LEAST_ACROSS) < LEAST_ACROSS / 2 &&
	    points(&s->nest, s->rows, LEAST_ACROSS) == LEAST_ACROSS)
		swap_sides(s);
}

/* Whether packing pays: each element is used several times, or it turns a
 * matrix round that would be read across. */
static bool worth_packing(const schedule *s)
{
	const nest *n = &s->nest;
	int64_t rows = points(n, s->rows, LEAST_ACROSS);
	int64_t cols = points(n, s->cols, LEAST_ACROSS);
	int64_t depth = points(n, s->depth, LEAST_ACROSS);
	if (rows >= LEAST_SIDE && cols >= LEAST_SIDE && depth >= LEAST_DEPTH)
		return true;
	if (cols < LEAST_ACROSS || depth < LEAST_ACROSS)
		return false;
	return step_of(n, s->right, set_last(s->cols)) >= FAR_STEP &&
	       step_of(n, s->right, set_last(s->depth)) < FAR_STEP;
}

static bool as_product(schedule *s, const kernel *k)
{
	uint32_t whole = 0, more;
	if (!may_be_product(k))
		return false;
	for (;;) {
		s->kind = SCHEDULE_PRODUCT;
		s->nest = nest_of(k, whole);
		s->left = k->body->args[0];
		s->right = k->body->args[1];
		s->left_first = true;
		more = divide_loops(s);
		if (!(more & ~whole))
			break;
		whole |= more;
	}
	if (!s->depth || !(s->rows | s->cols))
		return false;
	choose_columns(s);
	return worth_packing(s);
}

/* ---- all kernels ------------------------------------------------------- */

schedule schedule_of(const kernel *k)
{
	schedule s = {0};
	if (as_product(&s, k))
		return s;
	s = (schedule){.nest = nest_of(k, 0)};
	loop_set out = output_loops(&s.nest);
	s.inner = set_last(out);
	if (k->reducer == RED_NONE) {
		s.kind = SCHEDULE_MAP;
	} else if (out && k->reducer < RED_ARGMAX) {
		s.kind = SCHEDULE_STRIP;
	} else {
		s.kind = SCHEDULE_SINGLE;
		s.inner = s.nest.n && s.nest.loops[s.nest.n - 1].reduced
				  ? s.nest.n - 1
				  : -1;
	}
	return s;
}
