#include "config.h"

#include "compiler/lower/schedule.h"

typedef struct delayer {
	const jobs *x;
	int *place;	     /* by node: place in the given order */
	int *last, *second;  /* by tensor: places of its last two readers */
	bool *pending;	     /* by node: waits for a reader of its result */
	int *seen;	     /* by node: needed nodes handled so far */
	VEC(int) stack;
	int *out, nout;
} delayer;

/* The place of the first reader of a node's result.  The node's own place if
 * there is no reader or the result is kept to the end. */
static int first_reader(const delayer *d, int n)
{
	const jobs *x = d->x;
	int t = x->p->nodes[n].output, first = x->p->nnodes;
	for (int i = 0; i < x->nreaders[t]; i++) {
		int at = d->place[x->readers[t][i]];
		first = at < first ? at : first;
	}
	bool kept = x->p->tensors[t].output || x->jobs[n].state >= 0;
	return kept || x->nreaders[t] == 0 ? d->place[n] : first;
}

/* The additional bytes times instants for which an input of node n is kept if
 * the node runs at `place'. */
static double kept_longer(const delayer *d, int n, int tensor, int place)
{
	const jobs *x = d->x;
	const plan_tensor *t = &x->p->tensors[tensor];
	int maker = x->maker[tensor], own = d->place[n];
	int last = d->last[tensor] == own ? d->second[tensor]
					  : d->last[tensor];
	bool stays = t->output || t->role == PLAN_CONSTANT ||
		     t->role == PLAN_STATE;
	if (stays || last >= place || (maker >= 0 && d->pending[maker]))
		return 0;
	return (double)x->nbytes[tensor] * (place - (last > own ? last : own));
}

static bool pays(const delayer *d, int n)
{
	const jobs *x = d->x;
	int own = d->place[n], first = first_reader(d, n);
	double cost = 0;
	for (int i = 0; i < x->jobs[n].nuses; i++)
		cost += kept_longer(d, n, x->jobs[n].uses[i].tensor, first);
	return first > own + 1 &&
	       (double)x->nbytes[x->p->nodes[n].output] * (first - own) > cost;
}

/* The i-th node that has to run before n: a node that makes an input, or reads
 * the state that n replaces.  -1 if this one does not count, -2 after the
 * last. */
static int needed(const delayer *d, int n, int i)
{
	const jobs *x = d->x;
	const sched_node *j = &x->jobs[n];
	if (i < j->nuses)
		return x->maker[j->uses[i].tensor];
	i -= j->nuses;
	if (j->state >= 0 && i < x->nreaders[j->state])
		return x->readers[j->state][i];
	return -2;
}

/* Appends a node to the new order after the pending nodes that it needs. */
static void append(delayer *d, int n)
{
	vec_push(d->x->tmp, &d->stack, n);
	while (d->stack.n > 0) {
		n = d->stack.at[d->stack.n - 1];
		int before = needed(d, n, d->seen[n]++);
		if (before == -2) {
			d->out[d->nout++] = n;
			d->stack.n--;
		} else if (before >= 0 && d->pending[before]) {
			d->pending[before] = false;
			vec_push(d->x->tmp, &d->stack, before);
		}
	}
}

static void find_last(delayer *d, const int *order)
{
	const jobs *x = d->x;
	for (int t = 0; t < x->p->ntensors; t++)
		d->last[t] = d->second[t] = -1;
	for (int i = 0; i < x->p->nnodes; i++) {
		const sched_node *j = &x->jobs[order[i]];
		d->place[order[i]] = i;
		for (int k = 0; k < j->nuses; k++) {
			int t = j->uses[k].tensor;
			d->second[t] = d->last[t];
			d->last[t] = i;
		}
	}
}

int *schedule_late(const jobs *x, const int *order)
{
	int nnodes = x->p->nnodes;
	delayer d = { .x = x };
	d.place = ARENA_ARRAY(x->tmp, int, nnodes);
	d.last = ARENA_ARRAY(x->tmp, int, x->p->ntensors);
	d.second = ARENA_ARRAY(x->tmp, int, x->p->ntensors);
	d.pending = ARENA_ARRAY(x->tmp, bool, nnodes);
	d.seen = ARENA_ARRAY(x->tmp, int, nnodes);
	d.out = ARENA_ARRAY(x->tmp, int, nnodes);
	find_last(&d, order);
	for (int i = 0; i < nnodes; i++) {
		if (pays(&d, order[i]))
			d.pending[order[i]] = true;
		else
			append(&d, order[i]);
	}
	for (int i = 0; i < nnodes; i++)
		if (d.pending[order[i]]) {
			d.pending[order[i]] = false;
			append(&d, order[i]);
		}
	return d.out;
}
