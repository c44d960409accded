/* Joins terms of a sum.  A weight that a loop uses in each step has a term of
 * its gradient per step, often a product with few terms of its own whose result
 * is much larger than its factors.  Adding such results moves more bytes than
 * computing them.  Terms that one kernel computes from different tensors are
 * therefore joined: the tensors are stacked along a new dimension, and one node
 * sums over it, too.
 *
 *	Sum(b) x1[b, i] * y1[b, j] + Sum(b) x2[b, i] * y2[b, j] + ..
 *		= Sum(t, b) x[t, b, i] * y[t, b, j]
 *
 * This holds for any kernel that sums or does not reduce. */
#include "config.h"

#include "compiler/train/trainer.h"

#include <string.h>

enum {
	/* Fewer terms move more bytes joined than added one by one. */
	LEAST_TERMS = 4,
	/* A kernel with more points for each element of its result spends its
	 * time computing them.  Adding its results then costs little, and
	 * devices that fetch a tensor for several nodes fetch its copy in a
	 * stack once more. */
	MOST_POINTS = 32,
};

/* The terms of a sum that one kernel computes. */
typedef struct term_class {
	const kernel *kernel;	  /* NULL: no kernel does */
	VEC(int) parts;		  /* their places in the sum, ascending */
	bool varies[MAX_NINPUTS]; /* by input: they read different tensors */
} term_class;

typedef VEC(term_class) term_classes;

/* ---- kernels ------------------------------------------------------------- */

/* out[t, ..] = input number t at [..] */
static const kernel *stack_kernel(graph_builder *b, const tensor_type *type,
				  int n)
{
	arena *a = b->arena;
	const kernel *one = build_copy_kernel(a, type);
	kernel *k = ARENA_NEW(a, kernel);
	kexpr *index[MAX_NDIM];
	*k = (kernel){ .name = "stack", .type = type->type,
		       .nvars = type->ndim + 1, .nout = type->ndim + 1,
		       .ninputs = n };
	k->vars = ARENA_ARRAY(a, kvar, k->nvars);
	k->vars[0] = (kvar){ .name = "t", .kind = KVAR_OUTPUT, .extent = n };
	memcpy(k->vars + 1, one->vars,
	       (size_t)type->ndim * sizeof(*one->vars));
	k->inputs = ARENA_ARRAY(a, kinput, n);
	for (int d = 0; d < type->ndim; d++)
		index[d] = kx_var(a, d + 1);
	for (int i = n - 1; i >= 0; i--) {
		k->inputs[i] = one->inputs[0];
		kexpr *x = kx_read(a, i, type->type, type->ndim, index, NULL);
		kexpr *here = kx_fn2(a, FN_EQ, kx_var(a, 0),
				     kx_int(a, i, DT_I64));
		k->body = i == n - 1 ? x : kx_select(a, here, x, k->body);
	}
	kernel_finish(a, k);
	return build_share(b, k);
}

/* e with the variables from number `from' on one higher, and reads of inputs
 * that vary at variable `from' of the stack. */
static kexpr *of_stacks(arena *a, const kexpr *e, int from, const bool *varies)
{
	kexpr *to = ARENA_COPY(a, e, 1);
	int more = e->kind == KX_READ && varies[e->input];
	if (e->kind == KX_VAR && e->var >= from)
		to->var++;
	to->nargs = e->nargs + more;
	to->args = ARENA_ARRAY(a, kexpr *, to->nargs + 1);
	if (more)
		to->args[0] = kx_var(a, from);
	for (int i = 0; i < e->nargs; i++)
		to->args[more + i] = of_stacks(a, e->args[i], from, varies);
	return to;
}

/* The sum of n of the class's kernels, whose tensors are stacked where they
 * vary. */
static const kernel *joined_kernel(graph_builder *b, const term_class *c, int n)
{
	arena *a = b->arena;
	const kernel *k = c->kernel;
	kernel *to = ARENA_COPY(a, k, 1);
	int at = k->nout;
	to->reducer = RED_SUM;
	to->nvars = k->nvars + 1;
	to->vars = ARENA_ARRAY(a, kvar, to->nvars);
	memcpy(to->vars, k->vars, (size_t)at * sizeof(*k->vars));
	memcpy(to->vars + at + 1, k->vars + at,
	       (size_t)(k->nvars - at) * sizeof(*k->vars));
	to->vars[at] = (kvar){ .name = "t", .kind = KVAR_REDUCE, .extent = n };
	to->inputs = ARENA_COPY(a, k->inputs, k->ninputs);
	for (int i = 0; i < k->ninputs; i++) {
		kinput *x = &to->inputs[i];
		if (!c->varies[i])
			continue;
		memmove(x->dims + 1, x->dims,
			(size_t)x->ndim++ * sizeof(*x->dims));
		x->dims[0] = n;
	}
	to->body = of_stacks(a, k->body, at, c->varies);
	to->naccesses = 0;
	kernel_finish(a, to);
	return build_share(b, to);
}

/* ---- which terms --------------------------------------------------------- */

static const built_node *node_of(const trainer *t, const grad_part *p)
{
	int n = t->b->tensors.at[p->value]->node;
	return n == NONE ? NULL : &t->b->nodes.at[n];
}

static const kernel *kernel_of(const trainer *t, const grad_part *p)
{
	const built_node *n = node_of(t, p);
	return n ? n->kernel : NULL;
}

static bool is_joinable(const kernel *k)
{
	if (!k || k->opaque || k->nderived > 0 || k->nvars == MAX_NVARS ||
	    (k->reducer != RED_NONE && k->reducer != RED_SUM))
		return false;
	for (int i = 0; i < k->ninputs; i++)
		if (k->inputs[i].ndim == MAX_NDIM)
			return false;
	return true;
}

static term_class *find_class(term_classes *all, const hash_table *by_kernel,
			      const kernel *k, uint64_t hash)
{
	uint32_t at = 0;
	for (int i; (i = hash_table_next(by_kernel, hash, &at)) >= 0;)
		if (all->at[i].kernel == k)
			return &all->at[i];
	return NULL;
}

/* The classes of a sum's terms, in the order of their first terms. */
static term_classes find_classes(const trainer *t, const grad_part *parts,
				 int n)
{
	term_classes all = { 0 };
	hash_table by_kernel = { 0 };
	for (int i = 0; i < n; i++) {
		const kernel *k = kernel_of(t, &parts[i]);
		uint64_t hash = hash_bytes(HASH_SEED, &k, sizeof(k));
		term_class *c = find_class(&all, &by_kernel, k, hash);
		if (!c) {
			term_class none = { .kernel = k };
			hash_table_add(t->b->tmp, &by_kernel, hash, all.n);
			vec_push(t->b->tmp, &all, none);
			c = &all.at[all.n - 1];
		}
		vec_push(t->b->tmp, &c->parts, i);
		for (int j = 0; k && j < k->ninputs; j++)
			c->varies[j] |=
				node_of(t, &parts[i])->inputs[j] !=
				node_of(t, &parts[c->parts.at[0]])->inputs[j];
	}
	return all;
}

/* The number of terms that may be joined into one: as many as one node can
 * stack, as long as the stacks take no more memory than a term's result. */
static int most_terms(const trainer *t, const term_class *c,
		      const grad_part *first)
{
	if (c->parts.n < LEAST_TERMS || !is_joinable(c->kernel))
		return 1;
	const tensor_type *type = graph_type(t->b, first->value);
	int64_t result = tensor_nbytes(type), read = 0;
	int64_t points = kernel_points(c->kernel);
	if (points < 0 || points > MOST_POINTS * tensor_nelem(type))
		return 1;
	for (int j = 0; j < c->kernel->ninputs; j++)
		if (c->varies[j])
			read += tensor_nbytes(graph_type(
				t->b, node_of(t, first)->inputs[j]));
	if (read == 0)
		return 1;
	return result / read < MAX_NINPUTS ? (int)(result / read) : MAX_NINPUTS;
}

/* ---- joining ------------------------------------------------------------- */

/* The sum of n terms, numbers which[0..n) of the sum, as a term in the place of
 * the last of them. */
static grad_part join(trainer *t, const term_class *c, const grad_part *parts,
		      const int *which, int n)
{
	graph_builder *b = t->b;
	grad_part last = parts[which[n - 1]];
	const built_node of = *node_of(t, &last);
	tensor_id inputs[MAX_NINPUTS], each[MAX_NINPUTS];
	b->forward = of.forward;
	b->origin = of.origin;
	b->site = of.site;
	b->step = b->cell = NONE;
	for (int j = 0; j < c->kernel->ninputs; j++) {
		inputs[j] = of.inputs[j];
		if (!c->varies[j])
			continue;
		for (int i = 0; i < n; i++)
			each[i] = node_of(t, &parts[which[i]])->inputs[j];
		const kernel *k = stack_kernel(b, graph_type(b, each[0]), n);
		b->ncalls++;
		inputs[j] = build_node(b, k, of.base, "stack", "", each);
	}
	b->ncalls++;
	last.value = build_node(b, joined_kernel(b, c, n), of.base, of.op,
				of.label, inputs);
	b->site = (call_site){ 0 };
	return last;
}

/* Replaces the terms of a class by as few as possible, each of about as many,
 * and marks those that are gone.  Where these would be too few for each, the
 * last terms are left as they are. */
static void join_class(trainer *t, const term_class *c, grad_part *parts,
		       bool *gone)
{
	int most = most_terms(t, c, &parts[c->parts.at[0]]);
	if (most < LEAST_TERMS)
		return;
	int all = c->parts.n, groups = (all + most - 1) / most;
	if (all / groups < LEAST_TERMS) {
		groups = all / most;
		all = groups * most;
	}
	for (int g = 0, from = 0; g < groups; g++) {
		int n = (all - from) / (groups - g);
		const int *which = c->parts.at + from;
		parts[which[n - 1]] = join(t, c, parts, which, n);
		for (int i = 0; i < n - 1; i++)
			gone[which[i]] = true;
		from += n;
	}
}

int train_join_terms(trainer *t, grad_part *parts, int n)
{
	const term_classes all = find_classes(t, parts, n);
	bool *gone = ARENA_ARRAY(t->b->tmp, bool, n + 1);
	int left = 0;
	for (int i = 0; i < all.n; i++)
		join_class(t, &all.at[i], parts, gone);
	for (int i = 0; i < n; i++)
		if (!gone[i])
			parts[left++] = parts[i];
	return left;
}
