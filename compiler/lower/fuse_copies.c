/* Copies of tensors in another order, as transposed weights are, which products
 * of matrices do not need: they pack their factors, from whatever order.
 *
 * Such a copy is left out if each of its readers reads the tensor that it was
 * made of as fast, and fetches nothing that it has not got; and if no worker
 * has to keep more of that tensor than it would of the copy. */
#include "config.h"

#include "compiler/lower/fuse_parts.h"
#include "kernel/contraction.h"
#include "kernel/kernel_class.h"

bool fuse_may_be_copy(const fuser *x, tensor_id t)
{
	const tensor *made = &x->g->tensors[t];
	if (made->kind != TENSOR_RESULT || made->output || x->is_next[t] ||
	    t == x->g->loss)
		return false;
	const kernel *k = x->g->nodes[made->producer].kernel;
	return fuse_is_plain(k) && k->reducer == RED_NONE &&
	       k->body->kind == KX_READ;
}

static bool is_partial(const cuts *c, int naxes)
{
	bool partial = false;
	for (int a = 0; a < naxes; a++)
		partial |= c->dim[a] < CUT_NONE;
	return partial;
}

/* Whether doing without the copy keeps the tensor that it was made of in use
 * for longer. */
static bool is_kept_longer(const fuser *x, node_id copy)
{
	tensor_id from = x->nodes[copy].inputs[0];
	const tensor *made_of = &x->g->tensors[from];
	return made_of->kind == TENSOR_RESULT && !made_of->output &&
	       x->last[from] < x->last[x->nodes[copy].output];
}

/* Whether each worker holds what it reads for the copy, and no more than that
 * if it would have to keep it for longer. */
static bool is_held(const fuser *x, node_id copy)
{
	tensor_id from = x->nodes[copy].inputs[0];
	const bool longer = is_kept_longer(x, copy);
	const tensor_type *type = &x->g->tensors[from].type;
	const mesh *m = &x->as->mesh;
	const cuts *held = &x->as->tensor_cuts[from];
	box whole = box_whole(type->dims, type->ndim);
	if (is_partial(held, m->naxes))
		return false;
	for (int w = mesh_workers(m) - 1; w >= 0; w--) {
		int coords[MAX_AXES];
		mesh_coords(m, w, coords);
		box have = cuts_block(&whole, m, held, m->naxes, coords);
		box need = fuse_read_by(x, copy, 0, coords);
		if (box_volume_less(&need, &have) ||
		    (longer && box_volume_less(&have, &need)))
			return false;
	}
	return true;
}

/* Whether a node that reads the copy t, at some inputs, can do without. */
static bool can_do_without(const fuser *x, node_id copy, node_id reader,
			   tensor_id t)
{
	const node *n = &x->nodes[reader];
	const kernel *k = n->kernel;
	if (!fuse_is_plain(k) ||
	    kernel_form_of(k).class != KERNEL_PRODUCT)
		return false;
	for (int i = 0; i < k->ninputs; i++) {
		const kexpr *read = NULL;
		if (n->inputs[i] != t)
			continue;
		if (!contraction_reads_through(k, i, x->nodes[copy].kernel) ||
		    fuse_count_reads(k->body, i, &read) != 1 ||
		    !fuse_in_turns_alike(x, copy, reader, read) ||
		    !fuse_divided_alike(x, copy, reader, t, read))
			return false;
	}
	return fuse_fetch_no_more(x, copy, reader);
}

/* An input of a node that is the tensor; -1. */
static int slot_of(const node *n, tensor_id t)
{
	for (int i = 0; i < n->kernel->ninputs; i++)
		if (n->inputs[i] == t)
			return i;
	return -1;
}

static bool is_needed(const fuser *x, node_id copy)
{
	tensor_id t = x->nodes[copy].output, from = x->nodes[copy].inputs[0];
	const graph_turns *turns = x->g->turns;
	int nreaders = 0;
	if (!fuse_may_be_copy(x, t) || (turns && turns->total[from] == t) ||
	    !is_held(x, copy))
		return true;
	for (node_id n = copy + 1; n < x->g->nnodes; n++) {
		if (x->gone[n] || slot_of(&x->nodes[n], t) < 0)
			continue;
		if (!can_do_without(x, copy, n, t))
			return true;
		nreaders++;
	}
	return nreaders == 0;
}

static void leave_out(fuser *x, node_id copy)
{
	tensor_id t = x->nodes[copy].output;
	for (node_id n = copy + 1; n < x->g->nnodes; n++)
		for (int i; !x->gone[n] && (i = slot_of(&x->nodes[n], t)) >= 0;)
			fuse_node(x, n, i);
}

void fuse_copies(fuser *x)
{
	for (node_id n = x->g->nnodes; n-- > 0;)
		if (!x->gone[n] && kernel_is_reordering(x->nodes[n].kernel) &&
		    !is_needed(x, n))
			leave_out(x, n);
}
