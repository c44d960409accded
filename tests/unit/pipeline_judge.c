#include "config.h"

#include "tests/unit/pipeline_judge.h"

#include "base/vec.h"

typedef struct message {
	int buffer;
	bool taken;
} message;

typedef VEC(message) messages;

typedef struct device {
	const plan *p; /* unrolled */
	int *owner;    /* by 64 bytes of the arena: 1 + the buffer */
	int at;
} device;

typedef struct judge {
	arena *a;
	const plan_pipeline *p;
	device *devices;
	messages *sent; /* by channel */
	int *taken;
	const char *why;
} judge;

static int first_of(const plan_buffer *b)
{
	return (int)(b->offset / PLAN_ALIGN);
}

static int end_of(const plan_buffer *b)
{
	return (int)((b->offset + b->nbytes + PLAN_ALIGN - 1) / PLAN_ALIGN);
}

static void fill(device *d, int buffer)
{
	const plan_buffer *b = &d->p->buffers[buffer];
	for (int i = first_of(b); i < end_of(b); i++)
		d->owner[i] = buffer + 1;
}

static bool has(const device *d, int buffer)
{
	const plan_buffer *b = &d->p->buffers[buffer];
	for (int i = first_of(b); i < end_of(b); i++)
		if (d->owner[i] != buffer + 1)
			return false;
	return true;
}

static bool meet(const plan_buffer *x, const plan_buffer *y)
{
	return first_of(x) < end_of(y) && first_of(y) < end_of(x);
}

static void read_buffer(judge *j, device *d, int buffer)
{
	if (!has(d, buffer))
		j->why = arena_printf(j->a, "stage %d: instruction %d reads "
				      "'%s', which was overwritten",
				      (int)(d - j->devices), d->at,
				      d->p->tensors[d->p->buffers[buffer]
							    .tensor].name);
}

/* Whether a place has a message that some stage has yet to take. */
static bool is_waited_for(const judge *j, const device *d, int buffer)
{
	const plan_buffer *b = &d->p->buffers[buffer];
	int nth = (int)(d - j->devices);
	for (int c = 0; c < j->p->nchannels; c++)
		for (int i = 0; i < j->sent[c].n; i++) {
			const message *m = &j->sent[c].at[i];
			if (!m->taken && j->p->channels[c].from == nth &&
			    meet(&d->p->buffers[m->buffer], b))
				return true;
		}
	return false;
}

static void receive(judge *j, const plan_instr *in)
{
	const plan_channel *c = &j->p->channels[in->channel];
	message *m = &j->sent[in->channel].at[j->taken[in->channel]++];
	device *from = &j->devices[c->from];
	read_buffer(j, from, m->buffer);
	if (from->p->buffers[m->buffer].turn != in->turn)
		j->why = "a message of another turn";
	m->taken = true;
}

/* Does a stage's next instruction; false if it has to wait. */
static bool step(judge *j, device *d)
{
	const plan_instr *in = &d->p->program[d->at];
	if (in->op == PLAN_SEND) {
		read_buffer(j, d, in->from);
		vec_push(j->a, &j->sent[in->channel],
			 ((message){ in->from, false }));
		d->at++;
		return true;
	}
	if (is_waited_for(j, d, in->to))
		return false;
	if (in->op == PLAN_RECEIVE &&
	    j->taken[in->channel] == j->sent[in->channel].n)
		return false;
	if (in->op == PLAN_RECEIVE)
		receive(j, in);
	if (plan_moves(in))
		read_buffer(j, d, in->from);
	if (in->op == PLAN_RUN) {
		int k = d->p->nodes[in->node].kernel;
		for (int i = 0; i < d->p->kernels[k].kernel->ninputs; i++)
			read_buffer(j, d, in->inputs[i]);
	}
	fill(d, in->to);
	d->at++;
	return true;
}

static void begin(judge *j, int nth)
{
	device *d = &j->devices[nth];
	d->p = plan_unroll(j->a, &j->p->stages[nth], PLAN_MAX_TURNS);
	d->owner = ARENA_ARRAY(j->a, int,
			       d->p->arena_bytes / PLAN_ALIGN + 1);
	for (int t = 0; t < d->p->ntensors; t++) {
		const plan_tensor *x = &d->p->tensors[t];
		if (x->role != PLAN_RESULT && x->buffer >= 0 &&
		    !plan_in_turns(d->p, t))
			fill(d, x->buffer);
	}
}

/* A next value is where its state is, if it was not moved there. */
static void end(judge *j, const device *d)
{
	for (int t = 0; t < d->p->ntensors; t++) {
		const plan_tensor *x = &d->p->tensors[t];
		if (x->role == PLAN_STATE && x->next >= 0 &&
		    !has(d, x->buffer) &&
		    !has(d, d->p->tensors[x->next].buffer))
			j->why = arena_printf(j->a, "'%s' is lost", x->name);
		if (x->output && !plan_in_turns(d->p, t) && !has(d, x->buffer))
			j->why = arena_printf(j->a, "'%s' is lost", x->name);
	}
}

static bool anyone_moves(judge *j, rng *r, int n)
{
	int first = rng_below(r, n);
	for (int i = 0; i < n; i++) {
		device *d = &j->devices[(first + i) % n];
		if (d->at < d->p->ninstrs && step(j, d))
			return true;
	}
	return false;
}

const char *pipeline_judge(arena *a, const plan_pipeline *p, rng *r)
{
	judge j = { .a = a, .p = p };
	j.devices = ARENA_ARRAY(a, device, p->nstages);
	j.sent = ARENA_ARRAY(a, messages, p->nchannels);
	j.taken = ARENA_ARRAY(a, int, p->nchannels);
	for (int s = 0; s < p->nstages; s++)
		begin(&j, s);
	while (!j.why && anyone_moves(&j, r, p->nstages))
		;
	for (int s = 0; !j.why && s < p->nstages; s++) {
		if (j.devices[s].at < j.devices[s].p->ninstrs)
			return arena_printf(a, "stage %d waits at %d", s,
					    j.devices[s].at);
		end(&j, &j.devices[s]);
	}
	return j.why;
}
