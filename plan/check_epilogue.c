/* The checks of kernels that are computed with those before them. */
#include "config.h"

#include "plan/check.h"

/* Whether input number `input' of `second' has the type and shape of `first's
 * result. */
static bool reads_result(const kernel *second, int input, const kernel *first)
{
	const kinput *in = &second->inputs[input];
	bool same = in->type == first->type && in->ndim == first->nout;
	for (int d = 0; same && d < in->ndim; d++)
		same = in->dims[d] == kernel_dim(first, d);
	return same;
}

static bool check_epilogue(plan_checker *c, const plan_kernel *k,
			   const plan_epilogue *e)
{
	const plan *p = c->p;
	const kernel *second = k->kernel;
	int n = 1;
	for (;; n++) {
		if (!is_index(e->of, p->nkernels))
			return flaw(c, "there is no kernel %d", e->of);
		const plan_kernel *of = &p->kernels[e->of];
		if (!reads_result(second, e->input, of->kernel))
			return flaw(c, "input %d is not the result of kernel "
				    "%d", e->input, e->of);
		if (e->after == -1)
			break;
		if (!is_index(e->after, of->nepilogues) ||
		    n == PLAN_MOST_JOINED)
			return flaw(c, "kernel %d has no epilogue %d", e->of,
				    e->after);
		second = of->kernel;
		e = &of->epilogues[e->after];
	}
	return true;
}

bool plan_check_epilogues(plan_checker *c)
{
	const plan *p = c->p;
	c->table = "kernels";
	for (c->row = 0; c->row < p->nkernels; c->row++)
		for (int i = 0; i < p->kernels[c->row].nepilogues; i++)
			if (!check_epilogue(c, &p->kernels[c->row],
					    &p->kernels[c->row].epilogues[i]))
				return false;
	return true;
}
