/* Tests: plan */
/* Queues of all stages of random pipelines, run without data and at random: the
 * waits that a schedule has are enough, the run ends, and also where the queues
 * of a device hold each other up. */
#include "config.h"

#include <check.h>

#include "plan/messages.h"
#include "tests/unit/random_pipeline.h"
#include "tests/unit/suite.h"

/* A step that was begun. */
typedef enum phase { WAITS, GOES_ON, ENDED } phase;

typedef struct device {
	const plan *p;
	stream_schedule s;
	int *own;      /* its links */
	phase *phases; /* by step */
	int ndone;
	/* By 64 bytes of the arena: 1 + the buffer that is there; the step that
	 * writes it, or -1; the number of steps that read it. */
	int *owner, *writer, *readers;
} device;

typedef struct queues {
	arena *a;
	plan_pipeline *p; /* unrolled */
	message_order order;
	device *devices;
	rng *r;
	bool in_one; /* each device has one queue for all */
	const char *why;
} queues;

static void wrong(queues *q, int nth, int step, const char *what)
{
	if (!q->why)
		q->why = arena_printf(q->a, "stage %d, step %d: %s", nth,
				      step, what);
}

/* ---- memory ------------------------------------------------------------ */

static int first_of(const plan_buffer *b)
{
	return (int)(b->offset / PLAN_ALIGN);
}

static int end_of(const plan_buffer *b)
{
	return (int)((b->offset + b->nbytes + PLAN_ALIGN - 1) / PLAN_ALIGN);
}

static void begin_read(queues *q, int nth, int step, int buffer)
{
	device *d = &q->devices[nth];
	const plan_buffer *b = &d->p->buffers[buffer];
	for (int i = first_of(b); i < end_of(b); i++) {
		if (d->owner[i] != buffer + 1)
			wrong(q, nth, step, "what it reads is not there");
		if (d->writer[i] >= 0 && d->writer[i] != step)
			wrong(q, nth, step, "what it reads is written");
		d->readers[i]++;
	}
}

static void end_read(device *d, int buffer)
{
	const plan_buffer *b = &d->p->buffers[buffer];
	for (int i = first_of(b); i < end_of(b); i++)
		d->readers[i]--;
}

/* After what the step itself reads, which does not count. */
static void begin_write(queues *q, int nth, int step, int buffer,
			const int *reads)
{
	device *d = &q->devices[nth];
	const plan_buffer *b = &d->p->buffers[buffer];
	for (int i = first_of(b); i < end_of(b); i++) {
		if (d->writer[i] >= 0 && d->writer[i] != step)
			wrong(q, nth, step, "what it writes is written");
		if (d->readers[i] > reads[i])
			wrong(q, nth, step, "what it writes is read");
		d->writer[i] = step;
		d->owner[i] = buffer + 1;
	}
}

static void end_write(device *d, int buffer)
{
	const plan_buffer *b = &d->p->buffers[buffer];
	for (int i = first_of(b); i < end_of(b); i++)
		d->writer[i] = -1;
}

/* ---- steps ------------------------------------------------------------- */

/* The buffers that an instruction reads; how many. */
static int reads_of(const plan *p, const plan_instr *in, const int **buffers)
{
	*buffers = &in->from;
	if (in->op == PLAN_RUN) {
		*buffers = in->inputs;
		return p->kernels[p->nodes[in->node].kernel].kernel->ninputs;
	}
	return plan_moves(in) || in->op == PLAN_SEND;
}

static void begin_step(queues *q, int nth, int step)
{
	device *d = &q->devices[nth];
	const stream_step *t = &d->s.steps[step];
	int *own = ARENA_ARRAY(q->a, int, d->p->arena_bytes / PLAN_ALIGN + 1);
	d->phases[step] = GOES_ON;
	for (int i = 0; i < t->ninstrs; i++) {
		const plan_instr *in = &d->p->program[t->instrs[i]];
		const int *buffers;
		int n = reads_of(d->p, in, &buffers);
		for (int k = 0; k < n; k++) {
			const plan_buffer *b = &d->p->buffers[buffers[k]];
			begin_read(q, nth, step, buffers[k]);
			for (int j = first_of(b); j < end_of(b); j++)
				own[j]++;
		}
		if (in->op != PLAN_SEND)
			begin_write(q, nth, step, in->to, own);
	}
}

static void end_step(queues *q, int nth, int step)
{
	device *d = &q->devices[nth];
	const stream_step *t = &d->s.steps[step];
	for (int i = 0; i < t->ninstrs; i++) {
		const plan_instr *in = &d->p->program[t->instrs[i]];
		const int *buffers;
		int n = reads_of(d->p, in, &buffers);
		for (int k = 0; k < n; k++)
			end_read(d, buffers[k]);
		if (in->op != PLAN_SEND)
			end_write(d, in->to);
	}
	d->phases[step] = ENDED;
	d->ndone++;
}

/* Whether a step is the first of its queue, and what it waits for has ended. */
static bool is_next(const queues *q, int nth, int step)
{
	const device *d = &q->devices[nth];
	const stream_step *t = &d->s.steps[step];
	if (d->phases[step] != WAITS)
		return false;
	for (int i = 0; i < step; i++)
		if (d->phases[i] != ENDED &&
		    (q->in_one || d->s.steps[i].on == t->on))
			return false;
	for (int i = 0; i < t->nafter; i++)
		if (d->phases[t->after[i]] != ENDED)
			return false;
	return true;
}

/* ---- messages ---------------------------------------------------------- */

static const plan_instr *message_in(const queues *q, int nth, int step)
{
	const device *d = &q->devices[nth];
	const plan_instr *in = &d->p->program[d->s.steps[step].instrs[0]];
	return in->op == PLAN_SEND || in->op == PLAN_RECEIVE ? in : NULL;
}

/* The step of another stage that is next on the queue of a link; -1. */
static int next_on(const queues *q, int nth, int link)
{
	const device *d = &q->devices[nth];
	for (int t = 0; t < d->s.nsteps; t++) {
		int on = d->s.steps[t].on - STREAM_COUNT;
		if (on >= 0 && d->own[on] == link && d->phases[t] == WAITS)
			return is_next(q, nth, t) ? t : -1;
	}
	return -1;
}

/* A message goes when both sides have come to it. */
static bool meet(queues *q, int nth, int step)
{
	const plan_instr *in = message_in(q, nth, step);
	const plan_channel *c = &q->p->channels[in->channel];
	int other = c->from == nth ? c->to : c->from;
	int then = next_on(q, other, q->order.link_of[in->channel]);
	if (then < 0)
		return false;
	const plan_instr *with = message_in(q, other, then);
	if (with->op == in->op || with->channel != in->channel ||
	    with->turn != in->turn)
		wrong(q, nth, step, "the two sides have other messages");
	begin_step(q, nth, step);
	begin_step(q, other, then);
	end_step(q, nth, step);
	end_step(q, other, then);
	return true;
}

/* ---- a run ------------------------------------------------------------- */

static bool try_step(queues *q, int nth, int step)
{
	const device *d = &q->devices[nth];
	if (d->phases[step] == GOES_ON) {
		end_step(q, nth, step);
		return true;
	}
	if (!is_next(q, nth, step))
		return false;
	if (message_in(q, nth, step))
		return meet(q, nth, step);
	begin_step(q, nth, step);
	return true;
}

static bool anything_moves(queues *q)
{
	int n = q->p->nstages, first = rng_below(q->r, n);
	for (int i = 0; i < n; i++) {
		device *d = &q->devices[(first + i) % n];
		int begin = d->s.nsteps ? rng_below(q->r, d->s.nsteps) : 0;
		for (int t = 0; t < d->s.nsteps; t++)
			if (try_step(q, (first + i) % n,
				     (begin + t) % d->s.nsteps))
				return true;
	}
	return false;
}

/* The values that are there before the first instruction. */
static void fill_given(queues *q, device *d)
{
	int n = (int)(d->p->arena_bytes / PLAN_ALIGN) + 1;
	d->owner = ARENA_ARRAY(q->a, int, n);
	d->writer = ARENA_ARRAY(q->a, int, n);
	d->readers = ARENA_ARRAY(q->a, int, n);
	for (int i = 0; i < n; i++)
		d->writer[i] = -1;
	for (int t = 0; t < d->p->ntensors; t++) {
		const plan_tensor *x = &d->p->tensors[t];
		if (x->role == PLAN_RESULT || x->buffer < 0 ||
		    plan_in_turns(d->p, t))
			continue;
		const plan_buffer *b = &d->p->buffers[x->buffer];
		for (int i = first_of(b); i < end_of(b); i++)
			d->owner[i] = x->buffer + 1;
	}
}

static plan_pipeline *unrolled(arena *a, const plan_pipeline *p)
{
	plan_pipeline *all = ARENA_COPY(a, p, 1);
	all->stages = ARENA_ARRAY(a, plan, p->nstages);
	for (int s = 0; s < p->nstages; s++)
		all->stages[s] = *plan_unroll(a, &p->stages[s],
					      PLAN_MAX_TURNS);
	return all;
}

static queues queues_of(arena *a, rng *r, uint64_t seed)
{
	diag_sink *s = diag_sink_new(a);
	plan_pipeline *p = random_pipeline(a, seed, seed / 2 % 2, s);
	queues q = { .a = a, .r = r, .p = unrolled(a, p),
		     .in_one = seed % 2 };
	q.order = messages_in_order(a, q.p);
	q.devices = ARENA_ARRAY(a, device, p->nstages);
	for (int i = 0; i < p->nstages; i++) {
		device *d = &q.devices[i];
		d->p = &q.p->stages[i];
		stream_order o = messages_in_stage(a, q.p, &q.order, i,
						   &d->own);
		stream_fault f;
		d->s = plan_streams_in(a, d->p, &o);
		ck_assert_msg(streams_check_in(d->p, &o, &d->s, &f),
			      "seed %d: fault %d: %d and %d", (int)seed,
			      (int)f.kind, f.first, f.second);
		d->phases = ARENA_ARRAY(a, phase, d->s.nsteps);
		fill_given(&q, d);
	}
	return q;
}

/* Why a run was wrong; NULL. */
static const char *run(queues *q)
{
	while (!q->why && anything_moves(q))
		;
	for (int s = 0; s < q->p->nstages; s++)
		if (!q->why && q->devices[s].ndone < q->devices[s].s.nsteps)
			return arena_printf(q->a, "stage %d waits after %d "
					    "of %d steps", s,
					    q->devices[s].ndone,
					    q->devices[s].s.nsteps);
	return q->why;
}

START_TEST(queues_are_right)
{
	int messages = 0, waits = 0, ahead = 0;
	for (int seed = 0; seed < 400; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		rng r = rng_new((uint64_t)seed + 1);
		queues q = queues_of(a, &r, (uint64_t)seed);
		const char *why = run(&q);
		ck_assert_msg(!why, "seed %d: %s", seed, why);
		messages += q.order.nmessages;
		for (int i = 0; i < q.order.nmessages; i++)
			ahead += q.order.messages[i].receiver_at <
				 q.order.messages[i].receive;
		for (int s = 0; s < q.p->nstages; s++)
			for (int t = 0; t < q.devices[s].s.nsteps; t++)
				waits += q.devices[s].s.steps[t].nafter;
		arena_free(a);
	}
	ck_assert_int_gt(messages, at_least(1000));
	ck_assert_int_gt(waits, at_least(2000));
	ck_assert_int_gt(ahead, at_least(200)); /* of when it is needed */
}
END_TEST

/* A wait that is left out: the check finds each, and the run finds some. */
START_TEST(missing_waits)
{
	int planted = 0, seen = 0;
	for (int seed = 0; seed < 60; seed++) {
		arena *a = arena_new();
		rng r = rng_new((uint64_t)seed + 2);
		queues q = queues_of(a, &r, (uint64_t)seed);
		int s = rng_below(&r, q.p->nstages);
		device *d = &q.devices[s];
		int t = d->s.nsteps ? rng_below(&r, d->s.nsteps) : 0;
		while (t < d->s.nsteps && d->s.steps[t].nafter == 0)
			t++;
		if (t < d->s.nsteps) {
			int *own;
			stream_fault f;
			stream_order o = messages_in_stage(a, q.p, &q.order, s,
							   &own);
			d->s.steps[t].nafter--;
			ck_assert(!streams_check_in(d->p, &o, &d->s, &f));
			ck_assert_int_eq(f.kind, STREAM_UNORDERED);
			planted++;
			q.in_one = false;
			seen += run(&q) != NULL;
		}
		arena_free(a);
	}
	ck_assert_int_gt(planted, 30);
	ck_assert_int_gt(seen, 10);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("messages");
	TCase *t = tcase_create("messages");
	tcase_set_timeout(t, 240);
	tcase_add_test(t, queues_are_right);
	tcase_add_test(t, missing_waits);
	suite_add_tcase(s, t);
	return s;
}
