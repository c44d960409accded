#include "config.h"

#include "compiler/cost/rules.h"

choices rules_dims(const rules *r, const step *s, tensor_id t)
{
	return partial_or_dims(r->partial, r->dims(r->state, s, t), s, t);
}

choices rules_vars(const rules *r, const step *s, node_id n)
{
	return partial_or_vars(r->partial, r->vars(r->state, s, n), s, n);
}

choices rules_all_dims(const void *state, const step *s, tensor_id t)
{
	(void)state;
	return step_dims(s, t);
}

choices rules_all_vars(const void *state, const step *s, node_id n)
{
	(void)state;
	return step_vars(s, n);
}
