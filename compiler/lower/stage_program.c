#include "config.h"

#include "compiler/lower/stage_program.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "plan/lifetimes.h"

/* An instruction and its sort key.  The groups are the part before the body,
 * its segments, and the part after it. */
typedef struct placed {
	plan_instr in;
	int group, at, number;
} placed;

typedef struct stager {
	arena *a, *tmp;
	plan *p;
	const stage_homes *h;
	int stage;
	bool split;	 /* PASS_WEIGHT has its own segments */
	int nsegments;
	int *segment_of; /* by node: its segment */
	int *use;	 /* by buffer: first segment that reads it */
	int *writer;	 /* by buffer: its first writer; -1 */
	int *reader;	 /* by section and buffer: its first reader */
	int *segments;	 /* by instruction of the body */
	int *at;	 /* by instruction: place in its group, times 4 */
	VEC(placed) program;
} stager;

/* ---- segments ---------------------------------------------------------- */

static section section_of(const plan *p, int i)
{
	return i < p->loop.begin ? SECTION_BEFORE
	       : i < p->loop.end ? SECTION_BODY
				 : SECTION_AFTER;
}

/* The segment of a pass of a chunk. */
static int segment_number(const stager *x, plan_pass pass, int chunk)
{
	int n = x->h->d->nchunks;
	int back = n + (1 + x->split) * (n - 1 - chunk);
	return pass == PASS_FORWARD ? chunk
	       : pass == PASS_WEIGHT && x->split ? back + 1 : back;
}

/* By name, the segment of each of the graph's nodes in the stage. */
static strmap *find_named_segments(stager *x)
{
	const graph *g = x->h->g;
	const stage_division *d = x->h->d;
	strmap *names = strmap_new(x->tmp);
	int *segment = ARENA_ARRAY(x->tmp, int, g->nnodes);
	for (node_id n = 0; n < g->nnodes; n++) {
		segment[n] = segment_number(x, d->pass[n], d->chunk[n]);
		if (d->stage[n] == x->stage)
			strmap_put(names, g->nodes[n].name, &segment[n]);
	}
	return names;
}

/* Nodes that lowering added go into the segment of what they read. */
static void find_node_segments(stager *x)
{
	const plan *p = x->p;
	const strmap *names = find_named_segments(x);
	int *made = ARENA_ARRAY(x->tmp, int, p->ntensors);
	for (int i = p->loop.begin; i < p->loop.end; i++) {
		if (p->program[i].op != PLAN_RUN)
			continue;
		int n = p->program[i].node;
		const plan_node *of = &p->nodes[n];
		int *segment = &x->segment_of[n];
		const int *known = strmap_get(names, of->name);
		*segment = known ? *known : 0;
		for (int j = 0; j < p->kernels[of->kernel].kernel->ninputs; j++)
			if (made[of->inputs[j]] > *segment)
				*segment = made[of->inputs[j]];
		made[of->output] = *segment;
	}
}

/* The segment of an instruction.  A transfer to a node belongs to the first
 * node that reads it; one that stores a result belongs to the node. */
static int segment_of(const stager *x, const plan_instr *in)
{
	const plan_buffer *b = x->p->buffers;
	if (in->op == PLAN_RUN || in->op == PLAN_COMBINE)
		return x->segment_of[in->node];
	if (in->op == PLAN_MOVE && b[in->to].region == LAYOUT_STORED &&
	    b[in->from].node >= 0)
		return x->segment_of[b[in->from].node];
	return x->use[in->to] == INT_MAX ? 0 : x->use[in->to];
}

typedef struct user {
	stager *x;
	int segment;
} user;

static void note_use(void *to, int buffer)
{
	user *u = to;
	int *use = &u->x->use[buffer];
	if (u->segment < *use)
		*use = u->segment;
}

static void find_segments(stager *x)
{
	const plan *p = x->p;
	for (int b = 0; b < p->nbuffers; b++)
		x->use[b] = INT_MAX;
	for (int i = p->loop.end; i-- > p->loop.begin;) {
		user u = { x, segment_of(x, &p->program[i]) };
		x->segments[i] = u.segment;
		plan_reads(p, &p->program[i], note_use, &u);
	}
}

/* ---- what is once per run ---------------------------------------------- */

/* Orders what a stage sends and receives once per run by the numbers of the
 * graph's nodes.  If all stages do this, no two wait for each other: the first
 * node that is not done can always proceed. */

typedef struct ranked {
	int key, instr;
} ranked;

static int by_key(const void *x, const void *y)
{
	const ranked *a = x, *b = y;
	return a->key != b->key ? (a->key < b->key ? -1 : 1)
				: a->instr - b->instr;
}

/* By node of the plan: the number of the graph's node with its name.  A node
 * that lowering added has the greatest number among its inputs. */
static int *find_node_keys(stager *x)
{
	const graph *g = x->h->g;
	const plan *p = x->p;
	strmap *names = strmap_new(x->tmp);
	int *keys = ARENA_ARRAY(x->tmp, int, p->nnodes);
	int *made = ARENA_ARRAY(x->tmp, int, p->ntensors);
	for (node_id n = 0; n < g->nnodes; n++)
		strmap_put(names, g->nodes[n].name, &g->nodes[n]);
	for (int i = 0; i < p->ninstrs; i++) {
		if (p->program[i].op != PLAN_RUN)
			continue;
		int n = p->program[i].node;
		const plan_node *of = &p->nodes[n];
		const node *known = strmap_get(names, of->name);
		for (int j = 0; j < p->kernels[of->kernel].kernel->ninputs; j++)
			if (made[of->inputs[j]] > keys[n])
				keys[n] = made[of->inputs[j]];
		if (known)
			keys[n] = (int)(known - g->nodes);
		made[of->output] = keys[n];
	}
	return keys;
}

typedef struct lowest {
	int *by, key;
} lowest;

static void note_lowest(void *to, int buffer)
{
	lowest *l = to;
	if (l->key < l->by[buffer])
		l->by[buffer] = l->key;
}

/* The greatest keys so far of the writers and of the readers of each buffer. */
typedef struct key_bounds {
	int *written, *read;
	int key;
} key_bounds;

static void raise_by_input(void *to, int buffer)
{
	key_bounds *k = to;
	if (k->written[buffer] > k->key)
		k->key = k->written[buffer];
}

static void note_key(void *to, int buffer)
{
	key_bounds *k = to;
	if (k->key > k->read[buffer])
		k->read[buffer] = k->key;
}

/* By buffer of a next value: the state's, whose place it may have; -1. */
static int *find_old_values(stager *x)
{
	const plan *p = x->p;
	int *old = ARENA_ARRAY(x->tmp, int, p->nbuffers);
	for (int b = 0; b < p->nbuffers; b++)
		old[b] = -1;
	for (int t = 0; t < p->ntensors; t++) {
		const plan_tensor *of = &p->tensors[t];
		if (of->role == PLAN_STATE && of->next >= 0)
			old[p->tensors[of->next].buffer] = of->buffer;
	}
	return old;
}

/* Raises keys of a section so that no instruction precedes the writers of what
 * it reads, and no next value precedes readers of the old one. */
static void raise_keys(stager *x, int begin, int end, int *keys)
{
	const plan *p = x->p;
	const int *old = find_old_values(x);
	key_bounds k = { ARENA_ARRAY(x->tmp, int, p->nbuffers),
			 ARENA_ARRAY(x->tmp, int, p->nbuffers), 0 };
	for (int i = begin; i < end; i++) {
		const plan_instr *in = &p->program[i];
		k.key = keys[i];
		plan_reads(p, in, raise_by_input, &k);
		if (old[in->to] >= 0 && k.read[old[in->to]] > k.key)
			k.key = k.read[old[in->to]];
		if (k.read[in->to] > k.key)
			k.key = k.read[in->to];
		keys[i] = k.key;
		plan_reads(p, in, note_key, &k);
		if (k.key > k.written[in->to])
			k.written[in->to] = k.key;
	}
}

/* The keys by instruction. */
static int *find_keys(stager *x)
{
	const plan *p = x->p;
	const int *nodes = find_node_keys(x);
	int *keys = ARENA_ARRAY(x->tmp, int, p->ninstrs);
	lowest l = { ARENA_ARRAY(x->tmp, int, p->nbuffers), 0 };
	for (int b = 0; b < p->nbuffers; b++)
		l.by[b] = INT_MAX;
	for (int i = p->ninstrs; i-- > 0;) {
		const plan_instr *in = &p->program[i];
		const plan_buffer *to = &p->buffers[in->to];
		const plan_buffer *from = plan_moves(in) ? &p->buffers[in->from]
							 : to;
		bool result = from->node >= 0 && to->region == LAYOUT_STORED;
		keys[i] = in->op == PLAN_RUN || in->op == PLAN_COMBINE
				  ? nodes[in->node]
			  : in->op == PLAN_MOVE && result ? nodes[from->node]
							  : l.by[in->to];
		l.key = keys[i];
		plan_reads(p, in, note_lowest, &l);
	}
	raise_keys(x, 0, p->loop.begin, keys);
	raise_keys(x, p->loop.end, p->ninstrs, keys);
	return keys;
}

static bool has_both(const stage_message *m, int n, section at)
{
	bool sends = false, receives = false;
	for (int i = 0; i < n; i++) {
		sends |= m[i].at == at && m[i].sends;
		receives |= m[i].at == at && !m[i].sends;
	}
	return sends && receives;
}

static void order_once(stager *x, int begin, int end, const int *keys)
{
	ranked *all = ARENA_ARRAY(x->tmp, ranked, end - begin);
	for (int i = begin; i < end; i++)
		all[i - begin] = (ranked){ keys[i], i };
	qsort(all, (size_t)(end - begin), sizeof(*all), by_key);
	for (int i = begin; i < end; i++)
		x->at[all[i - begin].instr] = 4 * i;
}

static void find_places(stager *x, const stage_message *m, int n)
{
	const plan *p = x->p;
	for (int i = 0; i < p->ninstrs; i++)
		x->at[i] = 4 * i;
	if (has_both(m, n, SECTION_BEFORE))
		order_once(x, 0, p->loop.begin, find_keys(x));
	if (has_both(m, n, SECTION_AFTER))
		order_once(x, p->loop.end, p->ninstrs, find_keys(x));
}

/* ---- messages ---------------------------------------------------------- */

static int group_of(const stager *x, int i)
{
	switch (section_of(x->p, i)) {
	case SECTION_BEFORE:
		return 0;
	case SECTION_BODY:
		return 1 + x->segments[i];
	case SECTION_AFTER:
		break;
	}
	return 1 + x->nsegments;
}

static bool comes_before(const stager *x, int i, int j)
{
	int a = group_of(x, i), b = group_of(x, j);
	return a != b ? a < b : x->at[i] < x->at[j];
}

typedef struct reading {
	stager *x;
	int instr;
} reading;

static void note_reader(void *to, int buffer)
{
	reading *r = to;
	const plan *p = r->x->p;
	int *first = &r->x->reader[section_of(p, r->instr) * p->nbuffers +
				   buffer];
	if (*first < 0 || comes_before(r->x, r->instr, *first))
		*first = r->instr;
}

static void find_ends(stager *x)
{
	const plan *p = x->p;
	for (int b = 0; b < p->nbuffers; b++)
		x->writer[b] = -1;
	for (int i = 0; i < 3 * p->nbuffers; i++)
		x->reader[i] = -1;
	for (int i = 0; i < p->ninstrs; i++) {
		reading r = { x, i };
		plan_reads(p, &p->program[i], note_reader, &r);
		if (x->writer[p->program[i].to] < 0)
			x->writer[p->program[i].to] = i;
	}
}

static void put(stager *x, const plan_instr *in, int group, int at)
{
	vec_push(x->tmp, &x->program,
		 ((placed){ *in, group, at, x->program.n }));
}

/* Sends a buffer as soon as it is written.  If it exists already or is the last
 * turn's, it is sent when its section begins. */
static void put_send(stager *x, const stage_message *m, int buffer)
{
	plan_instr in = { .op = PLAN_SEND,
			  .node = -1,
			  .from = buffer,
			  .to = buffer,
			  .channel = m->channel,
			  .turn = x->p->loop.turns - 1 };
	const plan_tensor *t = &x->p->tensors[m->tensor];
	int w = x->writer[buffer];
	if (t->role == PLAN_RESULT && section_of(x->p, w) == m->at)
		put(x, &in, group_of(x, w), x->at[w] + 2);
	else
		put(x, &in, m->at == SECTION_BEFORE ? 0 : 1 + x->nsegments, -1);
}

/* Receives a message right before its first reader; one sent once and read only
 * by the body, right before the body. */
static void put_receive(stager *x, const stage_message *m, int buffer)
{
	const plan *p = x->p;
	plan_instr in = { .op = PLAN_RECEIVE,
			  .node = -1,
			  .from = -1,
			  .to = buffer,
			  .channel = m->channel,
			  .turn = p->loop.turns - 1 };
	int first = x->reader[(int)m->at * p->nbuffers + buffer];
	if (first >= 0 && m->at == SECTION_BODY)
		put(x, &in, 1 + x->use[buffer], x->at[first] - 1);
	else if (first >= 0)
		put(x, &in, group_of(x, first), x->at[first] - 1);
	else
		put(x, &in, 0, INT_MAX);
}

static bool is_received(const stager *x, int buffer,
			const stage_message *messages, int n)
{
	int t = x->p->buffers[buffer].tensor;
	for (int i = 0; i < n; i++)
		if (!messages[i].sends && messages[i].tensor == t)
			return true;
	return false;
}

static void put_all(stager *x, const stage_message *messages, int n)
{
	const plan *p = x->p;
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		if (in->op != PLAN_FEED || !is_received(x, in->to, messages, n))
			put(x, in, group_of(x, i), x->at[i]);
	}
	for (int i = 0; i < n; i++) {
		int buffer = p->tensors[messages[i].tensor].buffer;
		if (messages[i].sends)
			put_send(x, &messages[i], buffer);
		else
			put_receive(x, &messages[i], buffer);
	}
}

static int by_place(const void *x, const void *y)
{
	const placed *a = x, *b = y;
	if (a->group != b->group)
		return a->group - b->group;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->number - b->number;
}

/* A state that is sent keeps its value until the end of the run, and only then
 * gets its next value. */
static void move_sent_states(stager *x, const stage_message *messages, int n)
{
	const plan *p = x->p;
	for (int i = 0; i < n; i++) {
		const plan_tensor *t = &p->tensors[messages[i].tensor];
		if (!messages[i].sends || t->role != PLAN_STATE ||
		    t->next < 0 || x->writer[t->buffer] >= 0)
			continue;
		x->writer[t->buffer] = p->ninstrs;
		put(x, &(plan_instr){ .op = PLAN_MOVE,
				      .node = -1,
				      .from = p->tensors[t->next].buffer,
				      .to = t->buffer,
				      .collective = COLL_LOCAL,
				      .turn = p->loop.turns - 1 },
		    1 + x->nsegments, INT_MAX);
	}
}

/* ---- the schedule ------------------------------------------------------ */

/* Sets the segments that are not empty, or the first if all are.  numbers[i]
 * becomes the new number of segment i, or -1. */
static void set_segments(const stager *x, plan_stage *s, const int *counts,
			 int *numbers)
{
	const int n = x->h->d->nchunks;
	plan_segment *at = ARENA_ARRAY(x->a, plan_segment, x->nsegments);
	plan *p = x->p;
	p->loop.begin = p->loop.end = counts[0];
	for (int i = 0; i < x->nsegments; i++) {
		int end = p->loop.end + counts[1 + i];
		int back = (i - n) / (1 + x->split);
		bool weight = x->split && (i - n) % 2;
		numbers[i] = -1;
		if (counts[1 + i] == 0 &&
		    (i < x->nsegments - 1 || s->nsegments > 0))
			continue;
		numbers[i] = s->nsegments;
		at[s->nsegments++] = (plan_segment){
			i < n	 ? PASS_FORWARD
			: weight ? PASS_WEIGHT
				 : PASS_BACKWARD,
			i < n ? i : n - 1 - back, p->loop.end, end
		};
		p->loop.end = end;
	}
	s->segments = at;
}

/* Sets the order: each step of the list that has a segment. */
static void set_order(const stager *x, plan_stage *s, const step_list *order,
		      const int *numbers)
{
	static const plan_pass passes[] = { [STEP_F] = PASS_FORWARD,
					    [STEP_B] = PASS_BACKWARD,
					    [STEP_W] = PASS_WEIGHT,
					    [STEP_BW] = PASS_BACKWARD };
	int *tasks = ARENA_ARRAY(x->tmp, int, order->n), n = 0;
	for (int i = 0; i < order->n; i++) {
		const pipeline_step *t = &order->at[i];
		int number = numbers[segment_number(x, passes[t->kind],
						    t->chunk)];
		if (number >= 0)
			tasks[n++] = number;
	}
	s->runs = stage_runs(x->a, tasks, n, &s->nruns);
}

/* ---- slots ------------------------------------------------------------- */

static void note_last(void *to, int buffer)
{
	user *u = to;
	if (u->segment > u->x->use[buffer])
		u->x->use[buffer] = u->segment;
}

/* Sets slots: as many as there are values at a time between segments of turns,
 * and for messages. */
static void set_slots(stager *x, const plan_stage *s)
{
	plan *p = x->p;
	bool *message = ARENA_ARRAY(x->tmp, bool, p->nbuffers);
	int *made = ARENA_ARRAY(x->tmp, int, p->nbuffers);
	const int *between = plan_turns_between(x->tmp, s);
	for (int b = 0; b < p->nbuffers; b++)
		x->use[b] = made[b] = -1;
	for (int g = 0; g < s->nsegments; g++)
		for (int i = s->segments[g].begin; i < s->segments[g].end;
		     i++) {
			const plan_instr *in = &p->program[i];
			user u = { x, g };
			bool sends = in->op == PLAN_SEND;
			plan_reads(p, in, note_last, &u);
			message[in->to] |= sends || in->op == PLAN_RECEIVE;
			if (!sends)
				made[in->to] = g;
		}
	for (int b = 0; b < p->nbuffers; b++) {
		if (made[b] >= 0 && x->use[b] > made[b])
			p->buffers[b].slots =
				between[made[b] * s->nsegments + x->use[b]];
		else if (message[b])
			p->buffers[b].slots = 1;
	}
}

/* ---- all --------------------------------------------------------------- */

static void set_program(stager *x)
{
	plan *p = x->p;
	p->ninstrs = x->program.n;
	p->program = ARENA_ARRAY(x->a, plan_instr, p->ninstrs);
	for (int i = 0; i < p->ninstrs; i++)
		p->program[i] = x->program.at[i].in;
}

static bool is_split(const step_list *order)
{
	for (int i = 0; i < order->n; i++)
		if (order->at[i].kind == STEP_W)
			return true;
	return false;
}

static stager stager_new(arena *a, plan *p, const stage_homes *h, int nth,
			 bool split)
{
	stager x = { .a = a, .tmp = arena_new(), .p = p, .h = h,
		     .stage = nth, .split = split };
	x.nsegments = (2 + split) * h->d->nchunks;
	x.segment_of = ARENA_ARRAY(x.tmp, int, p->nnodes);
	x.use = ARENA_ARRAY(x.tmp, int, p->nbuffers);
	x.writer = ARENA_ARRAY(x.tmp, int, p->nbuffers);
	x.reader = ARENA_ARRAY(x.tmp, int, 3 * p->nbuffers);
	x.segments = ARENA_ARRAY(x.tmp, int, p->ninstrs);
	x.at = ARENA_ARRAY(x.tmp, int, p->ninstrs);
	return x;
}

void stage_program(arena *a, plan *p, const stage_homes *h, int nth,
		   const step_list *order, const stage_message *messages,
		   int nmessages)
{
	stager x = stager_new(a, p, h, nth, is_split(order));
	int *counts = ARENA_ARRAY(x.tmp, int, x.nsegments + 2);
	int *numbers = ARENA_ARRAY(x.tmp, int, x.nsegments);
	plan_stage *s = ARENA_NEW(a, plan_stage);
	find_node_segments(&x);
	find_segments(&x);
	find_places(&x, messages, nmessages);
	find_ends(&x);
	put_all(&x, messages, nmessages);
	move_sent_states(&x, messages, nmessages);
	if (x.program.n > 0)
		qsort(x.program.at, (size_t)x.program.n, sizeof(placed),
		      by_place);
	for (int i = 0; i < x.program.n; i++)
		counts[x.program.at[i].group]++;
	set_program(&x);
	set_segments(&x, s, counts, numbers);
	set_order(&x, s, order, numbers);
	set_slots(&x, s);
	p->stage = s;
	arena_free(x.tmp);
}
