/* Measurements of an executor's steps. */
#include "config.h"

#include "runtime/exec/executor_parts.h"

void executor_measure(executor *m)
{
	if (m->measured || !executor_is_host(m))
		return;
	if (m->comm->apart)
		m->comm->apart(m->link);
	m->measured = ARENA_ARRAY(m->a, instr_seconds *, m->end - m->first);
	for (int w = m->first; w < m->end; w++)
		m->measured[w - m->first] = ARENA_ARRAY(
			m->a, instr_seconds, part_plan(m, w)->ninstrs);
}

const instr_seconds *executor_measured(const executor *m, int worker)
{
	bool here = m->measured && worker >= m->first && worker < m->end;
	return here ? m->measured[worker - m->first] : NULL;
}

void executor_share(const executor *m, int worker, void *data, int64_t n)
{
	m->comm->share(m->link, worker, data, n);
}

int64_t executor_worker_used(const executor *m, int worker)
{
	int64_t used = m->used[worker];
	executor_share(m, worker, &used, (int64_t)sizeof(used));
	return used;
}

const plan *executor_plan(const executor *m, int worker)
{
	return part_plan(m, worker);
}

void executor_here(const executor *m, int *first, int *end)
{
	*first = m->first;
	*end = m->end;
}

double executor_greatest(const executor *m, double seconds)
{
	const double unit = 1e-9;
	int64_t n = seconds < 1e9 ? (int64_t)(seconds / unit + 0.5)
				  : INT64_C(1000000000000000000);
	return (double)m->comm->greatest(m->link, n) * unit;
}

int executor_agree(const executor *m, int x)
{
	return (int)m->comm->greatest(m->link, x);
}

double executor_seconds(const executor *m)
{
	return m->seconds;
}

double executor_step_seconds(const executor *m)
{
	if (m->nsteps > FIRST_STEPS)
		return m->settled / (double)(m->nsteps - FIRST_STEPS);
	return m->nsteps > 0 ? m->seconds / (double)m->nsteps : 0;
}

static int64_t received(const executor *m, int stage, int instr)
{
	return executor_is_host(m)
		       ? m->comm->received(m->link, stage, instr)
		       : m->backend->received(m->device, stage, instr);
}

int64_t executor_received(const executor *m)
{
	int64_t n = 0;
	for (int s = 0; s < m->p->nstages; s++)
		for (int i = 0; i < m->p->stages[s].ninstrs; i++) {
			const plan_instr *in = &m->p->stages[s].program[i];
			if (plan_moves(in) || in->op == PLAN_RECEIVE)
				n += received(m, s, i);
		}
	return m->comm->sum(m->link, n);
}

void machine_copies(const executor *m, int64_t *planned, int64_t *used)
{
	*planned = *used = 0;
	if (m->backend->copies)
		m->backend->copies(m->device, planned, used);
	for (int w = m->first; w < m->end; w++) {
		int64_t most = kept_planned(m, w), own = kept_used(m, w);
		*planned = most > *planned ? most : *planned;
		*used = own > *used ? own : *used;
	}
	*planned = m->comm->greatest(m->link, *planned);
	*used = m->comm->greatest(m->link, *used);
}

int64_t executor_arena_used(const executor *m, int stage)
{
	int64_t most = executor_is_host(m) ? 0
					   : m->backend->used(m->device, stage);
	for (int w = 0; w < m->nworkers; w++)
		if (m->stage[w] == stage && m->used[w] > most)
			most = m->used[w];
	return m->comm->greatest(m->link, most);
}
