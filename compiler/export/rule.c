/* Turns links into a rule.  A class of pieces becomes a factor.  It may be
 * divided if all stages pass it on. */
#include "config.h"

#include "compiler/export/rule.h"

#include <ctype.h>
#include <string.h>

#include "base/vec.h"
#include "compiler/export/factors.h"

typedef struct class_facts {
	rule_kind kind;
	bool positional, direct;
	const char *instead; /* a division that no target can express */
} class_facts;

typedef struct composer {
	arena *arena;
	const links *links;
	const pieces *pieces;
	int *factor; /* by class: number in the rule plus 1; 0: none yet */
	VEC(rule_factor) factors;
	VEC(const char *) notes;
} composer;

/* ---- what a class can do ------------------------------------------------ */

static bool dim_has(const composer *c, int value, int d, int class)
{
	return entity_has(c->pieces, &c->pieces->dims[value][d], class);
}

static bool var_has(const composer *c, int s, int v, int class)
{
	return entity_has(c->pieces, &c->pieces->vars[s][v], class);
}

static int class_of(const composer *c, int piece)
{
	return piece_class(c->pieces, piece);
}

/* The variable of a stage that the class divides; -1 if there is none, -2 if
 * there are several. */
static int var_in(const composer *c, int s, int class)
{
	int found = -1;
	for (int v = 0; v < c->links->stages[s].nvars; v++)
		if (var_has(c, s, v, class))
			found = found == -1 ? v : -2;
	return found;
}

/* Whether a stage reads more of what the class divides than its part. */
static bool reads_whole(const composer *c, int s, int class)
{
	const link_stage *st = &c->links->stages[s];
	for (int i = 0; i < st->ninputs; i++) {
		int value = st->inputs[i].value;
		for (int d = 0; d < c->links->values[value].ndims; d++)
			if (c->pieces->kinds[s][i][d] == LINK_NONE &&
			    dim_has(c, value, d, class))
				return true;
	}
	return false;
}

/* The mask of a stage's inputs that are partial results, among the first 64.
 * *others: whether there are others. */
static uint64_t partial_inputs(const link_stage *st, const bool *partial,
			       bool *others)
{
	uint64_t set = 0;
	*others = false;
	for (int i = 0; i < st->ninputs; i++) {
		if (!partial[st->inputs[i].value])
			continue;
		*others |= i >= 64;
		set |= i < 64 ? (uint64_t)1 << i : 0;
	}
	return set;
}

/* Whether a stage passes on sums of a set of its inputs. */
static bool hands_on(const link_stage *st, uint64_t set)
{
	if (!(set & (set - 1)))
		return st->inputs[__builtin_ctzll(set)].linear;
	for (int i = 0; i < st->njoint; i++)
		if (st->joint[i] == set)
			return true;
	return false;
}

/* Adds to *f how a stage divides variable v of the class.  Returns false if it
 * does not, or in a way that no target can express. */
static bool divides(const composer *c, int s, int v, int class, bool *partial,
		    class_facts *f)
{
	const link_stage *st = &c->links->stages[s];
	const link_var *x = &st->vars[v];
	int result = st->result;
	f->positional |= c->pieces->positional[s][v];
	if (!x->offered)
		return false;
	if (x->kind == KVAR_OUTPUT)
		return dim_has(c, result, v, class);
	if (x->kind == KVAR_REDUCE && st->reducer == RED_SUM) {
		partial[result] = true;
		return true;
	}
	f->instead = x->kind == KVAR_DERIVED
			     ? "each part takes elements outside of its own "
			       "for 0, and the results are added"
			     : arena_printf(c->arena, "the parts' results are "
					    "combined by %s",
					    reducer_name(st->reducer));
	return false;
}

static bool passes(const composer *c, int s, int class, bool *partial,
		   class_facts *f)
{
	bool others;
	const link_stage *st = &c->links->stages[s];
	int v = var_in(c, s, class);
	uint64_t sums = partial_inputs(st, partial, &others);
	if (v == -2 || others || reads_whole(c, s, class))
		return false;
	if (v >= 0)
		return sums == 0 && divides(c, s, v, class, partial, f);
	if (sums && !hands_on(st, sums))
		return false;
	partial[st->result] = sums != 0;
	f->direct &= sums == 0;
	return true;
}

static bool is_permuted(const composer *c, int class)
{
	for (int i = 0; i < c->pieces->n; i++)
		if (c->pieces->permute[i] && class_of(c, i) == class)
			return true;
	return false;
}

static class_facts facts_of(const composer *c, int class)
{
	const links *l = c->links;
	class_facts f = { .kind = RULE_WHOLE, .direct = true };
	bool *partial = ARENA_ARRAY(c->arena, bool, l->nvalues);
	for (int s = 0; s < l->nstages; s++)
		if (!passes(c, s, class, partial, &f))
			return f;
	int npartial = 0, ncut = 0;
	for (int i = 0; i < l->nresults; i++) {
		npartial += partial[l->results[i]];
		ncut += value_has(c->pieces, l->results[i], class);
	}
	bool permute = is_permuted(c, class);
	if (npartial == 0)
		f.kind = permute ? RULE_PERMUTE : RULE_PASS;
	else if (npartial == l->nresults && ncut == 0 && !permute)
		f.kind = RULE_REDUCE;
	return f;
}

/* ---- names -------------------------------------------------------------- */

/* Whether a name is a keyword of Python. */
static bool is_keyword(const char *s)
{
	static const char *const words[] = { "and", "as", "assert", "async",
		"await", "break", "class", "def", "del", "elif", "else",
		"for", "from", "if", "in", "is", "lambda", "not", "or", "pass",
		"try", "while", "with", "yield" };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(s, words[i]))
			return true;
	return false;
}

static bool is_taken(const composer *c, const char *name)
{
	for (int i = 0; i < c->factors.n; i++)
		if (!strcmp(c->factors.at[i].name, name))
			return true;
	return false;
}

/* The name as an identifier that begins with a letter and is not in use. */
static const char *identifier(const composer *c, const char *name)
{
	char *s = arena_strdup(c->arena, name);
	for (char *p = s; *p; p++)
		if (!isalnum((unsigned char)*p))
			*p = '_';
	if (!isalpha((unsigned char)*s) || is_keyword(s))
		s = arena_printf(c->arena, "f%s%s", *s == '_' ? "" : "_", s);
	const char *unique = s;
	for (int i = 2; is_taken(c, unique); i++)
		unique = arena_printf(c->arena, "%s_%d", s, i);
	return unique;
}

static const char *piece_name(const composer *c, const entity *e, int class,
			      const char *name)
{
	for (int i = 0; i < e->n && e->n > 1; i++)
		if (class_of(c, e->first + i) == class)
			return arena_printf(c->arena, "%s_%d", name,
					    e->n - 1 - i);
	return name;
}

/* The name of a class: that of the last stage's variable or, if no stage has
 * one, of the tensor's dimension. */
static const char *class_name(const composer *c, int class, int value, int d)
{
	const links *l = c->links;
	for (int s = l->nstages; s-- > 0;)
		for (int v = 0; v < l->stages[s].nvars; v++)
			if (var_has(c, s, v, class))
				return piece_name(c, &c->pieces->vars[s][v],
						  class,
						  l->stages[s].vars[v].name);
	return arena_printf(c->arena, "%s_%d", l->values[value].name, d);
}

/* ---- factors ------------------------------------------------------------ */

static int64_t piece_size(const entity *e, int i)
{
	int64_t end = i < e->n - 1 ? e->at[i + 1] : e->extent;
	return end < 0 ? -1 : end / e->at[i];
}

/* The least size of a class's pieces. */
static int64_t class_size(const composer *c, int class)
{
	int64_t least = INT64_MAX;
	const links *l = c->links;
	for (int v = 0; v < l->nvalues; v++)
		for (int d = 0; d < l->values[v].ndims; d++) {
			const entity *e = &c->pieces->dims[v][d];
			for (int i = 0; i < e->n; i++) {
				int64_t n = piece_size(e, i);
				if (class_of(c, e->first + i) == class &&
				    n < least)
					least = n;
			}
		}
	return least;
}

static int add_factor(composer *c, rule_factor f)
{
	f.name = identifier(c, f.name);
	vec_push(c->arena, &c->factors, f);
	return c->factors.n - 1;
}

static void note_factor(composer *c, const rule_factor *f,
			const class_facts *facts)
{
	if (facts->instead && f->kind == RULE_WHOLE)
		vec_push(c->arena, &c->notes,
			 arena_printf(c->arena, "%s can be divided here, where "
				      "%s", f->name, facts->instead));
	if (f->positional && f->kind != RULE_WHOLE && f->kind != RULE_PERMUTE)
		vec_push(c->arena, &c->notes,
			 arena_printf(c->arena, "%s: what a part computes "
				      "depends on where it begins", f->name));
}

/* A factor of which a tensor needs everything. */
static int whole_factor(composer *c, const char *name, int64_t size)
{
	rule_factor f = { .name = name, .size = size, .kind = RULE_WHOLE };
	return add_factor(c, f);
}

/* The factor for a class. */
static rule_factor make_factor(composer *c, int class, int value, int d,
			       class_facts *facts)
{
	*facts = facts_of(c, class);
	rule_factor f = { class_name(c, class, value, d), class_size(c, class),
			  facts->kind, c->links->values[value].pack[d],
			  facts->positional, facts->direct };
	/* A factor of size 1 is never divided. */
	if (f.size >= 0 && f.size <= 1 && f.kind == RULE_WHOLE)
		f.kind = RULE_PASS;
	return f;
}

/* The factor for a piece of dimension d of a value.  A piece of another size
 * may follow its class; if it cannot, it is needed completely. */
static int factor_of(composer *c, int piece, int64_t size, int value, int d)
{
	int class = class_of(c, piece);
	class_facts facts;
	rule_factor f = c->factor[class]
				? c->factors.at[c->factor[class] - 1]
				: make_factor(c, class, value, d, &facts);
	if (f.size != size && f.kind != RULE_PERMUTE)
		return whole_factor(c, f.name, size);
	if (c->factor[class] == 0) {
		c->factor[class] = add_factor(c, f) + 1;
		note_factor(c, &c->factors.at[c->factor[class] - 1], &facts);
	}
	return c->factor[class] - 1;
}

bool rule_tensor_has(const rule_tensor *t, int factor)
{
	for (int d = 0; d < t->ndims; d++)
		for (int i = 0; i < t->dims[d].n; i++)
			if (t->dims[d].factors[i] == factor)
				return true;
	return false;
}

/* The factors of a tensor, each once.  If one occurs again, the dimension is
 * needed completely. */
static rule_tensor tensor_of(composer *c, int value, const char *name)
{
	const link_value *v = &c->links->values[value];
	rule_tensor t = { name, v->ndims,
			  ARENA_ARRAY(c->arena, rule_dim, v->ndims) };
	for (int d = 0; d < v->ndims; d++) {
		const entity *e = &c->pieces->dims[value][d];
		rule_dim *to = &t.dims[d];
		to->size = e->extent;
		for (int i = e->n; i-- > 0;) {
			int64_t size = piece_size(e, i);
			int f = factor_of(c, e->first + i, size, value, d);
			if (rule_tensor_has(&t, f))
				f = whole_factor(c, c->factors.at[f].name,
						 size);
			to->factors[to->n++] = f;
		}
	}
	return t;
}

/* Adds a note on the region that is read of a dimension that follows a variable
 * inexactly. */
static void note_link(composer *c, int s, int i, int d)
{
	const link_input *in = &c->links->stages[s].inputs[i];
	int class = class_of(c, c->pieces->dims[in->value][d].first);
	int factor = c->factor[class] - 1;
	if (c->pieces->kinds[s][i][d] != LINK_FOLLOWS || factor < 0)
		return;
	vec_push(c->arena, &c->notes,
		 arena_printf(c->arena, "%s: it needs %s",
			      c->factors.at[factor].name,
			      in->dims[d].note));
}

static void note_links(composer *c)
{
	const links *l = c->links;
	for (int s = 0; s < l->nstages; s++)
		for (int i = 0; i < l->stages[s].ninputs; i++) {
			int value = l->stages[s].inputs[i].value;
			for (int d = 0; d < l->values[value].ndims; d++)
				note_link(c, s, i, d);
		}
}

/* ---- the rule ----------------------------------------------------------- */

rule *rule_of(arena *a, const links *l)
{
	const pieces *p = pieces_of(a, l);
	composer c = { a, l, p, ARENA_ARRAY(a, int, p->n) };
	rule *r = ARENA_NEW(a, rule);
	r->op = l->op;
	r->ninputs = l->nparams;
	r->noutputs = l->nresults;
	r->inputs = ARENA_ARRAY(a, rule_tensor, l->nparams);
	r->outputs = ARENA_ARRAY(a, rule_tensor, l->nresults);
	for (int i = 0; i < l->nparams; i++)
		r->inputs[i] = tensor_of(&c, i, l->values[i].name);
	for (int i = 0; i < l->nresults; i++)
		r->outputs[i] = tensor_of(&c, l->results[i],
					  l->result_names[i]);
	note_links(&c);
	r->nfactors = c.factors.n;
	r->factors = c.factors.at;
	r->nnotes = c.notes.n;
	r->notes = c.notes.at;
	return r;
}
