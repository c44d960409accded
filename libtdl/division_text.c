#include "config.h"

#include "libtdl/division_text.h"

#include "layout/layout_text.h"

/* The product of the sizes of all axes with the same cut as axis `from', or
 * with none like it.  1 if `from' is not the first of them. */
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

/* "s.0 into 4, k into 2": the parts of each variable of k, or of dimensions by
 * number if k is NULL.  *copies: the product of the axes that cut nothing. */
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

/* `text', followed by ", partial(Sum) over 4" if the tensor is partial. */
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
