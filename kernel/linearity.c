#include "config.h"

#include "kernel/linearity.h"

#include "kernel/abstract.h"
#include "kernel/eval.h"

bool kernel_body_linear(const kernel *k, uint32_t inputs)
{
	return k->body &&
	       kernel_dependence(k, inputs).linear >> SLOT_INPUT & 1;
}

static void add_derived(arena *a, kernel *k, int input, int dim)
{
	const kinput *in = &k->inputs[input];
	kvar *vars = ARENA_ARRAY(a, kvar, k->nvars + 1);
	kderived *derived = ARENA_ARRAY(a, kderived, k->nderived + 1);
	for (int v = 0; v < k->nvars; v++)
		vars[v] = k->vars[v];
	for (int i = 0; i < k->nderived; i++)
		derived[i] = k->derived[i];
	vars[k->nvars] = (kvar){
		.name = arena_printf(a, "%s.%d", in->name, dim),
		.kind = KVAR_DERIVED,
		.extent = in->dims[dim],
	};
	derived[k->nderived] = (kderived){ k->nvars, input, dim };
	k->vars = vars;
	k->derived = derived;
	k->nvars++;
	k->nderived++;
}

void kernel_derive(arena *a, kernel *k)
{
	if (!k->body || k->type == DT_BOOL || !elem_has_zero(k->type) ||
	    (k->reducer != RED_NONE && k->reducer != RED_SUM))
		return;
	for (int i = 0; i < k->ninputs; i++) {
		uint64_t linear = kernel_dependence(k, UINT32_C(1) << i).linear;
		for (int d = 0; d < k->inputs[i].ndim; d++)
			if (k->nvars < MAX_NVARS && k->inputs[i].dims[d] > 0 &&
			    linear >> (SLOT_LOOKUP + d) & 1)
				add_derived(a, k, i, d);
	}
}
