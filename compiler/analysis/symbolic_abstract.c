/* The leaves of the abstract interpretation (kernel/abstract.h) of operators
 * before shapes and attributes are known, and what follows for stages: the
 * partial values that pass them. */
#include "config.h"

#include "compiler/analysis/symbolic_build.h"
#include "kernel/eval.h"

/* ---- facts -------------------------------------------------------------- */

/* Of a polynomial whose coefficients have one sign, in atoms >= 0. */
static sign_facts sign_of_poly(const build *b, const poly *p)
{
	bool plus = true, minus = true, constant = false;
	for (int i = 0; i < p->n; i++) {
		const term *t = &p->terms[i];
		for (int j = 0; j < t->n; j++)
			if (b->space->atoms[t->atom[j]].min < 0)
				return (sign_facts){ SIGN_ANY, false };
		plus &= t->coefficient > 0;
		minus &= t->coefficient < 0;
		constant |= t->n == 0;
	}
	value_sign sign = plus ? SIGN_PLUS : minus ? SIGN_MINUS : SIGN_ANY;
	return (sign_facts){ sign, sign != SIGN_ANY && constant };
}

static value_facts facts_of(const build *b, const sval *x)
{
	value_facts r = x->is;
	if (!x->p)
		return r;
	sign_facts sign = sign_of_poly(b, x->p);
	if (sign.sign != SIGN_ANY)
		r.sign = sign;
	r.zero = poly_is_zero(x->p);
	r.counts = true;
	return r;
}

void sym_fn_facts(const build *b, fn f, sval *r, const sval *x, bool equal)
{
	bool two = fn_nargs(f) > 1;
	const sval *y = two ? &x[1] : &x[0];
	const value_facts is[2] = { facts_of(b, &x[0]), facts_of(b, y) };
	r->is = facts_of_fn(f, is, equal);
	r->whole = depend_on_fn(f, is, (dependence[]){ x->whole, y->whole });
	r->apart = depend_on_fn(f, is, (dependence[]){ x->apart, y->apart });
}

void sym_choice_facts(const build *b, sval *r, const sval *c, const sval *x,
		      const sval *y)
{
	const value_facts is[2] = { facts_of(b, x), facts_of(b, y) };
	const dependence whole[2] = { x->whole, y->whole };
	const dependence apart[2] = { x->apart, y->apart };
	r->is = facts_of_choice(is);
	r->whole = depend_on_choice(&c->whole, is, whole);
	r->apart = depend_on_choice(&c->apart, is, apart);
}

void sym_cast_facts(const build *b, sval *v, type_set to)
{
	type_set from = v->is.types;
	v->is = facts_of_cast(facts_of(b, v), to);
	v->whole = depend_on_cast(v->whole, from, to);
	v->apart = depend_on_cast(v->apart, from, to);
}

/* ---- reads -------------------------------------------------------------- */

static dependence read_of(uint64_t bits, const dependence *index,
			  const value_facts *is, bool guarded)
{
	const dependence on[2] = { depend_on_read(bits, index), { 0 } };
	return guarded ? depend_on_guarded(index, is, on) : on[0];
}

void sym_read_facts(const build *b, sval *v, uint64_t bits, const sval *index,
		    const sval *otherwise)
{
	value_facts is[2] = { facts_of_element(v->is.types) };
	if (otherwise)
		is[1] = facts_of(b, otherwise);
	v->is = otherwise ? facts_of_choice(is) : is[0];
	v->whole = read_of(bits, &index->whole, is, otherwise);
	v->apart = read_of(bits, &index->apart, is, otherwise);
}

void sym_add_condition(sval *body, uint64_t bits)
{
	const dependence c = { .uses = bits };
	const value_facts is[2] = { body->is, { .zero = true } };
	const dependence on[2] = { body->whole, { 0 } };
	body->whole = depend_on_choice(&c, is, on);
}

/* ---- stages ------------------------------------------------------------- */

static void add_passing(build *b, sym_stage *s, int tensor, reducer by,
			reducer to)
{
	sym_passing *all = ARENA_ARRAY(b->arena, sym_passing,
				       s->npassing + 1);
	for (int i = 0; i < s->npassing; i++)
		all[i] = s->passing[i];
	all[s->npassing++] = (sym_passing){ tensor, by, to };
	s->passing = all;
}

static bool is_number_with_zero(dtype t)
{
	return t != DT_BOOL && elem_has_zero(t);
}

bool sym_adds(type_set types)
{
	return types_all(types, is_number_with_zero);
}

/* Parts of a tensor, whose reads are one bit, that combine by a choice: the
 * first reducer that does for the results, which are bools or not. */
static void note_choice(build *b, sym_stage *s, sym_passing p, bool logic,
			const uint64_t *monotone, uint64_t bit)
{
	static const reducer names[2][NCHOICES] = {
		{ [BY_MAX] = RED_MAX, [BY_MIN] = RED_MIN },
		{ [BY_MAX] = RED_OR, [BY_MIN] = RED_AND },
	};
	for (int i = 0; i < NCHOICES; i++) {
		reducer to = names[logic][i];
		if (!(monotone[i] & bit) ||
		    (s->reducer != RED_NONE && s->reducer != to))
			continue;
		add_passing(b, s, p.tensor, p.by, to);
		return;
	}
}

void sym_note_passing(build *b, sym_stage *s, sval body, const collector *c,
		      type_set types)
{
	const type_set of_bool = type_only(DT_BOOL);
	for (int i = 0; i < s->nlinear; i++)
		if (sym_adds(types) &&
		    sym_adds(b->tensors.at[s->linear[i]].types))
			add_passing(b, s, s->linear[i], RED_SUM, RED_SUM);
	for (int i = 0; i < c->slots.n && i < SYM_MAX_SLOTS; i++) {
		int tensor = c->slots.at[i].tensor;
		if (c->slots.at[i].dim != SLOT_WHOLE || tensor < 0)
			continue;
		bool logic = b->tensors.at[tensor].types == of_bool;
		const sym_passing max = { tensor, logic ? RED_OR : RED_MAX };
		const sym_passing min = { tensor, logic ? RED_AND : RED_MIN };
		note_choice(b, s, max, types == of_bool,
			    body.whole.monotone[BY_MAX], (uint64_t)1 << i);
		note_choice(b, s, min, types == of_bool,
			    body.whole.monotone[BY_MIN], (uint64_t)1 << i);
	}
}
