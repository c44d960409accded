/* Partial values that pass a body: those of a tensor of which it takes the
 * maximum (or the minimum) as kernel/monotone.c does, before shapes and
 * attributes are known. */
#include "config.h"

#include "compiler/analysis/symbolic_build.h"

#include <math.h>
#include <string.h>

enum { BY_MAX, BY_MIN, NCOURSES };

/* ---- signs -------------------------------------------------------------- */

/* Of a polynomial whose coefficients have one sign, in atoms >= 0. */
static value_sign sign_of_poly(const build *b, const poly *p)
{
	bool plus = true, minus = true;
	for (int i = 0; i < p->n; i++) {
		const term *t = &p->terms[i];
		for (int j = 0; j < t->n; j++)
			if (b->space->atoms[t->atom[j]].min < 0)
				return SIGN_ANY;
		plus &= t->coefficient > 0;
		minus &= t->coefficient < 0;
	}
	return plus ? SIGN_PLUS : minus ? SIGN_MINUS : SIGN_ANY;
}

static sign_facts sign_of_value(const build *b, const sval *x)
{
	int64_t i;
	if (!x->p)
		return x->sign;
	return (sign_facts){ sign_of_poly(b, x->p),
			     poly_is_constant(x->p, &i) && i != 0 };
}

sign_facts sym_either_sign(const build *b, const sval *x, const sval *y)
{
	sign_facts of_x = sign_of_value(b, x), of_y = sign_of_value(b, y);
	return sign_either(of_x, of_y);
}

void sym_sign_fn(const build *b, fn f, sval *r, const sval *x, const sval *y,
		 bool equal)
{
	r->sign = sign_fn(f, sign_of_value(b, x), sign_of_value(b, y), equal);
}

/* ---- courses ------------------------------------------------------------ */

void sym_monotone_read(dependence *d, uint64_t bits, dependence index)
{
	memset(d->monotone, 0, sizeof(d->monotone));
	for (int i = 0; i < NCOURSES; i++)
		d->monotone[i][i] = bits & ~index.uses;
}

static dependence turned(dependence x)
{
	for (int i = 0; i < NCOURSES; i++) {
		uint64_t max = x.monotone[i][BY_MAX];
		x.monotone[i][BY_MAX] = x.monotone[i][BY_MIN];
		x.monotone[i][BY_MIN] = max;
	}
	return x;
}

/* In the slots that x alone uses, or y alone. */
static void rising(dependence *r, const dependence *x, const dependence *y)
{
	for (int i = 0; i < NCOURSES; i++)
		for (int j = 0; j < NCOURSES; j++)
			r->monotone[i][j] = (x->monotone[i][j] & ~y->uses) |
					  (y->monotone[i][j] & ~x->uses);
}

/* The same; and in those of both for the extreme that is taken. */
static void extreme(dependence *r, const dependence *x, const dependence *y,
		    int of)
{
	rising(r, x, y);
	for (int i = 0; i < NCOURSES; i++)
		r->monotone[i][of] |= x->monotone[i][of] & y->monotone[i][of];
}

static void either(dependence *r, const dependence *x, const dependence *y,
		   uint64_t asked)
{
	rising(r, x, y);
	for (int i = 0; i < NCOURSES; i++)
		for (int j = 0; j < NCOURSES; j++) {
			r->monotone[i][j] |=
				x->monotone[i][j] & y->monotone[i][j];
			r->monotone[i][j] &= ~asked;
		}
}

static void scaled(dependence *r, const dependence *x, value_sign factor)
{
	dependence t = factor == SIGN_MINUS ? turned(*x) : *x;
	if (factor != SIGN_ANY)
		memcpy(r->monotone, t.monotone, sizeof(r->monotone));
}

/* x * y: each is scaled by the sign of the other in the reads that it alone
 * uses. */
static void multiplied(dependence *r, const dependence *x, value_sign of_x,
		       const dependence *y, value_sign of_y)
{
	dependence left = { .uses = x->uses }, right = { .uses = y->uses };
	scaled(&left, x, of_y);
	scaled(&right, y, of_x);
	rising(r, &left, &right);
}

/* Arithmetic on integers wraps. */
static bool is_float(const sval *x)
{
	return x->type == ST_OPEN || x->type == ST_POWER;
}

/* A comparison of NaN, which a maximum or minimum keeps, is false: conditions
 * of floats combine by And alone. */
static void forget_or(dependence *r)
{
	for (int i = 0; i < NCOURSES; i++)
		r->monotone[i][BY_MAX] = 0;
}

static void monotone_fn(const build *b, fn f, dependence *r, const sval *x,
			const dependence *dx, const sval *y,
			const dependence *dy)
{
	dependence left = turned(*dx), right = turned(*dy);
	bool real = is_float(x) && is_float(y);
	sign_facts of_x = sign_of_value(b, x), of_y = sign_of_value(b, y);
	bool holds = real || fn_gives_bool(f);
	fn_choice choice = fn_table[f].choice;
	fn_monotone m = holds ? fn_table[f].monotone : FN_NOT_MONOTONE;
	memset(r->monotone, 0, sizeof(r->monotone));
	if (choice != FN_NO_CHOICE)
		extreme(r, dx, dy, choice == FN_GREATEST ? BY_MAX : BY_MIN);
	else if (m == FN_RISES)
		rising(r, dx, dy);
	else if (m == FN_FALLS)
		rising(r, &left, &right);
	else if (m == FN_RISES_FALLS)
		rising(r, dx, &right);
	else if (m == FN_FALLS_RISES)
		rising(r, &left, dy);
	else if (m == FN_SCALED)
		multiplied(r, dx, of_x.sign, dy, of_y.sign);
	else if (m == FN_DIVIDED && of_y.nonzero)
		multiplied(r, dx, SIGN_ANY, dy, of_y.sign);
	if (fn_is_comparison(f) && real)
		forget_or(r);
}

void sym_monotone_fn(const build *b, fn f, sval *r, const sval *x,
		   const sval *y)
{
	monotone_fn(b, f, &r->whole, x, &x->whole, y, &y->whole);
	monotone_fn(b, f, &r->apart, x, &x->apart, y, &y->apart);
}

static bool is_infinite(const ast_expr *e, bool minus)
{
	if (e->kind == AST_UNARY && e->op == OP_NEG)
		return is_infinite(e->args[0], !minus);
	return e->kind == AST_FLOAT && isinf(e->f) && !minus;
}

/* A condition decides between two values one of which is never the greater
 * one. */
static void decided(dependence *r, const dependence *c, uint64_t branches,
		    bool rise, bool fall)
{
	dependence t = fall ? turned(*c) : *c;
	for (int i = 0; i < NCOURSES && (rise || fall); i++)
		for (int j = 0; j < NCOURSES; j++)
			r->monotone[i][j] |= t.monotone[i][j] & ~branches;
}

void sym_monotone_choice(const ast_expr *const e[3], sval *r, const sval *c,
		       const sval *x, const sval *y)
{
	bool rise = is_infinite(e[2], true) || is_infinite(e[1], false);
	bool fall = !rise && (is_infinite(e[1], true) ||
			      is_infinite(e[2], false));
	either(&r->whole, &x->whole, &y->whole, c->whole.uses);
	either(&r->apart, &x->apart, &y->apart, c->apart.uses);
	decided(&r->whole, &c->whole, x->whole.uses | y->whole.uses, rise,
		fall);
	decided(&r->apart, &c->apart, x->apart.uses | y->apart.uses, rise,
		fall);
}

void sym_monotone_cast(sval *v, stype from, dtype to)
{
	bool wide = to == DT_F64 || to == DT_F32 || to == DT_F16 ||
		    to == DT_BF16;
	bool rise = wide || (to != DT_NONE && from == ST_BOOL &&
			     dtype_is_int(to)); /* not of NaN */
	if (rise)
		return;
	memset(v->whole.monotone, 0, sizeof(v->whole.monotone));
	memset(v->apart.monotone, 0, sizeof(v->apart.monotone));
}

/* ---- stages ------------------------------------------------------------- */

/* The extreme by which values combine whose parts combine by r; -1 for another
 * reducer. */
static int monotone_by(reducer r)
{
	fn_choice c = reducer_choice(r);
	return c == FN_GREATEST ? BY_MAX : c == FN_LEAST ? BY_MIN : -1;
}

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

/* Whether parts of a sum are numbers of the type, an empty one's 0, too. */
static bool adds(stype type)
{
	return type != ST_BOOL && type != ST_POWER;
}

void sym_note_passing(build *b, sym_stage *s, sval body, const collector *c,
		      stype type)
{
	static const reducer names[2][NCOURSES] = { { RED_MAX, RED_MIN },
						    { RED_OR, RED_AND } };
	int only = monotone_by(s->reducer);
	for (int i = 0; i < s->nlinear; i++)
		if (adds(type) && adds(b->tensors.at[s->linear[i]].type))
			add_passing(b, s, s->linear[i], RED_SUM, RED_SUM);
	if (s->reducer != RED_NONE && only < 0)
		return;
	for (int i = 0; i < c->slots.n && i < SYM_MAX_SLOTS; i++) {
		int tensor = c->slots.at[i].tensor;
		if (c->slots.at[i].dim != SLOT_WHOLE || tensor < 0)
			continue;
		bool logic = b->tensors.at[tensor].type == ST_BOOL;
		for (int by = 0; by < NCOURSES; by++)
			for (int to = 0; to < NCOURSES; to++)
				if (body.whole.monotone[by][to] >> i & 1 &&
				    (s->reducer == RED_NONE || to == only))
					add_passing(b, s, tensor,
						    names[logic][by],
						    names[type == ST_BOOL]
							 [to]);
	}
}
