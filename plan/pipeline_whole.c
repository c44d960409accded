/* Merges a pipeline into one plan for one device, and wraps a plan as a
 * pipeline. */
#include "config.h"

#include <assert.h>

#include "base/intern.h"
#include "plan/pipeline.h"

/* ---- one stage --------------------------------------------------------- */

static const char **names_of(arena *a, const plan *p, const int *tensors, int n)
{
	const char **names = ARENA_ARRAY(a, const char *, n);
	for (int i = 0; i < n; i++)
		names[i] = p->tensors[tensors[i]].name;
	return names;
}

plan_pipeline *pipeline_of_plan(arena *a, const plan *p)
{
	plan_pipeline *x = ARENA_NEW(a, plan_pipeline);
	*x = (plan_pipeline){
		.model = p->model,
		.algorithm = p->algorithm,
		.predicted = p->predicted,
		.nstages = 1,
		.stages = ARENA_COPY(a, p, 1),
		.ninputs = p->ninputs,
		.noutputs = p->noutputs,
		.inputs = names_of(a, p, p->inputs, p->ninputs),
		.outputs = names_of(a, p, p->outputs, p->noutputs),
		.nfixed = p->nfixed,
		.fixed = p->fixed,
		.communication_bytes = p->communication_bytes,
		.digest = p->digest,
	};
	return x;
}

bool pipeline_is_plan(const plan_pipeline *p)
{
	return p->nstages == 1 && !p->stages[0].stage;
}

plan_pipeline *pipeline_unroll(arena *a, const plan_pipeline *p)
{
	plan_pipeline *all = ARENA_COPY(a, p, 1);
	all->stages = ARENA_ARRAY(a, plan, p->nstages);
	for (int s = 0; s < p->nstages; s++)
		all->stages[s] =
			*plan_unroll(a, &p->stages[s], PLAN_MAX_TURNS);
	return all;
}

/* ---- tables ------------------------------------------------------------ */

/* The instructions of a stage to be merged, and the next one. */
typedef struct cursor {
	int n, *instrs;
	int at;
} cursor;

typedef struct merger {
	arena *a, *tmp;
	const plan_pipeline *p;
	pipeline_whole to;
	cursor *stages;
	bool *sent; /* by channel */
	bool *fed;  /* by tensor of the whole */
} merger;

static bool *find_received(merger *m, int stage)
{
	const plan_pipeline *p = m->p;
	bool *is = ARENA_ARRAY(m->tmp, bool, p->stages[stage].ntensors);
	for (int c = 0; c < p->nchannels; c++)
		if (p->channels[c].to == stage)
			is[p->channels[c].target] = true;
	return is;
}

/* Numbers tensors; those with the same name are one. */
static void number_tensors(merger *m)
{
	const plan_pipeline *p = m->p;
	strmap *names = strmap_new(m->tmp);
	m->to.tensors = ARENA_ARRAY(m->a, int *, p->nstages);
	for (int s = 0; s < p->nstages; s++) {
		const plan *x = &p->stages[s];
		m->to.tensors[s] = ARENA_ARRAY(m->a, int, x->ntensors);
		for (int t = 0; t < x->ntensors; t++) {
			const char *name = x->tensors[t].name;
			int *number = strmap_get(names, name);
			if (!number) {
				number = ARENA_NEW(m->tmp, int);
				*number = m->to.plan->ntensors++;
				strmap_put(names, name, number);
			}
			m->to.tensors[s][t] = *number;
		}
	}
}

static int of_stage(const int *numbers, int tensor)
{
	return tensor < 0 ? -1 : numbers[tensor];
}

/* A stored block of the whole tensor. */
static void set_buffer(plan *one, int t)
{
	plan_tensor *x = &one->tensors[t];
	x->buffer = t;
	one->buffers[t] = (plan_buffer){ .tensor = t,
					 .region = LAYOUT_STORED,
					 .node = -1 };
}

/* Copies each tensor from a stage in which it does not come from another
 * stage. */
static void set_tensors(merger *m)
{
	plan *one = m->to.plan;
	one->tensors = ARENA_ARRAY(m->a, plan_tensor, one->ntensors);
	one->nbuffers = one->ntensors;
	one->buffers = ARENA_ARRAY(m->a, plan_buffer, one->ntensors);
	for (int t = 0; t < one->ntensors; t++) {
		one->tensors[t].buffer = -1;
		one->buffers[t].tensor = t;
	}
	for (int s = 0; s < m->p->nstages; s++) {
		const plan *x = &m->p->stages[s];
		const int *numbers = m->to.tensors[s];
		const bool *received = find_received(m, s);
		for (int t = 0; t < x->ntensors; t++) {
			plan_tensor *to = &one->tensors[numbers[t]];
			bool used = to->buffer >= 0, output = to->output;
			const plan_constant known = to->constant;
			if (!received[t]) {
				*to = x->tensors[t];
				if (to->constant.kind == PLAN_CONST_NONE)
					to->constant = known;
				to->cuts = cuts_none();
				to->next = of_stage(numbers, to->next);
				to->then = of_stage(numbers, to->then);
				to->output |= output;
			}
			to->buffer = -1;
			if (used || x->tensors[t].buffer >= 0)
				set_buffer(one, numbers[t]);
		}
	}
}

/* Copies folds once: a constant of several stages follows from the same weights
 * in all of them. */
static void set_folds(merger *m)
{
	const plan_pipeline *p = m->p;
	plan *one = m->to.plan;
	bool *made = ARENA_ARRAY(m->tmp, bool, one->ntensors);
	int n = 0;
	for (int s = 0; s < p->nstages; s++)
		n += p->stages[s].nfolds;
	one->folds = ARENA_ARRAY(m->a, plan_fold, n);
	for (int s = 0; s < p->nstages; s++)
		for (int i = 0; i < p->stages[s].nfolds; i++) {
			plan_fold f = p->stages[s].folds[i];
			int *inputs = ARENA_ARRAY(m->a, int, f.ninputs);
			for (int j = 0; j < f.ninputs; j++)
				inputs[j] = m->to.tensors[s][f.inputs[j]];
			f.inputs = inputs;
			f.output = m->to.tensors[s][f.output];
			if (!made[f.output])
				one->folds[one->nfolds++] = f;
			made[f.output] = true;
		}
}

static void set_nodes(merger *m)
{
	const plan_pipeline *p = m->p;
	plan *one = m->to.plan;
	m->to.nodes = ARENA_ARRAY(m->a, int *, p->nstages);
	for (int s = 0; s < p->nstages; s++) {
		int n = p->stages[s].nnodes;
		m->to.nodes[s] = ARENA_ARRAY(m->a, int, n);
		for (int i = 0; i < n; i++)
			m->to.nodes[s][i] = -1;
		one->nnodes += n;
		one->ninstrs += p->stages[s].ninstrs;
	}
	one->nodes = ARENA_ARRAY(m->a, plan_node, one->nnodes);
	one->program = ARENA_ARRAY(m->a, plan_instr, one->ninstrs);
	one->nnodes = one->ninstrs = 0;
}

/* ---- the program ------------------------------------------------------- */

static void put(merger *m, const plan_instr *in)
{
	plan *one = m->to.plan;
	one->program[one->ninstrs++] = *in;
}

/* Appends a run; nodes are numbered in the order in which they run. */
static void put_run(merger *m, int stage, const plan_instr *in)
{
	const plan *p = &m->p->stages[stage];
	const plan_node *from = &p->nodes[in->node];
	plan *one = m->to.plan;
	int ninputs = p->kernels[from->kernel].kernel->ninputs;
	int *inputs = ARENA_ARRAY(m->a, int, ninputs);
	plan_node *to = &one->nodes[one->nnodes];
	for (int i = 0; i < ninputs; i++)
		inputs[i] = m->to.tensors[stage][from->inputs[i]];
	*to = *from;
	to->cuts = cuts_none();
	to->inputs = inputs;
	to->output = m->to.tensors[stage][from->output];
	put(m, &(plan_instr){ .op = PLAN_RUN,
			      .node = one->nnodes,
			      .inputs = inputs,
			      .from = -1,
			      .to = to->output });
	m->to.nodes[stage][in->node] = one->nnodes++;
}

/* Appends a feed, once for an input that several stages are fed. */
static void put_feed(merger *m, int stage, const plan_instr *in)
{
	int t = m->p->stages[stage].buffers[in->to].tensor;
	int number = m->to.tensors[stage][t];
	if (m->fed[number])
		return;
	m->fed[number] = true;
	put(m, &(plan_instr){ .op = PLAN_FEED,
			      .node = -1,
			      .from = -1,
			      .to = number });
}

/* Merges an instruction; false if it waits for a message. */
static bool merge_instr(merger *m, int stage, int i)
{
	const plan_instr *in = &m->p->stages[stage].program[i];
	switch (in->op) {
	case PLAN_RUN:
		put_run(m, stage, in);
		return true;
	case PLAN_FEED:
		put_feed(m, stage, in);
		return true;
	case PLAN_SEND:
		m->sent[in->channel] = true;
		return true;
	case PLAN_RECEIVE:
		return m->sent[in->channel];
	case PLAN_MOVE:
	case PLAN_COMBINE:
		break;
	}
	return true;
}

/* Merges as many instructions of a stage as possible; returns whether it has
 * reached its end.  *moved: set if anything happened. */
static bool advance(merger *m, int stage, bool *moved)
{
	cursor *x = &m->stages[stage];
	for (; x->at < x->n; x->at++) {
		if (!merge_instr(m, stage, x->instrs[x->at]))
			return false;
		*moved = true;
	}
	return true;
}

/* Merges these instructions of all stages; a stage continues when what it waits
 * for has been sent. */
static bool merge_all(merger *m)
{
	bool ended = false;
	for (bool moved = true; moved && !ended;) {
		ended = true;
		moved = false;
		for (int s = 0; s < m->p->nstages; s++)
			ended &= advance(m, s, &moved);
	}
	return ended;
}

static void add_range(cursor *x, int begin, int end)
{
	for (int i = begin; i < end; i++)
		x->instrs[x->n++] = i;
}

/* Adds the segments in the order in which they run for the first turn.  In this
 * order they have no cycle of waits, since the schedule has none. */
static void add_body(merger *m, const plan *p, cursor *x)
{
	const plan_stage *s = p->stage;
	if (!s) {
		add_range(x, p->loop.begin, p->loop.end);
		return;
	}
	bool *is_done = ARENA_ARRAY(m->tmp, bool, s->nsegments);
	for (int r = 0; r < s->nruns; r++)
		for (int i = 0; i < s->runs[r].ntasks; i++) {
			int g = s->runs[r].tasks[i];
			if (!is_done[g])
				add_range(x, s->segments[g].begin,
					  s->segments[g].end);
			is_done[g] = true;
		}
}

typedef enum part { PART_BEFORE, PART_BODY, PART_BEHIND } part;

static bool merge_part(merger *m, part which)
{
	for (int s = 0; s < m->p->nstages; s++) {
		const plan *p = &m->p->stages[s];
		cursor *x = &m->stages[s];
		*x = (cursor){ .instrs = ARENA_ARRAY(m->tmp, int, p->ninstrs) };
		if (which == PART_BEFORE)
			add_range(x, 0, p->loop.begin);
		else if (which == PART_BODY)
			add_body(m, p, x);
		else
			add_range(x, p->loop.end, p->ninstrs);
	}
	return merge_all(m);
}

/* Sets the program.  A value that is sent once per run is never sent after one
 * stage's body and received before another's: pipeline_check(). */
static bool set_program(merger *m)
{
	plan *one = m->to.plan;
	m->stages = ARENA_ARRAY(m->tmp, cursor, m->p->nstages);
	m->sent = ARENA_ARRAY(m->tmp, bool, m->p->nchannels);
	m->fed = ARENA_ARRAY(m->tmp, bool, one->ntensors);
	bool good = merge_part(m, PART_BEFORE);
	one->loop.begin = one->ninstrs;
	good = good && merge_part(m, PART_BODY);
	one->loop.end = one->ninstrs;
	return good && merge_part(m, PART_BEHIND);
}

/* ---- all --------------------------------------------------------------- */

static int *numbers_of(merger *m, const char *const *names, int n)
{
	strmap *numbers = strmap_new(m->tmp);
	const plan *one = m->to.plan;
	int *found = ARENA_ARRAY(m->a, int, n);
	for (int t = 0; t < one->ntensors; t++)
		strmap_put(numbers, one->tensors[t].name,
			   (void *)&one->tensors[t]);
	for (int i = 0; i < n; i++) {
		const plan_tensor *t = strmap_get(numbers, names[i]);
		found[i] = (int)(t - one->tensors);
	}
	return found;
}

static void set_header(merger *m)
{
	const plan_pipeline *p = m->p;
	const plan *first = &p->stages[0];
	plan *one = m->to.plan;
	*one = (plan){
		.model = p->model,
		.algorithm = p->algorithm,
		.predicted = p->predicted,
		.loop = first->loop,
		.nkernels = first->nkernels,
		.kernels = first->kernels,
		.ninputs = p->ninputs,
		.noutputs = p->noutputs,
		.training = first->training,
		.loss = -1,
		.learning_rate = -1,
		.loss_scale = -1,
		.position = -1,
		.digest = p->digest,
		.nfixed = p->nfixed,
		.fixed = p->fixed,
	};
}

static void set_training(merger *m)
{
	plan *one = m->to.plan;
	for (int s = 0; s < m->p->nstages; s++) {
		const plan *x = &m->p->stages[s];
		const int *numbers = m->to.tensors[s];
		if (one->loss < 0)
			one->loss = of_stage(numbers, x->loss);
		if (one->learning_rate < 0)
			one->learning_rate =
				of_stage(numbers, x->learning_rate);
		if (one->loss_scale < 0)
			one->loss_scale = of_stage(numbers, x->loss_scale);
		if (one->length == 0 && x->length > 0) {
			one->length = x->length;
			one->position = of_stage(numbers, x->position);
		}
	}
}

const pipeline_whole *pipeline_merge(arena *a, const plan_pipeline *p)
{
	merger m = { .a = a, .tmp = arena_new(), .p = p };
	m.to.plan = ARENA_NEW(a, plan);
	set_header(&m);
	number_tensors(&m);
	set_tensors(&m);
	set_folds(&m);
	set_training(&m);
	set_nodes(&m);
	m.to.plan->inputs = numbers_of(&m, p->inputs, p->ninputs);
	m.to.plan->outputs = numbers_of(&m, p->outputs, p->noutputs);
	bool all = set_program(&m);
	assert(all);
	(void)all;
	arena_free(m.tmp);
	return ARENA_COPY(a, &m.to, 1);
}
