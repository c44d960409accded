/* Constants that follow from weights.  If states have been given other values,
 * they are computed again before the next step, by every process. */
#include "config.h"

#include <string.h>

#include "kernel/eval.h"
#include "runtime/exec/executor_parts.h"

/* A tensor that folds read or make, in any stage. */
typedef struct fold_value {
	stage_tensor of;
	bool kept; /* a kernel reads it, perhaps in another shape */
	/* Elements of a kept value once they differ from the plan's or were
	 * asked for; NULL. */
	void *data;
	const void *now; /* set while values are passed on to other shapes */
} fold_value;

/* A fold of a stage.  Its tensors are given as numbers of values. */
typedef struct fold_run {
	int stage;
	const plan_fold *fold;
	int *inputs, output;
} fold_run;

struct executor_folds {
	arena *a;
	int nvalues, nruns;
	fold_value *values;
	fold_run *runs;
	strmap *numbers; /* of values by name, int */
	bool is_stale;	 /* kernels have to be run again */
};

/* ---- tables ------------------------------------------------------------ */

static const plan_tensor *tensor_of(const executor *m, const fold_value *v)
{
	return &m->p->stages[v->of.stage].tensors[v->of.tensor];
}

/* The number of a tensor's value.  A tensor received by a stage is another
 * stage's state. */
static int number_of(executor *m, int stage, int tensor)
{
	executor_folds *x = m->folds;
	const plan_tensor *t = &m->p->stages[stage].tensors[tensor];
	const stage_tensor *home = strmap_get(m->states, t->name);
	int *known = strmap_get(x->numbers, t->name);
	if (!known) {
		known = ARENA_NEW(m->a, int);
		*known = x->nvalues++;
		x->values[*known].of = home ? *home
					    : (stage_tensor){ stage, tensor };
		strmap_put(x->numbers, t->name, known);
	}
	return *known;
}

static void add_run(executor *m, int stage, const plan_fold *f)
{
	executor_folds *x = m->folds;
	fold_run *r = &x->runs[x->nruns++];
	*r = (fold_run){ .stage = stage, .fold = f };
	r->inputs = ARENA_ARRAY(m->a, int, f->ninputs);
	for (int i = 0; i < f->ninputs; i++)
		r->inputs[i] = number_of(m, stage, f->inputs[i]);
	r->output = number_of(m, stage, f->output);
}

static void find_kept(executor_folds *x)
{
	for (int i = x->nruns; i-- > 0;) {
		const fold_run *r = &x->runs[i];
		for (int j = 0; j < r->fold->ninputs; j++)
			x->values[r->inputs[j]].kept |=
				r->fold->kernel || x->values[r->output].kept;
	}
}

void executor_find_folds(executor *m)
{
	int nruns = 0, nvalues = 0;
	for (int s = 0; s < m->p->nstages; s++) {
		nruns += m->p->stages[s].nfolds;
		nvalues += m->p->stages[s].ntensors;
	}
	executor_folds *x = m->folds = ARENA_NEW(m->a, executor_folds);
	x->a = m->a;
	x->numbers = strmap_new(m->a);
	if (nruns == 0)
		return;
	x->values = ARENA_ARRAY(m->a, fold_value, nvalues);
	x->runs = ARENA_ARRAY(m->a, fold_run, nruns);
	for (int s = 0; s < m->p->nstages; s++)
		for (int i = 0; i < m->p->stages[s].nfolds; i++)
			add_run(m, s, &m->p->stages[s].folds[i]);
	find_kept(x);
}

static fold_value *find_value(const executor *m, const char *name)
{
	const int *number = strmap_get(m->folds->numbers, name);
	return number ? &m->folds->values[*number] : NULL;
}

/* ---- values ------------------------------------------------------------ */

static bool scatter(executor *m, int stage, int tensor, const void *whole,
		    failure *f)
{
	int buffer = m->p->stages[stage].tensors[tensor].buffer;
	bool good = true;
	for (int w = m->first; buffer >= 0 && good && w < m->end; w++)
		if (m->stage[w] == stage)
			good = part_scatter(m, w, buffer, whole, f);
	return good;
}

static void remember(executor *m, fold_value *v, const void *data)
{
	size_t n = (size_t)plan_tensor_nbytes(tensor_of(m, v));
	if (!v->kept || v->data == data)
		return;
	if (!v->data)
		v->data = arena_alloc(m->a, n + 1);
	memcpy(v->data, data, n);
}

/* Passes a value on to those with the same elements in another shape. */
static bool spread(executor *m, fold_value *from, const void *data, failure *f)
{
	executor_folds *x = m->folds;
	bool good = true;
	from->now = data;
	remember(m, from, data);
	for (int i = 0; good && i < x->nruns; i++) {
		const fold_run *r = &x->runs[i];
		const void *now = x->values[r->inputs[0]].now;
		if (r->fold->kernel || !now)
			continue;
		x->values[r->output].now = now;
		remember(m, &x->values[r->output], now);
		good = scatter(m, r->stage, r->fold->output, now, f);
	}
	for (int i = 0; i < x->nvalues; i++)
		x->values[i].now = NULL;
	return good;
}

bool executor_fold_set(executor *m, const char *name, const void *data,
		       failure *f)
{
	fold_value *v = find_value(m, name);
	if (!v)
		return true;
	m->folds->is_stale |= v->kept;
	return spread(m, v, data, f);
}

/* The fold that makes a value from another one's elements (makes), or passes
 * its elements on. */
static const fold_run *find_shape(const executor *m, const fold_value *v,
				  bool makes)
{
	const executor_folds *x = m->folds;
	for (int i = 0; i < x->nruns; i++) {
		const fold_run *r = &x->runs[i];
		int of = makes ? r->output : r->inputs[0];
		if (!r->fold->kernel && &x->values[of] == v)
			return r;
	}
	return NULL;
}

/* Whether the plan has the elements of a value. */
static bool has_elements(const executor *m, const fold_value *v)
{
	const plan *p = &m->p->stages[v->of.stage];
	int of = plan_constant_of(p, v->of.tensor);
	return p->tensors[of].constant.kind != PLAN_CONST_NONE;
}

/* The elements of a kept value; NULL with *f set. */
static const void *fetch(const executor *m, fold_value *v, failure *f)
{
	while (!v->data && !has_elements(m, v)) {
		const fold_run *r = find_shape(m, v, true);
		if (!r) {
			fail_with(f, CLI_INPUT, "'%s', from which constants "
				  "follow, has no elements",
				  tensor_of(m, v)->name);
			return NULL;
		}
		v = &m->folds->values[r->inputs[0]];
	}
	if (v->data)
		return v->data;
	const plan *p = &m->p->stages[v->of.stage];
	arena *work = arena_new();
	diag_sink *s = diag_sink_new(work);
	size_t n = (size_t)plan_tensor_nbytes(tensor_of(m, v));
	void *data = arena_alloc(m->a, n + 1);
	bool good = plan_constant_read(p, v->of.tensor, data, s);
	good = fail_of(f, s) && good;
	arena_free(work);
	if (good)
		v->data = data;
	return v->data;
}

bool executor_fold_get(const executor *m, const char *name, void *to,
		       failure *f)
{
	fold_value *v = find_value(m, name);
	const plan_tensor *t = tensor_of(m, v);
	const fold_run *r = find_shape(m, v, false);
	while (r && m->p->stages[r->stage].tensors[r->fold->output].buffer < 0)
		r = find_shape(m, &m->folds->values[r->output], false);
	if (v->kept || !r) {
		const void *data = fetch(m, v, f);
		if (data)
			memcpy(to, data, (size_t)plan_tensor_nbytes(t));
		return data;
	}
	return part_gather(m, (stage_tensor){ r->stage, r->fold->output }, to,
			   f);
}

/* ---- kernels ----------------------------------------------------------- */

static bool run_fold(const executor *m, const fold_run *r, void *out,
		     failure *f)
{
	const kernel *k = r->fold->kernel;
	view views[MAX_NINPUTS], result;
	for (int i = 0; i < k->ninputs; i++) {
		box whole = box_whole(k->inputs[i].dims, k->inputs[i].ndim);
		const void *data = fetch(m, &m->folds->values[r->inputs[i]],
					 f);
		if (!data)
			return false;
		views[i] = view_dense((void *)(uintptr_t)data,
				      k->inputs[i].type, &whole);
	}
	box space = kernel_space(k), at = kernel_produces(k, &space);
	eval_fault fault;
	result = view_dense(out, k->type, &at);
	return kernel_eval(k, &space, views, &result, NULL, &fault) ==
		       EVAL_OK ||
	       fail_with(f, CLI_INPUT, "the weights make '%s' read outside "
			 "of what it is computed from",
			 m->p->stages[r->stage].tensors[r->fold->output].name);
}

bool executor_fold(executor *m, failure *f)
{
	executor_folds *x = m->folds;
	bool good = true;
	if (!x->is_stale)
		return true;
	for (int i = 0; good && i < x->nruns; i++) {
		const fold_run *r = &x->runs[i];
		if (!r->fold->kernel)
			continue;
		fold_value *v = &x->values[r->output];
		arena *work = arena_new();
		size_t n = (size_t)plan_tensor_nbytes(tensor_of(m, v));
		void *out = arena_alloc(work, n + 1);
		good = run_fold(m, r, out, f) &&
		       scatter(m, r->stage, r->fold->output, out, f) &&
		       spread(m, v, out, f);
		arena_free(work);
	}
	x->is_stale = !good;
	return good;
}
