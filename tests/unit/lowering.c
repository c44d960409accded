#include "config.h"

#include "tests/unit/lowering.h"

#include <check.h>

#include "plan/check.h"

plan *lower_by(arena *a, const graph *g, const assignment *as,
	       const lower_options *how)
{
	diag_sink *s = diag_sink_new(a);
	plan *p = lower_plan(a, g, as, how, s);
	bool ok = p && plan_check(p, s, "plan");
	for (int w = 0; ok && w < mesh_workers(&p->mesh); w++)
		ok = plan_check_worker(p, w, s, "plan");
	if (!ok)
		diag_print(s, stderr, false);
	ck_assert(ok);
	return p;
}

int count_updates(const plan *p)
{
	int n = 0;
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		n += in->op == PLAN_MOVE && p->buffers[in->from].tensor !=
						    p->buffers[in->to].tensor;
	}
	return n;
}
