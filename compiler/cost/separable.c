#include "config.h"

#include "compiler/cost/separable.h"

#include "compiler/solver/problem.h"
#include "layout/product.h"

/* The whole tensor of a pair, with the current choices. */
typedef struct candidate {
	arena *tmp;
	const mesh *m;
	const pair *p;
	int64_t dims[MAX_NVARS];
	cuts node_cuts, tensor_cuts;
	layout layout;
	const product **stored; /* by choice for the tensor */
} candidate;

static void begin(candidate *c)
{
	const kernel *k = c->p->kernel;
	c->node_cuts = *c->p->node_cuts;
	c->tensor_cuts = *c->p->tensor_cuts;
	c->layout = (layout){ .type = k->type, .ndim = k->nout, .dims = c->dims,
			      .cuts = &c->tensor_cuts, .kernel = k,
			      .space = &c->node_cuts, .inputs = c->p->inputs };
	for (int d = 0; d < k->nout && !c->p->inputs; d++)
		c->dims[d] = kernel_dim(k, d);
	if (c->p->inputs) {
		const kinput *in = &k->inputs[__builtin_ctz(c->p->inputs)];
		c->layout.ndim = in->ndim;
		c->layout.dims = in->dims;
	}
}

static const product *product_with(candidate *c, layout_kind kind)
{
	c->layout.kind = kind;
	return product_of(c->tmp, &c->layout, c->m);
}

static void set_choice(const candidate *c, cuts *to, int choice)
{
	to->dim[c->m->naxes - 1] = (signed char)choice;
}

/* Elements that the groups move from what is stored to what they need; one
 * group in `share' has no zeros. */
static bool reads(const product *need, const product *stored, int share,
		  int64_t *n)
{
	int64_t all, most, held;
	if (!product_elements(need, &all, &most) ||
	    !product_held(stored, need, &held))
		return false;
	*n = (all - held) / share;
	return true;
}

/* Elements that the groups move from what they compute to what they store; each
 * sharer of a partial result first receives its share. */
static bool results(const product *made, const product *stored, int sharers,
		    int64_t *n)
{
	int64_t all, share, most, held;
	if (!product_elements(stored, &all, &most) ||
	    !product_elements(made, &share, &most) ||
	    !product_held(made, stored, &held))
		return false;
	*n = cost_add(cost_clamp(all - held),
		      cost_mul(cost_clamp(share), sharers - 1));
	return true;
}

/* Fills in the row of the node's current choice. */
static bool row(candidate *c, int64_t *to)
{
	const pair *p = c->p;
	bool partial = !p->inputs && layout_partial_axes(c->m, p->kernel,
							 &c->node_cuts);
	const product *x = NULL;
	for (int i = 0; i < p->dims->n; i++) {
		set_choice(c, &c->tensor_cuts, p->dims->at[i]);
		uint32_t shared = partial ? layout_combined_axes(
			c->m, p->kernel, &c->node_cuts, &c->tensor_cuts) : 0;
		if (i == 0 || partial)
			x = product_with(c, p->inputs ? LAYOUT_NEEDS
					 : shared     ? LAYOUT_REDUCED_SHARD
						      : LAYOUT_PRODUCES);
		int share = p->inputs ? layout_zero_share(c->m, p->kernel,
							  &c->node_cuts,
							  p->inputs,
							  &c->tensor_cuts)
				      : 1;
		if (!x ||
		    !(p->inputs ? reads(x, c->stored[i], share, &to[i])
				: results(x, c->stored[i],
					  layout_sharers(c->m, shared),
					  &to[i])))
			return false;
	}
	return true;
}

bool separable_table(const mesh *m, const pair *p, int64_t *table)
{
	candidate c = { .tmp = arena_new(), .m = m, .p = p };
	bool done = true;
	begin(&c);
	c.stored = ARENA_ARRAY(c.tmp, const product *, p->dims->n);
	for (int i = 0; i < p->dims->n && done; i++) {
		set_choice(&c, &c.tensor_cuts, p->dims->at[i]);
		c.stored[i] = product_with(&c, LAYOUT_STORED);
		done = c.stored[i] != NULL;
	}
	for (int i = 0; i < p->vars->n && done; i++) {
		set_choice(&c, &c.node_cuts, p->vars->at[i]);
		done = row(&c, table + i * p->dims->n);
	}
	arena_free(c.tmp);
	return done;
}
