/* Proofs of x >= 0.
 *
 * The proof subtracts from the goal facts that are >= 0, multiplied by factors
 * that are >= 0, until only a sum of products of numbers >= 0 is left.  This is
 * a search for a certificate of Handelman's kind.  The facts are the ranges of
 * the atoms, the definitions of floor division and remainder, and the caller's
 * facts.  Source of the idea: Handelman, Pacific Journal of Mathematics 132
 * (1988). */
#include "config.h"

#include "compiler/analysis/poly.h"

#include <string.h>

#include "base/checked.h"
#include "base/vec.h"

enum {
	MAX_FACTS = 96,
	MIN_DEPTH = 3,	 /* facts in one proof: at most 3, then 6, then 12 */
	MAX_DEPTH = 12,
	MAX_STEPS = 500, /* goals looked at for each of these depths */
	FIRST_STEPS = 16, /* the same before a counterexample is searched for */
	MAX_NESTING = 6, /* levels of divisions inside divisions */
	MAX_LEVEL = 3,	 /* levels of proofs needed by other proofs */
};

typedef enum sign { UNASKED, NONNEG, UNCLEAR } sign;

typedef struct proof {
	const poly_space *space;
	arena *arena;
	int nfacts;
	const poly *facts[MAX_FACTS];
	sign *signs; /* by atom */
	int level, steps;
} proof;

static bool nonneg(const poly_space *s, const poly_facts *f, const poly *x,
		   int level);

/* ---- signs of atoms ----------------------------------------------------- */

static bool atom_nonneg(proof *p, int atom, int nesting);

/* Whether every term is a product of numbers known to be >= 0. */
static bool plainly_nonneg(proof *p, const poly *x, int nesting)
{
	for (int i = 0; i < x->n; i++) {
		const term *t = &x->terms[i];
		if (t->coefficient < 0)
			return false;
		for (int j = 0; j < t->n; j++)
			if (!atom_nonneg(p, t->atom[j], nesting))
				return false;
	}
	return true;
}

/* Whether x >= 0 is plain, or can be proved. */
static bool surely_nonneg(proof *p, const poly *x, int nesting)
{
	return plainly_nonneg(p, x, nesting) ||
	       nonneg(p->space, NULL, x, p->level + 1);
}

static bool decide(proof *p, int atom, int nesting)
{
	const poly_atom *t = &p->space->atoms[atom];
	if (t->min >= 0 || t->kind == ATOM_MOD)
		return true;
	if (!t->x || nesting == 0)
		return false;
	/* The greater of two numbers is at least half their sum: as |x| =
	 * max(x, -x). */
	if (t->kind == ATOM_MAX &&
	    surely_nonneg(p, poly_add(p->arena, t->x, t->y), nesting - 1))
		return true;
	bool x = surely_nonneg(p, t->x, nesting - 1);
	if (t->kind == ATOM_DIV || x == (t->kind == ATOM_MAX))
		return x;
	return surely_nonneg(p, t->y, nesting - 1);
}

static bool atom_nonneg(proof *p, int atom, int nesting)
{
	sign *s = &p->signs[atom];
	if (*s == UNASKED) {
		*s = UNCLEAR;
		if (decide(p, atom, nesting))
			*s = NONNEG;
	}
	return *s == NONNEG;
}

/* ---- facts -------------------------------------------------------------- */

static void add_fact(proof *p, const poly *x)
{
	if (x && p->nfacts < MAX_FACTS)
		p->facts[p->nfacts++] = x;
}

static void add_atom_facts(proof *p, int atom)
{
	arena *a = p->arena;
	const poly_atom *t = &p->space->atoms[atom];
	const poly *self = poly_of(a, atom);
	if (t->max)
		add_fact(p, poly_sub(a, t->max, self));
	if (t->min > 0)
		add_fact(p, poly_shift(a, self, -t->min));
	switch (t->kind) {
	case ATOM_DIV: {
		const poly *left = poly_sub(a, t->x, poly_mul(a, t->y, self));
		add_fact(p, left);
		add_fact(p, poly_sub(a, poly_shift(a, t->y, -1), left));
		add_fact(p, poly_shift(a, t->y, -1));
		break;
	}
	case ATOM_MOD:
		add_fact(p, poly_sub(a, poly_shift(a, t->y, -1), self));
		add_fact(p, poly_shift(a, t->y, -1));
		if (surely_nonneg(p, t->x, MAX_NESTING))
			add_fact(p, poly_sub(a, t->x, self));
		break;
	case ATOM_MIN:
		add_fact(p, poly_sub(a, t->x, self));
		add_fact(p, poly_sub(a, t->y, self));
		break;
	case ATOM_MAX:
		add_fact(p, poly_sub(a, self, t->x));
		add_fact(p, poly_sub(a, self, t->y));
		break;
	default:
		break;
	}
}

static void note_atoms(const poly *x, bool *known, int *queue, int *n)
{
	for (int i = 0; i < x->n; i++) {
		for (int j = 0; j < x->terms[i].n; j++) {
			int atom = x->terms[i].atom[j];
			if (!known[atom])
				queue[(*n)++] = atom;
			known[atom] = true;
		}
	}
}

/* Collects the facts about the atoms in the goal and in the facts, then about
 * the atoms in these facts, and so on. */
static void gather(proof *p, const poly *goal)
{
	int n = 0, nread = 0, natoms = p->space->natoms;
	bool *known = ARENA_ARRAY(p->arena, bool, natoms);
	int *queue = ARENA_ARRAY(p->arena, int, natoms);
	note_atoms(goal, known, queue, &n);
	for (int i = 0; i < p->nfacts; i++)
		note_atoms(p->facts[i], known, queue, &n);
	while (nread < n && p->nfacts < MAX_FACTS) {
		int before = p->nfacts;
		add_atom_facts(p, queue[nread++]);
		for (int i = before; i < p->nfacts; i++)
			note_atoms(p->facts[i], known, queue, &n);
	}
}

/* ---- the search --------------------------------------------------------- */

/* The index of the term to eliminate next: of those that may be negative, the
 * one with the most recent atom.  Variables are the most recent atoms, and
 * their bounds are in terms of sizes.  -1 if no term may be negative. */
static int obstacle(proof *p, const poly *goal)
{
	int worst = -1, last = -2;
	for (int i = 0; i < goal->n; i++) {
		const term *t = &goal->terms[i];
		bool bad = t->coefficient < 0;
		for (int j = 0; j < t->n; j++)
			bad |= !atom_nonneg(p, t->atom[j], MAX_NESTING);
		int top = t->n ? t->atom[t->n - 1] : -1;
		if (bad && top > last) {
			worst = i;
			last = top;
		}
	}
	return worst;
}

/* The monomial by which a term of a fact has to be multiplied to give t, apart
 * from the coefficient.  Returns false if there is none that is >= 0. */
static bool factor_of(proof *p, const term *t, const term *of, term *factor)
{
	int j = 0;
	*factor = (term){ .coefficient = 1 };
	for (int i = 0; i < t->n; i++) {
		if (j < of->n && t->atom[i] == of->atom[j]) {
			j++;
			continue;
		}
		if (!atom_nonneg(p, t->atom[i], MAX_NESTING))
			return false;
		factor->atom[factor->n++] = t->atom[i];
	}
	return j == of->n;
}

/* The similarity of a fact's term to a term of the goal.  Closer ones are tried
 * first. */
typedef enum closeness { SAME, PART, CONSTANT, NCLOSE } closeness;

/* goal - factor * fact, scaled so that term f of the fact cancels term t of the
 * goal; NULL if that is impossible. */
static const poly *cancel(proof *p, const poly *goal, const term *t,
			  const poly *fact, const term *f, closeness want)
{
	term factor;
	closeness is = f->n == t->n ? SAME : f->n ? PART : CONSTANT;
	if (is != want || (t->coefficient < 0) != (f->coefficient < 0) ||
	    t->coefficient == INT64_MIN || f->coefficient == INT64_MIN ||
	    !factor_of(p, t, f, &factor))
		return NULL;
	int64_t g = common_divisor(t->coefficient, f->coefficient);
	int64_t scale = f->coefficient / g, by = t->coefficient / g;
	factor.coefficient = by < 0 ? -by : by;
	return poly_sub(p->arena,
			poly_scale(p->arena, goal, scale < 0 ? -scale : scale),
			poly_mul(p->arena, fact, &(poly){ 1, &factor }));
}

/* For goal = rest + c * q with c 1 or -1, where the floor division q occurs
 * nowhere else, gives an equivalent goal without q.  As rest is an integer, the
 * goal holds if and only if
 *	rest >= q = floor(x / y)   <=>  y * rest + y - 1 - x >= 0
 *	q >= -rest		   <=>  x + y * rest >= 0. */
static const poly *without_division(proof *p, const poly *goal, const term *t)
{
	arena *a = p->arena;
	const poly *c, *rest;
	int64_t by;
	if (t->n != 1 || p->space->atoms[t->atom[0]].kind != ATOM_DIV ||
	    !poly_split(p->space, a, goal, t->atom[0], &c, &rest) ||
	    !poly_is_constant(c, &by) || (by != 1 && by != -1))
		return NULL;
	const poly_atom *q = &p->space->atoms[t->atom[0]];
	const poly *product = poly_mul(a, q->y, rest);
	if (by == 1)
		return poly_add(a, q->x, product);
	return poly_sub(a, poly_add(a, product, poly_shift(a, q->y, -1)),
			q->x);
}

/* Uses up effort for looking at a goal.  Returns false if none is left. */
static bool spend(proof *p, const poly *goal)
{
	int cost = 1 + goal->n / 8;
	p->steps -= cost;
	if (p->space->effort)
		*p->space->effort -= cost;
	return p->steps >= 0 && (!p->space->effort || *p->space->effort >= 0);
}

static bool prove(proof *p, const poly *goal, int depth);

/* For goal = c * m + rest with m the lesser or the greater of x and y: the goal
 * holds if it holds with x and with y in place of m. */
static bool by_cases(proof *p, const poly *goal, const term *t, int depth)
{
	arena *a = p->arena;
	for (int i = 0; i < t->n; i++) {
		const poly_atom *m = &p->space->atoms[t->atom[i]];
		const poly *c, *rest;
		if ((m->kind != ATOM_MIN && m->kind != ATOM_MAX) ||
		    !poly_split(p->space, a, goal, t->atom[i], &c, &rest))
			continue;
		const poly *x = poly_add(a, rest, poly_mul(a, c, m->x));
		const poly *y = poly_add(a, rest, poly_mul(a, c, m->y));
		return prove(p, x, depth - 1) && prove(p, y, depth - 1);
	}
	return false;
}

static bool use_fact(proof *p, const poly *goal, const term *t,
		     const poly *fact, closeness c, int depth)
{
	for (int j = 0; j < fact->n; j++) {
		const poly *next = cancel(p, goal, t, fact, &fact->terms[j], c);
		if (!next)
			continue;
		if (prove(p, next, depth - 1))
			return true;
	}
	return false;
}

static bool prove(proof *p, const poly *goal, int depth)
{
	if (!goal || !spend(p, goal))
		return false;
	int at = obstacle(p, goal);
	if (at < 0)
		return true;
	if (depth == 0)
		return false;
	const term *t = &goal->terms[at];
	const poly *exact = without_division(p, goal, t);
	if (exact && prove(p, exact, depth - 1))
		return true;
	if (by_cases(p, goal, t, depth))
		return true;
	for (closeness c = SAME; c < NCLOSE; c++)
		for (int i = 0; i < p->nfacts; i++)
			if (use_fact(p, goal, t, p->facts[i], c, depth))
				return true;
	return false;
}

static bool nonneg(const poly_space *s, const poly_facts *f, const poly *x,
		   int level)
{
	if (level > MAX_LEVEL || (s->effort && *s->effort < 0))
		return false;
	proof p = { .space = s, .arena = arena_new(), .level = level };
	p.signs = ARENA_ARRAY(p.arena, sign, s->natoms);
	for (int i = 0; f && i < f->n; i++)
		add_fact(&p, f->at[i]);
	gather(&p, x);
	p.steps = FIRST_STEPS >> level;
	bool shown = prove(&p, x, MIN_DEPTH);
	bool vain = !shown && poly_refuted(s, f, x);
	for (int depth = MIN_DEPTH; depth <= MAX_DEPTH && !shown && !vain;
	     depth *= 2) {
		p.steps = MAX_STEPS >> 2 * level;
		shown = prove(&p, x, depth);
	}
	arena_free(p.arena);
	return shown;
}

bool poly_nonneg(const poly_space *s, const poly_facts *f, const poly *x)
{
	int64_t value;
	if (!x)
		return false;
	if (poly_is_constant(x, &value))
		return value >= 0;
	return nonneg(s, f, x, 0);
}
