/* Samples of an operator's arguments as text, and the values of names in such
 * text. */
#include "config.h"

#include "compiler/verify/sample.h"

#include <stdlib.h>
#include <string.h>

bool draw_value(const ast_op *op, const draw *d, const char *text, int64_t *v)
{
	const drawer w = { .op = op, .d = (draw *)d };
	const char *open = strchr(text, '[');
	size_t n = open ? (size_t)(open - text) : strlen(text);
	int64_t at = open ? strtoll(open + 1, NULL, 10) : 0;
	for (int i = 0; i < op->nattrs; i++)
		if (strlen(op->attrs[i].name) == n &&
		    !strncmp(op->attrs[i].name, text, n))
			return sample_eval_attr(&w, i, at, v);
	return false;
}

static const char *attr_text(arena *a, const attr_value *v)
{
	const char *s = "";
	for (int i = 0; i < v->n; i++) {
		const char *comma = i ? "," : "";
		switch (v->type) {
		case ATTR_FLOAT:
			s = arena_printf(a, "%s%s%g", s, comma, v->floats[i]);
			break;
		case ATTR_STRING:
			s = arena_printf(a, "%s%s%s", s, comma, v->strings[i]);
			break;
		case ATTR_BOOL:
			s = arena_printf(a, "%s%s%s", s, comma,
					 v->ints[i] ? "true" : "false");
			break;
		case ATTR_TYPE:
			s = arena_printf(a, "%s%s%s", s, comma,
					 dtype_name((dtype)v->ints[i]));
			break;
		default:
			s = arena_printf(a, "%s%s%lld", s, comma,
					 (long long)v->ints[i]);
			break;
		}
	}
	return v->is_list ? arena_printf(a, "[%s]", s) : s;
}

const char *draw_text(arena *a, const ast_op *op, const draw *d)
{
	const char *s = "";
	for (int i = 0; i < op->nparams; i++) {
		const tensor_type *t = &d->types[i];
		s = arena_printf(a, "%s%s--shape %s=", s, i ? " " : "",
				 op->params[i].name);
		for (int j = 0; j < t->ndim; j++)
			s = arena_printf(a, "%s%s%lld", s, j ? "x" : "",
					 (long long)t->dims[j]);
		if (t->type != DT_F32 && op->params[i].type.kind == TYPE_SHARED)
			s = arena_printf(a, "%s (%s)", s, dtype_name(t->type));
	}
	for (int i = 0; i < op->nattrs; i++)
		if (d->attrs[i])
			s = arena_printf(a, "%s%s-D %s=%s", s, *s ? " " : "",
					 op->attrs[i].name,
					 attr_text(a, d->attrs[i]));
	return s;
}
