/* A worker's program in a step.  It can be left where it would have to wait,
 * and entered again (communicator.h). */
#include "config.h"

#include <assert.h>

#include "base/clock.h"
#include "base/memory.h"
#include "runtime/exec/executor_parts.h"
#include "runtime/exec/verify.h"

/* The position of a worker in a step. */
typedef enum step_phase { STEP_NEW, STEP_FED, STEP_BEGUN } step_phase;

struct step_position {
	step_phase phase;
	int instr;   /* the next one */
	bool met;    /* whether all have reached it, if they have to */
	bool begun;  /* whether what it writes may be written */
	double wall, busy; /* of that instruction so far */
};

/* Disturbs a result; only for a single worker, which has whole tensors or a
 * turn's part of them. */
static void disturb(executor *m, int worker, const plan_instr *in)
{
	const plan *p = part_plan(m, worker);
	array x = executor_array(p, p->buffers[in->to].tensor);
	region held = part_region(m, worker, in->to);
	for (int d = 0; d < x.ndim; d++)
		x.dims[d] = held.at.hi[d] - held.at.lo[d];
	x.data = part_place(m, worker, in->to);
	assert(m->nworkers == 1);
	verify_move(&x, m->noise, m->seed++);
}

static bool run_kernel(executor *m, int worker, int instr, double *busy,
		       failure *f)
{
	const plan *p = part_plan(m, worker);
	const plan_instr *in = &p->program[instr];
	prepared_run all[PLAN_MOST_JOINED], *x = all;
	if (run_is_epilogue(m, worker, instr))
		return true;
	run_prepare(m, worker, instr, x);
	x->run.busy = busy;
	for (int i = instr; run_epilogue(m, worker, i) >= 0; i++, x++) {
		run_prepare(m, worker, i + 1, x + 1);
		x->run.next = &x[1].run;
		x->run.epilogue = run_epilogue(m, worker, i);
	}
	if (!plan_is_idle(p, in)) {
		kept_find(m, worker, instr, &all->run);
		if (!m->backend->run(m->device, worker - m->first, &all->run,
				     f))
			return backend_at(p, worker, instr, f);
		kept_filled(m, worker, instr);
	}
	if (m->disturbed && m->disturbed[in->node])
		disturb(m, worker, in);
	return true;
}

static void touch_transfer(executor *m, int worker, const plan_instr *in)
{
	region from = part_region(m, worker, in->from);
	region to = part_region(m, worker, in->to);
	part_touch(m, worker, in->from, &from);
	part_touch(m, worker, in->to, &to);
}

static bool perform_one(executor *m, int worker, int i, double *busy,
			failure *f)
{
	const plan_instr *in = &part_plan(m, worker)->program[i];
	region to;
	switch (in->op) {
	case PLAN_RUN:
		return run_kernel(m, worker, i, busy, f);
	case PLAN_MOVE:
		touch_transfer(m, worker, in);
		return m->comm->move(m->link, i, worker);
	case PLAN_COMBINE:
		touch_transfer(m, worker, in);
		return m->comm->combine(m->link, i, worker);
	case PLAN_FEED:
		part_feed(m, worker, i);
		return true;
	case PLAN_SEND:
		return m->comm->send(m->link, i, worker);
	case PLAN_RECEIVE:
		to = part_region(m, worker, in->to);
		part_touch(m, worker, in->to, &to);
		return m->comm->receive(m->link, i, worker);
	}
	return false;
}

/* Performs an instruction.  busy: receives a kernel's processor time; may be
 * NULL. */
static bool perform(executor *m, int worker, int i, double *busy, failure *f)
{
	bool good = perform_one(m, worker, i, busy, f);
	kept_spoil(m, worker, i);
	return good;
}

/* Whether an instruction can begin.  The epilogues of a run have to be ready,
 * too. */
static bool is_ready(executor *m, int worker, int i)
{
	if (run_is_epilogue(m, worker, i))
		return true;
	do
		if (!m->comm->ready(m->link, i, worker))
			return false;
	while (run_epilogue(m, worker, i++) >= 0);
	return true;
}

/* ---- one instruction --------------------------------------------------- */

/* If an instruction took longer than this in the step before, its processor
 * time is measured.  That itself takes a microsecond. */
#define LASTS_SECONDS 5e-5

/* If times are measured, a transfer of a plan without stages begins when all
 * workers have reached it. */
static bool meet(executor *m, int worker, step_position *at)
{
	const plan_instr *in = &part_plan(m, worker)->program[at->instr];
	bool moves = plan_moves(in) && in->collective != COLL_LOCAL;
	if (m->measured && moves && m->p->nstages == 1 && !at->met &&
	    !m->comm->barrier(m->link, worker))
		return false;
	at->met = true;
	return true;
}

static bool begin_instr(executor *m, int worker, step_position *at)
{
	const int i = at->instr;
	if (!is_ready(m, worker, i))
		return false;
	if (i > 0) /* the transfer before, if there was one, has ended now */
		part_hand_out(m, worker, i - 1);
	if (m->spans)
		m->spans[worker][i].begin = clock_seconds() - m->begun[worker];
	at->begun = true;
	return true;
}

/* busy: as for perform(). */
static bool run_instr(executor *m, int worker, step_position *at, double *busy,
		      failure *f)
{
	const int i = at->instr;
	if (!at->begun && !begin_instr(m, worker, at))
		return false;
	if (!perform(m, worker, i, busy, f))
		return false;
	if (m->spans)
		m->spans[worker][i].end = clock_seconds() - m->begun[worker];
	return true;
}

/* The same, and measures its time; if it is left and entered again, the time
 * between does not count. */
static bool measure_instr(executor *m, int worker, step_position *at,
			  failure *f)
{
	instr_seconds *to = &m->measured[worker - m->first][at->instr];
	const plan_instr *in = &part_plan(m, worker)->program[at->instr];
	bool lasts = to->wall > LASTS_SECONDS;
	double busy = lasts ? clock_thread_seconds() : 0;
	double wall = clock_seconds(), computed = 0;
	bool good = run_instr(m, worker, at, lasts ? &computed : NULL, f);
	at->wall += clock_seconds() - wall;
	if (lasts)
		at->busy += in->op == PLAN_RUN ? computed
					       : clock_thread_seconds() - busy;
	if (good)
		*to = (instr_seconds){ at->wall, lasts ? at->busy : at->wall };
	return good;
}

/* Runs the next instruction, or the chain that begins with it. */
static bool run_next(executor *m, int worker, step_position *at, failure *f)
{
	const plan_chain *c = executor_chain(m, worker, at->instr);
	memory_poll();
	if (c && !executor_run_chain(m, worker, c, f))
		return false;
	if (!c && (!meet(m, worker, at) ||
		   !(m->measured ? measure_instr(m, worker, at, f)
				 : run_instr(m, worker, at, NULL, f))))
		return false;
	*at = (step_position){ .phase = STEP_BEGUN,
			       .instr = (c ? c->instr[c->n - 1] : at->instr) +
					1 };
	return true;
}

/* ---- the program ------------------------------------------------------- */

bool step_feed(executor *m, int worker, failure *f)
{
	const plan *p = part_plan(m, worker);
	const int *numbers = m->inputs_of[m->stage[worker]];
	bool good = true;
	for (int i = 0; good && i < p->ninputs; i++) {
		int to = p->tensors[p->inputs[i]].buffer;
		if (to >= 0 && !plan_in_turns(p, p->inputs[i]))
			good = part_scatter(m, worker, to,
					    m->inputs[numbers[i]].data, f);
	}
	return good;
}

/* Adds the seconds of a step.  The first steps do not count as settled: they
 * touch memory, load code and capture a graph. */
void step_note_seconds(executor *m, double seconds)
{
	m->seconds += seconds;
	if (++m->nsteps > FIRST_STEPS)
		m->settled += seconds;
}

static bool begin_step(executor *m, int worker, step_position *at, failure *f)
{
	if (at->phase == STEP_NEW && !step_feed(m, worker, f))
		return false;
	at->phase = STEP_FED;
	if (!m->comm->barrier(m->link, worker))
		return false;
	at->phase = STEP_BEGUN;
	m->begun[worker] = clock_seconds();
	return true;
}

/* The time is that of worker 0 between two barriers, so it is that of the
 * slowest worker. */
static bool run_program(executor *m, int worker, step_position *at, failure *f)
{
	const plan *p = part_plan(m, worker);
	if (at->phase != STEP_BEGUN && !begin_step(m, worker, at, f))
		return false;
	while (at->instr < p->ninstrs)
		if (!run_next(m, worker, at, f))
			return false;
	if (!m->comm->barrier(m->link, worker))
		return false;
	if (p->ninstrs > 0)
		part_hand_out(m, worker, p->ninstrs - 1);
	if (worker == 0)
		step_note_seconds(m, clock_seconds() - m->begun[worker]);
	return true;
}

static bool go_on(void *arg, int worker, failure *f)
{
	executor *m = arg;
	step_position at = m->positions[worker - m->first];
	bool good = run_program(m, worker, &at, f);
	m->positions[worker - m->first] = at;
	return good;
}

void executor_prepare_steps(executor *m)
{
	m->positions = ARENA_ARRAY(m->a, step_position, m->end - m->first);
	m->begun = ARENA_ARRAY(m->a, double, m->nworkers);
}

bool step_run(executor *m, failure *f)
{
	for (int w = m->first; w < m->end; w++)
		m->positions[w - m->first] = (step_position){ 0 };
	return m->comm->launch(m->link, go_on, m, f);
}
