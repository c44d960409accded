/* Runs chains, plan/chain.h. */
#include "config.h"

#include "runtime/exec/executor_parts.h"

#include "base/clock.h"
#include "plan/chain.h"

/* By stage and instruction: the chain that begins there. */
struct executor_chains {
	const plan_chain ***of;
};

static void find_chains(executor *m, const plan *p, const plan_chain **to)
{
	arena *work = arena_new();
	const bool *unseen = plan_chain_buffers(work, p);
	for (int i = 0, end; i < p->ninstrs; i = end) {
		plan_chain c;
		end = plan_chain_end(p, i);
		if (p->program[i].chain > 0 && plan_chain_at(p, i, unseen, &c))
			to[i] = ARENA_COPY(m->a, &c, 1);
	}
	arena_free(work);
}

void executor_find_chains(executor *m)
{
	m->chains = ARENA_NEW(m->a, executor_chains);
	m->chains->of = ARENA_ARRAY(m->a, const plan_chain **, m->p->nstages);
	for (int s = 0; s < m->p->nstages; s++) {
		const plan *p = &m->p->stages[s];
		m->chains->of[s] = ARENA_ARRAY(m->a, const plan_chain *,
					       p->ninstrs);
		find_chains(m, p, m->chains->of[s]);
	}
}

const plan_chain *executor_chain(const executor *m, int worker, int instr)
{
	return m->chains->of[m->stage[worker]][instr];
}

/* The view of a buffer.  inner: it is inside a chain, and has a place for each
 * part. */
static view view_in(executor *m, int worker, int buffer, bool inner)
{
	const plan *p = part_plan(m, worker);
	region r = part_region(m, worker, buffer);
	dtype type = p->tensors[p->buffers[buffer].tensor].type;
	if (inner)
		return view_dense(NULL, type, &r.at);
	part_touch(m, worker, buffer, &r);
	return view_dense(part_place(m, worker, buffer), type, &r.at);
}

/* A run of a chain, and the memory for its views. */
typedef struct chain_link {
	box space;
	view *inputs, out;
} chain_link;

static kernel_run run_of(executor *m, arena *a, int worker,
			 const plan_chain *c, int r)
{
	chain_link *l = ARENA_NEW(a, chain_link);
	const plan *p = part_plan(m, worker);
	const plan_instr *in = &p->program[c->instr[r]];
	int number = p->nodes[in->node].kernel;
	const kernel *k = p->kernels[number].kernel;
	l->space = plan_space(p, in, m->number[worker]);
	l->inputs = ARENA_ARRAY(a, view, k->ninputs);
	l->out = view_in(m, worker, in->to, c->inner[r]);
	for (int i = 0; i < k->ninputs; i++) {
		int q = c->from[r][i];
		l->inputs[i] = view_in(m, worker, in->inputs[i],
				       q >= 0 && c->inner[q]);
	}
	return (kernel_run){ .kernel = number, .space = &l->space,
			     .inputs = l->inputs, .out = &l->out };
}

/* Computes a chain.  busy: receives the seconds of each run; may be NULL. */
static bool compute(executor *m, int worker, const plan_chain *c, double *busy,
		    failure *f)
{
	const plan *p = part_plan(m, worker);
	arena *work = arena_new();
	kernel_run runs[MAX_CHAIN];
	int failed = 0;
	for (int r = 0; r < c->n; r++) {
		runs[r] = run_of(m, work, worker, c, r);
		runs[r].busy = busy ? &busy[r] : NULL;
		if (busy)
			busy[r] = 0;
	}
	const kernel_chain all = { p, c, runs };
	bool good = m->backend->run_chain(m->device, worker - m->first, &all,
					  &failed, f);
	arena_free(work);
	return good || backend_at(p, worker, c->instr[failed], f);
}

/* Notes the times of a chain's runs, if they are recorded.  Each run gets a
 * share of the whole time in proportion to busy. */
static void note_chain(executor *m, int worker, const plan_chain *c,
		       double begun, const double *busy)
{
	double wall = clock_seconds() - begun, all = 0;
	double at = begun - m->begun[worker];
	for (int r = 0; r < c->n; r++)
		all += busy[r];
	for (int r = 0; r < c->n; r++) {
		double own = all > 0 ? wall * (busy[r] / all) : wall / c->n;
		if (m->measured)
			m->measured[worker - m->first][c->instr[r]] =
				(instr_seconds){ own, busy[r] };
		if (m->spans)
			m->spans[worker][c->instr[r]] =
				(exec_span){ .begin = at, .end = at + own };
		at += own;
	}
}

bool executor_run_chain(executor *m, int worker, const plan_chain *c,
			failure *f)
{
	const int first = c->instr[0], last = c->instr[c->n - 1];
	const bool timed = m->measured || m->spans;
	double busy[MAX_CHAIN], begun;
	for (int i = first; i <= last; i++)
		if (!m->comm->ready(m->link, i, worker))
			return false;
	if (first > 0)
		part_hand_out(m, worker, first - 1);
	begun = clock_seconds();
	if (!compute(m, worker, c, timed ? busy : NULL, f))
		return false;
	if (timed)
		note_chain(m, worker, c, begun, busy);
	for (int i = first; i <= last; i++)
		kept_spoil(m, worker, i);
	for (int i = first; i < last; i++)
		part_hand_out(m, worker, i);
	return true;
}
