#include "config.h"

#include "tests/unit/byte_judge.h"

#include <check.h>
#include <string.h>

#include "compiler/solver/problem.h"

/* A worker's coordinate on an axis, out of the mixed radix. */
static int coordinate(const judge *j, int worker, int axis)
{
	for (int a = j->naxes - 1; a > axis; a--)
		worker /= j->as->mesh.size[a];
	return worker % j->as->mesh.size[axis];
}

/* Narrows [lo, hi) to the block that a worker has of dimension d, cut by those
 * of the axes that are in the mask. */
static void nested(const judge *j, const cuts *c, uint32_t axes, int d,
		   int worker, int64_t *lo, int64_t *hi)
{
	for (int a = 0; a < j->naxes; a++) {
		if (c->dim[a] != d || !(axes >> a & 1))
			continue;
		int64_t p = coordinate(j, worker, a), n = *hi - *lo;
		int64_t k = j->as->mesh.size[a], first = *lo;
		*lo = first + p * n / k;
		*hi = first + (p + 1) * n / k;
	}
}

static int64_t count_elements(const tensor_type *t)
{
	int64_t n = 1;
	for (int d = 0; d < t->ndim; d++)
		n *= t->dims[d];
	ck_assert_int_le(n, MAX_ELEMENTS);
	return n;
}

/* All elements of a tensor inside the intervals. */
static void fill(const tensor_type *t, const int64_t *lo, const int64_t *hi,
		 set *s)
{
	int64_t n = count_elements(t);
	memset(s, 0, sizeof(*s));
	for (int64_t e = 0; e < n; e++) {
		int64_t rest = e;
		s->has[e] = true;
		for (int d = t->ndim - 1; d >= 0; d--) {
			int64_t x = rest % t->dims[d];
			rest /= t->dims[d];
			s->has[e] &= x >= lo[d] && x < hi[d];
		}
	}
}

static int64_t missing(const set *want, const set *have)
{
	int64_t n = 0;
	for (int e = 0; e < MAX_ELEMENTS; e++)
		n += want->has[e] && !have->has[e];
	return n;
}

int64_t size_of(const set *s)
{
	static const set nothing;
	return missing(s, &nothing);
}

static void stored(const judge *j, tensor_id id, int worker, set *s)
{
	const tensor_type *t = &j->g->tensors[id].type;
	int64_t lo[MAX_NDIM] = { 0 }, hi[MAX_NDIM];
	for (int d = 0; d < t->ndim; d++) {
		hi[d] = t->dims[d];
		nested(j, &j->as->tensor_cuts[id], ~0u, d, worker, &lo[d],
		       &hi[d]);
	}
	fill(t, lo, hi, s);
}

typedef struct bounds {
	bool some;
	int64_t lo[MAX_NDIM], hi[MAX_NDIM];
} bounds;

static int64_t index_value(const kexpr *e, const int64_t *point)
{
	if (e->kind == KX_INT)
		return e->i;
	if (e->kind == KX_VAR)
		return point[e->var];
	int64_t x = index_value(e->args[0], point);
	int64_t y = index_value(e->args[1], point);
	switch (e->fn) {
	case FN_ADD:
		return x + y;
	case FN_SUB:
		return x - y;
	case FN_MUL:
		return x * y;
	case FN_DIV:
		return x / y;
	case FN_MOD:
		return x % y;
	default:
		ck_abort_msg("an index that the judge does not know");
	}
}

/* The index of a read in dimension d, [lo, hi): one value, or where it depends
 * on data all that the worker is responsible for. */
static void index_range(const kernel *k, const kexpr *read, int d,
			const int64_t *point, const int64_t *vlo,
			const int64_t *vhi, int64_t *lo, int64_t *hi)
{
	if (!kx_has_read(read->args[d])) {
		*lo = index_value(read->args[d], point);
		*hi = *lo + 1;
		return;
	}
	*lo = 0;
	*hi = k->inputs[read->input].dims[d];
	for (int i = 0; i < k->nderived; i++)
		if (k->derived[i].input == read->input &&
		    k->derived[i].dim == d) {
			*lo = vlo[k->derived[i].var];
			*hi = vhi[k->derived[i].var];
		}
}

typedef struct read_list {
	int n;
	const kexpr *at[8];
} read_list;

/* The reads of tensor id in e. */
static void list_reads(const node *n, tensor_id id, const kexpr *e,
		       read_list *l)
{
	for (int i = 0; i < e->nargs; i++)
		list_reads(n, id, e->args[i], l);
	if (e->kind != KX_READ || n->inputs[e->input] != id)
		return;
	ck_assert_int_lt(l->n, 8);
	l->at[l->n++] = e;
}

/* Grows the bounds by the indices of a read at a point. */
static void see(const kernel *k, const kexpr *read, const int64_t *point,
		const int64_t *vlo, const int64_t *vhi, bounds *b)
{
	int64_t lo[MAX_NDIM], hi[MAX_NDIM];
	for (int d = 0; d < kx_ndim(read); d++) {
		index_range(k, read, d, point, vlo, vhi, &lo[d], &hi[d]);
		if (!b->some || lo[d] < b->lo[d])
			b->lo[d] = lo[d];
		if (!b->some || hi[d] > b->hi[d])
			b->hi[d] = hi[d];
	}
	b->some = true;
}

/* Grows `all` by the part of the bounds that is inside of the tensor; those of
 * a guarded read may be outside. */
static void add_inside(const tensor_type *t, const bounds *b, bounds *all)
{
	bounds in = *b;
	for (int d = 0; d < t->ndim; d++) {
		in.lo[d] = in.lo[d] < 0 ? 0 : in.lo[d];
		in.hi[d] = in.hi[d] > t->dims[d] ? t->dims[d] : in.hi[d];
		if (in.lo[d] >= in.hi[d])
			return;
	}
	for (int d = 0; d < t->ndim; d++) {
		if (!all->some || in.lo[d] < all->lo[d])
			all->lo[d] = in.lo[d];
		if (!all->some || in.hi[d] > all->hi[d])
			all->hi[d] = in.hi[d];
	}
	all->some = true;
}

/* Fills s with the elements that a worker reads of a tensor: at every point of
 * its part, read by read. */
static void needed(const judge *j, const node *n, const cuts *c, tensor_id id,
		   int worker, set *s)
{
	const kernel *k = n->kernel;
	const tensor_type *t = &j->g->tensors[id].type;
	int64_t lo[MAX_NVARS] = { 0 }, hi[MAX_NVARS], at[MAX_NVARS];
	bounds all = { 0 };
	read_list reads = { 0 };
	int nloops = k->nvars - k->nderived, v;
	for (v = 0; v < k->nvars; v++) {
		hi[v] = k->vars[v].extent;
		nested(j, c, ~0u, v, worker, &lo[v], &hi[v]);
		ck_assert(lo[v] < hi[v]);
	}
	list_reads(n, id, k->body, &reads);
	for (int i = 0; i < reads.n; i++) {
		bounds b = { 0 };
		memcpy(at, lo, sizeof(at));
		do {
			see(k, reads.at[i], at, lo, hi, &b);
			for (v = 0; v < nloops && ++at[v] == hi[v]; v++)
				at[v] = lo[v];
		} while (v < nloops);
		add_inside(t, &b, &all);
	}
	memset(s, 0, sizeof(*s));
	if (all.some)
		fill(t, all.lo, all.hi, s);
}

/* The reducer of what a node gives along an axis: where it cuts a variable of
 * another kind than output, or hands on what is partial. */
static reducer given(const node *n, const cuts *c, int axis)
{
	const kernel *k = n->kernel;
	int v = c->dim[axis];
	if (v < CUT_NONE)
		return k->passings[CUT_NONE - 1 - v].to;
	if (v == CUT_NONE || v < k->nout)
		return RED_NONE;
	return k->vars[v].kind == KVAR_DERIVED ? RED_SUM : k->reducer;
}

/* The axes along which that is combined: the result is not partial there. */
uint32_t partial_axes(const judge *j, const node *n, const cuts *c)
{
	const cuts *to = &j->as->tensor_cuts[n->output];
	uint32_t axes = 0;
	for (int a = 0; a < j->naxes; a++)
		if (given(n, c, a) != RED_NONE && to->dim[a] >= CUT_NONE)
			axes |= 1u << a;
	return axes;
}

/* Whether an input that is replicated can be read as a part: the terms of a sum
 * that is taken apart may be zeros, and the greatest, or the least, of equal
 * ones is each of them.  All that is read of the tensor is a part then. */
static bool can_be_part(const node *n, const kpassing *p, int input)
{
	for (int i = 0; i < n->kernel->ninputs; i++)
		if (n->inputs[i] == n->inputs[input] &&
		    !(p->inputs >> i & 1))
			return false;
	return p->by != RED_PROD;
}

/* Whether a worker reads zeros through an input. */
static bool reads_zeros(const judge *j, const node *n, const cuts *c,
			int input, int worker)
{
	const cuts *of = &j->as->tensor_cuts[n->inputs[input]];
	for (int a = 0; a < j->naxes; a++) {
		const kpassing *p = c->dim[a] < CUT_NONE
			? &n->kernel->passings[CUT_NONE - 1 - c->dim[a]] : NULL;
		if (p && (p->inputs >> input & 1) && p->by == RED_SUM &&
		    of->dim[a] == CUT_NONE && coordinate(j, worker, a) > 0)
			return true;
	}
	return false;
}

/* Whether tensors are partial where a node gives or takes them so. */
static bool fits(const judge *j, const node *n, const cuts *c)
{
	const cuts *all = j->as->tensor_cuts;
	for (int a = 0; a < j->naxes; a++) {
		const kpassing *p = NULL;
		int v = c->dim[a], to = all[n->output].dim[a];
		if (v < CUT_NONE)
			p = &n->kernel->passings[CUT_NONE - 1 - v];
		if (to < CUT_NONE && to != cut_partial(given(n, c, a)))
			return false;
		for (int i = 0; i < n->kernel->ninputs; i++) {
			int is = all[n->inputs[i]].dim[a];
			bool wanted = p && (p->inputs >> i & 1);
			if (wanted && is == CUT_NONE &&
			    can_be_part(n, p, i))
				continue;
			if (wanted ? is != cut_partial(p->by) : is < CUT_NONE)
				return false;
		}
	}
	return true;
}

/* The part of a partial result that a worker combines. */
void owned(const judge *j, const node *n, const cuts *c, uint32_t axes,
		  int worker, set *s)
{
	const tensor_type *t = &j->g->tensors[n->output].type;
	const cuts *to = &j->as->tensor_cuts[n->output];
	int64_t lo[MAX_NDIM] = { 0 }, hi[MAX_NDIM];
	for (int d = 0; d < t->ndim; d++) {
		hi[d] = t->dims[d];
		nested(j, c, ~0u, d, worker, &lo[d], &hi[d]);
		nested(j, to, axes, d, worker, &lo[d], &hi[d]);
	}
	fill(t, lo, hi, s);
	int64_t rank = 0, nranks = 1, total = size_of(s), seen = 0;
	for (int a = 0; a < j->naxes; a++)
		if ((axes >> a & 1) && to->dim[a] == CUT_NONE) {
			rank = rank * j->as->mesh.size[a] +
			       coordinate(j, worker, a);
			nranks *= j->as->mesh.size[a];
		}
	for (int e = 0; e < MAX_ELEMENTS; e++)
		if (s->has[e]) {
			s->has[e] = seen >= rank * total / nranks &&
				    seen < (rank + 1) * total / nranks;
			seen++;
		}
}

static int64_t judge_result(const judge *j, const node *n, const cuts *c,
			    int worker)
{
	const tensor_type *t = &j->g->tensors[n->output].type;
	uint32_t axes = partial_axes(j, n, c);
	int64_t share = 1;
	static set own, block;
	owned(j, n, c, axes, worker, &own);
	stored(j, n->output, worker, &block);
	for (int a = 0; a < j->naxes; a++)
		share *= axes >> a & 1 ? j->as->mesh.size[a] : 1;
	return ((share - 1) * size_of(&own) + missing(&block, &own)) *
	       (int64_t)dtype_size(t->type);
}

int64_t judge_node(const judge *j, node_id id)
{
	const node *n = &j->g->nodes[id];
	const cuts *c = &j->as->node_cuts[id];
	static set want, have;
	int64_t sum = 0;
	if (!fits(j, n, c))
		return COST_MAX;
	for (int w = 0; w < j->nworkers; w++) {
		for (int i = 0; i < n->kernel->ninputs; i++) {
			tensor_id t = n->inputs[i];
			bool again = false;
			for (int o = 0; o < i; o++)
				again |= n->inputs[o] == t;
			if (again || reads_zeros(j, n, c, i, w))
				continue;
			needed(j, n, c, t, w, &want);
			stored(j, t, w, &have);
			sum += missing(&want, &have) *
			       (int64_t)dtype_size(j->g->tensors[t].type.type);
		}
		sum += judge_result(j, n, c, w);
	}
	return sum;
}
