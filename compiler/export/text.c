#include "config.h"

#include "compiler/export/text.h"

#include <stdarg.h>

char *text_append(arena *a, const char *s, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	const char *more = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return arena_printf(a, "%s%s", s, more);
}

static const char *size_text(arena *a, const rule *r, const rule_dim *d,
			     void *more)
{
	(void)r;
	(void)more;
	return d->size < 0 ? "?" : arena_printf(a, "%lld", (long long)d->size);
}

static char *shapes_text(arena *a, const rule *r, const rule_tensor *t, int n)
{
	char *s = arena_strdup(a, "");
	for (int i = 0; i < n; i++)
		s = text_append(a, s, "%s%s%s", i ? ", " : "", t[i].name,
				text_tensors(a, r, &t[i], 1, ", ", "[", "]",
					     size_text, NULL));
	return s;
}

static bool shapes_known(const rule *r)
{
	for (int i = 0; i < r->nfactors; i++)
		if (r->factors[i].size < 0)
			return false;
	return true;
}

char *text_head(arena *a, const rule *r, const char *mark)
{
	char *s = arena_printf(a, "%s %s", mark, r->op);
	if (shapes_known(r))
		s = text_append(a, s, "(%s) -> %s",
				shapes_text(a, r, r->inputs, r->ninputs),
				shapes_text(a, r, r->outputs, r->noutputs));
	s = text_append(a, s, "\n");
	for (int i = 0; i < r->nnotes; i++)
		s = text_append(a, s, "%s %s\n", mark, r->notes[i]);
	return s;
}

char *text_tensors(arena *a, const rule *r, const rule_tensor *t, int n,
		   const char *between_dims, const char *open,
		   const char *close, dim_text *dim, void *more)
{
	char *s = arena_strdup(a, "");
	for (int i = 0; i < n; i++) {
		s = text_append(a, s, "%s%s", i ? ", " : "", open);
		for (int d = 0; d < t[i].ndims; d++)
			s = text_append(a, s, "%s%s", d ? between_dims : "",
					dim(a, r, &t[i].dims[d], more));
		s = text_append(a, s, "%s", close);
	}
	return s;
}
