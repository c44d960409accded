#include "config.h"

#include "tests/unit/check_kernel.h"

#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/eval.h"
#include "tests/unit/suite.h"

/* ---- running ----------------------------------------------------------- */

/* Memory for a block of a tensor, with a margin of poison on both sides. */
enum { MARGIN = 64 };

typedef struct guarded {
	unsigned char *base;
	void *data;
	int64_t nbytes;
} guarded;

static guarded block_new(int64_t nbytes)
{
	guarded b = {.nbytes = nbytes};
	int64_t all = (nbytes + 2 * MARGIN + 63) / 64 * 64;
	b.base = aligned_alloc(64, (size_t)all);
	memset(b.base, 0xff, (size_t)all);
	b.data = b.base + MARGIN;
	return b;
}

static void block_check(const guarded *b)
{
	for (int i = 0; i < MARGIN; i++) {
		ck_assert_int_eq(b->base[i], 0xff);
		ck_assert_int_eq(b->base[MARGIN + b->nbytes + i], 0xff);
	}
}

/* The value of an element of an input, a function of its place. */
static void set_element(dtype t, void *p, int64_t at, int64_t place, int salt,
			int64_t index_limit)
{
	uint64_t h = ((uint64_t)place + 1) * 0x9e3779b97f4a7c15u +
		     (uint64_t)salt * 0xc2b2ae3d27d4eb4fu;
	h ^= h >> 29;
	h *= 0xbf58476d1ce4e5b9u;
	h ^= h >> 32;
	if (dtype_is_float(t))
		elem_set_f64(t, p, at, (double)(h % 2001) / 1000 - 1);
	else if (index_limit > 0)
		elem_set_i64(t, p, at, (int64_t)(h % (uint64_t)index_limit));
	else
		elem_set_i64(t, p, at,
			     (int64_t)(h % 19) - (dtype_is_signed(t) ? 9 : 0));
}

/* Some elements of an input of this name are infinite. */
static bool is_infinite(const kinput *in, int64_t place)
{
	return !strcmp(in->name, "infinite") && place % 41 == 7;
}

static void fill(dtype t, void *p, const box *at, const kinput *in, int salt,
		 int64_t index_limit)
{
	int64_t n = box_volume(at), i[MAX_NDIM];
	for (int d = 0; d < at->n; d++)
		i[d] = at->lo[d];
	for (int64_t e = 0; e < n; e++) {
		int64_t place = 0;
		for (int d = 0; d < at->n; d++)
			place = place * in->dims[d] + i[d];
		set_element(t, p, e, place, salt, index_limit);
		if (is_infinite(in, place))
			elem_set_f64(t, p, e, INFINITY);
		for (int d = at->n; d-- > 0;) {
			if (++i[d] < at->hi[d])
				break;
			i[d] = at->lo[d];
		}
	}
}

/* Integer inputs that serve as indices of an input say how large it is. */
static int64_t limit_of(const kernel *k, int input, const kexpr *e)
{
	int64_t limit = 0;
	if (!e)
		return 0;
	for (int d = 0; e->kind == KX_READ && d < kx_ndim(e); d++)
		if (e->args[d]->kind == KX_READ && e->args[d]->input == input)
			limit = k->inputs[e->input].dims[d];
	for (int i = 0; i < e->nargs && !limit; i++)
		limit = limit_of(k, input, e->args[i]);
	return limit;
}

static void dense(tdl_block *to, void *data, const box *at)
{
	view v = view_dense(data, DT_F32, at);
	to->data = data;
	memcpy(to->origin, at->lo, sizeof(to->origin));
	memcpy(to->stride, v.stride, sizeof(to->stride));
}

typedef struct outcome {
	guarded out, in[MAX_NINPUTS];
	box at, needs[MAX_NINPUTS];
	int status;
} outcome;

static void *scratch(void)
{
	static void *s;
	if (!s)
		s = aligned_alloc(64, TDL_SCRATCH);
	return s;
}

/* With what is kept of factors, or NULL. */
static outcome run_kept(built *b, int i, const kernel *k, const box *space,
			const tdl_kept *kept)
{
	outcome o = {.at = kernel_produces(k, space)};
	tdl_block in[MAX_NINPUTS];
	tdl_args a = {.in = in, .scratch = scratch(), .kept = kept};
	memcpy(a.lo, space->lo, sizeof(a.lo));
	memcpy(a.hi, space->hi, sizeof(a.hi));
	kernel_needs(k, space, o.needs);
	for (int n = 0; n < k->ninputs; n++) {
		dtype t = k->inputs[n].type;
		o.in[n] = block_new(box_volume(&o.needs[n]) *
				    (int64_t)dtype_size(t));
		fill(t, o.in[n].data, &o.needs[n], &k->inputs[n], n,
		     limit_of(k, n, k->body));
		dense(&in[n], o.in[n].data, &o.needs[n]);
	}
	o.out = block_new(box_volume(&o.at) * (int64_t)dtype_size(k->type));
	dense(&a.out, o.out.data, &o.at);
	memset(a.scratch, 0xff, TDL_SCRATCH);
	o.status = built_run(b, i, &a);
	return o;
}

static outcome run(built *b, int i, const kernel *k, const box *space)
{
	return run_kept(b, i, k, space, NULL);
}

static void outcome_free(const kernel *k, outcome *o)
{
	for (int i = 0; i < k->ninputs; i++)
		free(o->in[i].base);
	free(o->out.base);
}

static double unit(dtype t)
{
	switch (t) {
	case DT_F32:
		return 0x1p-23;
	case DT_F16:
		return 0x1p-10;
	case DT_BF16:
		return 0x1p-7;
	case DT_F8E4M3FN:
	case DT_F8E4M3FNUZ:
	case DT_F6E2M3:
		return 0x1p-3;
	case DT_F8E5M2:
	case DT_F8E5M2FNUZ:
	case DT_F6E3M2:
		return 0x1p-2;
	case DT_F4E2M1:
		return 0x1p-1;
	case DT_F8E8M0:
		return 1;
	default:
		return 0x1p-52;
	}
}

/* The most that a result may differ: the rounding of as many additions of
 * products that are at most about 1 as there are in a block, and what is left
 * by chance of that of all blocks; in f64, in which the interpreter rounds,
 * too, of all, in whatever order they were added. */
static double tolerance(const kernel *k, double value)
{
	enum { MOST = 2 * TDL_TERMS };
	double n = 1, u = unit(k->type);
	for (int i = 0; i < k->ninputs; i++)
		u = fmax(u, unit(k->inputs[i].type));
	for (int v = k->nout; v < k->nvars; v++)
		if (k->vars[v].kind == KVAR_REDUCE)
			n *= (double)k->vars[v].extent;
	if (k->type != DT_F64)
		n = fmin(n, MOST + 8 * sqrt(n));
	else
		n *= 8;
	return u * (fabs(value) * 4 + 8 + n);
}

static bool close_enough(const kernel *k, const void *got, const void *want,
			 int64_t i)
{
	if (!dtype_is_float(k->type))
		return elem_get_i64(k->type, got, i) ==
		       elem_get_i64(k->type, want, i);
	double x = elem_get_f64(k->type, got, i);
	double y = elem_get_f64(k->type, want, i);
	if (isnan(y) || isinf(y))
		return isnan(y) ? isnan(x) : x == y;
	return fabs(x - y) <= tolerance(k, y);
}

static const char *describe(const kernel *k, const box *space)
{
	char *s =
		arena_printf(mem, "%s: %s over", k->name, kernel_text(mem, k));
	for (int v = 0; v < k->nvars; v++)
		s = arena_printf(mem, "%s [%" PRId64 ", %" PRId64 ")", s,
				 space->lo[v], space->hi[v]);
	return s;
}

/* Prints the source of a kernel that is wrong. */
static const char *show(const kernel *k)
{
	fputs(built_text(k), stderr);
	return "";
}

/* The inputs with each float moved by its roundoff, up or down at random. */
static void move(const kernel *k, const outcome *o, guarded *moved)
{
	for (int i = 0; i < k->ninputs; i++) {
		dtype t = k->inputs[i].type;
		int64_t n = box_volume(&o->needs[i]);
		moved[i] = block_new(o->in[i].nbytes);
		memcpy(moved[i].data, o->in[i].data, (size_t)o->in[i].nbytes);
		for (int64_t j = 0; dtype_is_float(t) && j < n; j++)
			elem_set_f64(t, moved[i].data, j,
				     elem_get_f64(t, o->in[i].data, j) *
					     (1 + (2 * pick(0, 2) - 1) *
							  unit(t)));
	}
}

/* The distance that an element moves when the inputs do by their roundoff: a
 * quotient by a difference, say, may be off by much more than its own roundoff,
 * whoever computes it. */
static double sway(const kernel *k, const box *space, const outcome *o,
		   const void *want, int64_t element)
{
	double most = 0;
	for (int tries = 0; tries < 8; tries++) {
		guarded in[MAX_NINPUTS], got = block_new(o->out.nbytes);
		view views[MAX_NINPUTS];
		view out = view_dense(got.data, k->type, &o->at);
		eval_fault fault;
		move(k, o, in);
		for (int i = 0; i < k->ninputs; i++)
			views[i] = view_dense(in[i].data, k->inputs[i].type,
					      &o->needs[i]);
		if (kernel_eval(k, space, views, &out, NULL, &fault) == EVAL_OK)
			most = fmax(most,
				    fabs(elem_get_f64(k->type, got.data,
						      element) -
					 elem_get_f64(k->type, want, element)));
		for (int i = 0; i < k->ninputs; i++)
			free(in[i].base);
		free(got.base);
	}
	return most;
}

static bool within_sway(const kernel *k, const box *space, const outcome *o,
			const void *want, int64_t i)
{
	if (!dtype_is_float(k->type))
		return false;
	double off = elem_get_f64(k->type, o->out.data, i) -
		     elem_get_f64(k->type, want, i);
	return fabs(off) <= 4 * sway(k, space, o, want, i);
}

static void compare_with_eval(const kernel *k, const box *space, outcome *o)
{
	view in[MAX_NINPUTS];
	int64_t n = box_volume(&o->at);
	guarded want = block_new(o->out.nbytes);
	view out = view_dense(want.data, k->type, &o->at);
	eval_fault fault;
	for (int i = 0; i < k->ninputs; i++)
		in[i] = view_dense(o->in[i].data, k->inputs[i].type,
				   &o->needs[i]);
	eval_status st = kernel_eval(k, space, in, &out, NULL, &fault);
	ck_assert_msg((st == EVAL_OK) == (o->status == 0),
		      "%s: status %d, not %d%s", describe(k, space), o->status,
		      st, show(k));
	for (int64_t i = 0; i < n && st == EVAL_OK; i++)
		ck_assert_msg(close_enough(k, o->out.data, want.data, i) ||
				      within_sway(k, space, o, want.data, i),
			      "%s: element %" PRId64 " is %.9g, not %.9g%s",
			      describe(k, space), i,
			      elem_get_f64(k->type, o->out.data, i),
			      elem_get_f64(k->type, want.data, i), show(k));
	block_check(&o->out);
	free(want.base);
}

static bool reduces_all(const kernel *k, const box *space)
{
	for (int v = k->nout; v < k->nvars; v++)
		if (space->lo[v] != 0 || space->hi[v] != k->vars[v].extent)
			return false;
	return true;
}

/* The elements of a part are those of the whole, bit for bit. */
static void compare_with_whole(const kernel *k, const box *space,
			       const outcome *o, const outcome *whole)
{
	int64_t size = (int64_t)dtype_size(k->type);
	view part = view_dense(o->out.data, k->type, &o->at);
	view all = view_dense(whole->out.data, k->type, &whole->at);
	int64_t n = box_volume(&o->at), i[MAX_NVARS];
	memcpy(i, o->at.lo, sizeof(i));
	for (int64_t e = 0; e < n; e++) {
		int64_t x = 0, y = 0;
		for (int d = 0; d < k->nout; d++) {
			x += (i[d] - part.at.lo[d]) * part.stride[d];
			y += (i[d] - all.at.lo[d]) * all.stride[d];
		}
		ck_assert_msg(!memcmp((char *)part.data + x * size,
				      (char *)all.data + y * size,
				      (size_t)size),
			      "%s: an element differs from the whole's%s",
			      describe(k, space), show(k));
		for (int d = k->nout; d-- > 0;) {
			if (++i[d] < o->at.hi[d])
				break;
			i[d] = o->at.lo[d];
		}
	}
}

static box random_part(const kernel *k)
{
	box b = kernel_space(k);
	for (int v = 0; v < k->nvars; v++) {
		int64_t n = k->vars[v].extent;
		if (v >= k->nout && pick(0, 3))
			continue;
		b.lo[v] = pick(0, n + 1);
		b.hi[v] = pick(b.lo[v], n + 1);
		if (pick(0, 4) && b.lo[v] == b.hi[v] && b.hi[v] < n)
			b.hi[v]++;
	}
	return b;
}

/* ---- factors that are kept ---------------------------------------------- */

static int64_t volume_of(const box *b, uint32_t vars)
{
	int64_t n = 1;
	for (int v = 0; v < b->n; v++)
		if (vars >> v & 1)
			n *= b->hi[v] - b->lo[v];
	return n;
}

static guarded kept_new(const tdl_keeps *f, const box *space)
{
	int64_t own = volume_of(space, f->own);
	own = (own + f->tile - 1) / f->tile * f->tile;
	return block_new(volume_of(space, f->outer) * own *
			 volume_of(space, f->depth) * f->size);
}

/* Whether a part from `lo' on of variable v begins with a whole tile, and is
 * one piece of the factor. */
static bool begins_tile(const tdl_keeps *f, const box *space, int v, int64_t lo)
{
	uint32_t before = f->own & ((UINT32_C(1) << v) - 1);
	uint32_t behind = f->own & ~before & ~(UINT32_C(1) << v);
	if (!(f->own >> v & 1))
		return true;
	return volume_of(space, before) == 1 &&
	       (lo - space->lo[v]) * volume_of(space, behind) % f->tile == 0;
}

/* Any part along one variable of the result. */
static bool kept_part(const kernel *k, const box *space,
		      const tdl_keeps *keeps, box *part)
{
	int v = (int)pick(0, k->nout);
	*part = *space;
	if (space->lo[v] == space->hi[v])
		return false;
	part->lo[v] = pick(space->lo[v], space->hi[v]);
	part->hi[v] = pick(part->lo[v], space->hi[v]) + 1;
	for (int side = 0; side < 2; side++)
		if (keeps[side].inputs &&
		    !begins_tile(&keeps[side], space, v, part->lo[v]))
			return false;
	return true;
}

/* Some of the factors, packed in some pieces, of the whole. */
static void fill_kept(built *b, int number, const kernel *k, const box *space,
		      tdl_kept *kept)
{
	kept->fill = (kept->at[0] ? 1 : 0) | (kept->at[1] ? 2 : 0);
	kept->n = (int)pick(1, 5);
	for (kept->i = 0; kept->i < kept->n; kept->i++) {
		outcome o = run_kept(b, number, k, space, kept);
		outcome_free(k, &o);
	}
	kept->fill = 0;
}

/* With kept factors a product has the same bits, whole and in parts. */
static void check_kept(built *b, int number, const kernel *k,
		       const outcome *whole)
{
	enum { TRIES = 24 };
	box space = kernel_space(k), part;
	tdl_keeps keeps[2] = { { 0 } };
	tdl_args ask = { .keeps = keeps };
	tdl_kept kept = { .n = 1 };
	guarded at[2];
	if (k->nout == 0 || !built_keeps() || built_run(b, number, &ask))
		return;
	memcpy(kept.lo, space.lo, sizeof(kept.lo));
	memcpy(kept.hi, space.hi, sizeof(kept.hi));
	for (int side = 0; side < 2; side++) {
		if (!keeps[side].inputs || !pick(0, 4))
			keeps[side].inputs = 0;
		else
			at[side] = kept_new(&keeps[side], &space);
		kept.at[side] = keeps[side].inputs ? at[side].data : NULL;
	}
	if (!kept.at[0] && !kept.at[1])
		return;
	fill_kept(b, number, k, &space, &kept);
	for (int i = 0; i < TRIES; i++) {
		if (i == 0)
			part = space;
		else if (!kept_part(k, &space, keeps, &part))
			continue;
		outcome o = run_kept(b, number, k, &part, &kept);
		ck_assert_int_eq(o.status, 0);
		compare_with_whole(k, &part, &o, whole);
		block_check(&o.out);
		outcome_free(k, &o);
	}
	for (int side = 0; side < 2; side++)
		if (kept.at[side]) {
			block_check(&at[side]);
			free(at[side].base);
		}
}

enum { NPARTS = 12 };

/* The whole is the interpreter's, and parts have its bits, or, where they cut a
 * reduction, are the interpreter's, too. */
static void check_kernel(built *b, int number, const kernel *k)
{
	box space = kernel_space(k);
	outcome whole = run(b, number, k, &space);
	compare_with_eval(k, &space, &whole);
	for (int i = 0; i < NPARTS; i++) {
		box part = random_part(k);
		outcome o = run(b, number, k, &part);
		if (reduces_all(k, &part) && whole.status == 0) {
			ck_assert_int_eq(o.status, 0);
			compare_with_whole(k, &part, &o, &whole);
			block_check(&o.out);
		} else {
			compare_with_eval(k, &part, &o);
		}
		outcome_free(k, &o);
	}
	if (whole.status == 0)
		check_kept(b, number, k, &whole);
	outcome_free(k, &whole);
}

/* Every SAMPLEth kernel, from number SAMPLE_FROM on; one at least. */
void check_all(const kernels *all)
{
	int every = sample_every(), from = sample_from();
	kernels some = {0};
	every = every < all->n ? every : all->n;
	for (int i = all->n ? from % every : 0; i < all->n; i += every)
		vec_push(mem, &some, all->at[i]);
	for (int i = 0; i < some.n; i++)
		kernel_finish(mem, some.at[i]);
	built *b = built_open(&some);
	for (int i = 0; i < some.n; i++)
		check_kernel(b, i, some.at[i]);
	built_close(b);
}

void check_drawn(int n, kernel *(*make)(int i))
{
	kernels all = {0};
	for (int i = 0; i < n; i++)
		vec_push(mem, &all, make(i));
	check_all(&all);
}

/* ---- cases ------------------------------------------------------------- */

static void begin_test(void)
{
	mem = arena_new();
}

static void end_test(void)
{
	arena_free(mem);
}

TCase *kernel_case(Suite *s, const char *name)
{
	TCase *c = tcase_create(name);
	const char *seed = getenv("TDL_SEED");
	if (seed && atoll(seed))
		random_state = (uint64_t)atoll(seed);
	tcase_add_checked_fixture(c, begin_test, end_test);
	suite_add_tcase(s, c);
	return c;
}
