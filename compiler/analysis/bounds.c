#include "config.h"

#include "compiler/analysis/bounds.h"

#include "base/checked.h"
#include "base/vec.h"

enum {
	/* sizes up to this are tried for a counterexample */
	MAX_SIZE = 4,
	MAX_TRIES = 20000,    /* assignments tried for one index */
	/* proof steps for all operators of a set of modules */
	EFFORT = 400000,
	MAX_CHOICES = 4,      /* choices explored for one index */
};

/* ---- proofs ------------------------------------------------------------- */

typedef VEC(const poly *) poly_list;

/* The facts that hold where a read takes place: the stage's variables are in
 * range, and the read's conditions hold.  Allocated in a. */
static poly_list facts_of(arena *a, const sym_op *op, const sym_stage *s,
			  const sym_path *path)
{
	poly_list facts = { 0 };
	for (int i = 0; i < path->n; i++)
		if (path->facts[i])
			vec_push(a, &facts, path->facts[i]);
	for (int v = 0; v < s->nvars; v++) {
		const poly_atom *atom = &op->space->atoms[s->vars[v].atom];
		const poly *last = poly_sub(a, atom->max,
					    poly_of(a, s->vars[v].atom));
		if (last)
			vec_push(a, &facts, last);
	}
	return facts;
}

static bool holds(arena *a, const sym_op *op, const sym_stage *s,
		  const sym_path *path, const poly *goal)
{
	poly_list l = facts_of(a, op, s, path);
	return poly_nonneg(op->space, &(poly_facts){ l.n, l.at }, goal);
}

/* ---- counterexamples ---------------------------------------------------- */

/* A search for a counterexample: values of the named atoms on which the goal
 * depends.  Sizes come before variables.  All facts about the atoms are
 * respected. */
typedef struct search {
	const sym_op *op;
	int natoms;
	int *atoms;
	poly_list facts; /* each >= 0 */
	const poly *goal; /* a point with goal < 0 is wanted */
	int64_t *values; /* by atom */
	int tries;
} search;

static void add_atoms(arena *a, search *s, const poly *p, bool *seen)
{
	for (int i = 0; p && i < p->n; i++) {
		for (int j = 0; j < p->terms[i].n; j++) {
			int id = p->terms[i].atom[j];
			const poly_atom *atom = &s->op->space->atoms[id];
			if (seen[id])
				continue;
			seen[id] = true;
			add_atoms(a, s, atom->x, seen);
			add_atoms(a, s, atom->y, seen);
			if (!atom->x)
				s->atoms[s->natoms++] = id;
			if (atom->kind != ATOM_VAR || !atom->max)
				continue;
			const poly *left = poly_sub(a, atom->max,
						    poly_of(a, id));
			vec_push(a, &s->facts, left);
			add_atoms(a, s, left, seen);
		}
	}
}

static bool is_var(const search *s, int i)
{
	return s->op->space->atoms[s->atoms[i]].kind == ATOM_VAR;
}

static void order_atoms(search *s)
{
	for (int i = 1; i < s->natoms; i++)
		for (int j = i; j > 0 && is_var(s, j - 1) && !is_var(s, j);
		     j--) {
			int swap = s->atoms[j];
			s->atoms[j] = s->atoms[j - 1];
			s->atoms[j - 1] = swap;
		}
}

static bool is_counterexample(const search *s)
{
	int64_t v;
	const poly_space *space = s->op->space;
	for (int i = 0; i < s->facts.n; i++)
		if (!poly_eval(space, s->facts.at[i], s->values, &v) || v < 0)
			return false;
	return poly_eval(space, s->goal, s->values, &v) && v < 0;
}

/* The largest value to try for atom i.  For a variable this is its last value;
 * -1 if the last value is unknown or the range is empty. */
static int64_t last_value(const search *s, int i)
{
	int64_t last;
	const poly_atom *atom = &s->op->space->atoms[s->atoms[i]];
	if (!is_var(s, i))
		return MAX_SIZE;
	if (!poly_eval(s->op->space, atom->max, s->values, &last))
		return -1;
	return last < 2 * MAX_SIZE ? last : 2 * MAX_SIZE;
}

static bool try_values(search *s, int i)
{
	if (i == s->natoms)
		return --s->tries >= 0 && is_counterexample(s);
	int64_t last = last_value(s, i);
	/* The far end is tried first: indices usually leave a tensor there. */
	for (int64_t v = is_var(s, i) ? last : 1; v >= 0 && v <= last;
	     v += is_var(s, i) ? -1 : 1) {
		s->values[s->atoms[i]] = v;
		if (try_values(s, i + 1))
			return true;
		if (s->tries < 0)
			return false;
	}
	return false;
}

static const int64_t *counterexample(arena *a, const sym_op *op,
				     const sym_path *path, const poly *goal)
{
	int n = op->space->natoms;
	search s = { .op = op, .goal = goal, .tries = MAX_TRIES };
	bool *seen = ARENA_ARRAY(a, bool, n);
	s.atoms = ARENA_ARRAY(a, int, n);
	s.values = ARENA_ARRAY(a, int64_t, n);
	for (int i = 0; i < path->n; i++)
		vec_push(a, &s.facts, path->facts[i]);
	for (int i = 0; i < path->n; i++)
		add_atoms(a, &s, path->facts[i], seen);
	add_atoms(a, &s, goal, seen);
	order_atoms(&s);
	bool found = try_values(&s, 0);
	if (op->space->effort)
		*op->space->effort -= MAX_TRIES - s.tries;
	return found ? s.values : NULL;
}

/* ---- verdicts ----------------------------------------------------------- */

/* Whether the goal depends on an attribute, in the index, its range, the size
 * or the conditions. */
static bool has_attribute(arena *a, const sym_op *op, const sym_read *r,
			  const sym_path *path, const poly *goal)
{
	search s = { .op = op };
	bool *seen = ARENA_ARRAY(a, bool, op->space->natoms);
	s.atoms = ARENA_ARRAY(a, int, op->space->natoms);
	add_atoms(a, &s, goal, seen);
	for (int i = 0; i < path->n; i++)
		add_atoms(a, &s, path->facts[i], seen);
	for (int i = 0; i < s.natoms; i++)
		if (op->space->atoms[s.atoms[i]].kind == ATOM_ATTR)
			return true;
	return r->vague;
}

/* The proof of a goal of one read under the facts of a path. */
typedef struct judgement {
	arena *arena;
	const sym_op *op;
	const sym_stage *stage;
	const sym_read *read;
	bounds_end end;
	int nchoices; /* choices that may still be explored */
	bounds_verdict *v;
} judgement;

static bool judge(judgement j, const sym_path *path, const poly *goal);

/* A choice on which the goal depends, or NULL. */
static const sym_choice *choice_in(const sym_op *op, const sym_path *path,
				   const poly *goal)
{
	for (int i = 0; i < op->nchoices; i++) {
		const sym_choice *c = &op->choices[i];
		if (poly_uses(op->space, goal, c->atom))
			return c;
		for (int j = 0; j < path->n; j++)
			if (path->facts[j] &&
			    poly_uses(op->space, path->facts[j], c->atom))
				return c;
	}
	return NULL;
}

/* Judges the goal with one side of a choice in its place, under each of the
 * conditions for that side. */
static bool judge_side(judgement j, const sym_path *path, const poly *goal,
		       const sym_choice *c, bool first)
{
	const poly *by = first ? c->x : c->y;
	const sym_path *sides = first ? c->xs : c->ys;
	int n = first ? c->nxs : c->nys;
	const poly *then = poly_subst(j.op->space, goal, c->atom, by);
	for (int i = 0; i < n; i++) {
		sym_path all = { 0, ARENA_ARRAY(j.arena, const poly *,
						path->n + sides[i].n) };
		for (int k = 0; k < path->n; k++)
			all.facts[all.n++] = poly_subst(
				j.op->space, path->facts[k], c->atom, by);
		for (int k = 0; k < sides[i].n; k++)
			all.facts[all.n++] = sides[i].facts[k];
		if (!judge(j, &all, then))
			return false;
	}
	return true;
}

static bool judge_sides(judgement j, const sym_path *path, const poly *goal,
			const sym_choice *c)
{
	if (j.nchoices-- == 0) {
		j.v->end = j.end;
		j.v->deferred = true;
		return false;
	}
	return judge_side(j, path, goal, c, true) &&
	       judge_side(j, path, goal, c, false);
}

static bool judge(judgement j, const sym_path *path, const poly *goal)
{
	arena *a = j.arena;
	const sym_op *op = j.op;
	bounds_verdict *v = j.v;
	/* Try the ranges alone first: they usually suffice, and a search
	 * through many conditions is slow. */
	const sym_path ranges = { 0 };
	if (path->n && holds(a, op, j.stage, &ranges, goal))
		return true;
	const sym_choice *c = choice_in(op, path, goal);
	if (c)
		return judge_sides(j, path, goal, c);
	if (holds(a, op, j.stage, path, goal))
		return true;
	v->end = j.end;
	v->deferred = has_attribute(a, op, j.read, path, goal);
	if (!v->deferred)
		v->at = counterexample(a, op, path, goal);
	v->known = v->at != NULL;
	/* If the effort ran out, the check is left to expand. */
	if (!v->known && op->space->effort && *op->space->effort <= 0)
		v->deferred = true;
	return false;
}

static const poly *poly_at(const sym_index *x)
{
	return x->at ? x->at : x->cases;
}

bounds_verdict bounds_of(arena *a, const sym_op *op, const sym_stage *s,
			 const sym_read *r, int d)
{
	bounds_verdict v = { .end = BOUNDS_INSIDE };
	const poly *at = poly_at(&r->index[d]);
	const poly *size = op->tensors[r->tensor].dims[d].extent;
	judgement j = { .arena = a, .op = op, .stage = s, .read = r,
			.nchoices = MAX_CHOICES, .v = &v };
	if (r->guarded || r->open || !at || r->index[d].data)
		return v;
	for (int i = 0; i < r->npaths; i++) {
		const sym_path *p = &r->paths[i];
		const poly *room = poly_sub(a, poly_shift(a, size, -1), at);
		j.end = BOUNDS_ABOVE;
		if (!judge(j, p, room))
			return v;
		j.end = BOUNDS_BELOW;
		if (!judge(j, p, at))
			return v;
	}
	return v;
}

/* ---- messages ----------------------------------------------------------- */

static sym_interval widest(const sym_op *op, const sym_stage *s,
			   const poly *x)
{
	arena *a = op->space->arena;
	sym_range *ranges = ARENA_ARRAY(a, sym_range, s->nvars);
	for (int v = 0; v < s->nvars; v++) {
		int atom = s->vars[v].atom;
		ranges[v] = (sym_range){ atom,
					 { poly_int(a, 0),
					   op->space->atoms[atom].max } };
	}
	return symbolic_interval(op->space, x, ranges, s->nvars, NULL);
}

/* "X = 1, DX = 2" */
static const char *sizes_text(arena *a, const sym_op *op,
			      const bounds_verdict *v, const poly *x,
			      const poly *y)
{
	const char *text = "";
	for (int i = 0; i < op->space->natoms; i++) {
		const poly_atom *t = &op->space->atoms[i];
		if (t->kind == ATOM_SIZE && (poly_uses(op->space, x, i) ||
					     poly_uses(op->space, y, i)))
			text = arena_printf(a, "%s%s%s = %lld", text,
					    *text ? ", " : "", t->name,
					    (long long)v->at[i]);
	}
	return text;
}

/* Adds a note at the place that declares the range of the index's first
 * variable. */
static void note_variable(const sym_op *op, const sym_stage *s, diag_sink *k,
			  const poly *x)
{
	for (int v = 0; v < s->nvars; v++) {
		if (!poly_uses(op->space, x, s->vars[v].atom))
			continue;
		diag_note(k, s->vars[v].at, "%s", s->vars[v].declared);
		return;
	}
}

static void report(arena *a, const sym_op *op, const sym_stage *s,
		   const sym_read *r, int d, const bounds_verdict *v,
		   diag_sink *sink)
{
	const sym_tensor *t = &op->tensors[r->tensor];
	const sym_index *x = &r->index[d];
	const poly *at = poly_at(x);
	sym_interval in = widest(op, s, at);
	bool above = v->end == BOUNDS_ABOVE;
	const poly *bound = above ? in.hi : in.lo;
	bool plain = v->known && bound && x->at &&
		     !(r->npaths && r->paths[0].n);
	const char *text = poly_text(a, op->space, plain ? bound : at);
	const char *size = t->dims[d].text;
	if (plain && above)
		diag_error(sink, DIAG_READ_OUTSIDE, x->place,
			   "dimension %d of '%s' is read up to %s, but its "
			   "size is %s", d, t->name, text, size);
	else if (plain)
		diag_error(sink, DIAG_READ_OUTSIDE, x->place,
			   "dimension %d of '%s' is read from %s on, which is "
			   "below 0", d, t->name, text);
	else if (v->known)
		diag_error(sink, DIAG_READ_OUTSIDE, x->place,
			   "dimension %d of '%s', of size %s, is read %s its "
			   "%s at %s", d, t->name, size,
			   above ? "beyond" : "before",
			   above ? "end" : "beginning", text);
	else
		diag_error(sink, DIAG_READ_OUTSIDE, x->place,
			   "it cannot be shown that %s stays %s in dimension "
			   "%d of '%s'; write (%s[..] else VALUE) to guard the "
			   "read", text, above ? "below its size" : "above 0",
			   d, t->name, t->name);
	note_variable(op, s, sink, at);
	if (s->opaque && s->conditional)
		diag_note(sink, NOWHERE, "the opaque function '%s' is called "
			  "whatever the conditions around it are", s->opaque);
	const char *example = v->known && !plain
				      ? sizes_text(a, op, v, at,
						   t->dims[d].extent)
				      : "";
	if (*example)
		diag_note(sink, NOWHERE, "for example with %s", example);
}

/* ---- the check ---------------------------------------------------------- */

static void check_read(arena *a, const sym_op *op, const sym_stage *s,
		       const sym_read *r, diag_sink *sink)
{
	for (int d = 0; d < r->n && !r->open; d++) {
		bounds_verdict v = bounds_of(a, op, s, r, d);
		if (v.end != BOUNDS_INSIDE && !v.deferred)
			report(a, op, s, r, d, &v, sink);
	}
}

static void report_conflict(const sym_conflict *c, diag_sink *sink)
{
	diag_error(sink, DIAG_EXTENT_DISAGREES, c->at,
		   "the index '%s' runs over %s elements here", c->name,
		   c->extent);
	diag_note(sink, c->other_at, "and over %s elements here", c->other);
}

bool analysis_check_op(const tdl_modules *m, diag_sink *sink, const ast_op *op,
		       int64_t *effort)
{
	int before = diag_errors(sink);
	arena *a = arena_new();
	const sym_op *x = symbolic_op(a, m, op, effort);
	for (int i = 0; i < x->nconflicts && !diag_full(sink); i++)
		report_conflict(&x->conflicts[i], sink);
	for (int i = 0; i < x->nstages; i++)
		for (int j = 0; j < x->stages[i]->nreads; j++)
			if (!x->stages[i]->reads[j]->inlined &&
			    !diag_full(sink))
				check_read(a, x, x->stages[i],
					   x->stages[i]->reads[j], sink);
	arena_free(a);
	return diag_errors(sink) == before;
}

bool analysis_check(const tdl_modules *m, diag_sink *sink)
{
	int before = diag_errors(sink);
	int64_t effort = EFFORT;
	for (int i = 0; i < strmap_count(m->ops); i++) {
		const ast_op *op = strmap_value(m->ops, i);
		if (!op->faulty && !diag_full(sink))
			analysis_check_op(m, sink, op, &effort);
	}
	return diag_errors(sink) == before;
}
