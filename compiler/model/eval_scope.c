/* Names in the bodies of models, onnx entries and defs. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/model/eval_expr.h"

enum { MANY_NAMES = 12 }; /* with this many names a scope gets a hash table */

/* ---- scopes ------------------------------------------------------------- */

void mapping_enter(evaluator *ev, const ast_block *def, range call,
		   const char *prefix)
{
	mscope *s = ev->unused;
	if (s)
		ev->unused = s->outer;
	else
		s = ARENA_NEW(ev->tmp, mscope);
	s->outer = ev->scope;
	s->def = def;
	s->call = call;
	s->prefix = prefix;
	s->names.n = 0;
	hash_table_clear(&s->by_name);
	ev->scope = s;
}

/* Warns about a parameter that is declared and not used: it would be missing in
 * the graph. */
static void check_used(evaluator *ev, const mname *x)
{
	if (x->used || !x->at.beg || x->value.kind != MV_TENSOR)
		return;
	const tensor *t = graph_tensor(ev->b, (tensor_id)x->value.i);
	if (!t->parameter || strcmp(t->name, mapping_model_name(ev, x->name)))
		return;
	diag_warning(ev->sink, DIAG_UNUSED_NAME, x->at,
		     "the parameter '%s' is not used", t->name);
	mapping_say_where(ev);
}

void mapping_leave(evaluator *ev)
{
	mscope *s = ev->scope;
	for (int i = 0; ev->model && !ev->failed && i < s->names.n; i++)
		check_used(ev, &s->names.at[i]);
	ev->scope = s->outer;
	s->outer = ev->unused;
	ev->unused = s;
}

/* Names are interned, so their addresses are hashed. */
static uint64_t hash(const char *name)
{
	return (uintptr_t)name * 0x9e3779b97f4a7c15u >> 32;
}

static mname *find(const mscope *s, const char *name)
{
	if (s->names.n <= MANY_NAMES) {
		for (int i = 0; i < s->names.n; i++)
			if (s->names.at[i].name == name)
				return &s->names.at[i];
		return NULL;
	}
	uint32_t at = 0;
	for (int i; (i = hash_table_next(&s->by_name, hash(name), &at)) >= 0;)
		if (s->names.at[i].name == name)
			return &s->names.at[i];
	return NULL;
}

/* The entry of a name, added if there is none. */
static mname *enter(evaluator *ev, const char *name)
{
	mscope *s = ev->scope;
	mname *old = find(s, name);
	if (old)
		return old;
	vec_push(ev->tmp, &s->names, ((mname){ .name = name }));
	int first = s->names.n == MANY_NAMES + 1 ? 0 : s->names.n - 1;
	for (int i = first; s->names.n > MANY_NAMES && i < s->names.n; i++)
		hash_table_add(ev->tmp, &s->by_name, hash(s->names.at[i].name),
			       i);
	return &s->names.at[s->names.n - 1];
}

const mvalue *mapping_find(evaluator *ev, const char *name)
{
	mname *x = find(ev->scope, name);
	if (!x)
		return NULL;
	x->used = true;
	return &x->value;
}

void mapping_set(evaluator *ev, const char *name, mvalue v)
{
	mname *x = enter(ev, name);
	x->value = v;
	x->bound = ev->tick;
	x->used = true;
}

/* ---- targets ------------------------------------------------------------ */

/* The name h_{i}_w with the values of its expressions filled in. */
static const char *family_name(evaluator *ev, const ast_expr *e)
{
	const char *name = "";
	for (int i = 0; i < e->nargs; i++) {
		mvalue v = mapping_eval(ev, e->args[i]);
		if (v.kind == MV_BAD)
			return NULL;
		if (v.kind == MV_STRING)
			name = arena_printf(ev->tmp, "%s%s%s", name,
					    e->texts[i], v.s);
		else if (!mapping_integer(ev, e->args[i]->at, &v))
			return NULL;
		else
			name = arena_printf(ev->tmp, "%s%s%" PRId64, name,
					    e->texts[i], v.i);
	}
	const char *tail = e->texts[e->nargs];
	if (*tail)
		name = arena_printf(ev->tmp, "%s%s", name, tail);
	return intern(ev->modules->names, name);
}

const char *mapping_target(evaluator *ev, const ast_expr *target)
{
	return target->kind == AST_NAME ? target->name
					: family_name(ev, target);
}

const char *mapping_model_name(evaluator *ev, const char *name)
{
	const char *prefix = ev->scope->prefix;
	return *prefix ? intern(ev->modules->names,
				arena_printf(ev->tmp, "%s%s", prefix, name))
		       : name;
}

/* Whether a name was bound in an earlier iteration of an enclosing loop.  Then
 * the current iteration binds it again. */
static bool is_of_earlier_iteration(const evaluator *ev, const mname *x)
{
	for (int i = ev->loops.n - 1; i >= 0; i--) {
		const mloop *l = &ev->loops.at[i];
		if (x->bound > l->begun && x->bound < l->iteration)
			return true;
	}
	return false;
}

bool mapping_bind(evaluator *ev, const ast_expr *target, const char *name,
		  mvalue v)
{
	mname *x = enter(ev, name);
	bool again = x->at.beg && !x->used && x->bound >= ev->branch &&
		     !(target->kind == AST_NAME &&
		       is_of_earlier_iteration(ev, x));
	if (ev->model && again) {
		mapping_error(ev, DIAG_BOUND_TWICE, target->at,
			      "'%s' is bound again, and the value that it had "
			      "was never used", name);
		diag_note(ev->sink, x->at, "it got that here");
		return false;
	}
	x->value = v;
	x->bound = ++ev->tick;
	x->used = false;
	x->at = target->at;
	return true;
}
