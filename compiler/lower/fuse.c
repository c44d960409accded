#include "config.h"

#include "compiler/lower/fuse.h"

#include "compiler/cost/byte_model.h"
#include "compiler/lower/fuse_parts.h"

/* Limits for a fused kernel: nodes of its body, inputs. */
enum { MOST_NODES = 300, MOST_INPUTS = 12 };
/* A body is duplicated, because its result is read several times, only if it
 * has at most this size and so many reads. */
enum { SMALL_BODY = 16, MOST_READS = 4 };

/* ---- what a node reads ------------------------------------------------- */

static int count_nodes(const kexpr *e)
{
	int n = 1;
	for (int i = 0; i < e->nargs; i++)
		n += count_nodes(e->args[i]);
	return n;
}

/* The number of reads of an input; *read is set to one of them.  If the reads
 * differ, a number greater than any. */
int fuse_count_reads(const kexpr *e, int input, const kexpr **read)
{
	int n = 0;
	if (e->kind == KX_READ && e->input == input) {
		for (int d = 0; *read && d < kx_ndim(e); d++)
			if (!kx_equal(e->args[d], (*read)->args[d]))
				return MOST_NODES;
		*read = e;
		n = 1;
	}
	for (int i = 0; i < e->nargs; i++)
		n += fuse_count_reads(e->args[i], input, read);
	return n;
}

/* Whether the indices of a read are variables of the kernel, each used once,
 * that run over the whole input.  Then a part of the iteration space reads the
 * corresponding part of the input, and no element twice. */
static bool reads_each_once(const kernel *k, const kexpr *read)
{
	uint32_t seen = 0;
	for (int d = 0; d < kx_ndim(read); d++) {
		const kexpr *i = read->args[d];
		if (i->kind != KX_VAR || seen >> i->var & 1 ||
		    k->vars[i->var].extent !=
			    k->inputs[read->input].dims[d])
			return false;
		seen |= 1u << i->var;
	}
	return seen == (1u << k->nvars) - 1;
}

/* The size fits in an int64_t: importers check it. */
static int64_t bytes_of(const tensor *t)
{
	int64_t n = (int64_t)dtype_size(t->type.type);
	for (int d = 0; d < t->type.ndim; d++)
		n *= t->type.dims[d];
	return n;
}

/* ---- which nodes ------------------------------------------------------- */

bool fuse_is_plain(const kernel *k)
{
	return k->body && !k->opaque && !k->nderived;
}

/* Whether two nodes are divided alike: if the first is divided along a
 * dimension of the tensor, the second is divided along the variable that reads
 * it.  Nodes that pass on partial values are not fused. */
bool fuse_divided_alike(const fuser *x, node_id first, node_id second,
			tensor_id t, const kexpr *read)
{
	const cuts *made = &x->as->node_cuts[first];
	const cuts *held = &x->as->tensor_cuts[t];
	const cuts *used = &x->as->node_cuts[second];
	for (int i = 0; i < x->as->mesh.naxes; i++) {
		int d = held->dim[i];
		if (made->dim[i] != d || d < CUT_NONE ||
		    used->dim[i] < CUT_NONE ||
		    (d >= 0 && used->dim[i] != read->args[d]->var))
			return false;
	}
	return true;
}

/* The same for turns: both nodes are in the body, before or after it. */
bool fuse_in_turns_alike(const fuser *x, node_id first, node_id second,
			 const kexpr *read)
{
	const graph_turns *t = x->g->turns;
	if (!t)
		return true;
	int v = t->divided[first];
	return t->sections[first] == t->sections[second] &&
	       (v == NONE || t->divided[second] == read->args[v]->var);
}

/* The bytes that fusion would keep in use until `second' although they are not
 * needed until then. */
static int64_t kept_longer(const fuser *x, const node *first, node_id second)
{
	int64_t bytes = 0;
	for (int i = 0; i < first->kernel->ninputs; i++) {
		const tensor *t = &x->g->tensors[first->inputs[i]];
		if (t->kind == TENSOR_RESULT && !t->output &&
		    x->last[first->inputs[i]] < second)
			bytes += bytes_of(t);
	}
	return bytes;
}

/* The box that the worker at coords reads of a node's input i, through all
 * inputs that are the same tensor. */
box fuse_read_by(const fuser *x, node_id id, int i, const int *coords)
{
	const node *n = &x->nodes[id];
	const mesh *m = &x->as->mesh;
	box whole = kernel_space(n->kernel);
	box part = cuts_block(&whole, m, &x->as->node_cuts[id], m->naxes,
			      coords);
	return layout_needs(n->kernel, &part,
			       byte_model_same_inputs(n, i));
}

/* Whether no worker fetches more of a shared input (i of the first node, j of
 * the second) for the fused node than for the two nodes.  A node fetches the
 * hull of its reads: for x[n - 1 - i] - x[i] this has elements in between that
 * neither reads. */
static bool fetches_no_more(const fuser *x, node_id first, int i,
			    node_id second, int j)
{
	tensor_id t = x->nodes[first].inputs[i];
	const tensor_type *type = &x->g->tensors[t].type;
	const mesh *m = &x->as->mesh;
	const cuts *held = &x->as->tensor_cuts[t];
	box whole = box_whole(type->dims, type->ndim);
	for (int w = mesh_workers(m) - 1; w >= 0; w--) {
		int coords[MAX_AXES];
		mesh_coords(m, w, coords);
		box have = cuts_block(&whole, m, held, m->naxes, coords);
		box one = fuse_read_by(x, first, i, coords);
		box other = fuse_read_by(x, second, j, coords);
		box both = box_hull(&one, &other);
		if (box_volume_less(&both, &have) >
		    box_volume_less(&one, &have) +
			    box_volume_less(&other, &have))
			return false;
	}
	return true;
}

/* The same for all tensors that both nodes read. */
bool fuse_fetch_no_more(const fuser *x, node_id first, node_id second)
{
	const node *n = &x->nodes[first], *m = &x->nodes[second];
	for (int i = 0; i < n->kernel->ninputs; i++)
		for (int j = 0; j < m->kernel->ninputs; j++)
			if (n->inputs[i] == m->inputs[j] &&
			    !fetches_no_more(x, first, i, second, j))
				return false;
	return true;
}

/* Whether a node reads an accumulated tensor in the layout of its copy, so that
 * the copy is not needed (accumulate.c). */
static bool copies_alike(const fuser *x, node_id id)
{
	const node *n = &x->g->nodes[id];
	const graph_turns *turns = x->g->turns;
	const cuts *held = x->as->tensor_cuts;
	bool copies = turns && n->kernel->ninputs == 1 &&
		      turns->total[n->inputs[0]] == n->output;
	for (int a = 0; copies && a < x->as->mesh.naxes; a++)
		copies = held[n->inputs[0]].dim[a] == held[n->output].dim[a];
	return copies;
}

static bool is_in_between(const fuser *x, tensor_id t)
{
	const tensor *made = &x->g->tensors[t];
	return made->kind == TENSOR_RESULT && !made->output &&
	       !x->is_next[t] && x->readers[t] == 1 && t != x->g->loss;
}

/* Whether input `slot` of a node can be computed where it is read. */
static bool can_fuse(const fuser *x, node_id second, int slot)
{
	const node *n = &x->nodes[second];
	tensor_id t = n->inputs[slot];
	const kexpr *read = NULL;
	if (!is_in_between(x, t) || !fuse_is_plain(n->kernel))
		return false;
	node_id producer = x->g->tensors[t].producer;
	const node *m = &x->nodes[producer];
	const kernel *k = m->kernel;
	if (!fuse_is_plain(k) || k->reducer != RED_NONE ||
	    k->ninputs + n->kernel->ninputs - 1 > MOST_INPUTS)
		return false;
	int reads = fuse_count_reads(n->kernel->body, slot, &read);
	int nodes = count_nodes(k->body);
	if (reads < 1 || reads > MOST_READS ||
	    (reads > 1 && nodes > SMALL_BODY) ||
	    reads * nodes + count_nodes(n->kernel->body) > MOST_NODES)
		return false;
	return reads_each_once(n->kernel, read) &&
	       fuse_in_turns_alike(x, producer, second, read) &&
	       fuse_divided_alike(x, producer, second, t, read) &&
	       !copies_alike(x, producer) &&
	       kept_longer(x, m, second) <= bytes_of(&x->g->tensors[t]) &&
	       fuse_fetch_no_more(x, producer, second);
}

/* ---- which nodes some assignment fuses ---------------------------------- */

/* The number of nodes that read a tensor and are not fused away, large if some
 * are in another section of a loop.  *reader is the last of all. */
static int count_lasting(const fuser *x, const merge *all, tensor_id t,
			 node_id *reader)
{
	int n = 0, made_by = x->g->tensors[t].producer;
	for (node_id i = 0; i < x->g->nnodes; i++) {
		const node *by = &x->g->nodes[i];
		bool reads = false;
		for (int j = 0; j < by->kernel->ninputs; j++)
			reads = reads || by->inputs[j] == t;
		if (reads)
			*reader = i;
		bool apart = reads && x->g->turns &&
			     x->g->turns->sections[i] !=
				     x->g->turns->sections[made_by];
		n += reads && !all[by->output].may;
		n += apart ? x->g->nnodes : 0;
	}
	return n;
}

/* A tensor with several readers may have a single one after its readers were
 * fused: all but one of them have to go. */
static merge outlook_of(const fuser *x, const merge *all, tensor_id t)
{
	merge m = { .reader = NONE };
	const tensor *made = &x->g->tensors[t];
	const kexpr *read = NULL;
	node_id reader = NONE;
	if (made->kind != TENSOR_RESULT || made->output || x->is_next[t] ||
	    t == x->g->loss || x->readers[t] == 0)
		return m;
	const kernel *k = x->g->nodes[made->producer].kernel;
	int lasting = count_lasting(x, all, t, &reader);
	m.may = fuse_is_plain(k) && k->reducer == RED_NONE && lasting <= 1;
	if (!m.may || x->readers[t] > 1)
		return m;
	const node *by = &x->g->nodes[reader];
	int slot = 0;
	while (by->inputs[slot] != t)
		slot++;
	m.may = fuse_is_plain(by->kernel) &&
		fuse_count_reads(by->kernel->body, slot, &read) <= MOST_READS &&
		read && reads_each_once(by->kernel, read);
	m.reader = reader;
	m.read = read;
	return m;
}

/* ---- nodes ------------------------------------------------------------- */

/* Makes the producer of an input a part of the node. */
void fuse_node(fuser *x, node_id second, int slot)
{
	node *n = &x->nodes[second];
	node_id producer = x->g->tensors[n->inputs[slot]].producer;
	const node *m = &x->nodes[producer];
	pairing p = { .first = m->kernel, .second = n->kernel, .slot = slot };
	tensor_id inputs[2 * MAX_NINPUTS];
	int ninputs = 0;
	for (int i = 0; i < n->kernel->ninputs; i++)
		if (i != slot)
			inputs[ninputs++] = n->inputs[i];
	for (int i = 0; i < m->kernel->ninputs; i++) {
		int at = 0;
		while (at < ninputs && inputs[at] != m->inputs[i])
			at++;
		p.inputs[i] = at;
		if (at < ninputs)
			x->readers[m->inputs[i]]--;
		else
			inputs[ninputs++] = m->inputs[i];
		if (x->last[m->inputs[i]] < second)
			x->last[m->inputs[i]] = second;
	}
	n->kernel = fuse_kernel(x, &p);
	n->inputs = ARENA_COPY(x->a, inputs, ninputs);
	n->op = arena_printf(x->a, "%.*s+%.*s", FUSE_LONGEST_NAME, m->op,
			     FUSE_LONGEST_NAME, n->op);
	x->gone[producer] = true;
}

static void fuse_inputs(fuser *x, node_id second)
{
	for (int slot = 0; slot < x->nodes[second].kernel->ninputs; slot++)
		if (can_fuse(x, second, slot)) {
			fuse_node(x, second, slot);
			slot = -1;
		}
}

static void count_readers(fuser *x)
{
	const graph *g = x->g;
	for (tensor_id t = 0; t < g->ntensors; t++) {
		x->last[t] = NONE;
		if (g->tensors[t].next >= 0)
			x->is_next[g->tensors[t].next] = true;
	}
	for (node_id n = 0; n < g->nnodes; n++)
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++) {
			x->readers[g->nodes[n].inputs[i]]++;
			x->last[g->nodes[n].inputs[i]] = n;
		}
}

/* ---- the new graph ----------------------------------------------------- */

static tensor_id renumbered(const int *number, tensor_id t)
{
	return t < 0 ? t : number[t];
}

static tensor_id *renumber_all(fuser *x, const int *number,
			       const tensor_id *from, int n)
{
	tensor_id *to = ARENA_ARRAY(x->a, tensor_id, n);
	for (int i = 0; i < n; i++)
		to[i] = number[from[i]];
	return to;
}

/* New numbers of the remaining tensors; -1 for removed ones. */
static int *number_tensors(fuser *x)
{
	int *number = ARENA_ARRAY(x->tmp, int, x->g->ntensors), n = 0;
	for (tensor_id t = 0; t < x->g->ntensors; t++) {
		node_id from = x->g->tensors[t].producer;
		number[t] = from >= 0 && x->gone[from] ? NONE : n++;
	}
	return number;
}

static int *number_nodes(fuser *x)
{
	int *number = ARENA_ARRAY(x->tmp, int, x->g->nnodes), n = 0;
	for (node_id i = 0; i < x->g->nnodes; i++)
		number[i] = x->gone[i] ? NONE : n++;
	return number;
}

static void copy_tensors(fuser *x, graph *to, assignment *as, const int *number,
			 const int *nodes)
{
	const graph *g = x->g;
	to->tensors = ARENA_ARRAY(x->a, tensor, g->ntensors);
	to->ntensors = 0;
	for (tensor_id t = 0; t < g->ntensors; t++) {
		if (number[t] < 0)
			continue;
		tensor *n = &to->tensors[to->ntensors];
		*n = g->tensors[t];
		n->next = renumbered(number, n->next);
		n->gradient_of = renumbered(number, n->gradient_of);
		n->producer = n->producer < 0 ? NONE : nodes[n->producer];
		as->tensor_cuts[to->ntensors++] = x->as->tensor_cuts[t];
	}
	to->inputs = renumber_all(x, number, g->inputs, g->ninputs);
	to->outputs = renumber_all(x, number, g->outputs, g->noutputs);
	to->loss = renumbered(number, g->loss);
	to->learning_rate = renumbered(number, g->learning_rate);
	to->loss_scale = renumbered(number, g->loss_scale);
	if (g->length > 0)
		to->position = renumbered(number, g->position);
}

static void copy_nodes(fuser *x, graph *to, assignment *as, const int *number,
		       const int *nodes)
{
	to->nodes = ARENA_ARRAY(x->a, node, x->g->nnodes);
	to->nnodes = 0;
	for (node_id i = 0; i < x->g->nnodes; i++) {
		if (x->gone[i])
			continue;
		node *n = &to->nodes[to->nnodes];
		*n = x->nodes[i];
		n->inputs = renumber_all(x, number, n->inputs,
					 n->kernel->ninputs);
		n->output = number[n->output];
		n->forward = n->forward < 0 ? NONE : nodes[n->forward];
		as->node_cuts[to->nnodes++] = x->as->node_cuts[i];
	}
}

static const graph *new_graph(fuser *x, assignment *as)
{
	graph *to = ARENA_NEW(x->a, graph);
	int *number = number_tensors(x), *nodes = number_nodes(x);
	*to = *x->g;
	as->mesh = x->as->mesh;
	as->tensor_cuts = ARENA_ARRAY(x->a, cuts, x->g->ntensors);
	as->node_cuts = ARENA_ARRAY(x->a, cuts, x->g->nnodes);
	copy_tensors(x, to, as, number, nodes);
	copy_nodes(x, to, as, number, nodes);
	if (x->g->turns)
		to->turns = graph_turns_kept(x->a, x->g, number, nodes);
	return to;
}

/* Readers come after what they read, so nodes are visited backwards. */
const merge *fuse_outlook(arena *a, const graph *g)
{
	fuser x = { .a = a, .tmp = arena_new(), .g = g };
	merge *all = ARENA_ARRAY(a, merge, g->ntensors);
	x.readers = ARENA_ARRAY(x.tmp, int, g->ntensors);
	x.is_next = ARENA_ARRAY(x.tmp, bool, g->ntensors);
	x.last = ARENA_ARRAY(x.tmp, int, g->ntensors);
	count_readers(&x);
	for (node_id n = g->nnodes; n-- > 0;) {
		tensor_id t = g->nodes[n].output;
		all[t] = outlook_of(&x, all, t);
		all[t] = fuse_may_be_copy(&x, t) ?
				 (merge){ .may = true, .reader = NONE } :
				 all[t];
	}
	arena_free(x.tmp);
	return all;
}

const graph *fuse_graph(arena *a, const graph *g, assignment *as)
{
	fuser x = { .a = a, .tmp = arena_new(), .g = g, .as = as };
	assignment fused;
	x.nodes = ARENA_COPY(x.tmp, g->nodes, g->nnodes);
	x.gone = arena_calloc(x.tmp, (size_t)g->nnodes + 1, sizeof(bool));
	x.readers = arena_calloc(x.tmp, (size_t)g->ntensors + 1, sizeof(int));
	x.is_next = arena_calloc(x.tmp, (size_t)g->ntensors + 1, sizeof(bool));
	x.last = ARENA_ARRAY(x.tmp, int, g->ntensors);
	count_readers(&x);
	for (node_id n = 0; n < g->nnodes; n++)
		fuse_inputs(&x, n);
	fuse_copies(&x);
	const graph *to = new_graph(&x, &fused);
	arena_free(x.tmp);
	*as = fused;
	return to;
}
