#include "config.h"

#include "compiler/cost/partial_values.h"

#include "compiler/analysis/strategy.h"
#include "compiler/cost/byte_model.h"
#include "compiler/graph/turns.h"
#include "plan/plan.h"

static const reducer reducers[] = { RED_SUM, RED_MAX, RED_MIN, RED_OR,
				    RED_AND };
enum { NREDUCERS = sizeof(reducers) / sizeof(*reducers) };

static uint32_t bit_of(reducer r)
{
	return UINT32_C(1) << r;
}

/* The remaining tensors and passings, which become fewer and fewer. */
typedef struct finder {
	const graph *g;
	partial_values *to;
	bool changed;
} finder;

static void keep(finder *f, uint32_t *set, uint32_t left)
{
	f->changed = f->changed || left != *set;
	*set = left;
}

/* ---- nodes ------------------------------------------------------------- */

/* The inputs of a passing that may be partial. */
static uint32_t partial_inputs(const finder *f, const node *n,
			       const kpassing *p)
{
	uint32_t partial = 0;
	for (int i = 0; i < n->kernel->ninputs; i++)
		if ((p->inputs >> i & 1) &&
		    (f->to->tensors[n->inputs[i]] & bit_of(p->by)))
			partial |= UINT32_C(1) << i;
	return partial;
}

/* Whether some inputs of a passing may be partial while the others, replicated,
 * stand for partial ones.  A tensor that is also read through other inputs can
 * be neither. */
static bool may_pass(const finder *f, const node *n, const kpassing *p)
{
	uint32_t partial = partial_inputs(f, n, p);
	for (int i = 0; i < n->kernel->ninputs; i++)
		if ((p->inputs >> i & 1) &&
		    (byte_model_same_inputs(n, i) & ~p->inputs))
			return false;
	return partial && (partial == p->inputs || layout_serves(p->by));
}

static void narrow_node(finder *f, node_id id)
{
	const node *n = &f->g->nodes[id];
	uint32_t left = f->to->nodes[id];
	for (int i = 0; i < n->kernel->npassings; i++)
		if (!may_pass(f, n, &n->kernel->passings[i]))
			left &= ~(UINT32_C(1) << i);
	keep(f, &f->to->nodes[id], left);
}

/* ---- tensors ----------------------------------------------------------- */

/* The reducers of the partial results that a node can give. */
static uint32_t given_by(const finder *f, node_id id)
{
	const kernel *k = f->g->nodes[id].kernel;
	uint32_t given = 0;
	for (int v = k->nout; v < k->nvars; v++)
		if (strategy_offered(k, v, NULL))
			given |= bit_of(strategy_reducer(k, v));
	for (int i = 0; i < k->npassings; i++)
		if (f->to->nodes[id] >> i & 1)
			given |= bit_of(k->passings[i].to);
	return given;
}

/* The reducers by which a node passes on what it reads through some inputs. */
static uint32_t handed_on(const finder *f, node_id id, uint32_t inputs)
{
	const kernel *k = f->g->nodes[id].kernel;
	uint32_t by = 0;
	for (int i = 0; i < k->npassings; i++)
		if ((f->to->nodes[id] >> i & 1) &&
		    (k->passings[i].inputs & inputs) == inputs)
			by |= bit_of(k->passings[i].by);
	return by;
}

/* Restricts the tensors that a node reads to what it passes on. */
static void narrow_read(finder *f, node_id id)
{
	const node *n = &f->g->nodes[id];
	for (int i = 0; i < n->kernel->ninputs; i++) {
		uint32_t *t = &f->to->tensors[n->inputs[i]];
		keep(f, t, *t & handed_on(f, id, byte_model_same_inputs(n, i)));
	}
}

/* Tensors accumulated over time may be partial over space only by the same
 * reducer: then so is the sum of two of them. */
static void keep_accumulated(finder *f)
{
	const graph *g = f->g;
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (g->turns->total[t] != NONE)
			f->to->tensors[t] &= bit_of(g->turns->partial[t]);
}

/* ---- what it is good for ----------------------------------------------- */

/* Whether a passing node may leave less to combine, or lay it out better:
 * several tensors become one, or the result does not correspond to what it
 * reads element by element. */
static bool gains(const finder *f, const node *n, const kpassing *p)
{
	uint32_t partial = partial_inputs(f, n, p);
	int first = __builtin_ctz(partial);
	return (partial & ~byte_model_same_inputs(n, first)) ||
	       !kernel_in_place(n->kernel, first);
}

/* Adds to `useful', by tensor, what a node passes on to a place where something
 * is gained. */
static void add_useful(finder *f, node_id id, uint32_t *useful)
{
	const node *n = &f->g->nodes[id];
	for (int i = 0; i < n->kernel->npassings; i++) {
		const kpassing *p = &n->kernel->passings[i];
		if (!(f->to->nodes[id] >> i & 1) ||
		    (!gains(f, n, p) && !(useful[n->output] & bit_of(p->to))))
			continue;
		for (int j = 0; j < n->kernel->ninputs; j++)
			if (p->inputs >> j & 1)
				useful[n->inputs[j]] |= bit_of(p->by);
	}
}

/* Keeps only the partial values that reach a place where something is gained,
 * including sums over time. */
static void narrow_useless(finder *f)
{
	const graph *g = f->g;
	arena *tmp = arena_new();
	uint32_t *useful = ARENA_ARRAY(tmp, uint32_t, g->ntensors);
	for (tensor_id t = 0; t < g->ntensors && g->turns; t++)
		if (g->turns->total[t] != NONE)
			useful[t] = f->to->tensors[t];
	for (node_id n = g->nnodes; n-- > 0;)
		add_useful(f, n, useful);
	for (tensor_id t = 0; t < g->ntensors; t++)
		keep(f, &f->to->tensors[t], f->to->tensors[t] & useful[t]);
	arena_free(tmp);
}

/* ---- all of them ------------------------------------------------------- */

static void begin(finder *f, bool cheap)
{
	const graph *g = f->g;
	uint32_t all = 0;
	for (int i = 0; i < NREDUCERS; i++)
		all |= bit_of(reducers[i]);
	for (node_id n = 0; n < g->nnodes; n++) {
		const kernel *k = g->nodes[n].kernel;
		bool none = cheap && k->reducer != RED_NONE;
		int npassings = none ? 0 : k->npassings;
		f->to->nodes[n] = (uint32_t)((UINT64_C(1) << npassings) - 1);
		for (int i = 0; i < k->ninputs; i++) {
			tensor_id t = g->nodes[n].inputs[i];
			const tensor *x = &g->tensors[t];
			if (x->kind == TENSOR_RESULT && !x->output)
				f->to->tensors[t] = all;
		}
	}
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (g->tensors[t].kind == TENSOR_STATE &&
		    g->tensors[t].next != NONE)
			f->to->tensors[g->tensors[t].next] = 0;
	if (g->turns)
		keep_accumulated(f);
}

static void narrow(finder *f)
{
	const graph *g = f->g;
	for (node_id n = 0; n < g->nnodes; n++) {
		uint32_t *t = &f->to->tensors[g->nodes[n].output];
		narrow_node(f, n);
		keep(f, t, *t & given_by(f, n));
	}
	for (node_id n = g->nnodes; n-- > 0;)
		narrow_read(f, n);
}

const partial_values *partial_values_of(arena *a, const graph *g,
					partial_scope scope)
{
	finder f = { .g = g, .to = ARENA_NEW(a, partial_values),
		     .changed = true };
	f.to->tensors = ARENA_ARRAY(a, uint32_t, g->ntensors);
	f.to->nodes = ARENA_ARRAY(a, uint32_t, g->nnodes);
	begin(&f, scope == PARTIAL_CHEAP);
	while (f.changed) {
		f.changed = false;
		narrow(&f);
		if (!f.changed && scope != PARTIAL_ALL)
			narrow_useless(&f);
	}
	for (tensor_id t = 0; t < g->ntensors; t++)
		f.to->any = f.to->any || f.to->tensors[t];
	return f.to;
}

/* ---- choices ----------------------------------------------------------- */

static void add(choices *c, int choice)
{
	if (!choices_have(c, choice))
		c->at[c->n++] = (signed char)choice;
}

/* The reducer given or stored along the axes before; RED_NONE. */
static reducer before(const step *s, const cuts *c)
{
	reducer r = RED_NONE;
	for (int a = 0; a < step_axis(s) && r == RED_NONE; a++)
		r = cut_reducer(c->dim[a]);
	return r;
}

choices partial_or_dims(const partial_values *p, choices c, const step *s,
			tensor_id t)
{
	reducer was = before(s, &s->as->tensor_cuts[t]);
	for (int i = 0; p && i < NREDUCERS; i++)
		if ((p->tensors[t] & bit_of(reducers[i])) &&
		    (was == RED_NONE || was == reducers[i]))
			add(&c, cut_partial(reducers[i]));
	return c;
}

choices partial_or_vars(const partial_values *p, choices c, const step *s,
			node_id n)
{
	const kernel *k = s->g->nodes[n].kernel;
	reducer was = step_reducer(s, n);
	for (int i = 0; p && i < k->npassings; i++)
		if ((p->nodes[n] >> i & 1) &&
		    (was == RED_NONE || was == k->passings[i].to))
			add(&c, cut_passing(i));
	return c;
}
