/* The option --recompute: the backward pass reads some results of the forward
 * pass from copies.  Copies are nodes that compute them again from kept
 * tensors, as late as possible.
 *
 * The tensors to recompute under a budget are found by trials.  For each of
 * several widths the forward pass is divided into segments at places where few
 * bytes cross (Chen, Xu, Zhang, Guestrin, "Training deep nets with sublinear
 * memory cost", 2016).  Tensors that cross are kept; the rest of a segment is
 * computed again when the backward pass reaches it.  In one more trial
 * everything except reductions counts as cheap, and is computed again from
 * their results. */
#include "config.h"

#include "compiler/train/trainer.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/units.h"

typedef VEC(built_node) node_list;

/* The graph's nodes with copies of some of them. */
typedef struct rewriting {
	graph_builder *b;
	int nforward, ntensors;
	const bool *dropped; /* by tensor: the backward pass reads a copy */
	/* by tensor: its copy; NONE.  Copies come after all nodes */
	tensor_id *copy;
	VEC(tensor_id) originals; /* of the copies */
	node_list nodes;
	int64_t flops; /* of the copies */
} rewriting;

/* The best trial so far. */
typedef struct choice {
	int64_t bytes; /* most bytes in use at a time */
	int64_t flops;
	const bool *dropped; /* NULL: no trial yet */
} choice;

/* ---- rewriting --------------------------------------------------------- */

static int64_t node_flops(const kernel *k)
{
	int64_t points = kernel_points(k), n;
	return points >= 0 && ck_mul(points, kernel_flops_per_point(k), &n)
		       ? n
		       : INT64_MAX;
}

static int ascending(const void *x, const void *y)
{
	tensor_id a = *(const tensor_id *)x, b = *(const tensor_id *)y;
	return (a > b) - (a < b);
}

/* Adds a copy of the node that makes tensor t. */
static void add_copy(rewriting *w, tensor_id t)
{
	graph_builder *b = w->b;
	int old = b->tensors.at[t]->node;
	built_node n = b->nodes.at[old];
	n.inputs = ARENA_COPY(b->tmp, n.inputs, n.kernel->ninputs);
	for (int i = 0; i < n.kernel->ninputs; i++)
		if (w->dropped[n.inputs[i]])
			n.inputs[i] = w->copy[n.inputs[i]];
	n.forward = old;
	n.output = w->copy[t] = w->ntensors + w->originals.n;
	vec_push(b->tmp, &w->originals, t);
	vec_push(b->tmp, &w->nodes, n);
	if (!ck_add(w->flops, node_flops(n.kernel), &w->flops))
		w->flops = INT64_MAX;
}

/* The copy of tensor t.  Makes it, and the copies that it needs. */
static tensor_id copy_of(rewriting *w, tensor_id t)
{
	graph_builder *b = w->b;
	VEC(tensor_id) all = { 0 };
	if (w->copy[t] != NONE)
		return w->copy[t];
	vec_push(b->tmp, &all, t);
	w->copy[t] = t; /* marks it as visited */
	for (int i = 0; i < all.n; i++) {
		const built_node *n =
			&b->nodes.at[b->tensors.at[all.at[i]]->node];
		for (int j = 0; j < n->kernel->ninputs; j++) {
			tensor_id x = n->inputs[j];
			if (!w->dropped[x] || w->copy[x] != NONE)
				continue;
			w->copy[x] = x;
			vec_push(b->tmp, &all, x);
		}
	}
	qsort(all.at, (size_t)all.n, sizeof(*all.at), ascending);
	for (int i = 0; i < all.n; i++)
		add_copy(w, all.at[i]);
	return w->copy[t];
}

static rewriting rewrite(graph_builder *b, int nforward, const bool *dropped)
{
	rewriting w = { .b = b, .nforward = nforward, .ntensors = b->tensors.n,
			.dropped = dropped };
	w.copy = ARENA_ARRAY(b->tmp, tensor_id, w.ntensors);
	for (int i = 0; i < w.ntensors; i++)
		w.copy[i] = NONE;
	for (int i = 0; i < b->nodes.n; i++) {
		built_node n = b->nodes.at[i];
		tensor_id inputs[MAX_NINPUTS];
		for (int j = 0; j < n.kernel->ninputs; j++) {
			inputs[j] = n.inputs[j];
			if (i >= nforward && dropped[inputs[j]])
				inputs[j] = copy_of(&w, inputs[j]);
		}
		if (i >= nforward)
			n.inputs = ARENA_COPY(b->tmp, inputs,
					      n.kernel->ninputs);
		vec_push(b->tmp, &w.nodes, n);
	}
	return w;
}

/* Changes the graph accordingly. */
static void accept(rewriting *w)
{
	graph_builder *b = w->b;
	for (int i = 0; i < w->originals.n; i++)
		build_tensor(b, TENSOR_RESULT,
			     graph_type(b, w->originals.at[i]));
	b->nodes.n = 0;
	for (int i = 0; i < w->nodes.n; i++) {
		built_node n = w->nodes.at[i];
		if (n.output >= w->ntensors) {
			n.call = ++b->ncalls;
			n.base = arena_printf(b->arena, "%s.again", n.base);
		}
		b->tensors.at[n.output]->node = i;
		vec_push(b->tmp, &b->nodes, n);
	}
}

/* ---- bytes in use ------------------------------------------------------ */

static tensor_id original(const rewriting *w, tensor_id t)
{
	return t < w->ntensors ? t : w->originals.at[t - w->ntensors];
}

/* Marks tensors that are kept until the end of a run. */
static bool *find_lasting(const graph_builder *b, int n)
{
	bool *lasting = ARENA_ARRAY(b->tmp, bool, n + 1);
	for (int i = 0; i < b->tensors.n; i++) {
		const tensor *t = graph_tensor(b, i);
		if (t->output)
			lasting[i] = true;
		if (t->next != NONE)
			lasting[t->next] = true;
	}
	return lasting;
}

/* By tensor: the last node that reads it; NONE.  Nodes without effect do not
 * count. */
static int *last_uses(const rewriting *w, const bool *lasting)
{
	int n = w->ntensors + w->originals.n;
	int *last = ARENA_ARRAY(w->b->tmp, int, n + 1);
	for (int i = 0; i < n; i++)
		last[i] = lasting[i] ? INT32_MAX : NONE;
	for (int i = w->nodes.n - 1; i >= 0; i--) {
		const built_node *x = &w->nodes.at[i];
		for (int j = 0; last[x->output] != NONE &&
				j < x->kernel->ninputs; j++)
			if (last[x->inputs[j]] == NONE)
				last[x->inputs[j]] = i;
	}
	return last;
}

/* The most bytes of computed tensors in use at once, in the order of the
 * nodes. */
static int64_t most_bytes(const rewriting *w)
{
	const graph_builder *b = w->b;
	int n = w->ntensors + w->originals.n;
	const bool *lasting = find_lasting(b, n);
	int *last = last_uses(w, lasting);
	int64_t now = 0, most = 0;
	for (int i = 0; i < w->nodes.n; i++) {
		const built_node *x = &w->nodes.at[i];
		if (last[x->output] == NONE)
			continue;
		now += tensor_nbytes(graph_type(b, original(w, x->output)));
		most = now > most ? now : most;
		for (int j = 0; j < x->kernel->ninputs; j++) {
			tensor_id t = x->inputs[j];
			const tensor *from = graph_tensor(b, original(w, t));
			if (last[t] != i || from->kind != TENSOR_RESULT)
				continue;
			now -= tensor_nbytes(&from->type);
			last[t] = INT32_MAX; /* may be read twice */
		}
	}
	return most;
}

/* ---- what is left out -------------------------------------------------- */

/* Whether a tensor of the forward pass may be computed again. */
static bool may_drop(const graph_builder *b, int nforward, tensor_id t)
{
	const built_tensor *x = b->tensors.at[t];
	return x->t.kind == TENSOR_RESULT && x->node < nforward &&
	       !x->t.output && x->next_of == NONE;
}

/* For each node of the forward pass: the bytes made before it and read after it
 * by the forward pass alone. */
static int64_t *crossing_bytes(const graph_builder *b, int nforward,
			       const int *last)
{
	int64_t *bytes = ARENA_ARRAY(b->tmp, int64_t, nforward + 1);
	for (int i = 0; i < nforward; i++) {
		tensor_id t = b->nodes.at[i].output;
		int64_t n = tensor_nbytes(graph_type(b, t));
		if (last[t] <= i)
			continue;
		bytes[i] += n;
		bytes[last[t]] -= n;
	}
	for (int i = 1; i < nforward; i++)
		bytes[i] += bytes[i - 1];
	return bytes;
}

static int *last_forward_uses(const graph_builder *b, int nforward)
{
	int *last = ARENA_ARRAY(b->tmp, int, b->tensors.n + 1);
	for (int i = 0; i < b->tensors.n; i++)
		last[i] = NONE;
	for (int i = 0; i < nforward; i++)
		for (int j = 0; j < b->nodes.at[i].kernel->ninputs; j++)
			last[b->nodes.at[i].inputs[j]] = i;
	return last;
}

/* Divides into segments of about `width' bytes each.  By node: the number of
 * segments that end before it. */
static int *cut_segments(const graph_builder *b, int nforward,
			 const int64_t *crossing, int64_t width)
{
	int *before = ARENA_ARRAY(b->tmp, int, nforward + 1);
	int64_t sum = 0;
	int best = NONE;
	for (int i = 0; i < nforward; i++) {
		const built_node *n = &b->nodes.at[i];
		before[i + 1] = before[i];
		sum += tensor_nbytes(graph_type(b, n->output));
		if (sum < width)
			continue;
		if (best == NONE || crossing[i] < crossing[best])
			best = i;
		if (sum < width + width / 2 && i + 1 < nforward)
			continue;
		for (int j = best + 1; j <= i + 1; j++)
			before[j] = before[best] + 1;
		i = best;
		best = NONE;
		sum = 0;
	}
	return before;
}

static const bool *drop_segments(const graph_builder *b, int nforward,
				 const int *last, const int *before)
{
	bool *dropped = ARENA_ARRAY(b->tmp, bool, b->tensors.n + 1);
	for (int i = 0; i < nforward; i++) {
		tensor_id t = b->nodes.at[i].output;
		bool crosses = last[t] > i && before[last[t]] > before[i];
		dropped[t] = !crosses && may_drop(b, nforward, t);
	}
	return dropped;
}

static const bool *drop_cheap(const graph_builder *b, int nforward)
{
	bool *dropped = ARENA_ARRAY(b->tmp, bool, b->tensors.n + 1);
	for (int i = 0; i < nforward; i++) {
		const built_node *n = &b->nodes.at[i];
		dropped[n->output] = n->kernel->reducer == RED_NONE &&
				     !n->kernel->opaque &&
				     may_drop(b, nforward, n->output);
	}
	return dropped;
}

/* Among trials within the limit the one with least recomputation is better,
 * among others the one with least memory. */
static bool is_better(const choice *x, const choice *than, int64_t limit)
{
	if (!than->dropped)
		return true;
	if (x->bytes <= limit && than->bytes <= limit)
		return x->flops < than->flops;
	return x->bytes < than->bytes;
}

static void try(graph_builder *b, int nforward, const bool *dropped,
		int64_t limit, choice *best)
{
	rewriting w = rewrite(b, nforward, dropped);
	choice c = { most_bytes(&w), w.flops, dropped };
	if (is_better(&c, best, limit))
		*best = c;
}

/* Tries segments of many widths. */
static choice choose(graph_builder *b, int nforward, int64_t limit)
{
	enum { MOST_SEGMENTS = 192 };
	choice best = { 0 };
	int64_t all = 0;
	int *last = last_forward_uses(b, nforward);
	int64_t *crossing = crossing_bytes(b, nforward, last);
	for (int i = 0; i < nforward; i++)
		all += tensor_nbytes(graph_type(b, b->nodes.at[i].output));
	try(b, nforward, ARENA_ARRAY(b->tmp, bool, b->tensors.n + 1), limit,
	    &best);
	try(b, nforward, drop_cheap(b, nforward), limit, &best);
	for (int n = 2; n <= MOST_SEGMENTS; n += 1 + n / 4) {
		int *before = cut_segments(b, nforward, crossing, all / n + 1);
		try(b, nforward, drop_segments(b, nforward, last, before),
		    limit, &best);
	}
	return best;
}

/* ---- the option -------------------------------------------------------- */

static bool matches(const graph_builder *b, const char *glob, tensor_id t)
{
	const built_tensor *x = b->tensors.at[t];
	const built_node *n = &b->nodes.at[x->node];
	const char *label = *n->label ? "." : "";
	if (x->t.name)
		return fnmatch(glob, x->t.name, 0) == 0;
	return fnmatch(glob, n->base, 0) == 0 ||
	       fnmatch(glob, arena_printf(b->tmp, "%s%s%s", n->base, label,
					  n->label), 0) == 0 ||
	       fnmatch(glob, arena_printf(b->tmp, "%s.%s%s%s", n->base, n->op,
					  label, n->label), 0) == 0;
}

/* Finds the tensors that match one of the globs. */
static const bool *find_named(trainer *t, int nforward, const char *globs)
{
	graph_builder *b = t->b;
	bool *dropped = ARENA_ARRAY(b->tmp, bool, b->tensors.n + 1);
	char *rest = arena_strdup(b->tmp, globs);
	for (char *glob; (glob = strsep(&rest, ","));) {
		bool found = false;
		for (int i = 0; i < b->tensors.n; i++)
			if (may_drop(b, nforward, i) && matches(b, glob, i))
				found = dropped[i] = true;
		if (found)
			continue;
		train_error(t, DIAG_BAD_OPTION,
			    train_option_site(t, "recompute"),
			    "the model computes no tensor '%s' that is not an "
			    "output", glob);
		return NULL;
	}
	return dropped;
}

bool recompute(trainer *t, int nforward)
{
	graph_builder *b = t->b;
	const char *what = t->o->recompute;
	const bool *dropped;
	int64_t limit = 0;
	bool limited = units_read_size(what, &limit);
	if (limited || !strcmp(what, "sqrt")) {
		choice c = choose(b, nforward, limit);
		dropped = c.dropped;
		if (limited && c.bytes > limit)
			return train_error(
				t, DIAG_BAD_OPTION,
				train_option_site(t, "recompute"),
				"the tensors computed in a step take at least "
				"%lld bytes, not %lld",
				(long long)c.bytes, (long long)limit);
	} else {
		dropped = find_named(t, nforward, what);
	}
	if (!dropped)
		return false;
	rewriting w = rewrite(b, nforward, dropped);
	accept(&w);
	return true;
}
