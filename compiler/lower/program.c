#include "config.h"

#include "compiler/lower/program.h"

#include <string.h>

#include "compiler/lower/schedule.h"

/* ---- buffers ----------------------------------------------------------- */

typedef struct buffer_list {
	outline *o;
	VEC(plan_buffer) at;
} buffer_list;

/* The last turn is the longest one, so its buffers are the largest. */
static int last_turn(const plan *p)
{
	return p->loop.turns > 0 ? p->loop.turns - 1 : 0;
}

/* The class of a buffer's layout in the last turn. */
static int class_of(layout_classes *f, const plan *p, plan_buffer b)
{
	b.turn = last_turn(p);
	return plan_buffer_class(f, p, &b);
}

bool program_covers(layout_classes *f, const plan *p, const plan_buffer *x,
		    const plan_buffer *y)
{
	return layout_class_cover_in_turns(f, class_of(f, p, *x),
					   class_of(f, p, *y),
					   last_turn(p) + 1);
}

bool program_same(layout_classes *f, const plan *p, const plan_buffer *x,
		  const plan_buffer *y)
{
	return layout_class_same_in_turns(f, class_of(f, p, *x),
					  class_of(f, p, *y),
					  last_turn(p) + 1);
}

static int add_buffer(buffer_list *l, plan_buffer b)
{
	layout_classes *f = l->o->classes;
	const plan *p = l->o->p;
	b.turn = last_turn(p);
	b.nbytes = layout_class_nbytes_in_turns(f, plan_buffer_class(f, p, &b),
						last_turn(p) + 1);
	vec_push(l->o->a, &l->at, b);
	return l->at.n - 1;
}

static int stored(buffer_list *l, int t)
{
	int *b = &l->o->p->tensors[t].buffer;
	if (*b < 0)
		*b = add_buffer(l, (plan_buffer){ .tensor = t,
						  .region = LAYOUT_STORED,
						  .node = -1 });
	return *b;
}

/* The buffer in which every worker has its part of tensor t for node n: where
 * the tensor is stored, or a new buffer. */
static int source_of(buffer_list *l, int n, int t)
{
	plan_buffer need = { .tensor = t, .region = LAYOUT_NEEDS, .node = n };
	int from = stored(l, t);
	if (program_covers(l->o->classes, l->o->p, &l->at.at[from], &need))
		return from;
	return add_buffer(l, need);
}

/* The buffer for a formula of a node's result: the stored result if each worker
 * has the same formula there, otherwise a new one. */
static int result_buffer(buffer_list *l, int n, layout_kind kind)
{
	int out = l->o->p->nodes[n].output;
	plan_buffer b = { .tensor = out, .region = kind, .node = n };
	int to = stored(l, out);
	if (program_same(l->o->classes, l->o->p, &l->at.at[to], &b))
		return to;
	return add_buffer(l, b);
}

static node_buffers buffers_of(buffer_list *l, int n)
{
	const plan *p = l->o->p;
	const plan_node *x = &p->nodes[n];
	int ninputs = p->kernels[x->kernel].kernel->ninputs;
	node_buffers b = { .shard = -1 };
	b.sources = ARENA_ARRAY(l->o->a, int, ninputs);
	for (int i = 0; i < ninputs; i++) {
		int same = 0;
		while (x->inputs[same] != x->inputs[i])
			same++;
		b.sources[i] = same < i ? b.sources[same]
					: source_of(l, n, x->inputs[i]);
	}
	if (!plan_combines(p, n)) {
		b.made = result_buffer(l, n, LAYOUT_PRODUCES);
	} else {
		b.made = add_buffer(l, (plan_buffer){ .tensor = x->output,
						      .region = LAYOUT_PRODUCES,
						      .node = n });
		b.shard = result_buffer(l, n, LAYOUT_REDUCED_SHARD);
	}
	b.stored = stored(l, x->output);
	return b;
}

/* By tensor: whether folds read it. */
static bool *find_folded(arena *a, const plan *p)
{
	bool *folded = ARENA_ARRAY(a, bool, p->ntensors + 1);
	for (int i = 0; i < p->nfolds; i++)
		for (int j = 0; j < p->folds[i].ninputs; j++)
			folded[p->folds[i].inputs[j]] = true;
	return folded;
}

/* A state that no run changes is treated like a constant: its buffer comes with
 * its first reader. */
static void set_buffers(outline *o)
{
	plan *p = o->p;
	buffer_list l = { .o = o };
	const bool *folded = find_folded(o->a, p);
	o->nodes = ARENA_ARRAY(o->a, node_buffers, p->nnodes);
	for (int i = 0; i < p->ntensors; i++)
		p->tensors[i].buffer = -1;
	for (int i = 0; i < p->ntensors; i++) {
		const plan_tensor *t = &p->tensors[i];
		if ((t->output && t->role != PLAN_RESULT) ||
		    (t->role == PLAN_STATE && t->next >= 0))
			stored(&l, i);
	}
	for (int n = 0; n < p->nnodes; n++)
		o->nodes[n] = buffers_of(&l, n);
	for (int i = 0; i < p->ntensors; i++)
		if (p->tensors[i].role == PLAN_STATE && !folded[i] &&
		    p->tensors[i].buffer < 0)
			stored(&l, i);
	p->nbuffers = l.at.n;
	p->buffers = l.at.at;
}

outline *outline_new(arena *a, plan *p, const section *sections)
{
	outline *o = ARENA_NEW(a, outline);
	*o = (outline){ .a = a,
			.p = p,
			.sections = sections,
			.classes = layout_classes_new(a, &p->mesh) };
	set_buffers(o);
	o->jobs = ARENA_NEW(a, jobs);
	*o->jobs = jobs_of(o);
	return o;
}

/* ---- instructions ------------------------------------------------------ */

typedef struct writer {
	draft *d;
	VEC(plan_instr) program;
	int begin, end; /* of the loop's body in the program */
	bool *fetched;	/* by buffer that a node reads or a turn is fed */
} writer;

static void put(writer *w, plan_instr in)
{
	const plan_loop *o = &w->d->p->loop;
	in.turn = o->turns > 0 ? o->turns - 1 : 0;
	vec_push(w->d->a, &w->program, in);
}

static void put_move(writer *w, int from, int to)
{
	put(w, (plan_instr){ .op = PLAN_MOVE, .node = -1, .from = from,
			     .to = to });
}

/* Whether a tensor is an input of which each turn is fed its part. */
static bool is_fed(const plan *p, const plan_tensor *t)
{
	return p->loop.turns > 0 && t->role == PLAN_INPUT &&
	       t->time != CUT_NONE;
}

/* Fetches what a node reads of a tensor, unless it is stored so or already
 * fetched.  Feeds the turn first if necessary. */
static void put_fetch(writer *w, int n, int input)
{
	const plan *p = w->d->p;
	const plan_tensor *t = &p->tensors[p->nodes[n].inputs[input]];
	int from = t->buffer;
	int to = w->d->nodes[n].sources[input];
	if (is_fed(p, t) && !w->fetched[from])
		put(w, (plan_instr){ .op = PLAN_FEED,
				     .node = -1,
				     .from = -1,
				     .to = from });
	if (is_fed(p, t))
		w->fetched[from] = true;
	if (to == from || w->fetched[to])
		return;
	w->fetched[to] = true;
	put_move(w, from, to);
}

static int count_inputs(const draft *d, int n)
{
	return d->p->kernels[d->p->nodes[n].kernel].kernel->ninputs;
}

static void put_fetches(writer *w, int n)
{
	for (int i = 0; i < count_inputs(w->d, n); i++)
		put_fetch(w, n, i);
}

static void put_run(writer *w, int n)
{
	const node_buffers *b = &w->d->nodes[n];
	put(w, (plan_instr){ .op = PLAN_RUN, .node = n, .inputs = b->sources,
			     .from = -1, .to = b->made });
}

/* Moves a result to where it is stored. */
static void put_result(writer *w, int n)
{
	const node_buffers *b = &w->d->nodes[n];
	int made = b->made;
	if (b->shard >= 0) {
		made = b->shard;
		put(w, (plan_instr){ .op = PLAN_COMBINE, .node = n,
				     .from = b->made, .to = made });
	}
	if (made != b->stored)
		put_move(w, made, b->stored);
}

/* Fetches a node's inputs right before it runs and moves its result right
 * after, so both need memory for the shortest time. */
static void put_nodes(writer *w, const int *order, int nnodes)
{
	for (int i = 0; i < nnodes; i++) {
		put_fetches(w, order[i]);
		put_run(w, order[i]);
		put_result(w, order[i]);
	}
}

static bool reads_result(const draft *d, int n, int of)
{
	const plan_node *x = &d->p->nodes[n];
	for (int i = 0; i < count_inputs(d, n); i++)
		if (x->inputs[i] == d->p->nodes[of].output)
			return true;
	return false;
}

/* Fetches what node n reads, except for the results of two nodes that are not
 * stored yet.  The second may be -1 for none. */
static void put_prefetches(writer *w, int n, int unstored, int unstored2)
{
	const plan *p = w->d->p;
	for (int i = 0; i < count_inputs(w->d, n); i++) {
		int t = p->nodes[n].inputs[i];
		if (t != p->nodes[unstored].output &&
		    (unstored2 < 0 || t != p->nodes[unstored2].output))
			put_fetch(w, n, i);
	}
}

/* Like put_nodes(), for machines that communicate while they compute.  Before a
 * node runs, the next node's inputs are already fetched.  A result is moved
 * only after the next node has run, or right before it if that node reads the
 * result.  So there is always a transfer that can proceed while a node runs;
 * its buffers need memory for longer. */
static void put_overlapping(writer *w, const int *order, int nnodes)
{
	int before = -1;
	for (int i = 0; i < nnodes; i++) {
		int n = order[i];
		if (before >= 0 && reads_result(w->d, n, before)) {
			put_result(w, before);
			before = -1;
		}
		put_fetches(w, n);
		if (i + 1 < nnodes)
			put_prefetches(w, order[i + 1], n, before);
		put_run(w, n);
		if (before >= 0)
			put_result(w, before);
		before = n;
	}
	if (before >= 0)
		put_result(w, before);
}

/* Sets the collectives.  Returns the received bytes if each instruction runs
 * once. */
static int64_t set_collectives(draft *d)
{
	plan *p = d->p;
	int64_t sum = 0;
	for (int i = 0; i < p->ninstrs; i++) {
		plan_instr *in = &p->program[i];
		if (!plan_moves(in))
			continue;
		int what = plan_instr_class(d->classes, p, in);
		in->collective = layout_pair_collective(d->classes, what);
		sum += layout_pair_received(d->classes, what);
	}
	return sum;
}

/* The bytes that an instruction of the body of `own' receives in all turns.
 * `own' is d's plan with buffers of its own. */
static int64_t received_in_turns(draft *d, plan *own, const plan_instr *in)
{
	int turns = own->loop.turns;
	bool differ = plan_turns_differ(own, in);
	int64_t sum = 0;
	for (int t = differ ? 0 : turns - 1; t < turns; t++) {
		const plan_instr one = plan_instr_in_turn(own, in, t);
		int what = plan_instr_class(d->classes, own, &one);
		sum += layout_pair_received(d->classes, what);
	}
	return differ ? sum : turns * sum;
}

static void set_transfers(draft *d)
{
	plan *p = d->p;
	const plan_loop *o = &p->loop;
	plan own = *p;
	int64_t sum = 0;
	p->communication_bytes = set_collectives(d);
	if (o->turns == 0)
		return;
	own.buffers = ARENA_COPY(d->tmp, p->buffers, p->nbuffers);
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		if (i >= o->begin && i < o->end && plan_moves(in))
			sum += received_in_turns(d, &own, in);
		else if (plan_moves(in))
			sum += layout_pair_received(
				d->classes,
				plan_instr_class(d->classes, p, in));
	}
	p->communication_bytes = sum;
}

/* Copies the buffers of an outline; a program may then change them. */
static draft draft_of(arena *a, const outline *o)
{
	draft d = { .a = a, .tmp = arena_new(), .p = ARENA_COPY(a, o->p, 1),
		    .classes = o->classes };
	plan *p = d.p;
	p->tensors = ARENA_COPY(a, p->tensors, p->ntensors);
	p->buffers = ARENA_COPY(a, p->buffers, p->nbuffers);
	d.nodes = ARENA_COPY(d.tmp, o->nodes, p->nnodes);
	for (int n = 0; n < p->nnodes; n++)
		d.nodes[n].sources = ARENA_COPY(a, d.nodes[n].sources,
						count_inputs(&d, n));
	return d;
}

static void put_all(writer *w, outline *o, lower_schedule by)
{
	const plan *p = w->d->p;
	const int *order = by.overlapping
				   ? program_order_overlapping(o, by.order)
				   : program_order(o, by.order);
	int ends[] = { p->nnodes, p->nnodes, p->nnodes }, n = 0;
	for (int s = SECTION_BEFORE; o->sections && s <= SECTION_AFTER; s++) {
		while (n < p->nnodes && (int)o->sections[order[n]] <= s)
			n++;
		ends[s] = n;
	}
	for (int s = SECTION_BEFORE, at = 0; s <= SECTION_AFTER; s++) {
		int count = ends[s] - at;
		if (s == SECTION_BODY)
			w->begin = w->program.n;
		if (by.overlapping)
			put_overlapping(w, order + at, count);
		else
			put_nodes(w, order + at, count);
		if (s == SECTION_BODY)
			w->end = w->program.n;
		at = ends[s];
	}
}

plan *program_make(arena *a, outline *o, int64_t memory, lower_schedule by,
		   lower_rooms *rooms)
{
	draft d = draft_of(a, o);
	plan *p = d.p;
	writer w = { .d = &d };
	w.fetched = ARENA_ARRAY(d.tmp, bool, p->nbuffers);
	put_all(&w, o, by);
	p->ninstrs = w.program.n;
	p->program = w.program.at;
	if (o->sections) {
		p->loop.begin = w.begin;
		p->loop.end = w.end;
	}
	*rooms = program_keep_copies(&d, memory);
	plan_update_states(a, p);
	set_transfers(&d);
	arena_free(d.tmp);
	return p;
}
