#include "config.h"

#include "plan/gemm.h"

#include <string.h>

#include "base/checked.h"
#include "plan/gemm_loops.h"

/* ---- copies ------------------------------------------------------------ */

/* A way to compute the product: which operands are copied, and the resulting
 * strides. */
typedef struct way {
	const gemm_layout *x;
	unsigned copied; /* a bit for each copied side */
	int64_t step[GEMM_SIDES][GEMM_MAX_DIMS];
	gemm g;
	int nloops; /* loops that calls are made for, .. */
	int loops[GEMM_MAX_DIMS];
	int nsums; /* .. the last of which are added up */
	double bytes;
} way;

/* The side whose order a copy follows in dims of a role: one of the others that
 * have these dims, preferably one that is not copied. */
static int order_of(const way *w, gemm_role r)
{
	static const int sides[][3] = {
		[ROW] = { GEMM_OUT, GEMM_LEFT, GEMM_LEFT },
		[COL] = { GEMM_OUT, GEMM_RIGHT, GEMM_RIGHT },
		[DEPTH] = { GEMM_RIGHT, GEMM_LEFT, GEMM_LEFT },
		[BATCH] = { GEMM_OUT, GEMM_LEFT, GEMM_RIGHT },
	};
	for (int i = 0; i < 3; i++)
		if (!(w->copied >> sides[r][i] & 1))
			return sides[r][i];
	return sides[r][1];
}

static int64_t size_of_step(const gemm_dim *d, int side)
{
	int64_t n = d->step[side];
	return n < 0 ? -n : n;
}

/* Whether dim d comes outside of e in a copy whose innermost role is `last`. */
static bool is_outside(const way *w, int d, int e, gemm_role last)
{
	const gemm_dim *x = &w->x->dims[d], *y = &w->x->dims[e];
	gemm_role r = gemm_role_of(x), s = gemm_role_of(y);
	if (r != s)
		return r == BATCH || (s != BATCH && s == last);
	int side = order_of(w, r);
	int64_t m = size_of_step(x, side), n = size_of_step(y, side);
	return m != n ? m > n : d < e;
}

/* The role that is contiguous in the operand: copying in that order is fast. */
static gemm_role innermost(const way *w, int side)
{
	int64_t least = INT64_MAX;
	gemm_role r = BATCH;
	for (int d = 0; d < w->x->ndims; d++) {
		const gemm_dim *x = &w->x->dims[d];
		int64_t n = size_of_step(x, side);
		if (n == 0 || n >= least || gemm_role_of(x) == BATCH)
			continue;
		least = n;
		r = gemm_role_of(x);
	}
	return r;
}

/* Lists the dims that move an operand, outermost first. */
static int list_order(const way *w, int side, int *order)
{
	gemm_role last = innermost(w, side);
	int n = 0;
	for (int d = 0; d < w->x->ndims; d++) {
		int at = n;
		if (w->x->dims[d].step[side] == 0)
			continue;
		for (; at > 0 && is_outside(w, d, order[at - 1], last); at--)
			order[at] = order[at - 1];
		order[at] = d;
		n++;
	}
	return n;
}

static int64_t size_of(const gemm_layout *x, int side)
{
	if (side == GEMM_OUT)
		return (int64_t)dtype_size(x->k->type);
	return (int64_t)dtype_size(side == GEMM_LEFT ? x->c->left.type :
						       x->c->right.type);
}

/* The number of elements of a side in GEMM_COLUMN bytes. */
static int64_t column_unit(const gemm_layout *x, int side)
{
	return GEMM_COLUMN / size_of(x, side);
}

static bool round_columns(const gemm_layout *x, int side, int64_t *n)
{
	int64_t unit = column_unit(x, side);
	if (!ck_add(*n, unit - 1, n))
		return false;
	*n -= *n % unit;
	return true;
}

/* Lays out a copy.  Columns are padded so that the next one begins at a
 * unit. */
static bool add_copy(way *w, int side)
{
	int order[GEMM_MAX_DIMS];
	gemm_copy *c = &w->g.copies[side];
	gemm_role last = BATCH;
	c->ndim = list_order(w, side, order);
	c->at = w->x->first[side];
	c->nelem = 1;
	memset(w->step[side], 0, sizeof(w->step[side]));
	for (int i = c->ndim - 1; i >= 0; i--) {
		const gemm_dim *d = &w->x->dims[order[i]];
		if (i + 1 < c->ndim && gemm_role_of(d) != last &&
		    !round_columns(w->x, side, &c->nelem))
			return false;
		last = gemm_role_of(d);
		c->count[i] = d->count;
		c->there[i] = d->step[side];
		c->here[i] = c->nelem;
		w->step[side][order[i]] = c->nelem;
		if (!ck_mul(c->nelem, d->count, &c->nelem))
			return false;
	}
	return c->ndim > 0 && c->ndim <= MAX_NDIM;
}

/* ---- chains ------------------------------------------------------------ */

/* Dims that can be walked as one: on all sides of a set their steps continue
 * each other. */
typedef struct chain {
	uint64_t dims;
	int64_t count;
	int64_t step[GEMM_SIDES];
} chain;

static bool continues(const way *w, const chain *c, unsigned sides, int d)
{
	for (int s = 0; s < GEMM_SIDES; s++)
		if (sides >> s & 1 && w->step[s][d] != c->step[s] * c->count)
			return false;
	return true;
}

static chain chain_from(const way *w, uint64_t dims, unsigned sides, int d)
{
	chain c = { .dims = UINT64_C(1) << d, .count = w->x->dims[d].count };
	for (int s = 0; s < GEMM_SIDES; s++)
		c.step[s] = w->step[s][d];
	for (int e = w->x->ndims - 1; e >= 0; e--)
		if ((dims & ~c.dims) >> e & 1 && continues(w, &c, sides, e)) {
			c.dims |= UINT64_C(1) << e;
			c.count *= w->x->dims[e].count;
			e = w->x->ndims;
		}
	return c;
}

/* The longest chain. */
static chain best_chain(const way *w, uint64_t dims, unsigned sides)
{
	chain best = { .count = 1 };
	for (int d = 0; d < w->x->ndims; d++) {
		bool forward = dims >> d & 1;
		for (int s = 0; s < GEMM_SIDES; s++)
			forward = forward && (!(sides >> s & 1) ||
					      w->step[s][d] >= 0);
		if (!forward)
			continue;
		chain c = chain_from(w, dims, sides, d);
		if (c.count > best.count)
			best = c;
	}
	return best;
}

static uint64_t dims_of(const way *w, gemm_role r)
{
	uint64_t all = 0;
	for (int d = 0; d < w->x->ndims; d++)
		if (gemm_role_of(&w->x->dims[d]) == r && !w->x->dims[d].at[0])
			all |= UINT64_C(1) << d;
	return all;
}

static uint32_t vars_of_chain(const way *w, const chain *c)
{
	uint32_t all = 0;
	for (int d = 0; d < w->x->ndims; d++) {
		if (!(c->dims >> d & 1))
			continue;
		if (w->x->dims[d].part)
			return UINT32_MAX;
		all |= UINT32_C(1) << w->x->dims[d].var;
	}
	return all;
}

/* ---- matrices ---------------------------------------------------------- */

/* Finds how a matrix is stored; false if neither dimension is contiguous. */
static bool store(gemm_matrix *m)
{
	bool by_rows = m->row_step == 1 || m->rows == 1;
	bool by_cols = m->col_step == 1 || m->cols == 1;
	m->transposed = !by_rows;
	int64_t length = m->transposed ? m->cols : m->rows;
	int64_t others = m->transposed ? m->rows : m->cols;
	m->step = m->transposed ? m->row_step : m->col_step;
	if (others == 1)
		m->step = length;
	return (by_rows || by_cols) && m->step >= length;
}

static gemm_matrix flip(const gemm_matrix *m)
{
	return (gemm_matrix){ m->cols, m->rows, m->col_step, m->row_step,
			      false, 0 };
}

/* Whether all numbers fit 32 bits, in which libraries count. */
static bool is_short(const gemm *g, const chain *batch)
{
	return g->rows <= INT32_MAX && g->cols <= INT32_MAX &&
	       g->depth <= INT32_MAX && batch->count <= INT32_MAX;
}

static bool set_matrices(gemm *g)
{
	gemm_matrix left = { g->rows, g->depth, g->left_row, g->left_depth,
			     false, 0 };
	gemm_matrix right = { g->depth, g->cols, g->right_depth, g->right_col,
			      false, 0 };
	g->a = left;
	g->b = right;
	g->c = (gemm_matrix){ g->rows, g->cols, g->out_row, g->out_col, false,
			      0 };
	g->swapped = false;
	if (store(&g->c) && !g->c.transposed)
		return store(&g->a) && store(&g->b);
	g->swapped = true;
	g->a = flip(&right);
	g->b = flip(&left);
	g->c = flip(&g->c);
	return store(&g->c) && !g->c.transposed && store(&g->a) &&
	       store(&g->b);
}

/* Whether the results of a call's products are apart, or between each other's
 * columns. */
static bool lie_apart(const gemm *g, const chain *batch)
{
	int64_t step = batch->step[GEMM_OUT], all;
	int64_t extent = (g->c.cols - 1) * g->c.step + g->c.rows;
	return batch->count == 1 || step >= extent ||
	       (g->c.cols > 1 && g->c.rows <= step &&
		ck_mul(step, batch->count, &all) && all <= g->c.step);
}

/* ---- calls ------------------------------------------------------------- */

static void add_loops(way *w, uint64_t dims)
{
	for (int d = 0; d < w->x->ndims; d++)
		if (dims >> d & 1)
			w->loops[w->nloops++] = d;
}

static int64_t place_of(const way *w, int d, int side, int64_t i)
{
	const gemm_dim *x = &w->x->dims[d];
	return x->at[side] ? x->at[side][i] : i * w->step[side][d];
}

/* Call number n of the loops; the last loop moves fastest. */
static gemm_call call_of(const way *w, const chain *batch, int64_t n)
{
	gemm_call c = { .count = batch->count };
	for (int s = 0; s < GEMM_SIDES; s++) {
		c.step[s] = batch->step[s];
		c.at[s] = w->copied >> s & 1 ? 0 : w->x->first[s];
	}
	for (int i = w->nloops - 1; i >= 0; i--) {
		int64_t count = w->x->dims[w->loops[i]].count;
		for (int s = 0; s < GEMM_SIDES; s++)
			c.at[s] += place_of(w, w->loops[i], s, n % count);
		c.adds = c.adds || (i >= w->nloops - w->nsums && n % count);
		n /= count;
	}
	return c;
}

static bool count_calls(way *w, int64_t *sums)
{
	int64_t n = 1;
	*sums = 1;
	for (int i = 0; i < w->nloops; i++) {
		int64_t count = w->x->dims[w->loops[i]].count;
		if (!ck_mul(n, count, &n) || n > GEMM_MAX_CALLS)
			return false;
		if (i >= w->nloops - w->nsums)
			*sums *= count;
	}
	w->g.ncalls = (int)n;
	return true;
}

/* The number of operations (all), or of elements of the result. */
static double points(const gemm_layout *x, bool all)
{
	double n = 1;
	for (int d = 0; d < x->ndims; d++)
		if (all || !x->dims[d].reduced)
			n *= (double)x->dims[d].count;
	return n;
}

static bool is_aligned(const way *w, const chain *batch, int side,
		       const gemm_matrix *m)
{
	int64_t unit = column_unit(w->x, side);
	bool one = (m->transposed ? m->rows : m->cols) == 1;
	int64_t first = w->copied >> side & 1 ? 0 : w->x->first[side];
	for (int i = 0; i < w->nloops; i++)
		if (w->step[side][w->loops[i]] % unit)
			return false;
	return first % unit == 0 && (one || m->step % unit == 0) &&
	       (batch->count == 1 || batch->step[side] % unit == 0);
}

/* Whether a product of halves has unaligned columns, whose elements libraries
 * load one by one. */
static bool is_slow(const way *w, const chain *batch)
{
	const gemm *g = &w->g;
	int a = g->swapped ? GEMM_RIGHT : GEMM_LEFT;
	int b = g->swapped ? GEMM_LEFT : GEMM_RIGHT;
	return size_of(w->x, GEMM_LEFT) == 2 &&
	       !(is_aligned(w, batch, a, &g->a) &&
		 is_aligned(w, batch, b, &g->b) &&
		 is_aligned(w, batch, GEMM_OUT, &g->c));
}

/* The bytes of a copy, each way; elements that are copied one by one count
 * more. */
static double bytes_of_copy(const way *w, int side)
{
	const gemm_copy *c = &w->g.copies[side];
	int64_t unit = column_unit(w->x, side), size = size_of(w->x, side);
	bool whole = c->ndim > 0 && c->there[c->ndim - 1] == 1 &&
		     c->count[c->ndim - 1] % unit == 0 && c->at % unit == 0;
	for (int i = 0; i < c->ndim - 1; i++)
		whole = whole && c->there[i] % unit == 0;
	if (!whole && size < GEMM_COPY_BYTES)
		size = GEMM_COPY_BYTES;
	return (double)c->nelem * (double)size;
}

/* Sums up the bytes moved in addition to the product's own operands; false if
 * they are too many for the product. */
static bool weigh(way *w, const chain *batch, int64_t worth, int64_t sums)
{
	const gemm_layout *x = w->x;
	int launches = w->g.ncalls;
	for (int s = 0; s < GEMM_SIDES; s++) {
		launches += w->copied >> s & 1;
		w->bytes += 2 * bytes_of_copy(w, s);
	}
	if (w->bytes * (double)worth > 2 * points(x, true))
		return false;
	w->bytes += 2 * (double)(sums - 1) * points(x, false) *
		    (double)size_of(x, GEMM_OUT);
	w->bytes += (double)launches * GEMM_CALL_BYTES;
	if (is_slow(w, batch))
		w->bytes += 2 * points(x, true) / GEMM_UNALIGNED_FLOP_PER_BYTE;
	return true;
}

/* Whether calls may add to the result: in short types each call would round the
 * sum. */
static bool can_add(const gemm_layout *x)
{
	return x->k->type == DT_F32 || x->k->type == DT_F64;
}

enum {
	AT_LEFT = 1 << GEMM_LEFT,
	AT_RIGHT = 1 << GEMM_RIGHT,
	AT_OUT = 1 << GEMM_OUT
};

/* Chooses the rows, columns and depth of each call, and its batch. */
static bool try_way(way *w, int64_t worth, chain *batch)
{
	uint64_t rows = dims_of(w, ROW), cols = dims_of(w, COL);
	uint64_t depth = dims_of(w, DEPTH), batches = dims_of(w, BATCH);
	chain i = best_chain(w, rows, AT_LEFT | AT_OUT);
	chain j = best_chain(w, cols, AT_RIGHT | AT_OUT);
	chain l = best_chain(w, depth, AT_LEFT | AT_RIGHT);
	gemm *g = &w->g;
	int64_t sums;
	g->rows = i.count;
	g->cols = j.count;
	g->depth = l.count;
	g->left_row = i.step[GEMM_LEFT];
	g->out_row = i.step[GEMM_OUT];
	g->right_col = j.step[GEMM_RIGHT];
	g->out_col = j.step[GEMM_OUT];
	g->left_depth = l.step[GEMM_LEFT];
	g->right_depth = l.step[GEMM_RIGHT];
	g->row_vars = vars_of_chain(w, &i);
	g->col_vars = vars_of_chain(w, &j);
	batches |= (rows & ~i.dims) | (cols & ~j.dims);
	*batch = best_chain(w, batches, AT_LEFT | AT_RIGHT | AT_OUT);
	/* Many inner products are not a product of matrices: nothing is read
	 * twice. */
	if (g->rows == 1 && g->cols == 1)
		return false;
	if (!is_short(g, batch) || !set_matrices(g) || !lie_apart(g, batch))
		return false;
	for (int d = 0; d < w->x->ndims; d++)
		if (w->x->dims[d].at[0])
			w->loops[w->nloops++] = d;
	add_loops(w, batches & ~batch->dims);
	int before = w->nloops;
	add_loops(w, depth & ~l.dims);
	w->nsums = w->nloops - before;
	return (w->nsums == 0 || can_add(w->x)) && count_calls(w, &sums) &&
	       weigh(w, batch, worth, sums);
}

static bool start_way(way *w, const gemm_layout *x, unsigned copied)
{
	*w = (way){ .x = x, .copied = copied };
	for (int d = 0; d < x->ndims; d++)
		for (int s = 0; s < GEMM_SIDES; s++)
			w->step[s][d] = x->dims[d].step[s];
	for (int s = 0; s < GEMM_SIDES; s++)
		if (copied >> s & 1 && !add_copy(w, s))
			return false;
	return !copied || !x->irregular;
}

int64_t gemm_copy_at(const gemm *g, const kernel *k, const contraction *c,
		     gemm_side side)
{
	gemm_layout x = { .k = k, .c = c };
	int64_t at = 0;
	for (int s = 0; s < (int)side; s++) {
		at += g->copies[s].nelem * size_of(&x, s);
		at = round_up(at, GEMM_ALIGN);
	}
	return at;
}

static void keep(const way *w, const chain *batch, gemm *g)
{
	const gemm_layout *x = w->x;
	*g = w->g;
	g->calls = ARENA_ARRAY(x->a, gemm_call, g->ncalls);
	for (int i = 0; i < g->ncalls; i++)
		g->calls[i] = call_of(w, batch, i);
	g->nbytes = gemm_copy_at(g, x->k, x->c, GEMM_SIDES);
}

/* Whether the library supports the types without intermediate rounding: two
 * matrices of one type to that type, or halves to f32. */
static bool takes(dtype left, dtype right, dtype out)
{
	bool half = left == DT_F16 || left == DT_BF16;
	bool known = half || left == DT_F32 || left == DT_F64;
	return known && left == right &&
	       (out == left || (half && out == DT_F32));
}

bool gemm_of(arena *a, const kernel *k, const contraction *c, const box *space,
	     const view *inputs, const view *out, const gemm_limits *most,
	     gemm *g)
{
	gemm_layout x = { .a = a, .k = k, .c = c };
	way best = { 0 }, w;
	chain batch, best_batch = { 0 };
	bool found = false;
	x.views[GEMM_LEFT] = &inputs[c->left.input];
	x.views[GEMM_RIGHT] = &inputs[c->right.input];
	x.views[GEMM_OUT] = out;
	*g = (gemm){ 0 };
	for (int v = 0; v < k->nvars; v++)
		if (space->lo[v] >= space->hi[v])
			return v < k->nout;
	if (!takes(c->left.type, c->right.type, k->type) ||
	    !gemm_loops(&x, space))
		return false;
	for (unsigned copied = 0; copied < 1u << GEMM_SIDES; copied++) {
		if (!start_way(&w, &x, copied) ||
		    gemm_copy_at(&w.g, k, c, GEMM_SIDES) > most->room ||
		    !try_way(&w, most->worth, &batch) ||
		    (found && w.bytes >= best.bytes))
			continue;
		best = w;
		best_batch = batch;
		found = true;
	}
	if (found)
		keep(&best, &best_batch, g);
	return found;
}
