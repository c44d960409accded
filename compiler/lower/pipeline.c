#include "config.h"

#include "compiler/lower/pipeline.h"

#include <assert.h>
#include <string.h>

#include "base/checked.h"
#include "base/hash.h"
#include "base/intern.h"
#include "compiler/lower/stage_program.h"

typedef struct piper {
	arena *a, *tmp;
	const stage_homes *h;
	const lower_options *o;
	const pipeline *schedule;
	const step_list *lists; /* by stage */
	diag_sink *sink;
	plan_pipeline *p;
	VEC(plan_channel) channels;
	VEC(section) sections; /* of the channels */
	VEC(plan_kernel) kernels;
	hash_table by_kernel;
} piper;

/* ---- channels ---------------------------------------------------------- */

/* The first section of a stage that reads a tensor, among those where it can be
 * received. */
static section section_of_reads(const graph *g, const stage_division *d,
				int nth, tensor_id t)
{
	section first = SECTION_AFTER;
	for (node_id n = 0; n < g->nnodes; n++)
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++)
			if (g->nodes[n].inputs[i] == t &&
			    d->stage[n] == nth &&
			    g->turns->sections[n] < first)
				first = g->turns->sections[n];
	return first;
}

/* The section of a channel.  A tensor that changes from turn to turn and is
 * read in the turns goes in each turn; any other goes once. */
static section section_of_channel(const stage_homes *h, int to, tensor_id t)
{
	const graph *g = h->g;
	node_id from = g->tensors[t].producer;
	section made = from == NONE ? SECTION_BEFORE
				    : g->turns->sections[from];
	section read = section_of_reads(g, h->d, to, t);
	return made == SECTION_BODY ? read : made;
}

/* Finds the channels.  A tensor's numbers in the stages' plans are found by
 * name. */
static void find_channels(piper *x)
{
	const graph *g = x->h->g;
	for (tensor_id t = 0; t < g->ntensors; t++)
		for (int s = 0; s < x->h->d->nstages; s++) {
			if (!stage_receives(x->h, s, t))
				continue;
			vec_push(x->a, &x->channels,
				 ((plan_channel){ x->h->home[t], s, t, t }));
			vec_push(x->tmp, &x->sections,
				 section_of_channel(x->h, s, t));
		}
}

/* ---- stages ------------------------------------------------------------ */

/* The program of a stage's graph before it has the stage's passes and messages.
 * NULL after adding errors. */
static const plan *new_draft(piper *x, const lower_stage *of)
{
	lower_rooms rooms;
	lowering *l = lowering_new(x->a, of->g, &of->as, x->o, x->sink);
	const lower_choice which = { x->o->memory, x->o->schedule };
	return l ? lowering_draft(x->a, l, which, &rooms) : NULL;
}

/* A draft of a stage's plan, with tables of its own. */
static plan *draft_of(piper *x, int nth, const lower_stage *of)
{
	const plan *p = of->draft ? of->draft : new_draft(x, of);
	plan *to = &x->p->stages[nth];
	if (!p)
		return NULL;
	*to = *p;
	to->tensors = ARENA_COPY(x->a, p->tensors, p->ntensors);
	to->nodes = ARENA_COPY(x->a, p->nodes, p->nnodes);
	to->buffers = ARENA_COPY(x->a, p->buffers, p->nbuffers);
	return to;
}

/* Sets the inputs and outputs of a stage's plan.  A tensor received from
 * another stage counts as a result; one that is only sent is no output. */
static void set_ends(piper *x, plan *p, int nth, const strmap *names)
{
	const graph *g = x->h->g;
	bool *output = ARENA_ARRAY(x->tmp, bool, p->ntensors);
	int n = 0;
	for (tensor_id t = 0; t < g->ntensors; t++) {
		plan_tensor *to = strmap_get(names, g->tensors[t].name);
		if (to && stage_receives(x->h, nth, t))
			to->role = PLAN_RESULT;
		else if (to)
			output[to - p->tensors] = g->tensors[t].output;
	}
	for (int t = 0; t < p->ntensors; t++)
		p->tensors[t].output &= output[t];
	p->inputs = ARENA_COPY(x->a, p->inputs, p->ninputs);
	p->outputs = ARENA_COPY(x->a, p->outputs, p->noutputs);
	for (int i = 0; i < p->ninputs; i++)
		if (p->tensors[p->inputs[i]].role == PLAN_INPUT)
			p->inputs[n++] = p->inputs[i];
	p->ninputs = n;
	n = 0;
	for (int i = 0; i < p->noutputs; i++)
		if (p->tensors[p->outputs[i]].output)
			p->outputs[n++] = p->outputs[i];
	p->noutputs = n;
}

/* The input of the node that makes tensor `sum' which is not the sum of the
 * turn before; `sum' itself if it does not accumulate. */
static int part_of(const plan *p, int sum)
{
	for (int n = 0; n < p->nnodes; n++) {
		const int *in = p->nodes[n].inputs;
		if (p->nodes[n].output != sum)
			continue;
		for (int i = 0;
		     i < p->kernels[p->nodes[n].kernel].kernel->ninputs; i++)
			if (p->tensors[in[i]].then == sum)
				return in[!i];
	}
	return sum;
}

/* The tensor of a stage's plan for tensor t of the graph.  If t is accumulated
 * over the turns and each turn's part is sent, it is that part. */
static int tensor_for(const piper *x, const plan *p, const strmap *names,
		      tensor_id t, section at)
{
	const graph *g = x->h->g;
	tensor_id total = g->turns->total[t];
	const plan_tensor *of = strmap_get(names, g->tensors[t].name);
	if (!of)
		of = strmap_get(names, g->tensors[total].name);
	int found = (int)(of - p->tensors);
	return at == SECTION_BODY && total != NONE ? part_of(p, found) : found;
}

static stage_message *find_messages(piper *x, const plan *p, int nth,
				    const strmap *names, int *n)
{
	VEC(stage_message) all = { 0 };
	for (int c = 0; c < x->channels.n; c++) {
		const plan_channel *ch = &x->channels.at[c];
		if (ch->from != nth && ch->to != nth)
			continue;
		bool sends = ch->from == nth;
		tensor_id t = sends ? ch->source : ch->target;
		section at = x->sections.at[c];
		vec_push(x->tmp, &all,
			 ((stage_message){ c, tensor_for(x, p, names, t, at),
					   at, sends }));
	}
	*n = all.n;
	return all.at;
}

static bool make_stage(piper *x, int nth, const lower_stage *of)
{
	plan *p = draft_of(x, nth, of);
	if (!p)
		return false;
	int n;
	strmap *names = strmap_new(x->tmp);
	for (int t = 0; t < p->ntensors; t++)
		strmap_put(names, p->tensors[t].name, &p->tensors[t]);
	set_ends(x, p, nth, names);
	stage_message *m = find_messages(x, p, nth, names, &n);
	stage_program(x->a, p, x->h, nth, &x->lists[nth], m, n);
	for (int i = 0; i < n; i++) {
		plan_channel *c = &x->channels.at[m[i].channel];
		*(m[i].sends ? &c->source : &c->target) = m[i].tensor;
	}
	return true;
}

/* ---- slots of messages ------------------------------------------------- */

/* A buffer of a stage with more slots than the stage itself needs, so that
 * other stages do not wait for each other. */
typedef struct widened {
	int stage, buffer;
} widened;

static int *slots_of(const plan_pipeline *p, widened b)
{
	return &p->stages[b.stage].buffers[b.buffer].slots;
}

/* Gives one more slot to a message that a waiting stage has to write, until no
 * stages wait for each other.  Then takes back slots that turn out not to be
 * needed. */
static void widen_messages(piper *x)
{
	plan_pipeline *p = x->p;
	VEC(widened) all = { 0 };
	widened b;
	int instr;
	while (!pipeline_ends(p, &b.stage, &instr)) {
		b.buffer = p->stages[b.stage].program[instr].to;
		int *slots = slots_of(p, b);
		if (p->stages[b.stage].program[instr].op == PLAN_RECEIVE ||
		    *slots == 0 || *slots > p->stages[b.stage].loop.turns)
			return; /* refused later */
		++*slots;
		vec_push(x->tmp, &all, b);
	}
	for (int i = 0; i < all.n; i++) {
		--*slots_of(p, all.at[i]);
		if (!pipeline_ends(p, &b.stage, &instr))
			++*slots_of(p, all.at[i]);
	}
}

/* ---- what stages share ------------------------------------------------- */

static int kernel_number(piper *x, const plan_kernel *k)
{
	uint64_t hash = kernel_hash(k->kernel);
	uint32_t at = 0;
	for (int i; (i = hash_table_next(&x->by_kernel, hash, &at)) >= 0;)
		if (kernel_equal(x->kernels.at[i].kernel, k->kernel))
			return i;
	hash_table_add(x->tmp, &x->by_kernel, hash, x->kernels.n);
	vec_push(x->a, &x->kernels, *k);
	return x->kernels.n - 1;
}

static void share_kernels(piper *x)
{
	plan_pipeline *p = x->p;
	for (int s = 0; s < p->nstages; s++)
		for (int n = 0; n < p->stages[s].nnodes; n++) {
			plan_node *of = &p->stages[s].nodes[n];
			of->kernel = kernel_number(
				x, &p->stages[s].kernels[of->kernel]);
		}
	for (int s = 0; s < p->nstages; s++) {
		p->stages[s].kernels = x->kernels.at;
		p->stages[s].nkernels = x->kernels.n;
	}
}

/* A received part gets a name of its own in the stage. */
static void name_received(piper *x)
{
	plan_pipeline *p = x->p;
	for (int c = 0; c < p->nchannels; c++) {
		const plan_channel *ch = &p->channels[c];
		p->stages[ch->to].tensors[ch->target].name =
			p->stages[ch->from].tensors[ch->source].name;
	}
}

static void set_names(piper *x)
{
	const graph *g = x->h->g;
	plan_pipeline *p = x->p;
	p->inputs = ARENA_ARRAY(x->a, const char *, g->ninputs);
	p->outputs = ARENA_ARRAY(x->a, const char *, g->noutputs);
	p->ninputs = g->ninputs;
	p->noutputs = g->noutputs;
	for (int i = 0; i < g->ninputs; i++)
		p->inputs[i] = g->tensors[g->inputs[i]].name;
	for (int i = 0; i < g->noutputs; i++)
		p->outputs[i] = g->tensors[g->outputs[i]].name;
	p->nfixed = g->nfixed;
	p->fixed = g->fixed;
}

/* Adds up the bytes moved in and between stages.  Returns false after an error
 * if a sum overflows. */
static bool add_bytes(piper *x)
{
	plan_pipeline *p = x->p;
	int64_t sum = 0;
	bool fits = true;
	for (int s = 0; s < p->nstages; s++)
		fits &= ck_add(sum, p->stages[s].communication_bytes, &sum);
	for (int c = 0; c < p->nchannels; c++)
		fits &= ck_add(sum, pipeline_channel_bytes(p, c), &sum);
	p->communication_bytes = sum;
	if (!fits)
		diag_error_in(x->sink, DIAG_MODEL_TOO_LARGE, p->model,
			      "the stages move more than 2^63 bytes");
	return fits;
}

static bool make(piper *x, const lower_stage *stages)
{
	plan_pipeline *p = x->p;
	find_channels(x);
	for (int s = 0; s < p->nstages; s++)
		if (!make_stage(x, s, &stages[s]))
			return false;
	p->channels = x->channels.at;
	p->nchannels = x->channels.n;
	widen_messages(x);
	for (int s = 0; s < p->nstages; s++) {
		plan_place(&p->stages[s]);
		if (!lowering_check(&p->stages[s], x->sink))
			return false;
	}
	name_received(x);
	share_kernels(x);
	set_names(x);
	return add_bytes(x) && pipeline_check(p, x->sink, p->model);
}

static const char *name_of(arena *a, const pipeline *schedule)
{
	const char *name = schedule_name(schedule->kind);
	return schedule->chunks == 1 ? name
				     : arena_printf(a, "%s:%d", name,
						    schedule->chunks);
}

plan_pipeline *lower_pipeline(arena *a, const stage_homes *h,
			      const lower_stage *stages,
			      const pipeline *schedule, const lower_options *o,
			      diag_sink *s)
{
	piper x = { .a = a, .tmp = arena_new(), .h = h, .o = o,
		    .schedule = schedule, .sink = s };
	assert(schedule->ndevices == h->d->nstages &&
	       schedule->chunks == h->d->nchunks &&
	       schedule->micro_batches == h->g->turns->turns);
	x.lists = pipeline_lists(x.tmp, schedule);
	x.p = ARENA_NEW(a, plan_pipeline);
	x.p->model = h->g->name;
	x.p->algorithm = o->algorithm;
	x.p->schedule = name_of(a, schedule);
	x.p->nstages = h->d->nstages;
	x.p->stages = ARENA_ARRAY(a, plan, x.p->nstages);
	bool ok = make(&x, stages);
	arena_free(x.tmp);
	return ok ? x.p : NULL;
}

/* The stages share their kernels. */
plan_pipeline *lower_completed_pipeline(arena *a, const plan_pipeline *p,
					void (*codegen)(arena *a,
							plan_kernel *k),
					diag_sink *s)
{
	plan_pipeline *whole = ARENA_COPY(a, p, 1);
	whole->stages = ARENA_ARRAY(a, plan, p->nstages);
	for (int i = 0; i < p->nstages; i++) {
		plan without = p->stages[i];
		without.nkernels = i == 0 ? without.nkernels : 0;
		const plan *of = lower_completed(a, &without, codegen, s);
		if (!of)
			return NULL;
		whole->stages[i] = *of;
		whole->stages[i].nkernels = p->stages[i].nkernels;
		whole->stages[i].kernels = whole->stages[0].kernels;
	}
	return whole;
}
