/* Buckets: transfers that are executed as one; and other queries about
 * instructions. */
#include "config.h"

#include "plan/chain.h"

int plan_bucket_end(const plan *p, int i)
{
	const plan_instr *first = &p->program[i];
	int end = i + 1;
	while (first->bucket > 0 && end < p->ninstrs &&
	       p->program[end].bucket == first->bucket &&
	       p->program[end].turn == first->turn)
		end++;
	return end;
}

int plan_step_end(const plan *p, int i)
{
	return p->program[i].bucket > 0 ? plan_bucket_end(p, i)
					: plan_chain_end(p, i);
}

int plan_phase_end(const plan *p, int i)
{
	int end = i + 1, most = plan_bucket_end(p, i);
	while (end < most && p->program[end].op == p->program[i].op)
		end++;
	return end;
}

int plan_buckets(const plan *p, int *reductions)
{
	int n = 0;
	*reductions = 0;
	for (int i = 0, end; i < p->ninstrs; i = end) {
		end = plan_bucket_end(p, i);
		if (p->program[i].bucket == 0)
			continue;
		n++;
		*reductions += plan_phase_end(p, i) - i;
	}
	return n;
}

int plan_bucket_of(const plan *p, int tensor)
{
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		if (in->op == PLAN_COMBINE && in->bucket > 0 &&
		    p->buffers[in->to].tensor == tensor)
			return in->bucket;
	}
	return 0;
}
