#include "config.h"

#include "kernel/abstract.h"

/* The facts about an expression's value, and its dependence. */
typedef struct abstract {
	value_facts is;
	dependence on;
} abstract;

static abstract walk(const kexpr *e, uint32_t inputs);

/* Whether i is the least (SIGN_MINUS) or the greatest value of an integer
 * type. */
static value_sign limit_of(dtype t, int64_t i)
{
	int bits = dtype_bits(t);
	bool sign = dtype_is_signed(t);
	uint64_t most = UINT64_MAX >> (64 - bits + sign);
	if (!dtype_is_int(t))
		return SIGN_ANY;
	if ((uint64_t)i == most)
		return SIGN_PLUS;
	return i == (sign ? -(int64_t)most - 1 : 0) ? SIGN_MINUS : SIGN_ANY;
}

static value_facts facts_of_int(const kexpr *e)
{
	bool wide = dtype_is_int(e->type) && !dtype_is_signed(e->type);
	double x = wide ? (double)(uint64_t)e->i : (double)e->i;
	value_facts r = facts_of_constant(type_only(e->type), x);
	r.counts = e->type == DT_I64;
	r.limit = limit_of(e->type, e->i);
	return r;
}

static value_facts facts_of_var(void)
{
	return (value_facts){ .types = type_only(DT_I64),
			      .sign = { SIGN_PLUS, false },
			      .counts = true };
}

static abstract walk_read(const kexpr *e, uint32_t inputs)
{
	int ndim = kx_ndim(e);
	bool asked = inputs >> e->input & 1;
	uint64_t bits = asked ? (uint64_t)1 << SLOT_INPUT : 0;
	dependence index = { 0 };
	for (int d = 0; d < ndim; d++) {
		abstract at = walk(e->args[d], inputs);
		index = depend_any(&index, &at.on);
		if (asked && kx_has_read(e->args[d]))
			bits |= (uint64_t)1 << (SLOT_LOOKUP + d);
	}
	abstract r = { facts_of_element(type_only(e->type)),
		       depend_on_read(bits, &index) };
	if (!e->guarded)
		return r;
	abstract otherwise = walk(e->args[ndim], inputs);
	const value_facts is[2] = { r.is, otherwise.is };
	const dependence on[2] = { r.on, otherwise.on };
	return (abstract){ facts_of_choice(is),
			   depend_on_guarded(&index, is, on) };
}

static abstract walk_fn(const kexpr *e, uint32_t inputs)
{
	value_facts is[2] = { { 0 } };
	dependence on[2] = { { 0 } };
	for (int i = 0; i < e->nargs; i++) {
		abstract x = walk(e->args[i], inputs);
		is[i] = x.is;
		on[i] = x.on;
	}
	bool equal = fn_table[e->fn].sign == FN_SIGN_PRODUCT &&
		     kx_equal(e->args[0], e->args[1]);
	return (abstract){ facts_of_fn(e->fn, is, equal),
			   depend_on_fn(e->fn, is, on) };
}

static abstract walk_select(const kexpr *e, uint32_t inputs)
{
	abstract c = walk(e->args[0], inputs);
	abstract x = walk(e->args[1], inputs), y = walk(e->args[2], inputs);
	const value_facts is[2] = { x.is, y.is };
	const dependence on[2] = { x.on, y.on };
	return (abstract){ facts_of_choice(is),
			   depend_on_choice(&c.on, is, on) };
}

static abstract walk_cast(const kexpr *e, uint32_t inputs)
{
	abstract x = walk(e->args[0], inputs);
	type_set to = type_only(e->type);
	return (abstract){ facts_of_cast(x.is, to),
			   depend_on_cast(x.on, x.is.types, to) };
}

static abstract walk(const kexpr *e, uint32_t inputs)
{
	abstract r = { facts_of_element(type_only(e->type)), { 0 } };
	switch (e->kind) {
	case KX_INT:
		r.is = facts_of_int(e);
		break;
	case KX_FLOAT:
		r.is = facts_of_constant(type_only(e->type), e->f);
		break;
	case KX_VAR:
		r.is = facts_of_var();
		break;
	case KX_READ:
		return walk_read(e, inputs);
	case KX_FN:
		return walk_fn(e, inputs);
	case KX_SELECT:
		return walk_select(e, inputs);
	case KX_CAST:
		return walk_cast(e, inputs);
	case KX_BITCAST:
		r.on.uses = walk(e->args[0], inputs).on.uses;
		break;
	}
	return r;
}

dependence kernel_dependence(const kernel *k, uint32_t inputs)
{
	return walk(k->body, inputs).on;
}
