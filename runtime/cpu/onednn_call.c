/* Parts of runs as calls of oneDNN. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "kernel/convolution.h"
#include "plan/gemm.h"
#include "runtime/cpu/onednn_parts.h"

/* The most bytes of a thread's work space; copies are aligned to ALIGN. */
enum { MOST_WORK = 1 << 30, ALIGN = 64 };

/* Least rows and columns of a product. */
enum { LEAST_SIDE = 2 };

/* Part i of a run, while its calls are made. */
typedef struct maker {
	onednn *o;
	const onednn_api *api;
	onednn_run *x;
	const onednn_job *j;
	int i;
	const box *space;
	one_part *part;
	one_call call;
} maker;

/* ---- types and formats ------------------------------------------------- */

static bool type_of(const onednn *o, dtype t, dnnl_data_type_t *to)
{
	if (t == DT_F32)
		*to = dnnl_f32;
	else if (t == DT_BF16 && o->halves)
		*to = dnnl_bf16;
	else
		return false;
	return true;
}

static dtype dtype_of(const maker *m, int of)
{
	const kernel *k = m->j->k;
	return of < k->ninputs ? k->inputs[of].type : k->type;
}

/* Sets an operand of a call: elements of the kernel's operand with these
 * strides. */
static bool set_operand(maker *m, int s, int of, int argument, int ndims,
			const int64_t *dims, const int64_t *strides)
{
	one_operand *x = &m->part->on[s];
	dnnl_dims_t extents, steps;
	dnnl_data_type_t t;
	memcpy(extents, dims, (size_t)ndims * sizeof(*dims));
	memcpy(steps, strides, (size_t)ndims * sizeof(*strides));
	*x = (one_operand){ .of = of, .argument = argument, .side = -1,
			    .size = (int64_t)dtype_size(dtype_of(m, of)) };
	if (!type_of(m->o, dtype_of(m, of), &t) ||
	    m->api->dnnl_memory_desc_init_by_strides(&x->lies, ndims, extents,
						     t, steps) != dnnl_success)
		return false;
	x->wanted = x->lies;
	return true;
}

/* Lets oneDNN choose the format of an operand. */
static bool any_format(maker *m, int s)
{
	one_operand *x = &m->part->on[s];
	return m->api->dnnl_memory_desc_init_by_tag(
		       &x->wanted, x->lies.ndims, x->lies.dims,
		       x->lies.data_type, dnnl_format_tag_any) == dnnl_success;
}

static bool set_calls(one_part *p, int n)
{
	p->ncalls = n;
	p->at = calloc((size_t)(n > 0 ? n : 1), sizeof(*p->at));
	p->adds = calloc((size_t)(n > 0 ? n : 1), sizeof(*p->adds));
	return p->at && p->adds;
}

/* ---- products ---------------------------------------------------------- */

/* Sets a matrix.  A matrix stored by columns is the transposed one stored by
 * rows; the same for batches. */
static bool set_matrix(maker *m, int s, int of, const gemm_matrix *g,
		       const gemm_call *c, gemm_side side)
{
	static const int arguments[] = { DNNL_ARG_SRC, DNNL_ARG_WEIGHTS,
					 DNNL_ARG_DST };
	bool same = c->step[side] == 0; /* in all products */
	const int64_t dims[] = { same ? 1 : c->count, g->cols, g->rows };
	int64_t strides[] = { same ? g->rows * g->cols : c->step[side],
			      g->col_step, g->row_step };
	/* Along an extent of 1, strides have to be those of a matrix. */
	if (g->rows == 1) {
		strides[2] = 1;
		strides[1] = g->cols == 1 ? 1 : g->col_step;
	} else if (g->cols == 1) {
		strides[1] = g->row_step == 1 ? g->rows : 1;
	}
	int skip = c->count == 1;
	return set_operand(m, s, of, arguments[s], 3 - skip, dims + skip,
			   strides + skip);
}

static void place_calls(one_part *p, const gemm *g, gemm_side left,
			gemm_side right)
{
	for (int i = 0; i < g->ncalls; i++) {
		p->at[i][ONE_LEFT] = g->calls[i].at[left];
		p->at[i][ONE_RIGHT] = g->calls[i].at[right];
		p->at[i][ONE_OUT] = g->calls[i].at[GEMM_OUT];
		p->adds[i] = g->calls[i].adds;
	}
}

/* Whether a product is a matrix times a vector.  It takes as long as reading
 * the matrix, which generated kernels read in order. */
static bool is_thin(const gemm *g)
{
	return g->rows < LEAST_SIDE || g->cols < LEAST_SIDE;
}

/* Sets a product.  c = a b stored by columns is the transposed c = b a stored
 * by rows. */
static bool set_product(maker *m, const contraction *c, const gemm *g)
{
	const int of[] = { c->left.input, c->right.input, m->j->k->ninputs };
	gemm_side a = g->swapped ? GEMM_RIGHT : GEMM_LEFT;
	gemm_side b = g->swapped ? GEMM_LEFT : GEMM_RIGHT;
	const gemm_call *call = &g->calls[0];
	m->call.is_product = true;
	place_calls(m->part, g, b, a);
	return set_matrix(m, ONE_LEFT, of[b], &g->b, call, b) &&
	       set_matrix(m, ONE_RIGHT, of[a], &g->a, call, a) &&
	       set_matrix(m, ONE_OUT, of[GEMM_OUT], &g->c, call, GEMM_OUT);
}

static bool describe_product(maker *m)
{
	const gemm_limits most = { GEMM_FLOP_PER_BYTE, 0 };
	arena *work = arena_new();
	contraction c;
	gemm g;
	bool good = contraction_of(work, m->j->k, &c) &&
		    gemm_of(work, m->j->k, &c, m->space, m->j->r->inputs,
			    m->j->r->out, &most, &g) &&
		    !is_thin(&g) && set_calls(m->part, g.ncalls);
	if (good && g.ncalls > 0)
		good = set_product(m, &c, &g);
	arena_free(work);
	return good;
}

/* ---- convolutions ------------------------------------------------------ */

/* Whether windows overlap or leave elements out.  Otherwise the convolution is
 * a product of matrices. */
static bool has_windows(const kernel *k, const convolution *c)
{
	if (c->groups > 1)
		return true;
	for (int i = 0; i < c->nspatial; i++)
		if (k->vars[c->axes[i].tap].extent != 1 ||
		    c->axes[i].stride != 1 || c->axes[i].pad != 0)
			return true;
	return false;
}

/* Whether oneDNN supports the types: all operands have one type, or sums of
 * 16-bit floats are f32. */
static bool has_one_type(const kernel *k)
{
	for (int i = 0; i < k->ninputs; i++)
		if (k->inputs[i].type != k->type)
			return false;
	return true;
}

/* The argument of a side: x, w or y, for each of the three kinds. */
static int argument_of(conv_kind kind, conv_side side)
{
	static const int arguments[][CONV_SIDES] = {
		[CONV_FORWARD] = { DNNL_ARG_SRC, DNNL_ARG_WEIGHTS,
				   DNNL_ARG_DST },
		[CONV_DATA] = { DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS,
				DNNL_ARG_DIFF_DST },
		[CONV_FILTER] = { DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS,
				  DNNL_ARG_DIFF_DST },
	};
	return arguments[kind][side];
}

/* The side of operand s of the call; the result is last. */
static conv_side side_of(conv_kind kind, int s)
{
	static const conv_side sides[][ONE_OPERANDS] = {
		[CONV_FORWARD] = { CONV_X, CONV_W, CONV_Y },
		[CONV_DATA] = { CONV_Y, CONV_W, CONV_X },
		[CONV_FILTER] = { CONV_X, CONV_Y, CONV_W },
	};
	return sides[kind][s];
}

static bool set_tensor(maker *m, int s, const convolution *c,
		       const conv_call *x)
{
	conv_side side = side_of(x->kind, s);
	const conv_operand *on = &x->on[side];
	int n = 2 + x->nspatial;
	int64_t dims[1 + CONV_MAX_NDIM], strides[1 + CONV_MAX_NDIM];
	int skip = side != CONV_W || x->groups == 1;
	memcpy(dims + 1, on->dims, (size_t)n * sizeof(*dims));
	memcpy(strides + 1, on->strides, (size_t)n * sizeof(*dims));
	if (!skip) {
		dims[0] = x->groups;
		dims[1] /= x->groups;
		strides[0] = strides[1] * dims[1];
	}
	m->part->at[0][s] = on->at;
	return set_operand(m, s, c->operand[side],
			   argument_of(x->kind, side), 1 + n - skip,
			   dims + skip, strides + skip) &&
	       any_format(m, s);
}

static dnnl_memory_desc_t *wanted(maker *m, const conv_call *x, conv_side side)
{
	int s = 0;
	while (side_of(x->kind, s) != side)
		s++;
	return &m->part->on[s].wanted;
}

/* oneDNN counts dilations from 0, and padding at both ends. */
static bool init_convolution(maker *m, const conv_call *x)
{
	dnnl_convolution_desc_t *to = &m->call.of.convolution;
	const dnnl_memory_desc_t *xs = wanted(m, x, CONV_X);
	const dnnl_memory_desc_t *ws = wanted(m, x, CONV_W);
	const dnnl_memory_desc_t *ys = wanted(m, x, CONV_Y);
	__typeof__(m->api->dnnl_dilated_convolution_backward_weights_desc_init)
		by_filter = m->api->
			dnnl_dilated_convolution_backward_weights_desc_init;
	dnnl_dims_t strides, dilates, before, behind;
	for (int i = 0; i < x->nspatial; i++) {
		int64_t taps = x->on[CONV_W].dims[2 + i];
		strides[i] = x->stride[i];
		dilates[i] = x->dilation[i] - 1;
		before[i] = x->pad[i];
		behind[i] = (x->on[CONV_Y].dims[2 + i] - 1) * x->stride[i] +
			    x->dilation[i] * (taps - 1) + 1 - x->pad[i] -
			    x->on[CONV_X].dims[2 + i];
	}
	const dnnl_alg_kind_t direct = dnnl_convolution_direct;
	switch (x->kind) {
	case CONV_FORWARD:
		return m->api->dnnl_dilated_convolution_forward_desc_init(
			       to, dnnl_forward_inference, direct, xs, ws, NULL,
			       ys, strides, dilates, before, behind) ==
		       dnnl_success;
	case CONV_DATA:
		return m->api->dnnl_dilated_convolution_backward_data_desc_init(
			       to, direct, xs, ws, ys, strides, dilates,
			       before, behind) == dnnl_success;
	case CONV_FILTER:
		return by_filter(to, direct, xs, ws, NULL, ys, strides, dilates,
				 before, behind) == dnnl_success;
	}
	return false;
}

static bool describe_convolution(maker *m, const convolution *c)
{
	conv_call x;
	if (!has_one_type(m->j->k) ||
	    !convolution_call(m->j->k, c, m->space, m->j->r->inputs,
			      m->j->r->out, &x) ||
	    !set_calls(m->part, 1))
		return false;
	for (int s = 0; s < ONE_OPERANDS; s++)
		if (!set_tensor(m, s, c, &x))
			return false;
	return init_convolution(m, &x);
}

/* ---- primitives -------------------------------------------------------- */

static void forget_descriptions(maker *m)
{
	if (m->call.primitive)
		m->api->dnnl_primitive_desc_destroy(m->call.primitive);
	if (m->call.adding)
		m->api->dnnl_primitive_desc_destroy(m->call.adding);
	m->call.primitive = m->call.adding = NULL;
}

/* The work space is the caller's.  If adds, the call adds to the result. */
static bool make_attributes(const maker *m, bool adds,
			    dnnl_primitive_attr_t *to)
{
	dnnl_post_ops_t ops = NULL;
	if (m->api->dnnl_primitive_attr_create(to) != dnnl_success)
		return false;
	bool good = m->api->dnnl_primitive_attr_set_scratchpad_mode(
			    *to, dnnl_scratchpad_mode_user) == dnnl_success;
	if (good && adds)
		good = m->api->dnnl_post_ops_create(&ops) == dnnl_success &&
		       m->api->dnnl_post_ops_append_sum(ops, 1) ==
			       dnnl_success &&
		       m->api->dnnl_primitive_attr_set_post_ops(*to, ops) ==
			       dnnl_success;
	if (ops)
		m->api->dnnl_post_ops_destroy(ops);
	if (!good)
		m->api->dnnl_primitive_attr_destroy(*to);
	return good;
}

/* Whether oneDNN has a fast implementation; its reference loops are slower than
 * any other. */
static bool is_fast(const maker *m, const_dnnl_primitive_desc_t d)
{
	const char *name = NULL;
	return m->api->dnnl_primitive_desc_query(d, dnnl_query_impl_info_str,
						 0, &name) == dnnl_success &&
	       strncmp(name, "ref", 3) && strncmp(name, "simple", 6);
}

static bool make_description(maker *m, bool adds, dnnl_primitive_desc_t *to)
{
	dnnl_primitive_attr_t how;
	if (!make_attributes(m, adds, &how))
		return false;
	dnnl_status_t status = m->api->dnnl_primitive_desc_create(
		to, &m->call.of, how, m->o->engine, NULL);
	m->api->dnnl_primitive_attr_destroy(how);
	if (status != dnnl_success)
		*to = NULL;
	return *to && is_fast(m, *to);
}

static bool adds_some(const one_part *p)
{
	bool some = false;
	for (int i = 0; i < p->ncalls; i++)
		some |= p->adds[i];
	return some;
}

static bool init_product(maker *m)
{
	const one_operand *on = m->part->on;
	return m->api->dnnl_matmul_desc_init(
		       &m->call.of.product, &on[ONE_LEFT].wanted,
		       &on[ONE_RIGHT].wanted, NULL, &on[ONE_OUT].wanted) ==
	       dnnl_success;
}

static bool make_descriptions(maker *m)
{
	forget_descriptions(m);
	if (m->call.is_product && !init_product(m))
		return false;
	return make_description(m, false, &m->call.primitive) &&
	       (!adds_some(m->part) ||
		make_description(m, true, &m->call.adding));
}

/* ---- copies ------------------------------------------------------------ */

static const dnnl_memory_desc_t *ask(const maker *m, int argument)
{
	return m->api->dnnl_primitive_desc_query_md(
		m->call.primitive, dnnl_query_exec_arg_md, argument);
}

static bool take_space(one_part *p, int64_t nbytes, int64_t *at)
{
	*at = p->nbytes;
	return ck_add(p->nbytes, round_up(nbytes, ALIGN), &p->nbytes) &&
	       p->nbytes <= MOST_WORK;
}

/* The slot for a kept operand; -1. */
static int kept_side(const maker *m, int of)
{
	for (int s = 0; s < KEPT_SIDES; s++)
		if (m->j->r->kept[s] && of < MAX_NINPUTS &&
		    m->j->keeps[s].inputs == UINT32_C(1) << of)
			return s;
	return -1;
}

/* Whether operand s of two calls has the same elements in the same format. */
static bool is_same(const maker *m, const one_part *p, const one_part *q, int s)
{
	const one_operand *x = &p->on[s], *y = &q->on[s];
	return p->at[0][s] == q->at[0][s] &&
	       m->api->dnnl_memory_desc_equal(&x->lies, &y->lies) &&
	       m->api->dnnl_memory_desc_equal(&x->wanted, &y->wanted);
}

/* Finds a place in the slot for nbytes: that of another part that keeps the
 * same, or a new one.  Returns false if there is none. */
static bool find_place(const maker *m, int s, int side, int64_t nbytes,
		       int64_t *at, bool *is_new)
{
	*is_new = true;
	*at = m->x->kept[side];
	for (int i = 0; *is_new && i < m->i; i++) {
		const one_part *p = &m->x->parts[i];
		*is_new = p->ncalls == 0 || p->on[s].side != side ||
			  !is_same(m, m->part, p, s);
		if (!*is_new)
			*at = p->on[s].at;
	}
	return !*is_new ||
	       round_up(nbytes, ALIGN) <= m->j->r->kept_bytes[side] - *at;
}

static bool keep(maker *m, int s, int side, int64_t nbytes)
{
	one_operand *x = &m->part->on[s];
	bool is_new;
	if (side < 0 || !find_place(m, s, side, nbytes, &x->at, &is_new))
		return false;
	x->side = side;
	x->packs = is_new;
	if (is_new)
		m->x->kept[side] += round_up(nbytes, ALIGN);
	return true;
}

static bool make_reorder(maker *m, int s)
{
	one_operand *x = &m->part->on[s];
	const dnnl_memory_desc_t *from = s == ONE_OUT ? &x->wanted : &x->lies;
	const dnnl_memory_desc_t *to = s == ONE_OUT ? &x->lies : &x->wanted;
	dnnl_primitive_desc_t d;
	if (m->api->dnnl_reorder_primitive_desc_create(
		    &d, from, m->o->engine, to, m->o->engine, NULL) !=
	    dnnl_success)
		return false;
	bool good = m->api->dnnl_primitive_create(&x->reorder, d) ==
		    dnnl_success;
	m->api->dnnl_primitive_desc_destroy(d);
	return good;
}

/* Makes the operand as it is stored, or a copy of it. */
static bool make_operand(maker *m, int s)
{
	one_operand *x = &m->part->on[s];
	x->wanted = *ask(m, x->argument);
	if (m->api->dnnl_memory_create(&x->memory, &x->lies, m->o->engine,
				       DNNL_MEMORY_NONE) != dnnl_success)
		return false;
	if (m->api->dnnl_memory_desc_equal(&x->lies, &x->wanted))
		return true;
	int64_t n = (int64_t)m->api->dnnl_memory_desc_get_size(&x->wanted);
	int side = s == ONE_OUT ? -1 : kept_side(m, x->of);
	return (keep(m, s, side, n) || take_space(m->part, n, &x->at)) &&
	       m->api->dnnl_memory_create(&x->copy, &x->wanted, m->o->engine,
					  DNNL_MEMORY_NONE) == dnnl_success &&
	       make_reorder(m, s);
}

static bool make_scratchpad(maker *m)
{
	const dnnl_memory_desc_t *d = ask(m, DNNL_ARG_SCRATCHPAD);
	int64_t n = (int64_t)m->api->dnnl_memory_desc_get_size(d);
	if (m->call.adding) {
		const dnnl_memory_desc_t *e =
			m->api->dnnl_primitive_desc_query_md(
				m->call.adding, dnnl_query_exec_arg_md,
				DNNL_ARG_SCRATCHPAD);
		if ((int64_t)m->api->dnnl_memory_desc_get_size(e) > n) {
			n = (int64_t)m->api->dnnl_memory_desc_get_size(e);
			d = e;
		}
	}
	return n == 0 ||
	       (take_space(m->part, n, &m->part->scratchpad_at) &&
		m->api->dnnl_memory_create(&m->part->scratchpad, d,
					   m->o->engine, DNNL_MEMORY_NONE) ==
			dnnl_success);
}

static bool make_part(maker *m)
{
	for (int s = 0; s < ONE_OPERANDS; s++)
		if (!make_operand(m, s))
			return false;
	return make_scratchpad(m) &&
	       m->api->dnnl_primitive_create(&m->part->call,
					     m->call.primitive) ==
		       dnnl_success &&
	       (!m->call.adding ||
		m->api->dnnl_primitive_create(&m->part->adding,
					      m->call.adding) == dnnl_success);
}

/* Describes the right factor.  If it is kept, it is packed in oneDNN's
 * preferred format; otherwise it is read as it is stored. */
static bool describe_packed(maker *m)
{
	one_operand *x = &m->part->on[ONE_RIGHT];
	int side = kept_side(m, x->of);
	int64_t at;
	bool is_new;
	if (side >= 0 && m->part->ncalls == 1 && x->lies.ndims == 2 &&
	    any_format(m, ONE_RIGHT) && make_descriptions(m)) {
		x->wanted = *ask(m, x->argument);
		size_t n = m->api->dnnl_memory_desc_get_size(&x->wanted);
		if (find_place(m, ONE_RIGHT, side, (int64_t)n, &at, &is_new))
			return true;
	}
	x->wanted = x->lies;
	return false;
}

static bool describe(maker *m)
{
	convolution c;
	if (convolution_in_groups(m->j->k, &c) && has_windows(m->j->k, &c))
		return describe_convolution(m, &c) && make_descriptions(m);
	if (!describe_product(m))
		return false;
	return m->part->ncalls == 0 || describe_packed(m) ||
	       make_descriptions(m);
}

bool one_plan_part(onednn *o, onednn_run *x, const onednn_job *j, int i)
{
	maker m = { .o = o, .api = &o->api, .x = x, .j = j, .i = i,
		    .space = &j->parts[i], .part = &x->parts[i] };
	bool good = describe(&m) &&
		    (m.part->ncalls == 0 || make_part(&m));
	forget_descriptions(&m);
	return good;
}
