#include "config.h"

#include "libtdl/division_text.h"

#include "layout/layout_text.h"

/* The product of the sizes of the axes that cut the same as axis `from', or
 * nothing as it does; 1 if it is not the first of them. */
static int parts_of(const mesh *m, const cuts *c, int from)
{
	int parts = 1;
	for (int i = 0; i < m->naxes; i++) {
		if (c->dim[i] != c->dim[from])
			continue;
		if (i < from)
			return 1;
		parts *= m->size[i];
	}
	return parts;
}

/* "s.0 into 4, k into 2", with the names of k's variables, or the numbers of
 * dimensions where k is NULL.  *copies: the product of the axes that cut
 * nothing. */
static const char *parts_text(arena *a, const mesh *m, const cuts *c,
			      const kernel *k, int *copies)
{
	const char *text = "";
	*copies = 1;
	for (int i = 0; i < m->naxes; i++) {
		int v = c->dim[i], parts = parts_of(m, c, i);
		if (v == CUT_NONE)
			*copies *= parts;
		else if (v >= 0 && parts > 1)
			text = arena_printf(a, "%s%s%s into %d", text,
					    *text ? ", " : "",
					    k ? k->vars[v].name
					      : arena_printf(a, "%d", v),
					    parts);
	}
	return text;
}

/* `text', and behind it ", partial(Sum) over 4" where that is so. */
static const char *with_partial(arena *a, const char *text, const mesh *m,
				const cuts *c, const kernel *k)
{
	for (int i = 0; i < m->naxes; i++) {
		int v = c->dim[i], parts = parts_of(m, c, i);
		if (v < CUT_NONE && parts > 1)
			text = arena_printf(a, "%s%s%s over %d", text,
					    *text ? ", " : "",
					    k ? layout_division_text(a, k, v)
					      : layout_axis_text(a, v),
					    parts);
	}
	return text;
}

const char *division_of_node(arena *a, const mesh *m, const cuts *c,
			     const kernel *k)
{
	int copies;
	const char *text = parts_text(a, m, c, k, &copies);
	if (*text)
		text = arena_printf(a, "by %s", text);
	text = with_partial(a, text, m, c, k);
	if (copies > 1)
		text = arena_printf(a, "%s%scomputed %d times", text,
				    *text ? ", " : "", copies);
	return text;
}

const char *division_of_tensor(arena *a, const mesh *m, const cuts *c)
{
	int copies;
	const char *text = parts_text(a, m, c, NULL, &copies);
	if (*text)
		text = arena_printf(a, "cut %s", text);
	text = with_partial(a, text, m, c, NULL);
	return *text || copies == 1 ? text : "replicated";
}
