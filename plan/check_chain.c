/* The check of the chains of a program. */
#include "config.h"

#include "plan/chain.h"
#include "plan/check.h"

static bool check_chain(plan_checker *c, const bool *unseen, plan_chain *x)
{
	return plan_chain_at(c->p, c->row, unseen, x) ||
	       flaw(c, "the runs of its chain cannot be computed in parts");
}

bool plan_check_chains(plan_checker *c, arena *tmp)
{
	const plan *p = c->p;
	const bool *unseen = plan_chain_buffers(tmp, p);
	plan_chain x;
	c->table = "program";
	for (c->row = 0; c->row < p->ninstrs; c->row = plan_step_end(p, c->row))
		if (p->program[c->row].chain > 0 && !check_chain(c, unseen, &x))
			return false;
	return true;
}

bool plan_check_chains_at(plan_checker *c, arena *tmp, int worker)
{
	const plan *p = c->p;
	const bool *unseen = plan_chain_buffers(tmp, p);
	plan_chain x;
	c->table = "program";
	for (c->row = 0; c->row < p->ninstrs; c->row = plan_step_end(p, c->row))
		if (p->program[c->row].chain > 0 &&
		    plan_chain_at(p, c->row, unseen, &x) &&
		    !plan_chain_fits(p, &x, worker))
			return flaw(c, "the runs of its chain do not have the "
				    "same part of what they run over");
	return true;
}
