/* Products with a factor that is 0 unless sums are multiples of numbers:
 *
 *	out[k, i] = Sum(c, r) w[c, k, r] *
 *		(if (i - r) % 2 == 0 then x[c, (i - r) / 2] else 0)
 *
 * Transposed convolutions and gradients of strided convolutions have this form.
 * For even i all terms with odd r are 0, and the reverse.  So each class of i
 * is a product with the terms of one class of r.  Where r has one value, as in
 * convolutions of single elements, a class has all terms or none.
 *
 * A term that is left out is 0 times an element of the other factor.  That is
 * NaN if the element is infinite or NaN, so the generated code tests for such
 * elements. */
#include "config.h"

#include "base/checked.h"
#include "compiler/codegen/schedule.h"

/* There may be at most so many classes; with more, each would be a small
 * product. */
enum { MOST_CLASSES = 8 };

/* Takes the loop of `all' that moves the sum; -1 if there is none or there are
 * several. */
static int take_loop(const nest *n, linear *x, loop_set all)
{
	int found = -1;
	for (int l = 0; l < n->n; l++) {
		if (!x->coef[l] || !(all & loop_bit(l)))
			continue;
		if (found >= 0)
			return -1;
		found = l;
	}
	return found;
}

/* Whether the rest of the sum, without its two loops, moves only with outer
 * loops. */
static bool rest_is_outside(const schedule *s, const turn *t)
{
	for (int l = 0; l < s->nest.n; l++)
		if (t->sum.coef[l] && l != t->row && l != t->term &&
		    !(s->outer & loop_bit(l)))
			return false;
	return true;
}

static bool is_new(const schedule *s, const turn *t)
{
	for (int i = 0; i < s->nturns; i++)
		if (s->turns[i].row == t->row ||
		    (t->term >= 0 && s->turns[i].term == t->term))
			return false;
	return true;
}

/* Adds the condition sum % by == 0 of a factor with loops `own'. */
static bool add_turn(schedule *s, const kexpr *e, loop_set own)
{
	const nest *n = &s->nest;
	const kexpr *x = e->args[0], *zero = e->args[1];
	turn t;
	if (zero->kind != KX_INT || zero->i || x->kind != KX_FN ||
	    x->fn != FN_MOD || x->type != DT_I64 ||
	    x->args[1]->kind != KX_INT || s->nturns == MAX_TURNS)
		return false;
	t.by = x->args[1]->i;
	t.sum = linear_of(n, x->args[0]);
	if (t.by < 2 || t.by > MOST_CLASSES || !t.sum.affine)
		return false;
	t.row = take_loop(n, &t.sum, own);
	t.term = take_loop(n, &t.sum, s->depth);
	if (t.row < 0 || !rest_is_outside(s, &t) || !is_new(s, &t))
		return false;
	t.step = t.term < 0 ? 1
			    : t.by / common_divisor(t.by,
						    t.sum.coef[t.term]);
	s->turns[s->nturns++] = t;
	return true;
}

static bool add_turns(schedule *s, const kexpr *e, loop_set own)
{
	if (e->kind != KX_FN || e->nargs != 2)
		return false;
	if (e->fn == FN_AND && e->type == DT_BOOL)
		return add_turns(s, e->args[0], own) &&
		       add_turns(s, e->args[1], own);
	return e->fn == FN_EQ && add_turn(s, e, own);
}

/* Finds the conditions of a factor that is 0 unless they hold. */
static bool find_turns(schedule *s, const kexpr *e, loop_set own)
{
	s->nturns = 0;
	return e->kind == KX_SELECT && e->args[2]->kind == KX_FLOAT &&
	       e->args[2]->f == 0 && add_turns(s, e->args[0], own);
}

/* Whether e is a tensor whose parts along its first dimension can be tested for
 * elements that are not finite. */
static bool can_be_finite(const schedule *s, const kexpr *e)
{
	const kernel *k = s->nest.k;
	dtype t = k->body->type;
	return (t == DT_F32 || t == DT_F64) && e->kind == KX_READ &&
	       !e->guarded && kx_ndim(e) > 0 &&
	       k->inputs[e->input].type == t && e->args[0]->kind == KX_VAR;
}

static bool is_whole(const nest *n)
{
	for (int l = 0; l < n->n; l++)
		if (n->loops[l].part != LOOP_WHOLE)
			return false;
	return true;
}

void schedule_turn(schedule *s)
{
	if (s->kind != SCHEDULE_PRODUCT || !is_whole(&s->nest))
		return;
	s->finite = s->right;
	if (!find_turns(s, s->left, s->rows)) {
		s->finite = s->left;
		if (!find_turns(s, s->right, s->cols))
			s->nturns = 0;
	}
	if (s->nturns && !can_be_finite(s, s->finite))
		s->nturns = 0;
	for (const turn *t = s->turns; t < s->turns + s->nturns; t++) {
		s->nest.loops[t->row].part = LOOP_TURN;
		if (t->term >= 0)
			s->nest.loops[t->term].part = LOOP_TURN;
	}
}
