/* The constants of a plan that follow from weights, and the tensors that are
 * used only to compute these. */
#include "config.h"

#include "compiler/lower/constants.h"

#include <string.h>

#include "base/intern.h"

typedef struct folder {
	arena *a, *tmp;
	const graph *g;
	plan *p;
	strmap *numbers; /* number of p's tensors by name, int */
	strmap *kept;	 /* kept tensors of g by name */
	bool *wanted;	 /* by fold of g: it is needed */
} folder;

static void note_number(folder *x, int t)
{
	int *number = ARENA_NEW(x->tmp, int);
	*number = t;
	strmap_put(x->numbers, x->p->tensors[t].name, number);
}

static void find_names(folder *x)
{
	for (int i = 0; i < x->p->ntensors; i++)
		note_number(x, i);
	for (int i = 0; i < x->g->nkept; i++)
		strmap_put(x->kept, x->g->kept[i].name, &x->g->kept[i]);
}

/* Marks the folds whose result the plan has, and the folds that these need. */
static void find_wanted(folder *x)
{
	strmap *wanted = strmap_new(x->tmp);
	for (int i = x->g->nfolds; i-- > 0;) {
		const graph_fold *f = &x->g->folds[i];
		x->wanted[i] = strmap_get(x->numbers, f->output) ||
			       strmap_get(wanted, f->output);
		for (int j = 0; x->wanted[i] && j < f->ninputs; j++)
			strmap_put(wanted, f->inputs[j], x);
	}
}

/* Whether the elements of a tensor that only folds read need not be kept: a
 * fold makes them, or a tensor of the graph has the same elements. */
static bool is_elsewhere(const folder *x, const tensor *t)
{
	for (int i = 0; i < x->g->nfolds; i++) {
		const graph_fold *f = &x->g->folds[i];
		if (!x->wanted[i])
			continue;
		if (!strcmp(f->output, t->name) ||
		    (!f->kernel && !strcmp(f->inputs[0], t->name) &&
		     !strmap_get(x->kept, f->output)))
			return true;
	}
	return false;
}

/* The number of a tensor.  Adds the tensor if no node uses it. */
static int number_of(folder *x, const char *name)
{
	const int *known = strmap_get(x->numbers, name);
	if (known)
		return *known;
	const tensor *from = strmap_get(x->kept, name);
	plan_tensor *to = &x->p->tensors[x->p->ntensors];
	*to = (plan_tensor){ .name = name, .type = from->type.type,
			     .ndim = from->type.ndim, .cuts = cuts_none(),
			     .role = from->kind == TENSOR_STATE ? PLAN_STATE
								: PLAN_CONSTANT,
			     .next = -1, .buffer = -1, .then = -1,
			     .time = CUT_NONE };
	memcpy(to->dims, from->type.dims, sizeof(to->dims));
	if (!is_elsewhere(x, from))
		lower_set_constant(&from->constant, to);
	note_number(x, x->p->ntensors);
	return x->p->ntensors++;
}

static void put(folder *x, const graph_fold *f)
{
	int *inputs = ARENA_ARRAY(x->a, int, f->ninputs);
	for (int i = 0; i < f->ninputs; i++)
		inputs[i] = number_of(x, f->inputs[i]);
	x->p->folds[x->p->nfolds++] = (plan_fold){
		.kernel = f->kernel, .ninputs = f->ninputs, .inputs = inputs,
		.output = number_of(x, f->output),
	};
}

void lower_folds(arena *a, const graph *g, plan *p)
{
	if (g->nfolds == 0)
		return;
	folder x = { .a = a, .tmp = arena_new(), .g = g, .p = p };
	const plan_tensor *own = p->tensors;
	x.numbers = strmap_new(x.tmp);
	x.kept = strmap_new(x.tmp);
	x.wanted = ARENA_ARRAY(x.tmp, bool, g->nfolds);
	p->tensors = ARENA_ARRAY(a, plan_tensor, p->ntensors + g->nkept);
	memcpy(p->tensors, own, (size_t)p->ntensors * sizeof(*own));
	p->folds = ARENA_ARRAY(a, plan_fold, g->nfolds);
	find_names(&x);
	find_wanted(&x);
	for (int i = 0; i < g->nfolds; i++)
		if (x.wanted[i])
			put(&x, &g->folds[i]);
	arena_free(x.tmp);
}
