/* Finds how turns divide each tensor, node by node in order, beginning at the
 * batch of the inputs. */
#include "config.h"

#include "compiler/graph/turns.h"
#include "kernel/monotone.h"

/* The value of a tensor during a turn. */
typedef enum presence {
	AT_ONCE,    /* the same in all turns */
	IN_PARTS,   /* the turn's samples; cut[] has the dimension */
	AS_PARTIAL, /* to be combined with those of other turns */
	OF_TURN,    /* follows from the turn's own values */
	AT_LAST,    /* known only after the last turn */
} presence;

typedef struct finder {
	arena *tmp;
	const graph *g;
	const graph_turns *t;
	const int *batch; /* by tensor: batch dimension of an input; NONE */
	bool statistics;
	bool *early;	  /* by tensor: needed whole, before the turns */
	int *samples;	  /* by tensor that is early: the dimension of
			   * samples, of which a turn may read its own; NONE */
	turns_own own;
	bool *derive; /* by tensor: computed in each turn if statistics are */
	presence *is;	  /* by tensor */
	int *cut;	  /* by tensor, and .. */
	reducer *partial; /* .. as in graph_turns */
	int *divided;	  /* by node, likewise */
	section *sections;
	node_id failed;	   /* the node that needs a whole value, and .. */
	tensor_id missing; /* .. the value */
	node_id **readers; /* by tensor, nreaders[] of them */
	int *nreaders;
} finder;

/* ---- one node ---------------------------------------------------------- */

/* The variable by which turns divide a node that reads samples in dimensions
 * of[] of tensors, NONE: not of these; those of the result first. */
static int find_variable(const finder *f, const node *n, const int *of)
{
	const kernel *k = n->kernel;
	for (int v = 0; v < k->nvars; v++) {
		bool fits = turns_may_divide(f->t, k, v);
		for (int i = 0; i < k->ninputs && fits; i++)
			fits = of[n->inputs[i]] == NONE ||
			       turns_reads_own(f->t, k, v, i, of[n->inputs[i]]);
		if (fits)
			return v;
	}
	return NONE;
}

/* The first input with a given presence; NONE. */
static tensor_id input_that_is(const finder *f, const node *n, presence how)
{
	for (int i = 0; i < n->kernel->ninputs; i++)
		if (f->is[n->inputs[i]] == how)
			return n->inputs[i];
	return NONE;
}

static bool fails(finder *f, node_id n, tensor_id missing)
{
	f->failed = n;
	f->missing = missing;
	return false;
}

/* Whether an optimizer reads the tensor: a weight's gradient, which has to be
 * that of all samples. */
static bool is_final(const finder *f, tensor_id t)
{
	tensor_id of = f->g->tensors[t].gradient_of;
	return of != NONE && f->g->tensors[of].kind == TENSOR_STATE;
}

/* Whether a node of the turn may read the turn's value of an input. */
static bool is_in_turn(const finder *f, tensor_id t)
{
	return f->is[t] == OF_TURN ||
	       (f->is[t] == AS_PARTIAL && f->own.partial[t]);
}

/* The first input that is known too late to be read in a turn; NONE. */
static tensor_id late_input(const finder *f, const node *n)
{
	tensor_id late = input_that_is(f, n, AT_LAST);
	for (int i = 0; i < n->kernel->ninputs && late == NONE; i++)
		if (f->is[n->inputs[i]] == AS_PARTIAL &&
		    !is_in_turn(f, n->inputs[i]))
			late = n->inputs[i];
	return late;
}

/* Places a node of which each turn computes its part of variable v. */
static bool place_divided(finder *f, node_id id, int v)
{
	const node *n = &f->g->nodes[id];
	bool cut = n->kernel->vars[v].kind == KVAR_OUTPUT;
	f->divided[id] = v;
	f->sections[id] = SECTION_BODY;
	f->is[n->output] = cut ? IN_PARTS : AS_PARTIAL;
	f->cut[n->output] = cut ? v : NONE;
	f->partial[n->output] = cut ? RED_NONE : n->kernel->reducer;
	return true;
}

/* Places a node that reads samples of the turn. */
static bool place_in_turn(finder *f, node_id id)
{
	const node *n = &f->g->nodes[id];
	tensor_id late = late_input(f, n);
	int v = late == NONE ? find_variable(f, n, f->cut) : NONE;
	if (v == NONE)
		return fails(f, id,
			     late != NONE ? late
					  : input_that_is(f, n, IN_PARTS));
	return place_divided(f, id, v);
}

/* The variable by which turns divide a node whose samples are all there before
 * the turns, though each turn needs its own alone; NONE. */
static int variable_of_early(const finder *f, const node *n)
{
	bool any = false;
	for (int i = 0; i < n->kernel->ninputs; i++)
		any |= f->samples[n->inputs[i]] != NONE;
	return any && !f->early[n->output] && late_input(f, n) == NONE
		       ? find_variable(f, n, f->samples)
		       : NONE;
}

/* Whether a node without samples is computed in each turn from the turn's
 * values.  Gradients of weights are combined first, unless a node of the turn
 * reads them. */
static bool derives(const finder *f, const node *n)
{
	bool any = f->derive[n->output];
	for (int i = 0; i < n->kernel->ninputs; i++)
		any = any || (is_in_turn(f, n->inputs[i]) &&
			      !is_final(f, n->inputs[i]));
	return any;
}

static bool place_derived(finder *f, node_id id)
{
	const node *n = &f->g->nodes[id];
	tensor_id late = late_input(f, n);
	if (late != NONE)
		return fails(f, id, late);
	f->is[n->output] = OF_TURN;
	f->own.derived[n->output] = true;
	f->sections[id] = SECTION_BODY;
	return true;
}

static int64_t bytes_of(const finder *f, tensor_id t)
{
	return tensor_nbytes(&f->g->tensors[t].type);
}

/* Whether no input before it is the same tensor. */
static bool is_first_read(const node *n, int input)
{
	for (int i = 0; i < input; i++)
		if (n->inputs[i] == n->inputs[input])
			return false;
	return true;
}

/* The set of a node's partial inputs and, in *by, their reducer.  Empty if
 * their reducers differ. */
static uint32_t partial_inputs(const finder *f, const node *n, reducer *by)
{
	uint32_t inputs = 0;
	*by = RED_NONE;
	for (int i = 0; i < n->kernel->ninputs; i++) {
		tensor_id t = n->inputs[i];
		if (f->is[t] != AS_PARTIAL)
			continue;
		if (*by != RED_NONE && *by != f->partial[t])
			return 0;
		*by = f->partial[t];
		inputs |= UINT32_C(1) << i;
	}
	return inputs;
}

/* Whether to pass on these partial inputs in each turn.  The result is smaller
 * than all of them together, or has longer numbers, so adding up the results
 * takes less time or loses less precision. */
static bool is_better_passed(const finder *f, const node *n, uint32_t inputs)
{
	int64_t bytes = 0;
	for (; inputs; inputs &= inputs - 1) {
		int i = __builtin_ctz(inputs);
		if (dtype_bits(n->kernel->inputs[i].type) <
		    dtype_bits(n->kernel->type))
			return true;
		bytes += is_first_read(n, i) ? bytes_of(f, n->inputs[i]) : 0;
	}
	return bytes_of(f, n->output) < bytes;
}

/* The reducer of a node's result if the node passes on its partial inputs. */
static reducer passes(const finder *f, const node *n)
{
	reducer by, to;
	uint32_t inputs = partial_inputs(f, n, &by);
	if (!inputs || !is_better_passed(f, n, inputs))
		return RED_NONE;
	to = kernel_passes(n->kernel, inputs, by);
	return turns_combines(to, n->kernel->type) ? to : RED_NONE;
}

static bool place_node(finder *f, node_id id)
{
	const node *n = &f->g->nodes[id];
	f->divided[id] = NONE;
	f->cut[n->output] = NONE;
	f->partial[n->output] = RED_NONE;
	f->own.derived[n->output] = false;
	if (input_that_is(f, n, IN_PARTS) != NONE)
		return place_in_turn(f, id);
	int v = variable_of_early(f, n);
	if (v != NONE)
		return place_divided(f, id, v);
	if (derives(f, n))
		return place_derived(f, id);
	bool late = input_that_is(f, n, AT_LAST) != NONE ||
		    input_that_is(f, n, OF_TURN) != NONE;
	bool partial = input_that_is(f, n, AS_PARTIAL) != NONE;
	reducer to = partial && !late ? passes(f, n) : RED_NONE;
	f->partial[n->output] = to;
	f->is[n->output] = to != RED_NONE    ? AS_PARTIAL
			   : late || partial ? AT_LAST
					     : AT_ONCE;
	f->sections[id] = to != RED_NONE    ? SECTION_BODY
			  : late || partial ? SECTION_AFTER
					    : SECTION_BEFORE;
	return true;
}

static void place_inputs(finder *f)
{
	for (tensor_id t = 0; t < f->g->ntensors; t++) {
		bool fed = f->batch[t] != NONE && !f->early[t];
		f->is[t] = fed ? IN_PARTS : AT_ONCE;
		f->cut[t] = fed ? f->batch[t] : NONE;
		f->partial[t] = RED_NONE;
	}
}

/* Places the nodes from `first' on.  What they read is placed before. */
static bool place_nodes(finder *f, node_id first)
{
	const graph *g = f->g;
	for (node_id n = first; n < g->nnodes; n++)
		if (!place_node(f, n))
			return false;
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (g->tensors[t].next != NONE &&
		    f->is[g->tensors[t].next] == IN_PARTS)
			return fails(f, NONE, g->tensors[t].next);
	return true;
}

/* ---- values that are needed before -------------------------------------- */

/* Whether a tensor follows from inputs without the model's weights and states.
 * Then it is computed from the whole batch before the turns, such as a number
 * of labels.  Marks all that it follows from; turns may read their samples of
 * these. */
static bool follows_from_inputs(finder *f, tensor_id last)
{
	const graph *g = f->g;
	bool *used = ARENA_ARRAY(f->tmp, bool, g->ntensors);
	used[last] = true;
	for (node_id n = g->nnodes; n-- > 0;)
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++)
			used[g->nodes[n].inputs[i]] |= used[g->nodes[n].output];
	bool any = false;
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (used[t] && (g->tensors[t].parameter ||
				g->tensors[t].kind == TENSOR_STATE))
			return false;
	for (tensor_id t = 0; t < g->ntensors; t++) {
		if (!used[t] || f->early[t])
			continue;
		any = f->early[t] = true;
		f->samples[t] = f->is[t] == IN_PARTS ? f->cut[t] : NONE;
	}
	return any;
}

/* ---- values of a turn's own ---------------------------------------------- */

/* Whether the value for a turn's samples can stand for that of all samples: a
 * sum in proportion, a maximum unchanged. */
static bool stands_for_all(const finder *f, tensor_id t)
{
	reducer r = f->partial[t];
	return r == RED_SUM ? dtype_is_float(f->g->tensors[t].type.type)
			    : r == RED_MAX || r == RED_MIN || r == RED_OR ||
				      r == RED_AND;
}

/* Lets each turn read its own value of a tensor that is otherwise known only
 * after the last turn, and of what it follows from.  Returns the first node to
 * place again; NONE if that is impossible. */
static node_id own_in_turn(finder *f, tensor_id last)
{
	const graph *g = f->g;
	node_id first = g->tensors[last].producer;
	if (f->is[last] == AS_PARTIAL) {
		if (!stands_for_all(f, last))
			return NONE;
		f->own.partial[last] = true;
		return first;
	}
	if (f->is[last] != AT_LAST)
		return NONE;
	f->derive[last] = true;
	for (node_id n = first; n >= 0; n--) {
		const node *x = &g->nodes[n];
		if (!f->derive[x->output] || f->is[x->output] != AT_LAST)
			continue;
		first = n;
		for (int i = 0; i < x->kernel->ninputs; i++)
			if (f->is[x->inputs[i]] == AT_LAST)
				f->derive[x->inputs[i]] = true;
	}
	return first;
}

/* Whether turns' own values needed after the last turn have a mean. */
static bool have_means(finder *f)
{
	const graph *g = f->g;
	const bool *kept = turns_kept(f->tmp, g, f->sections);
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (f->is[t] == OF_TURN && kept[t] &&
		    !dtype_is_float(g->tensors[t].type.type))
			return fails(f, NONE, t);
	return true;
}

/* ---- what nobody needs at once ------------------------------------------ */

static void find_readers(finder *f)
{
	const graph *g = f->g;
	f->nreaders = ARENA_ARRAY(f->tmp, int, g->ntensors);
	f->readers = ARENA_ARRAY(f->tmp, node_id *, g->ntensors);
	for (node_id n = 0; n < g->nnodes; n++)
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++)
			f->nreaders[g->nodes[n].inputs[i]]++;
	for (tensor_id t = 0; t < g->ntensors; t++) {
		f->readers[t] = ARENA_ARRAY(f->tmp, node_id, f->nreaders[t]);
		f->nreaders[t] = 0;
	}
	for (node_id n = 0; n < g->nnodes; n++)
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++) {
			tensor_id t = g->nodes[n].inputs[i];
			f->readers[t][f->nreaders[t]++] = n;
		}
}

/* Whether a reader in the body reads only the turn's part of dimension d. */
static bool reads_part(const finder *f, node_id id, tensor_id t, int d)
{
	const node *n = &f->g->nodes[id];
	int v = f->divided[id];
	if (f->sections[id] != SECTION_BODY || v == NONE)
		return false;
	for (int i = 0; i < n->kernel->ninputs; i++)
		if (n->inputs[i] == t &&
		    !turns_reads_own(f->t, n->kernel, v, i, d))
			return false;
	return true;
}

/* The dimension of a node's result of which each turn needs only its own part;
 * NONE. */
static int find_part(const finder *f, const node *n)
{
	tensor_id t = n->output;
	for (int d = 0; d < n->kernel->nout; d++) {
		bool fits = turns_may_divide(f->t, n->kernel, d);
		for (int i = 0; i < f->nreaders[t] && fits; i++)
			fits = reads_part(f, f->readers[t][i], t, d);
		if (fits)
			return d;
	}
	return NONE;
}

/* By tensor: whether it is an output, or the next value of a state. */
static bool *find_kept(const finder *f)
{
	const graph *g = f->g;
	bool *kept = ARENA_ARRAY(f->tmp, bool, g->ntensors);
	for (tensor_id t = 0; t < g->ntensors; t++) {
		kept[t] |= g->tensors[t].output;
		if (g->tensors[t].next != NONE)
			kept[g->tensors[t].next] = true;
	}
	return kept;
}

/* Moves nodes that are the same in all turns to where their results are needed,
 * the last node first: after the turns, or into them if each turn computes its
 * own part, such as that of a mask. */
static void delay(finder *f)
{
	const graph *g = f->g;
	const bool *kept = find_kept(f);
	for (node_id id = g->nnodes; id-- > 0;) {
		const node *n = &g->nodes[id];
		tensor_id t = n->output;
		bool early = false;
		if (f->sections[id] != SECTION_BEFORE)
			continue;
		for (int i = 0; i < f->nreaders[t]; i++)
			early |= f->sections[f->readers[t][i]] != SECTION_AFTER;
		if (!early) {
			f->sections[id] = SECTION_AFTER;
			f->is[t] = AT_LAST;
			continue;
		}
		int d = kept[t] ? NONE : find_part(f, n);
		if (d == NONE)
			continue;
		f->sections[id] = SECTION_BODY;
		f->divided[id] = f->cut[t] = d;
		f->is[t] = IN_PARTS;
	}
}

/* ---- all nodes --------------------------------------------------------- */

/* The last node on the way to a tensor that reduces over the batch; NONE. */
static node_id reduced_by(const finder *f, tensor_id last)
{
	const graph *g = f->g;
	bool *used = ARENA_ARRAY(f->tmp, bool, g->ntensors);
	used[last] = true;
	for (node_id n = g->nnodes; n-- > 0;) {
		const node *x = &g->nodes[n];
		if (!used[x->output] || f->is[x->output] == IN_PARTS)
			continue;
		if (f->divided[n] != NONE)
			return n;
		for (int i = 0; i < x->kernel->ninputs; i++)
			used[x->inputs[i]] = true;
	}
	return NONE;
}

static bool has_place(call_site s)
{
	return s.at.beg || s.place;
}

/* The model's call of a node; for a gradient that of the forward pass. */
static call_site site_of(const graph *g, node_id n)
{
	const node *x = &g->nodes[n];
	if (!has_place(x->site) && x->forward != NONE)
		x = &g->nodes[x->forward];
	return has_place(x->site) ? x->site : g->site;
}

static void say_failure(const finder *f, diag_sink *s)
{
	const graph *g = f->g;
	const char *value = g->tensors[f->missing].name;
	if (f->failed == NONE) {
		call_error(s, DIAG_WHOLE_BATCH, g->site, g->name,
			   f->is[f->missing] == OF_TURN
				   ? "'%s' is another one in each "
				     "micro-batch, and no number that has a "
				     "mean"
				   : "'%s', the next value of a state, has "
				     "all samples: it cannot be computed in "
				     "micro-batches",
			   value);
		return;
	}
	const node *n = &g->nodes[f->failed];
	call_error(s, DIAG_WHOLE_BATCH, site_of(g, f->failed), g->name,
		   "operator '%s' (%s) needs '%s' of the whole batch, which "
		   "micro-batches do not have: %s",
		   n->name, n->op, value, kernel_text(f->tmp, n->kernel));
	node_id by = reduced_by(f, f->missing);
	if (by == NONE)
		return;
	diag_note(s, site_of(g, by).at, "the batch is reduced by '%s': %s",
		  g->nodes[by].name, kernel_text(f->tmp, g->nodes[by].kernel));
	if (!f->statistics)
		diag_note(s, NOWHERE, "%s computes it of each micro-batch",
			  diag_option(s, "micro-batch-statistics"));
}

/* Places all nodes, again from where a value has to be elsewhere. */
static bool place_all(finder *f)
{
	place_inputs(f);
	bool found = place_nodes(f, 0);
	while (!found) {
		node_id from = NONE;
		if (follows_from_inputs(f, f->missing)) {
			place_inputs(f);
			from = 0;
		} else if (f->statistics && f->failed != NONE) {
			from = own_in_turn(f, f->missing);
		}
		if (from == NONE)
			return false;
		found = place_nodes(f, from);
	}
	return have_means(f);
}

/* With a single turn its samples are all samples. */
bool turns_find(arena *a, const graph *g, graph_turns *to, const int *by_input,
		bool statistics, turns_own *own, diag_sink *s)
{
	/* One turn alone does not distinguish samples from anything else. */
	graph_turns apart = *to;
	if (apart.turns == 1)
		apart.turns = 2;
	finder f = { .tmp = arena_new(), .g = g, .t = &apart,
		     .batch = by_input,
		     .statistics = statistics || to->turns == 1 };
	f.early = ARENA_ARRAY(f.tmp, bool, g->ntensors);
	f.samples = ARENA_ARRAY(f.tmp, int, g->ntensors);
	for (tensor_id t = 0; t < g->ntensors; t++)
		f.samples[t] = NONE;
	f.own.partial = ARENA_ARRAY(a, bool, g->ntensors);
	f.own.derived = ARENA_ARRAY(a, bool, g->ntensors);
	f.derive = ARENA_ARRAY(f.tmp, bool, g->ntensors);
	f.is = ARENA_ARRAY(f.tmp, presence, g->ntensors);
	f.cut = ARENA_ARRAY(a, int, g->ntensors);
	f.partial = ARENA_ARRAY(a, reducer, g->ntensors);
	f.divided = ARENA_ARRAY(a, int, g->nnodes);
	f.sections = ARENA_ARRAY(a, section, g->nnodes);
	bool found = place_all(&f);
	if (found) {
		find_readers(&f);
		delay(&f);
	} else {
		say_failure(&f, s);
	}
	to->cut = f.cut;
	to->partial = f.partial;
	to->divided = f.divided;
	to->sections = f.sections;
	*own = f.own;
	arena_free(f.tmp);
	return found;
}
