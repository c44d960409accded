/* Compares the descriptor, made for all shapes, with the analysis of given
 * shapes: stages, variables and extents, strategies, and the regions of each
 * part. */
#include "config.h"

#include "compiler/verify/trial.h"

#include <string.h>

#include "kernel/monotone.h"

/* A stage of both: the descriptor's variables and dimensions for those of the
 * kernel. */
typedef struct pair {
	const desc_stage *d;
	const stage *st;
	const kernel *k;
	spot vars[MAX_NVARS];
	spots inputs[MAX_NINPUTS];
	int input[MAX_NINPUTS]; /* number in the descriptor's stage */
} pair;

typedef struct symbols {
	trial *t;
	const desc_op *d;
	const sym_op *x;
	int64_t *values; /* by atom */
	bool *packs;	 /* by atom: it is a pack's extent */
	pair *pairs;	 /* by stage */
} symbols;

static void disagree(const symbols *s, const char *label, const char *about,
		     const char *what)
{
	note(s->t, VERIFY_WRONG, label, about, 0, "the descriptor %s", what);
}

/* ---- the values of atoms ------------------------------------------------ */

static void set_size(symbols *s, const poly *extent, int64_t value)
{
	for (int i = 0; i < s->d->space->natoms; i++)
		if (s->d->space->atoms[i].kind <= ATOM_ATTR &&
		    poly_equal(extent, poly_of(s->t->arena, i)))
			s->values[i] = value;
}

static bool dims_of(const symbols *s, int tensor, spots *out)
{
	const desc_tensor *t = &s->d->tensors[tensor];
	const char *texts[DESC_MAX_NDIM];
	bool packs[DESC_MAX_NDIM];
	for (int i = 0; i < t->ndims; i++) {
		texts[i] = t->dims[i].text;
		packs[i] = t->dims[i].pack;
	}
	return find_spots(s->t, texts, packs, t->ndims, out);
}

static void set_attributes(symbols *s)
{
	for (int i = 0; i < s->d->space->natoms; i++) {
		const poly_atom *a = &s->d->space->atoms[i];
		int64_t v;
		if (!a->x && a->kind == ATOM_ATTR &&
		    draw_value(s->t->v->op, s->t->drawn, a->name, &v))
			s->values[i] = v;
	}
}

static void note_packs(symbols *s)
{
	for (int i = 0; i < s->d->space->natoms; i++)
		s->packs[i] = s->d->space->atoms[i].kind <= ATOM_ATTR &&
			      !strncmp(s->d->space->atoms[i].name, "..", 2);
}

/* Sets the atoms.  Returns false if the descriptor does not cover the shapes:
 * operands are broadcast, extents are 0, or attributes assumed to be >= 0 are
 * negative. */
static bool set_atoms(symbols *s)
{
	const draw *d = s->t->drawn;
	note_packs(s);
	set_attributes(s);
	for (int i = 0; i < s->d->nassumed; i++)
		if (s->values[s->d->assumed[i]] < 0)
			return false;
	for (int i = 0; i < s->t->v->op->nparams; i++) {
		const desc_tensor *p = &s->d->tensors[i];
		spots at;
		if (!dims_of(s, i, &at) || at.n != d->types[i].ndim)
			return false;
		for (int j = 0; j < at.n; j++) {
			if (d->types[i].dims[j] < 1)
				return false;
			if (!at.at[j].pack)
				set_size(s, p->dims[at.at[j].dim].extent,
					 d->types[i].dims[j]);
		}
	}
	return !d->repeats;
}

/* The value of p.  Returns false if it depends on a pack's extent that is not
 * set. */
static bool evaluate(const symbols *s, const poly *p, int64_t *v)
{
	for (int i = 0; i < s->d->space->natoms; i++)
		if (s->packs[i] && s->values[i] == 0 &&
		    poly_uses(s->d->space, p, i))
			return false;
	return poly_eval(s->d->space, p, s->values, v);
}

/* ---- comparing ---------------------------------------------------------- */

static bool is_affine(const sym_op *x, const sym_read *r)
{
	for (int d = 0; d < r->n; d++) {
		const sym_index *index = &r->index[d];
		if (!index->at && !index->data && !index->all)
			return false;
		for (atom_kind k = ATOM_DIV; index->at && k <= ATOM_MAX; k++)
			if (poly_uses_kind(x->space, index->at, k))
				return false;
	}
	return !r->open;
}

/* Whether the regions of an input have to be equal.  That is so if its reads
 * are affine and under no guards or conditions, as these are analysed more
 * closely for known shapes.  none: the block of a derived variable is empty, so
 * that some of several reads may be left out. */
static bool wants_exact(const symbols *s, int at, int tensor, bool none)
{
	const sym_stage *st = s->x->stages[at];
	int nreads = 0;
	for (int i = 0; i < st->nreads; i++) {
		const sym_read *r = st->reads[i];
		if (r->tensor != tensor)
			continue;
		nreads++;
		if (!is_affine(s->x, r) || r->guarded)
			return false;
	}
	return !st->conditional && !(none && nreads > 1);
}

/* Whether look-up x precedes y in the order of a stage's variables. */
static bool is_before(sym_lookup x, sym_lookup y)
{
	return x.tensor < y.tensor || (x.tensor == y.tensor && x.dim < y.dim);
}

/* The descriptor's variable for a kernel's derived variable; -1 if there is
 * none. */
static int derived_var(const symbols *s, int at, const kderived *x, spot p)
{
	const sym_stage *st = s->x->stages[at];
	sym_lookup l = { s->t->x->stages[at].inputs[x->input], p.dim };
	int nbefore = 0;
	bool known = false;
	for (int j = 0; j < st->nlookups; j++) {
		nbefore += is_before(st->lookups[j], l);
		known |= st->lookups[j].tensor == l.tensor &&
			 st->lookups[j].dim == l.dim;
	}
	return known ? st->nvars + nbefore : -1;
}

/* The descriptor's range [*lo, *hi) of dimension j of input i, if the kernel's
 * variable v has the current block under strategy st.  A pack's part stands for
 * each dimension separately; the other dimensions are needed completely. */
static bool said_range(const symbols *s, const pair *q,
		       const desc_strategy *st, int v, int i, int j,
		       int64_t *lo, int64_t *hi)
{
	spot p = q->inputs[i].at[j], own = q->vars[v];
	const desc_region *r = &st->needs[q->input[i]].regions[p.dim];
	int64_t x;
	*lo = 0;
	*hi = q->k->inputs[i].dims[j];
	if (!r->lo || (p.pack && !r->follows))
		return true;
	if (p.pack && (!own.pack || p.at != own.at ||
		       strcmp(p.pack, own.pack) != 0))
		return true;
	if (!evaluate(s, r->lo, &x))
		return false;
	*lo = x > *lo ? x : *lo;
	if (!evaluate(s, r->hi, &x))
		return false;
	*hi = x < *hi ? x : *hi;
	return true;
}

/* An empty block needs nothing; an empty block of a derived variable needs
 * nothing of its input only. */
static bool said_need(const symbols *s, const pair *q,
		      const desc_strategy *st, int v, bool empty, int i,
		      box *need)
{
	*need = box_empty(q->inputs[i].n);
	for (int j = 0; j < need->n && !empty; j++)
		if (!said_range(s, q, st, v, i, j, &need->lo[j],
				&need->hi[j]))
			return false;
	if (box_is_empty(need))
		*need = box_empty(need->n);
	return true;
}

/* Whether the part of an input given by the descriptor lacks an element that is
 * read.  The region for known shapes may be larger: with numbers for sizes an
 * index has another form and another interval. */
static bool misses_reads(const symbols *s, const pair *q, int v, int p,
			 int parts, int input, const box *said)
{
	box real = reads_of_part(s->t, q->st, v, p, parts, input);
	return !box_contains(said, &real);
}

static void compare_part(const symbols *s, int at, const desc_strategy *st,
			 int v, int p, int parts)
{
	const pair *q = &s->pairs[at];
	const desc_var *var = &q->d->vars[st->var];
	box space = part_of(q->k, v, p, parts), real[MAX_NINPUTS], said;
	bool empty = false, none = space.lo[v] >= space.hi[v];
	for (int w = 0; w < q->k->nvars; w++)
		empty |= space.lo[w] >= space.hi[w] &&
			 q->k->vars[w].kind != KVAR_DERIVED;
	kernel_needs(q->k, &space, real);
	s->values[var->begin] = space.lo[v];
	s->values[var->end] = space.hi[v];
	for (int i = 0; i < q->k->ninputs; i++) {
		int tensor = q->d->inputs[q->input[i]];
		if (!said_need(s, q, st, v, empty, i, &said))
			disagree(s, q->d->label, var->name,
				 "has no regions here");
		else if (!box_contains(&said, &real[i]) &&
			 misses_reads(s, q, v, p, parts, i, &said))
			disagree(s, q->d->label, var->name,
				 "has a region that misses what is read");
		else if (wants_exact(s, at, tensor, none) &&
			 !box_contains(&real[i], &said))
			disagree(s, q->d->label, var->name,
				 "has a region that is larger than the one for "
				 "shapes");
	}
}

static const desc_strategy *strategy_of(const desc_stage *d, int var)
{
	for (int i = 0; i < d->nstrategies; i++)
		if (d->strategies[i].var == var)
			return &d->strategies[i];
	return NULL;
}

static void compare_var(symbols *s, int at, int v)
{
	const pair *q = &s->pairs[at];
	const desc_var *var = &q->d->vars[q->vars[v].dim];
	const desc_strategy *st = strategy_of(q->d, q->vars[v].dim);
	bool offered = strategy_offered(q->k, v, NULL);
	int64_t extent;
	if (q->vars[v].pack)
		set_size(s, var->extent, q->k->vars[v].extent);
	if (evaluate(s, var->extent, &extent) &&
	    (extent > 0 ? extent : 0) != q->k->vars[v].extent)
		disagree(s, q->d->label, var->name, "has another extent");
	if (offered && !st)
		disagree(s, q->d->label, var->name, "lacks the strategy");
	if (st && (!offered || strategy_reducer(q->k, v) != st->reducer))
		disagree(s, q->d->label, var->name,
			 "has a strategy that shapes do not have");
	else if (st)
		for (int n = MIN_PARTS; n <= MAX_PARTS; n++)
			for (int p = 0; p < n; p++)
				compare_part(s, at, st, v, p, n);
	if (q->vars[v].pack)
		set_size(s, var->extent, 0);
}

/* The descriptor's input for a kernel's input; -1 if there is none. */
static int input_of(const desc_stage *d, const stage *st, int i)
{
	for (int j = 0; j < d->ninputs; j++)
		if (d->inputs[j] == st->inputs[i])
			return j;
	return -1;
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

/* The mask of the kernel's inputs that are read and belong to a passing. */
static uint32_t passed_inputs(const desc_stage *d, const desc_passing *p,
			      const stage *st)
{
	uint32_t all = 0;
	for (int j = 0; j < st->kernel->ninputs; j++)
		for (int i = 0; i < d->ninputs && i < 64; i++)
			if (p->inputs >> i & 1 &&
			    st->inputs[j] == d->inputs[i] &&
			    reads_input(st->kernel->body, j))
				all |= UINT32_C(1) << j;
	return all;
}

/* Checks that partial values that pass by the descriptor also pass for these
 * shapes.  Attributes may let more pass. */
static void compare_passing(const symbols *s, int at)
{
	const desc_stage *d = &s->d->stages[at];
	const stage *st = &s->t->x->stages[at];
	for (int i = 0; i < d->npassing; i++) {
		const desc_passing *p = &d->passing[i];
		uint32_t inputs = passed_inputs(d, p, st);
		if (inputs && !kernel_passes_partial(st->kernel, inputs, p->by,
						     p->to))
			disagree(s, d->label,
				 inputs_text(s->t->arena, st->kernel, inputs),
				 "has partial values that do not pass");
	}
}

/* Checks that an input which the result may overwrite by the descriptor may be
 * overwritten for these shapes if the types are equal. */
static void compare_in_place(const symbols *s, int at)
{
	const desc_stage *d = &s->d->stages[at];
	const stage *st = &s->t->x->stages[at];
	for (int i = 0; i < st->kernel->ninputs; i++) {
		int of = input_of(d, st, i);
		bool said = of >= 0 && of < 64 && (d->in_place >> of & 1) &&
			    st->kernel->inputs[i].type == st->kernel->type;
		if (said && !kernel_in_place(st->kernel, i))
			disagree(s, d->label, st->kernel->inputs[i].name,
				 "lets the result overwrite it");
	}
}

/* Whether an attribute may choose between bodies; the descriptor has all of
 * them. */
static bool has_variants(const ast_op *op)
{
	for (int i = 0; i < op->nattrs; i++)
		if (op->attrs[i].type == ATTR_BOOL ||
		    op->attrs[i].type == ATTR_TYPE ||
		    op->attrs[i].type == ATTR_STRING)
			return true;
	return false;
}

/* The descriptor assumes floats for what has no declared type or an attribute's
 * type. */
static bool is_of_floats(const symbols *s)
{
	const ast_op *op = s->t->v->op;
	for (int i = 0; i < op->nparams; i++)
		if (op->params[i].type.kind == TYPE_SHARED &&
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

/* Finds the spots of the variables of a kind, outputs or reductions, from *n
 * on. */
static bool spot_vars(const symbols *s, pair *q, kvar_kind kind, int *n)
{
	const char *texts[MAX_NVARS];
	bool packs[MAX_NVARS];
	int of[MAX_NVARS], count = 0;
	spots out;
	for (int i = 0; i < q->d->nvars && count < MAX_NVARS; i++) {
		if (q->d->vars[i].kind != kind)
			continue;
		texts[count] = q->d->vars[i].extent_text;
		packs[count] = q->d->vars[i].pack;
		of[count++] = i;
	}
	if (!find_spots(s->t, texts, packs, count, &out) ||
	    *n + out.n > q->k->nvars)
		return false;
	for (int i = 0; i < out.n; i++) {
		if (q->k->vars[*n].kind != kind)
			return false;
		q->vars[*n] = out.at[i];
		q->vars[(*n)++].dim = of[out.at[i].dim];
	}
	return true;
}

/* Pairs the variables.  Returns false if they differ. */
static bool pair_vars(const symbols *s, int at, pair *q)
{
	int n = 0;
	if (!spot_vars(s, q, KVAR_OUTPUT, &n) ||
	    !spot_vars(s, q, KVAR_REDUCE, &n) ||
	    n + q->k->nderived != q->k->nvars)
		return false;
	for (int i = 0; i < q->k->nderived; i++) {
		const kderived *x = &q->k->derived[i];
		spot p = q->inputs[x->input].at[x->dim];
		p.dim = derived_var(s, at, x, p);
		if (p.dim < 0)
			return false;
		q->vars[x->var] = p;
	}
	return true;
}

static bool pair_stage(symbols *s, int at)
{
	pair *q = &s->pairs[at];
	*q = (pair){ .d = &s->d->stages[at], .st = &s->t->x->stages[at],
		     .k = s->t->x->stages[at].kernel };
	if (strcmp(q->d->label, q->st->label) != 0)
		return false;
	if (q->d->open_because)
		return true;
	if (q->d->reducer != q->k->reducer ||
	    q->d->ninputs != q->k->ninputs)
		return false;
	for (int i = 0; i < q->k->ninputs; i++) {
		q->input[i] = input_of(q->d, q->st, i);
		if (q->input[i] < 0 ||
		    !dims_of(s, q->st->inputs[i], &q->inputs[i]) ||
		    q->inputs[i].n != q->k->inputs[i].ndim)
			return false;
	}
	return pair_vars(s, at, q);
}

/* Pairs the stages.  Returns false if they are not those of the descriptor.
 * Shapes and attributes that decide a condition may leave out parts of an
 * operator. */
static bool pair_stages(symbols *s)
{
	if (s->t->x->nstages != s->d->nstages)
		return false;
	for (int i = 0; i < s->d->nstages; i++)
		if (!pair_stage(s, i))
			return false;
	return true;
}

void check_symbolic(trial *t)
{
	symbols s = { .t = t, .d = t->v->described, .x = t->v->symbolic };
	if (s.d->open_because || t->x->nstages == 0 || !is_of_floats(&s))
		return;
	s.values = ARENA_ARRAY(t->arena, int64_t, POLY_MAX_ATOMS);
	s.packs = ARENA_ARRAY(t->arena, bool, POLY_MAX_ATOMS);
	s.pairs = ARENA_ARRAY(t->arena, pair, t->x->nstages);
	if (!set_atoms(&s))
		return;
	if (!pair_stages(&s)) {
		t->v->unlike += !has_variants(t->v->op);
		return;
	}
	t->v->result->symbolic++;
	for (int i = 0; i < s.d->nstages; i++) {
		if (s.d->stages[i].open_because)
			continue;
		for (int v = 0; v < s.pairs[i].k->nvars; v++)
			compare_var(&s, i, v);
		compare_passing(&s, i);
		compare_in_place(&s, i);
	}
}
