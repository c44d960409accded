/* The types that an expression may have, and how they combine. */
#include "config.h"

#include <string.h>

#include "dsl/element_type.h"

ast_type ast_type_of(const char *name, range at)
{
	ast_type t = { .name = name, .at = at, .kind = TYPE_NAMED };
	t.exact = name ? dtype_parse(name) : DT_NONE;
	if (!name)
		t.kind = TYPE_SHARED;
	else if (t.exact != DT_NONE)
		t.kind = TYPE_EXACT;
	else if (!strcmp(name, "int"))
		t.kind = TYPE_INT;
	else if (!strcmp(name, "float"))
		t.kind = TYPE_FLOAT;
	return t;
}

etype etype_exact(dtype t)
{
	return (etype){ .kind = TY_EXACT, .exact = t };
}

etype etype_declared(const ast_type *t)
{
	switch (t->kind) {
	case TYPE_SHARED:
		return (etype){ .kind = TY_SHARED };
	case TYPE_EXACT:
		return etype_exact(t->exact);
	case TYPE_INT:
		return (etype){ .kind = TY_ANY_INT };
	case TYPE_FLOAT:
		return (etype){ .kind = TY_ANY_FLOAT };
	case TYPE_NAMED:
		return (etype){ .kind = TY_ATTR, .name = t->name,
				  .symbol = t->symbol };
	case TYPE_TENSOR:
	case TYPE_ANY:
		break;
	}
	return etype_unknown;
}

const char *etype_text(arena *a, etype t)
{
	switch (t.kind) {
	case TY_INT:
		return "a whole number";
	case TY_FLOAT:
		return "a fraction";
	case TY_STRING:
		return "a string";
	case TY_SHARED:
		return "of the type that tensors without one share";
	case TY_ANY_INT:
		return "of type int";
	case TY_ANY_FLOAT:
		return "of type float";
	case TY_EXACT:
		return arena_printf(a, "of type %s", dtype_name(t.exact));
	case TY_ATTR:
		return arena_printf(a, "of type %s", t.name);
	case TY_UNKNOWN:
	case TY_FAULTY:
		break;
	}
	return "of an unknown type";
}

bool etype_is(etype t, dtype exact)
{
	return t.kind == TY_EXACT && t.exact == exact;
}

bool etype_is_bool(etype t)
{
	return etype_is(t, DT_BOOL);
}

bool etype_may_be_float(etype t)
{
	return t.kind == TY_EXACT ? dtype_is_float(t.exact)
				  : t.kind != TY_ANY_INT && t.kind != TY_STRING;
}

bool etype_may_be_int(etype t)
{
	return t.kind == TY_EXACT ? dtype_is_int(t.exact)
				  : t.kind != TY_ANY_FLOAT &&
					    t.kind != TY_FLOAT &&
					    t.kind != TY_STRING;
}

bool etype_may_be_number(etype t)
{
	return etype_may_be_int(t) || etype_may_be_float(t);
}

bool etype_may_be_bool(etype t)
{
	return etype_is_bool(t) || t.kind == TY_UNKNOWN ||
	       t.kind == TY_FAULTY || t.kind == TY_ATTR || t.kind == TY_SHARED;
}

bool etype_is_constant(etype t)
{
	return t.kind == TY_INT || t.kind == TY_FLOAT;
}

/* Whether the type is known only to expansion. */
static bool is_open(etype t)
{
	return t.kind == TY_UNKNOWN || t.kind == TY_ATTR;
}

bool etype_unify(etype x, etype y, etype *r)
{
	*r = x;
	if (x.kind == TY_FAULTY || y.kind == TY_FAULTY) {
		*r = etype_faulty;
		return true;
	}
	if (etype_is_constant(x) && !etype_is_constant(y)) {
		*r = y;
		return x.kind == TY_INT
			       ? etype_may_be_number(y)
			       : etype_may_be_float(y);
	}
	if (etype_is_constant(y))
		return etype_is_constant(x) ? x.kind == TY_FLOAT ||
						((*r = y), true)
				      : etype_unify(y, x, r);
	if (is_open(x) || is_open(y)) {
		if (is_open(x))
			*r = y;
		return true;
	}
	if (x.kind == y.kind)
		return x.kind != TY_EXACT || x.exact == y.exact;
	if (x.kind == TY_EXACT && y.kind != TY_SHARED)
		return etype_unify(y, x, r);
	if (x.kind == TY_ANY_INT || x.kind == TY_ANY_FLOAT) {
		*r = y;
		return y.kind == TY_EXACT &&
		       (x.kind == TY_ANY_INT ? dtype_is_int(y.exact)
					     : dtype_is_float(y.exact));
	}
	return false;
}
