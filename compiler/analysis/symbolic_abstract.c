/* Abstract interpretation (kernel/abstract.h) of operators whose shapes and
 * attributes are not known yet: the leaves, and the partial values that pass a
 * stage. */
#include "config.h"

#include "compiler/analysis/symbolic_build.h"
#include "kernel/eval.h"

/* ---- facts -------------------------------------------------------------- */

/* The sign of a polynomial whose coefficients have one sign and whose atoms are
 * >= 0. */
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
	/* A number <= 0 may be +0 as a float. */
	value_sign sign = plus			? SIGN_PLUS
			  : minus && constant ? SIGN_MINUS
						: SIGN_ANY;
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

reliance sym_depend_any(const reliance *x, const reliance *y)
{
	return (reliance){ depend_any(&x->slots, &y->slots),
			   depend_any(&x->sets, &y->sets) };
}

static reliance rely_on_fn(fn f, const value_facts *is, const reliance *x,
			   const reliance *y)
{
	const dependence slots[2] = { x->slots, y->slots };
	const dependence sets[2] = { x->sets, y->sets };
	return (reliance){ depend_on_fn(f, is, slots),
			   depend_on_fn(f, is, sets) };
}

void sym_fn_facts(const build *b, fn f, sval *r, const sval *x, bool equal)
{
	bool two = fn_nargs(f) > 1;
	const sval *y = two ? &x[1] : &x[0];
	const value_facts is[2] = { facts_of(b, &x[0]), facts_of(b, y) };
	r->is = facts_of_fn(f, is, equal);
	r->whole = rely_on_fn(f, is, &x->whole, &y->whole);
	r->apart = rely_on_fn(f, is, &x->apart, &y->apart);
}

static reliance rely_on_choice(const value_facts *is, const reliance *c,
			       const reliance *x, const reliance *y)
{
	const dependence slots[2] = { x->slots, y->slots };
	const dependence sets[2] = { x->sets, y->sets };
	return (reliance){ depend_on_choice(&c->slots, is, slots),
			   depend_on_choice(&c->sets, is, sets) };
}

void sym_choice_facts(const build *b, sval *r, const sval *c, const sval *x,
		      const sval *y)
{
	const value_facts is[2] = { facts_of(b, x), facts_of(b, y) };
	r->is = facts_of_choice(is);
	r->whole = rely_on_choice(is, &c->whole, &x->whole, &y->whole);
	r->apart = rely_on_choice(is, &c->apart, &x->apart, &y->apart);
}

static reliance rely_on_cast(reliance x, type_set from, type_set to)
{
	return (reliance){ depend_on_cast(x.slots, from, to),
			   depend_on_cast(x.sets, from, to) };
}

void sym_cast_facts(const build *b, sval *v, type_set to)
{
	type_set from = v->is.types;
	v->is = facts_of_cast(facts_of(b, v), to);
	v->whole = rely_on_cast(v->whole, from, to);
	v->apart = rely_on_cast(v->apart, from, to);
}

/* ---- reads -------------------------------------------------------------- */

static dependence read_of(uint64_t bits, const dependence *index,
			  const value_facts *is, bool guarded)
{
	const dependence on[2] = { depend_on_read(bits, index), { 0 } };
	return guarded ? depend_on_guarded(index, is, on) : on[0];
}

static reliance rely_on_read(read_bits bits, const reliance *index,
			     const value_facts *is, bool guarded)
{
	return (reliance){ read_of(bits.slots, &index->slots, is, guarded),
			   read_of(bits.sets, &index->sets, is, guarded) };
}

void sym_read_facts(const build *b, sval *v, read_bits bits, const sval *index,
		    const sval *otherwise)
{
	value_facts is[2] = { facts_of_element(v->is.types) };
	if (otherwise)
		is[1] = facts_of(b, otherwise);
	v->is = otherwise ? facts_of_choice(is) : is[0];
	v->whole = rely_on_read(bits, &index->whole, is, otherwise);
	v->apart = rely_on_read(bits, &index->apart, is, otherwise);
}

void sym_add_condition(sval *body, read_bits bits)
{
	const reliance c = { { .uses = bits.slots }, { .uses = bits.sets } };
	const value_facts is[2] = { body->is, { .zero = true } };
	static const reliance none;
	body->whole = rely_on_choice(is, &c, &body->whole, &none);
}

/* ---- stages ------------------------------------------------------------- */

static bool is_number_with_zero(dtype t)
{
	return t != DT_BOOL && elem_has_zero(t);
}

bool sym_adds(type_set types)
{
	return types_all(types, is_number_with_zero);
}

/* Collects the partial values that pass a stage. */
typedef struct passings {
	build *build;
	sym_stage *stage;
	type_set types; /* element types of the result */
	VEC(sym_passing) all;
} passings;

/* Adds p as passing if the body is monotone in the reads `bit' of its tensors.
 * Partial values then combine by max or min, or by or and and if the result is
 * bool.  The first reducer that fits is taken. */
static void add_choice(passings *x, sym_passing p, const uint64_t *monotone,
		       uint64_t bit)
{
	static const reducer names[2][NCHOICES] = {
		{ [BY_MAX] = RED_MAX, [BY_MIN] = RED_MIN },
		{ [BY_MAX] = RED_OR, [BY_MIN] = RED_AND },
	};
	reducer own = x->stage->reducer;
	for (int i = 0; i < NCHOICES; i++) {
		p.to = names[x->types == type_only(DT_BOOL)][i];
		if (!(monotone[i] & bit) || (own != RED_NONE && own != p.to))
			continue;
		vec_push(x->build->arena, &x->all, p);
		return;
	}
}

static void add_sum(passings *x, sym_passing p, uint64_t linear, uint64_t bit)
{
	reducer own = x->stage->reducer;
	bool adds = linear & bit && (own == RED_NONE || own == RED_SUM) &&
		    sym_adds(x->types);
	for (int i = 0; i < p.n; i++)
		adds &= sym_adds(x->build->tensors.at[p.tensors[i]].types);
	p.by = p.to = RED_SUM;
	if (adds)
		vec_push(x->build->arena, &x->all, p);
}

/* Adds the ways in which partial values of p's tensors pass the stage; `bit'
 * stands for their reads. */
static void add_passings(passings *x, sym_passing p, const dependence *on,
			 uint64_t bit)
{
	int nlogic = 0;
	for (int i = 0; i < p.n; i++)
		nlogic += x->build->tensors.at[p.tensors[i]].types ==
			  type_only(DT_BOOL);
	add_sum(x, p, on->linear, bit);
	if (nlogic > 0 && nlogic < p.n)
		return;
	p.by = nlogic ? RED_OR : RED_MAX;
	add_choice(x, p, on->monotone[BY_MAX], bit);
	p.by = nlogic ? RED_AND : RED_MIN;
	add_choice(x, p, on->monotone[BY_MIN], bit);
}

/* Adds those of a set of members, if all members are read. */
static void add_set(passings *x, const collector *c, const dependence *on,
		    unsigned set)
{
	sym_passing p = { 0 };
	for (int i = 0; i < c->members.n; i++) {
		if (!(set >> i & 1))
			continue;
		p.tensors[p.n++] = c->slots.at[c->members.at[i]].tensor;
		if (!(on->uses >> (1u << i) & 1))
			return;
	}
	add_passings(x, p, on, (uint64_t)1 << set);
}

void sym_note_passing(build *b, sym_stage *s, sval body, const collector *c,
		      type_set types)
{
	passings x = { b, s, types };
	const dependence *slots = &body.whole.slots, *sets = &body.whole.sets;
	for (int i = 0; i < c->slots.n && i < SYM_MAX_SLOTS; i++) {
		const slot *at = &c->slots.at[i];
		if (at->dim == SLOT_WHOLE && at->tensor >= 0)
			add_passings(&x, (sym_passing){ 1, { at->tensor } },
				     slots, (uint64_t)1 << i);
	}
	for (unsigned set = 1; set < 1u << c->members.n; set++)
		if (set & (set - 1))
			add_set(&x, c, sets, set);
	s->npassing = x.all.n;
	s->passing = x.all.at;
}
