#include "config.h"

#include "compiler/codegen/schedule.h"

#include <stdlib.h>

#include "kernel/contraction.h"

/* Columns should be at least so many; half of it is accepted. */
enum { LEAST_COLUMNS = 16 };

/* With so many terms it matters little in which order a tile is stored. */
enum { LONG_DEPTH = 256 };

loop_set output_loops(const nest *n)
{
	loop_set s = 0;
	for (int l = 0; l < n->n; l++)
		if (!n->loops[l].reduced)
			s |= loop_bit(l);
	return s;
}

/* The number of points of some loops, at most `cap'. */
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

/* Divides the loops among the sides.  A side has to be a box, so a quotient
 * becomes a loop around the product, or its variable is not divided.  Returns
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
	s->depth = all_loops(n) & ~out;
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

/* Chooses the columns, which run along vectors: the side with the innermost
 * loop of the result, unless it is short. */
static void choose_columns(schedule *s)
{
	loop_set out = output_loops(&s->nest);
	if (s->rows & loop_bit(set_last(out)))
		swap_sides(s);
	if (points(&s->nest, s->cols, LEAST_COLUMNS) < LEAST_COLUMNS / 2 &&
	    points(&s->nest, s->rows, LEAST_COLUMNS) == LEAST_COLUMNS)
		swap_sides(s);
}

/* Whether tiles with unused columns would have less than 7 of 8 columns in
 * use. */
static bool leaves_idle(const schedule *s, loop_set side)
{
	enum { MANY = 1 << 20, VECTOR = 16 };
	int64_t n = points(&s->nest, side, MANY);
	return 8 * n < 7 * ((n + VECTOR - 1) / VECTOR * VECTOR);
}

void schedule_fill(schedule *s)
{
	if (s->kind == SCHEDULE_PRODUCT && leaves_idle(s, s->cols) &&
	    !leaves_idle(s, s->rows) &&
	    points(&s->nest, s->depth, LONG_DEPTH) == LONG_DEPTH)
		swap_sides(s);
}

/* Whether packing pays off because each element is used several times: both
 * sides have `least' elements, one of them PACKED_LEAST. */
static bool worth_packing(const schedule *s, int64_t least)
{
	const nest *n = &s->nest;
	int64_t rows = points(n, s->rows, PACKED_LEAST);
	int64_t cols = points(n, s->cols, PACKED_LEAST);
	return rows >= least && cols >= least &&
	       (rows == PACKED_LEAST || cols == PACKED_LEAST) &&
	       points(n, s->depth, PACKED_LEAST) == PACKED_LEAST;
}

static bool as_product(schedule *s, const kernel *k, int64_t least)
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
	return worth_packing(s, least);
}

/* ---- loops ------------------------------------------------------------- */

static bool is_near(const nest *n, const kexpr *e, int l)
{
	int64_t step = step_of(n, e, l);
	return step > 0 && step < FAR_STEP;
}

/* Whether some read in e goes along its memory with loop l and across it with
 * the innermost loop. */
static bool crosses_memory(const nest *n, const kexpr *e, int l, int inner)
{
	bool found = e->kind == KX_READ && is_near(n, e, l) &&
		     step_of(n, e, inner) >= FAR_STEP;
	for (int i = 0; i < e->nargs && !found; i++)
		found = crosses_memory(n, e->args[i], l, inner);
	return found;
}

/* The loop that is walked in squares with the innermost one; -1 if there is
 * none. */
static int find_across(const nest *n, const kexpr *e, loop_set out, int inner)
{
	if (inner < 0 || n->loops[inner].part != LOOP_WHOLE)
		return -1;
	for (int l = inner - 1; l >= 0; l--)
		if (out & loop_bit(l) && n->loops[l].part == LOOP_WHOLE &&
		    crosses_memory(n, e, l, inner))
			return l;
	return -1;
}

/* Whether the innermost loop goes from one stretch of memory to another, and
 * the last reducing loop goes along the stretches. */
static bool is_narrow(const nest *n, const kexpr *e, int inner)
{
	int last = n->n - 1;
	return n->loops[last].reduced && is_near(n, e, last) &&
	       step_of(n, e, inner) >= FAR_STEP;
}

/* Whether the innermost loop has few elements with many terms each, and the
 * terms of the last loop are adjacent in memory. */
static bool has_few_of_many(const nest *n, const kexpr *e, int inner)
{
	enum { FEW = 8, BESIDE = 16, MANY = 512 };
	int last = n->n - 1;
	return n->loops[last].reduced && is_near(n, e, last) &&
	       n->loops[inner].extent <= FEW &&
	       n->loops[last].extent >= BESIDE &&
	       points(n, all_loops(n) & ~output_loops(n), MANY) == MANY;
}

/* ---- one accumulator, or lanes of them --------------------------------- */

/* Whether a read goes on from the last value of loop `inner' to the next of
 * loop `outer' as memory does: its tensor has one dimension for each, which
 * follow each other. */
static bool goes_on(const nest *n, const kexpr *read, int outer, int inner)
{
	int ndim = kx_ndim(read);
	const int64_t *dims = n->k->inputs[read->input].dims;
	for (int d = 0; d < ndim; d++) {
		linear x = linear_of(n, read->args[d]);
		linear y = { 0 };
		if (!(loops_of(n, read->args[d]) &
		      (loop_bit(outer) | loop_bit(inner))))
			continue;
		if (d + 1 < ndim)
			y = linear_of(n, read->args[d + 1]);
		return x.affine && y.affine && x.coef[outer] == 1 &&
		       y.coef[inner] == 1 && !x.coef[inner] && !y.coef[outer] &&
		       dims[d + 1] == n->loops[inner].extent;
	}
	return true;
}

static bool all_go_on(const nest *n, const kexpr *e, int outer, int inner)
{
	if (e->kind == KX_READ && !goes_on(n, e, outer, inner))
		return false;
	for (int i = 0; i < e->nargs; i++)
		if (!all_go_on(n, e->args[i], outer, inner))
			return false;
	return true;
}

/* The terms of the last reducing loop, and of those before it with which it
 * makes one loop where tensors are whole; at most `cap'. */
static int64_t run_of_terms(const nest *n, const kexpr *e, int64_t cap)
{
	int l = n->n - 1;
	loop_set s = loop_bit(l);
	for (; l > 0 && n->loops[l - 1].reduced &&
	       n->loops[l - 1].part == LOOP_WHOLE &&
	       n->loops[l].part == LOOP_WHOLE && all_go_on(n, e, l - 1, l);
	     l--)
		s |= loop_bit(l - 1);
	return points(n, s, cap);
}

/* Whether there are many terms, and enough of them beside each other. */
static bool has_long_runs(const nest *n, const kexpr *e)
{
	enum { LONG = 128, RUN = 32 };
	return points(n, all_loops(n) & ~output_loops(n), LONG) == LONG &&
	       run_of_terms(n, e, RUN) == RUN;
}

/* Makes a schedule that computes one element of the result at a time. */
static void as_single(schedule *s, const kernel *k, bool many)
{
	const nest *n = &s->nest;
	bool reduced = n->n && n->loops[n->n - 1].reduced;
	s->kind = SCHEDULE_SINGLE;
	s->inner = reduced ? n->n - 1 : -1;
	s->lanes = reduced && (many || has_long_runs(n, k->body)) &&
		   reducer_table[k->reducer].rule == RED_OF_NUMBER;
}

/* ---- all kernels ------------------------------------------------------- */

schedule schedule_of_loops(const kernel *k)
{
	schedule s = {.nest = nest_of(k, 0), .term = k->body};
	loop_set out = output_loops(&s.nest);
	s.inner = set_last(out);
	s.across = -1;
	if (k->reducer == RED_NONE) {
		s.kind = SCHEDULE_MAP;
		s.across = find_across(&s.nest, k->body, out, s.inner);
		return s;
	}
	bool many = out && has_few_of_many(&s.nest, k->body, s.inner);
	if (out && !reducer_is_where(k->reducer)) {
		s.kind = SCHEDULE_STRIP;
		s.narrow = is_narrow(&s.nest, k->body, s.inner);
		if (!s.narrow && !many)
			return s;
	}
	schedule single = s;
	as_single(&single, k, many);
	return s.kind == SCHEDULE_STRIP && !single.lanes ? s : single;
}

static schedule find_schedule(const kernel *k, int64_t least)
{
	schedule s = {0};
	if (as_product(&s, k, least) || as_scatter(&s, k) || as_scan(&s, k))
		return s;
	return schedule_of_loops(k);
}

schedule schedule_of(const kernel *k)
{
	return find_schedule(k, PACKED_LEAST);
}

schedule schedule_on_cpu(const kernel *k)
{
	enum { LEAST_ROWS = 2 };
	schedule s = find_schedule(k, LEAST_ROWS);
	schedule_fill(&s);
	schedule_turn(&s);
	return s;
}
