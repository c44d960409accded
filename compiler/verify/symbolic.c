/* What the descriptor says for all shapes against what is found for shapes:
 * the stages, their variables and extents, the strategies, and the regions of
 * each part. */
#include "config.h"

#include "compiler/verify/trial.h"

#include <string.h>

#include "plan/partial.h"

typedef struct symbols {
	trial *t;
	const desc_op *d;
	const sym_op *x;
	int64_t *values; /* by atom */
} symbols;

static void disagree(const symbols *s, const char *label, const char *about,
		     const char *what)
{
	note(s->t, VERIFY_WRONG, label, about, 0, "the descriptor %s", what);
}

/* ---- the values of atoms ------------------------------------------------ */

/* The pack that an attribute gives the extents of, of one dimension. */
static bool set_packs(symbols *s)
{
	const ast_op *op = s->t->v->op;
	role *roles = roles_of(s->t->arena, s->t->v->modules, op);
	for (int i = 0; i < op->nattrs; i++) {
		const attr_value *given = s->t->drawn->attrs[i];
		if (roles[i].kind != ROLE_PACK)
			continue;
		if (!given || given->n != 1)
			return false;
		const char *name = arena_printf(s->t->arena, "..%s",
						op->attrs[i].name);
		for (int j = 0; j < s->d->space->natoms; j++) {
			const poly_atom *a = &s->d->space->atoms[j];
			if (!a->x && !strcmp(a->name, name))
				s->values[j] = given->ints[0];
		}
	}
	return true;
}

static void set_size(symbols *s, const poly *extent, int64_t value)
{
	for (int i = 0; i < s->d->space->natoms; i++)
		if (s->d->space->atoms[i].kind == ATOM_SIZE &&
		    poly_equal(extent, poly_of(s->t->arena, i)))
			s->values[i] = value;
}

/* False where the shapes are none that the descriptor's dimensions stand for
 * one by one: packs of another rank, operands that are broadcast, axes other
 * than the last, extents of 0. */
static bool set_atoms(symbols *s)
{
	const draw *d = s->t->drawn;
	const ast_op *op = s->t->v->op;
	if (d->repeats)
		return false;
	for (int i = 0; i < op->nparams; i++) {
		const desc_tensor *p = &s->d->tensors[i];
		if (p->ndims != d->types[i].ndim)
			return false;
		for (int j = 0; j < p->ndims; j++) {
			if (d->types[i].dims[j] < 1)
				return false;
			set_size(s, p->dims[j].extent, d->types[i].dims[j]);
		}
	}
	for (int i = 0; i < s->d->space->natoms; i++) {
		const poly_atom *a = &s->d->space->atoms[i];
		int64_t v;
		if (!a->x && a->kind == ATOM_ATTR &&
		    draw_value(op, d, a->name, &v))
			s->values[i] = v;
	}
	for (int i = 0; i < s->d->nassumed; i++)
		if (s->values[s->d->assumed[i]] < 0)
			return false;
	for (int i = 0; i < op->nparams; i++) {
		const desc_tensor *p = &s->d->tensors[i];
		for (int j = 0; j < p->ndims; j++) {
			int64_t v;
			if (!poly_eval(s->d->space, p->dims[j].extent,
				       s->values, &v) ||
			    v != d->types[i].dims[j])
				return false;
		}
	}
	return true;
}

/* Whether the attribute that selects axes selects the last one. */
static bool selects_last(const symbols *s)
{
	const ast_op *op = s->t->v->op;
	role *roles = roles_of(s->t->arena, s->t->v->modules, op);
	for (int i = 0; i < op->nattrs; i++) {
		int64_t axis;
		if (roles[i].kind != ROLE_AXES)
			continue;
		const char *name = op->attrs[i].name;
		const char *second = arena_printf(s->t->arena, "%s[1]", name);
		if (!draw_value(op, s->t->drawn, name, &axis) ||
		    (axis != -1 && axis != 1))
			return false;
		if (op->attrs[i].is_list &&
		    draw_value(op, s->t->drawn, second, &axis))
			return false;
	}
	return true;
}

/* ---- comparing ---------------------------------------------------------- */

static bool is_affine(const sym_op *x, const sym_read *r)
{
	for (int d = 0; d < r->n; d++)
		for (atom_kind k = ATOM_DIV; r->index[d].at && k <= ATOM_MAX;
		     k++)
			if (poly_uses_kind(x->space, r->index[d].at, k))
				return false;
	return !r->open;
}

/* Whether the regions of an input have to be equal: its reads are affine, and
 * under no guards or conditions, which are looked at more closely when shapes
 * are known. */
static bool wants_exact(const symbols *s, int at, int tensor)
{
	const sym_stage *st = s->x->stages[at];
	for (int i = 0; i < st->nreads; i++) {
		const sym_read *r = st->reads[i];
		if (r->tensor == tensor &&
		    (!is_affine(s->x, r) || r->guarded))
			return false;
	}
	return !st->conditional;
}

/* Whether the look-up x comes before y in the order of a stage's variables. */
static bool is_before(sym_lookup x, sym_lookup y)
{
	return x.tensor < y.tensor || (x.tensor == y.tensor && x.dim < y.dim);
}

/* The kernel's variable that a strategy divides. */
static int var_of(const symbols *s, int at, int var)
{
	const sym_stage *x = s->x->stages[at];
	const stage *st = &s->t->x->stages[at];
	if (s->d->stages[at].vars[var].kind != KVAR_DERIVED)
		return var;
	for (int i = 0; i < st->kernel->nderived; i++) {
		sym_lookup l = { st->inputs[st->kernel->derived[i].input],
				 st->kernel->derived[i].dim };
		int nbefore = 0;
		bool known = false;
		for (int j = 0; j < x->nlookups; j++) {
			nbefore += is_before(x->lookups[j], l);
			known |= x->lookups[j].tensor == l.tensor &&
				 x->lookups[j].dim == l.dim;
		}
		if (known && var == x->nvars + nbefore)
			return st->kernel->derived[i].var;
	}
	return -1;
}

/* The descriptor's input that a kernel's input is; -1 for none. */
static int input_of(const desc_stage *d, const stage *st, int i)
{
	for (int j = 0; j < d->ninputs; j++)
		if (d->inputs[j] == st->inputs[i])
			return j;
	return -1;
}

static void compare_part(const symbols *s, int at, const desc_strategy *st,
			 int v, int p, int parts)
{
	const desc_stage *d = &s->d->stages[at];
	const stage *real_stage = &s->t->x->stages[at];
	const kernel *k = real_stage->kernel;
	const char *name = d->vars[st->var].name;
	box space = part_of(k, v, p, parts), real[MAX_NINPUTS];
	box *said = ARENA_ARRAY(s->t->arena, box, d->ninputs);
	kernel_needs(k, &space, real);
	if (!descriptor_needs(s->d, d, st, s->values, space.lo[v],
			      space.hi[v], said)) {
		disagree(s, d->label, name, "has no regions here");
		return;
	}
	for (int i = 0; i < k->ninputs; i++) {
		int j = input_of(d, real_stage, i);
		if (!box_contains(&said[j], &real[i]))
			disagree(s, d->label, name, "has a region that misses "
				 "what is read");
		else if (wants_exact(s, at, d->inputs[j]) &&
			 !box_equal(&said[j], &real[i]))
			disagree(s, d->label, name,
				 "has a region that is larger than the one for "
				 "shapes");
	}
}

static void compare_strategies(const symbols *s, int at)
{
	const desc_stage *d = &s->d->stages[at];
	const kernel *k = s->t->x->stages[at].kernel;
	bool offered[MAX_NVARS] = { false };
	for (int i = 0; i < d->nstrategies; i++) {
		const desc_strategy *st = &d->strategies[i];
		int v = var_of(s, at, st->var);
		if (v < 0 || !strategy_offered(k, v, NULL) ||
		    strategy_reducer(k, v) != st->reducer) {
			disagree(s, d->label, d->vars[st->var].name,
				 "has a strategy that shapes do not have");
			continue;
		}
		offered[v] = true;
		for (int n = MIN_PARTS; n <= MAX_PARTS; n++)
			for (int p = 0; p < n; p++)
				compare_part(s, at, st, v, p, n);
	}
	for (int v = 0; v < k->nvars; v++)
		if (strategy_offered(k, v, NULL) && !offered[v])
			disagree(s, d->label,
				 arena_strdup(s->t->v->arena, k->vars[v].name),
				 "lacks the strategy");
}

static bool reads_input(const kexpr *e, int input)
{
	if (e->kind == KX_READ && e->input == input)
		return true;
	for (int i = 0; i < e->nargs; i++)
		if (reads_input(e->args[i], input))
			return true;
	return false;
}

/* What the descriptor says to pass does for shapes; attributes may let more
 * pass. */
static void compare_passing(const symbols *s, int at)
{
	const desc_stage *d = &s->d->stages[at];
	const stage *st = &s->t->x->stages[at];
	for (int i = 0; i < d->npassing; i++) {
		const desc_passing *p = &d->passing[i];
		for (int j = 0; j < st->kernel->ninputs; j++)
			if (st->inputs[j] == d->inputs[p->input] &&
			    reads_input(st->kernel->body, j) &&
			    kernel_passes(st->kernel, j, p->by) != p->to)
				disagree(s, d->label,
					 st->kernel->inputs[j].name,
					 "has partial values that do not pass");
	}
}

/* Whether an attribute may choose between bodies, of which the descriptor has
 * all. */
static bool has_variants(const ast_op *op)
{
	for (int i = 0; i < op->nattrs; i++)
		if (op->attrs[i].type == ATTR_BOOL ||
		    op->attrs[i].type == ATTR_TYPE ||
		    op->attrs[i].type == ATTR_STRING)
			return true;
	return false;
}

/* The descriptor takes what has no declared type, and what has an attribute's,
 * to be of floats. */
static bool is_of_floats(const symbols *s)
{
	const ast_op *op = s->t->v->op;
	for (int i = 0; i < op->nparams; i++)
		if (!op->params[i].type.name &&
		    !dtype_is_float(s->t->drawn->types[i].type))
			return false;
	for (int i = 0; i < op->nattrs; i++) {
		const attr_value *a = s->t->drawn->attrs[i];
		if (op->attrs[i].type == ATTR_TYPE && a &&
		    !dtype_is_float((dtype)a->ints[0]))
			return false;
	}
	return true;
}

static bool same_stage(const symbols *s, int at)
{
	const desc_stage *d = &s->d->stages[at];
	const stage *st = &s->t->x->stages[at];
	const kernel *k = st->kernel;
	if (strcmp(d->label, st->label) != 0)
		return false;
	if (d->open_because)
		return true;
	if (d->reducer != k->reducer || d->nvars != k->nvars ||
	    d->ninputs != k->ninputs)
		return false;
	for (int i = 0; i < k->ninputs; i++)
		if (input_of(d, st, i) < 0)
			return false;
	for (int v = 0; v < k->nvars; v++)
		if (d->vars[v].kind != k->vars[v].kind)
			return false;
	return true;
}

static void compare_extents(const symbols *s, int at)
{
	const desc_stage *d = &s->d->stages[at];
	const kernel *k = s->t->x->stages[at].kernel;
	for (int v = 0; v < k->nvars - k->nderived; v++) {
		int64_t extent;
		if (!poly_eval(s->d->space, d->vars[v].extent, s->values,
			       &extent) ||
		    (extent > 0 ? extent : 0) != k->vars[v].extent)
			disagree(s, d->label, d->vars[v].name,
				 "has another extent");
	}
}

/* Whether the stages are those of the descriptor.  Shapes and attributes that
 * decide a condition may leave less of an operator. */
static bool same_stages(const symbols *s)
{
	if (s->t->x->nstages != s->d->nstages)
		return false;
	for (int i = 0; i < s->d->nstages; i++)
		if (!same_stage(s, i))
			return false;
	return true;
}

void check_symbolic(trial *t)
{
	symbols s = { t, t->v->described, t->v->symbolic, NULL };
	if (s.d->open_because || t->x->nstages == 0 || !is_of_floats(&s))
		return;
	s.values = ARENA_ARRAY(t->arena, int64_t, POLY_MAX_ATOMS);
	if (!set_packs(&s) || !set_atoms(&s) || !selects_last(&s))
		return;
	if (!same_stages(&s)) {
		t->v->unlike += !has_variants(t->v->op);
		return;
	}
	t->v->result->symbolic++;
	for (int i = 0; i < s.d->nstages; i++) {
		if (s.d->stages[i].open_because)
			continue;
		compare_extents(&s, i);
		compare_strategies(&s, i);
		compare_passing(&s, i);
	}
}
