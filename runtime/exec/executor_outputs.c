/* Outputs that kernels write to the caller's arrays, and not to the arena. */
#include "config.h"

#include "runtime/exec/executor_parts.h"

#include <stdint.h>

#include "layout/runs.h"

/* A worker's part of an output that lies in one piece in the whole. */
typedef struct loan {
	int worker, buffer, output;
	int64_t offset; /* bytes */
} loan;

struct executor_loans {
	VEC(loan) all;
	/* by worker and buffer: where it lies during a step; NULL: in the
	 * arena; NULL for workers that have no loans */
	unsigned char ***place;
};

/* ---- which ------------------------------------------------------------- */

/* Notes the buffers of an instruction that have to lie where the plan has
 * them: what is not a kernel's, and what a copy in place, which is not run,
 * leaves to another buffer. */
static void fix_buffers(const plan *p, const plan_instr *in, bool *fixed)
{
	switch (in->op) {
	case PLAN_RUN:
		if (plan_is_idle(p, in))
			fixed[in->to] = fixed[in->inputs[0]] = true;
		break;
	case PLAN_MOVE:
	case PLAN_COMBINE:
	case PLAN_SEND:
		fixed[in->from] = fixed[in->to] = true;
		break;
	case PLAN_FEED:
	case PLAN_RECEIVE:
		fixed[in->to] = true;
		break;
	}
}

/* By buffer of a plan: whether it has to lie where the plan has it. */
static bool *find_fixed(arena *a, const plan *p)
{
	bool *fixed = ARENA_ARRAY(a, bool, p->nbuffers);
	for (int i = 0; i < p->ninstrs; i++)
		fix_buffers(p, &p->program[i], fixed);
	for (int t = 0; t < p->ntensors; t++) {
		int next = p->tensors[t].next;
		if (next >= 0 && p->tensors[next].buffer >= 0)
			fixed[p->tensors[next].buffer] = true;
	}
	return fixed;
}

static void find_loan(executor *m, int worker, int output)
{
	const plan *p = part_plan(m, worker);
	const plan_tensor *t = &p->tensors[m->results[output].tensor];
	executor_loans *l = m->loans;
	region all = { .at = box_whole(t->dims, t->ndim) };
	region part = part_region(m, worker, t->buffer);
	runs r = runs_of(&part.at, &all, &part);
	if (!runs_next(&r) || r.n < part.count)
		return;
	if (!l->place[worker])
		l->place[worker] = ARENA_ARRAY(m->a, unsigned char *,
					       p->nbuffers);
	int64_t offset = r.dst * (int64_t)dtype_size(t->type);
	vec_push(m->a, &l->all, ((loan){ worker, t->buffer, output, offset }));
}

/* The loans of an output.  A stage that runs in turns has none: buffers of
 * other turns may stand for that of the last. */
static void find_loans(executor *m, int output, bool *const *fixed)
{
	const stage_tensor of = m->results[output];
	const plan *p = &m->p->stages[of.stage];
	const plan_tensor *t = &p->tensors[of.tensor];
	if (p->loop.turns > 0 || t->role != PLAN_RESULT || t->buffer < 0 ||
	    fixed[of.stage][t->buffer])
		return;
	for (int w = m->first_of[of.stage]; w < m->first_of[of.stage + 1]; w++)
		if (!part_is_copy(m, w, t))
			find_loan(m, w, output);
}

void executor_find_loans(executor *m)
{
	m->loans = ARENA_NEW(m->a, executor_loans);
	m->loans->place = ARENA_ARRAY(m->a, unsigned char **, m->nworkers);
	if (!executor_is_host(m) || !executor_is_alone(m))
		return;
	arena *work = arena_new();
	bool **fixed = ARENA_ARRAY(work, bool *, m->p->nstages);
	for (int s = 0; s < m->p->nstages; s++)
		fixed[s] = find_fixed(work, &m->p->stages[s]);
	for (int i = 0; i < m->p->noutputs; i++)
		find_loans(m, i, fixed);
	arena_free(work);
}

/* ---- in a step --------------------------------------------------------- */

/* The memory of a run counts as the plan has it, in the arena: part_touch(). */
void executor_lend(executor *m)
{
	for (int i = 0; i < m->loans->all.n; i++) {
		const loan *l = &m->loans->all.at[i];
		const array *to = &m->outputs[l->output];
		bool aligned = (uintptr_t)to->data % dtype_size(to->type) == 0;
		m->loans->place[l->worker][l->buffer] =
			to->data && aligned
				? (unsigned char *)to->data + l->offset
				: NULL;
	}
}

void executor_take_back(executor *m)
{
	for (int i = 0; i < m->loans->all.n; i++) {
		const loan *l = &m->loans->all.at[i];
		m->loans->place[l->worker][l->buffer] = NULL;
	}
}

unsigned char *executor_lent(const executor *m, int worker, int buffer)
{
	unsigned char **places = m->loans ? m->loans->place[worker] : NULL;
	return places ? places[buffer] : NULL;
}
