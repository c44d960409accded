/* Functions on lists and strings, for the bodies of entries and defs. */
#include "config.h"

#include <string.h>

#include "base/checked.h"
#include "compiler/model/eval_fn.h"

typedef VEC(mvalue) mvalue_list;

/* ---- lists ------------------------------------------------------------- */

mvalue fn_len(const mapping_call *c)
{
	if (c->args[0].kind == MV_STRING)
		return mv_int((int64_t)strlen(c->args[0].s));
	if (c->args[0].kind != MV_LIST)
		return mapping_refuse(c, 0, "a list");
	return mv_int(c->args[0].n);
}

/* Reads a number of elements, from 0 to the length limit of lists. */
static bool count_of(const mapping_call *c, int arg, int64_t *n)
{
	const mvalue *v = &c->args[arg];
	*n = v->i;
	if (v->kind == MV_INT && *n <= MAPPING_MAX_LIST) {
		*n = *n < 0 ? 0 : *n;
		mapping_charge(c, *n);
		return true;
	}
	mapping_refuse(c, arg, "a number of elements");
	return false;
}

/* range(n), range(first, end) */
mvalue fn_range(const mapping_call *c)
{
	int64_t first = c->n > 1 ? c->args[0].i : 0, n;
	mapping_call count = *c;
	mvalue v[2] = { c->args[c->n - 1], c->args[0] };
	if (c->args[0].kind != MV_INT || v[0].kind != MV_INT)
		return mapping_refuse(c, 0, "an integer");
	if (!ck_sub(v[0].i, first, &v[0].i))
		return mapping_refuse(c, 0, "a number of elements");
	count.args = v;
	if (!count_of(&count, 0, &n))
		return (mvalue){ .kind = MV_BAD };
	mvalue *items = ARENA_ARRAY(c->ev->tmp, mvalue, n + 1);
	for (int64_t i = 0; i < n; i++)
		items[i] = mv_int(first + i);
	return mv_list(items, (int)n);
}

/* fill(n, v): a list of n times v */
mvalue fn_fill(const mapping_call *c)
{
	int64_t n;
	if (!count_of(c, 0, &n))
		return (mvalue){ .kind = MV_BAD };
	mvalue *items = ARENA_ARRAY(c->ev->tmp, mvalue, n + 1);
	for (int64_t i = 0; i < n; i++)
		items[i] = c->args[1];
	return mv_list(items, (int)n);
}

/* The position at which a list is cut: n elements from the front, or from the
 * end if n is negative. */
static bool cut_of(const mapping_call *c, int *at)
{
	const mvalue *l = &c->args[0], *n = &c->args[1];
	if (l->kind != MV_LIST || n->kind != MV_INT) {
		mapping_refuse(c, l->kind != MV_LIST ? 0 : 1,
			       l->kind != MV_LIST ? "a list" : "an integer");
		return false;
	}
	int64_t i = n->i < 0 ? n->i + l->n : n->i;
	*at = (int)(i < 0 ? 0 : i > l->n ? l->n : i);
	return true;
}

mvalue fn_take(const mapping_call *c)
{
	int at;
	return cut_of(c, &at) ? mv_list(c->args[0].items, at)
			      : (mvalue){ .kind = MV_BAD };
}

mvalue fn_drop(const mapping_call *c)
{
	int at;
	return cut_of(c, &at)
		       ? mv_list(c->args[0].items + at, c->args[0].n - at)
		       : (mvalue){ .kind = MV_BAD };
}

mvalue fn_reverse(const mapping_call *c)
{
	const mvalue *l = &c->args[0];
	if (l->kind != MV_LIST)
		return mapping_refuse(c, 0, "a list");
	mapping_charge(c, l->n);
	mvalue *items = ARENA_ARRAY(c->ev->tmp, mvalue, l->n + 1);
	for (int i = 0; i < l->n; i++)
		items[i] = l->items[l->n - 1 - i];
	return mv_list(items, l->n);
}

/* find(l, v): the first position of v, -1 if l does not contain it. */
mvalue fn_find(const mapping_call *c)
{
	const mvalue *l = &c->args[0];
	if (l->kind != MV_LIST)
		return mapping_refuse(c, 0, "a list");
	for (int i = 0; i < l->n; i++)
		if (mv_equal(&l->items[i], &c->args[1])) {
			mapping_charge(c, i);
			return mv_int(i);
		}
	mapping_charge(c, l->n);
	return mv_int(-1);
}

/* contains(l, v) */
mvalue fn_contains(const mapping_call *c)
{
	mvalue at = fn_find(c);
	return at.kind == MV_INT ? mv_bool(at.i >= 0) : at;
}

static mvalue accumulate(const mapping_call *c, bool times)
{
	const mvalue *l = &c->args[0];
	int64_t r = times;
	if (!mv_is_list_of(l, MV_INT))
		return mapping_refuse(c, 0, "a list of integers");
	mapping_charge(c, l->n);
	for (int i = 0; i < l->n; i++)
		if (times ? !ck_mul(r, l->items[i].i, &r)
			  : !ck_add(r, l->items[i].i, &r))
			return mapping_error(c->ev, DIAG_OVERFLOW, c->at,
					     "this number does not fit "
					     "64 bits");
	return mv_int(r);
}

mvalue fn_product(const mapping_call *c)
{
	return accumulate(c, true);
}

mvalue fn_total(const mapping_call *c)
{
	return accumulate(c, false);
}

/* ---- strings ----------------------------------------------------------- */

/* Appends the n bytes at s to a list.  Returns false if the list is too
 * long. */
static bool push_string(const mapping_call *c, mvalue_list *l, const char *s,
			size_t n)
{
	if (l->n == MAPPING_MAX_LIST) {
		mapping_error(c->ev, DIAG_MAPPING, c->at,
			      "a list has more than %d elements",
			      MAPPING_MAX_LIST);
		return false;
	}
	vec_push(c->ev->tmp, l, mv_string(arena_strndup(c->ev->tmp, s, n)));
	return true;
}

/* characters("ab") is ["a", "b"].  A character of UTF-8 gives its bytes. */
mvalue fn_characters(const mapping_call *c)
{
	mvalue_list l = { 0 };
	if (c->args[0].kind != MV_STRING)
		return mapping_refuse(c, 0, "a string");
	for (const char *s = c->args[0].s; *s; s++)
		if (!push_string(c, &l, s, 1))
			return (mvalue){ .kind = MV_BAD };
	mapping_charge(c, l.n);
	return mv_list(l.at, l.n);
}

/* split("a,b", ",") is ["a", "b"]. */
mvalue fn_split(const mapping_call *c)
{
	mvalue_list l = { 0 };
	if (c->args[0].kind != MV_STRING || c->args[1].kind != MV_STRING ||
	    !*c->args[1].s)
		return mapping_refuse(c, c->args[0].kind == MV_STRING,
				      "a string that is not empty");
	const char *s = c->args[0].s, *at, *separator = c->args[1].s;
	for (; (at = strstr(s, separator)); s = at + strlen(separator))
		if (!push_string(c, &l, s, (size_t)(at - s)))
			return (mvalue){ .kind = MV_BAD };
	if (!push_string(c, &l, s, strlen(s)))
		return (mvalue){ .kind = MV_BAD };
	mapping_charge(c, l.n);
	return mv_list(l.at, l.n);
}

/* "a", "b" */
static const char *quoted(const mapping_call *c, const mvalue *l)
{
	const char *text = "";
	for (int i = 0; i < l->n; i++)
		text = arena_printf(c->ev->tmp, "%s%s\"%s\"", text,
				    i ? ", " : "", l->items[i].s);
	return text;
}

/* one_of(s, ["a", "b"]): s.  A node in which s is not in the list is not
 * supported. */
mvalue fn_one_of(const mapping_call *c)
{
	const mvalue *s = &c->args[0], *words = &c->args[1];
	if (s->kind != MV_STRING)
		return mapping_refuse(c, 0, "a string");
	if (!mv_is_list_of(words, MV_STRING))
		return mapping_refuse(c, 1, "a list of strings");
	if (fn_find(&(mapping_call){ .ev = c->ev,
				     .at = c->at,
				     .args = (mvalue[]){ *words, *s },
				     .n = 2 })
		    .i >= 0)
		return *s;
	return mapping_refuse_node(c->ev, DIAG_UNSUPPORTED, c->at,
				   "one of %s is expected, not '%s'",
				   quoted(c, words), s->s);
}
