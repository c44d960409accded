/* Records when instructions began and ended. */
#include "config.h"

#include "runtime/exec/executor_parts.h"

/* The rows and turns of a worker's spans. */
static exec_span *spans_of(executor *m, int worker)
{
	const plan *p = &m->asked->stages[m->stage[worker]];
	const plan *u = part_plan(m, worker);
	exec_span *x = ARENA_ARRAY(m->a, exec_span, u->ninstrs);
	for (int i = 0; i < u->ninstrs; i++) {
		int row = plan_unrolled_row(p, u, i);
		bool in_body = row >= p->loop.begin && row < p->loop.end;
		x[i].row = row;
		x[i].turn = in_body ? u->program[i].turn : -1;
	}
	return x;
}

void executor_record(executor *m)
{
	m->spans = ARENA_ARRAY(m->a, exec_span *, m->nworkers);
	for (int w = 0; w < m->nworkers; w++)
		m->spans[w] = spans_of(m, w);
}

const exec_span *executor_spans(const executor *m, int worker, int *n)
{
	*n = part_plan(m, worker)->ninstrs;
	m->comm->share(m->link, worker, m->spans[worker],
		       *n * (int64_t)sizeof(exec_span));
	return m->spans[worker];
}
