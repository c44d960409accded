#include "config.h"

#include "plan/classes.h"

#include <assert.h>

int plan_buffer_class(layout_classes *f, const plan *p, const plan_buffer *b)
{
	layout l = plan_layout(p, b);
	return layout_class_of(f, &l);
}

/* The class of an instruction's source; for a run, which has none, that of its
 * result before it is stored. */
static int source_class(layout_classes *f, const plan *p, const plan_instr *in)
{
	if (in->op == PLAN_FEED)
		return plan_buffer_class(f, p, &p->buffers[in->to]);
	if (in->op != PLAN_RUN)
		return plan_buffer_class(f, p, &p->buffers[in->from]);
	const plan_buffer made = { .tensor = p->nodes[in->node].output,
				   .region = LAYOUT_PRODUCES,
				   .node = in->node,
				   .turn = in->turn };
	return plan_buffer_class(f, p, &made);
}

int plan_instr_class(layout_classes *f, const plan *p, const plan_instr *in)
{
	static const layout_use uses[] = {[PLAN_RUN] = LAYOUT_RUN,
					  [PLAN_MOVE] = LAYOUT_MOVE,
					  [PLAN_COMBINE] = LAYOUT_COMBINE,
					  [PLAN_FEED] = LAYOUT_RUN};
	assert(!plan_is_message(in));
	int from = source_class(f, p, in);
	return layout_class_pair(f, uses[in->op], from,
				 plan_buffer_class(f, p,
						   &p->buffers[in->to]));
}
