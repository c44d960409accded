/* Constants computed from weights: reading and checking. */
#include "config.h"

#include "base/checked.h"
#include "plan/check.h"
#include "plan/read.h"

/* ---- reading ----------------------------------------------------------- */

static bool read_fold(reader *r, json_t *j, plan_fold *f)
{
	members m;
	plan_kernel k = { 0 };
	int *inputs = NULL;
	if (!read_members(r, j, &m))
		return false;
	json_t *by = read_optional(&m, "kernel");
	if ((by && !read_kernel(r, by, &k)) ||
	    !read_ints(r, &m, "inputs", &inputs, &f->ninputs) ||
	    !read_index(r, &m, "output", PLAN_MOST_ROWS, &f->output))
		return false;
	f->kernel = k.kernel;
	f->inputs = inputs;
	return read_no_more(r, &m);
}

bool read_folds(reader *r, plan *p, members *top)
{
	json_t *all;
	const char *table = r->table;
	int row = r->index;
	if (!json_object_get(top->object, "folds"))
		return true;
	if (!read_array(r, top, "folds", PLAN_MOST_ROWS, &all))
		return false;
	p->nfolds = (int)json_array_size(all);
	p->folds = ARENA_ARRAY(r->arena, plan_fold, p->nfolds);
	r->table = "folds";
	for (r->index = 0; r->index < p->nfolds; r->index++)
		if (!read_fold(r, json_array_get(all, (size_t)r->index),
			       &p->folds[r->index]))
			return false;
	r->table = table;
	r->index = row;
	return true;
}

/* ---- checking ---------------------------------------------------------- */

/* Checks an input of a fold: it is given and no run changes it (in a stage,
 * this may hold in another stage), or it is the output of an earlier fold. */
static bool check_source(plan_checker *c, int t, const bool *made,
			 const bool *makes)
{
	const plan *p = c->p;
	if (!is_index(t, p->ntensors))
		return flaw(c, "it reads tensor %d of %d", t, p->ntensors);
	const plan_tensor *x = &p->tensors[t];
	bool given = x->role == PLAN_CONSTANT ||
		     (x->role == PLAN_STATE && x->next < 0) ||
		     (x->role == PLAN_RESULT && p->stage && !makes[t]);
	if (!given)
		return flaw(c, "it reads '%.100s', which a run changes",
			    x->name);
	return !makes[t] || made[t] ||
	       flaw(c, "it reads '%.100s' before that is made", x->name);
}

static bool check_kernel(plan_checker *c, const plan_fold *f, int64_t *points)
{
	const plan *p = c->p;
	const kernel *k = f->kernel;
	const plan_tensor *to = &p->tensors[f->output];
	int64_t dims[MAX_NDIM] = { 0 }, n = kernel_points(k);
	if (k->opaque)
		return flaw(c, "its kernel is opaque");
	if (n < 0 || !ck_add(*points, n, points) || *points > PLAN_MAX_FOLDED)
		return flaw(c, "its kernel has too many points");
	if (f->ninputs != k->ninputs)
		return flaw(c, "it has %d inputs, its kernel %d", f->ninputs,
			    k->ninputs);
	for (int i = 0; i < k->ninputs; i++) {
		const plan_tensor *x = &p->tensors[f->inputs[i]];
		const kinput *in = &k->inputs[i];
		if (!plan_tensor_is(x, in->type, in->ndim, in->dims) ||
		    plan_tensor_nbytes(x) > PLAN_MAX_FOLD_BYTES)
			return flaw(c, "input %d is not the kernel's, or too "
				    "large", i);
	}
	for (int d = 0; d < k->nout; d++)
		dims[d] = kernel_dim(k, d);
	return plan_tensor_is(to, k->type, k->nout, dims) ||
	       flaw(c, "its output is not the kernel's");
}

static bool check_fold(plan_checker *c, const plan_fold *f, bool *made,
		       const bool *makes, int64_t *points)
{
	const plan *p = c->p;
	const plan_tensor *to = &p->tensors[f->output];
	if (made[f->output] || to->role != PLAN_CONSTANT)
		return flaw(c, "'%.100s' is no constant, or made twice",
			    to->name);
	for (int i = 0; i < f->ninputs; i++)
		if (!check_source(c, f->inputs[i], made, makes))
			return false;
	made[f->output] = true;
	if (f->kernel)
		return check_kernel(c, f, points);
	const plan_tensor *from = &p->tensors[f->inputs[0]];
	return (f->ninputs == 1 && from->type == to->type &&
		plan_tensor_nelem(from) == plan_tensor_nelem(to)) ||
	       flaw(c, "it has not as many elements as what it reads");
}

/* Checks a given tensor without a buffer: a fold reads it or makes it, or it
 * has elements that nobody uses. */
static bool check_rest(plan_checker *c, arena *tmp, const bool *made,
		       const bool *read)
{
	const plan *p = c->p;
	/* Those whose elements are known in another shape. */
	bool *known = ARENA_ARRAY(tmp, bool, p->ntensors + 1);
	for (int i = 0; i < p->nfolds; i++) {
		const plan_fold *f = &p->folds[i];
		const plan_tensor *to = &p->tensors[f->output];
		known[f->inputs[0]] |= !f->kernel && to->constant.kind !=
							     PLAN_CONST_NONE;
	}
	c->table = "tensors";
	for (c->row = 0; c->row < p->ntensors; c->row++) {
		const plan_tensor *t = &p->tensors[c->row];
		bool given = t->role == PLAN_CONSTANT || t->role == PLAN_STATE;
		if (!given || t->buffer >= 0)
			continue;
		if (t->role == PLAN_STATE && (!read[c->row] || t->next >= 0))
			return flaw(c, "a state has no buffer");
		if (!made[c->row] && !known[c->row] &&
		    t->constant.kind == PLAN_CONST_NONE)
			return flaw(c, "its elements are not known");
	}
	return true;
}

bool plan_check_folds(plan_checker *c, arena *tmp)
{
	const plan *p = c->p;
	bool *made = ARENA_ARRAY(tmp, bool, p->ntensors + 1);
	bool *makes = ARENA_ARRAY(tmp, bool, p->ntensors + 1);
	bool *read = ARENA_ARRAY(tmp, bool, p->ntensors + 1);
	int64_t points = 0;
	c->table = "folds";
	for (c->row = 0; c->row < p->nfolds; c->row++) {
		const plan_fold *f = &p->folds[c->row];
		if (!is_index(f->output, p->ntensors) || f->ninputs < 1)
			return flaw(c, "it makes tensor %d of %d, of %d inputs",
				    f->output, p->ntensors, f->ninputs);
		makes[f->output] = true;
	}
	for (c->row = 0; c->row < p->nfolds; c->row++) {
		const plan_fold *f = &p->folds[c->row];
		if (!check_fold(c, f, made, makes, &points))
			return false;
		for (int i = 0; i < f->ninputs; i++)
			read[f->inputs[i]] = true;
	}
	return check_rest(c, tmp, made, read);
}

/* ---- what follows ------------------------------------------------------ */

int plan_folded_to(arena *tmp, const plan *p, int tensor)
{
	bool *follows = ARENA_ARRAY(tmp, bool, p->ntensors + 1);
	follows[tensor] = true;
	for (int i = 0; i < p->nfolds; i++) {
		const plan_fold *f = &p->folds[i];
		for (int j = 0; j < f->ninputs; j++)
			follows[f->output] |= follows[f->inputs[j]];
		if (follows[f->output] && p->tensors[f->output].buffer >= 0)
			return f->output;
	}
	return -1;
}
