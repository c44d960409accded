/* The attribute OpShardingRule of openxla/shardy, as its printer writes it:
 * shardy/dialect/sdy/ir, sharding_rule_parse_print.mlir. */
#include "config.h"

#include "compiler/export/text.h"

enum { FIRST_LETTER = 'i', LETTERS = 'z' - 'i' + 1 };

/* i, j, .. z, z_1, z_2, .. */
static const char *letter(arena *a, int factor)
{
	if (factor < LETTERS)
		return arena_printf(a, "%c", FIRST_LETTER + factor);
	return arena_printf(a, "z_%d", factor - LETTERS + 1);
}

static const char *dim(arena *a, const rule *r, const rule_dim *d, void *more)
{
	char *s = arena_strdup(a, "");
	(void)r;
	(void)more;
	for (int i = 0; i < d->n; i++)
		s = text_append(a, s, "%s", letter(a, d->factors[i]));
	return s;
}

static char *tensors(arena *a, const rule *r, const rule_tensor *t, int n)
{
	return text_tensors(a, r, t, n, ", ", "[", "]", dim, NULL);
}

/* " reduction={k}"; empty if there is none. */
static char *special(arena *a, const rule *r, rule_kind kind, const char *name)
{
	char *s = arena_strdup(a, "");
	bool any = false;
	for (int i = 0; i < r->nfactors; i++) {
		if (r->factors[i].kind != kind)
			continue;
		s = text_append(a, s, "%s%s", any ? ", " : "", letter(a, i));
		any = true;
	}
	return any ? arena_printf(a, " %s={%s}", name, s) : s;
}

static char *sizes(arena *a, const rule *r)
{
	char *s = arena_strdup(a, "");
	for (int i = 0; i < r->nfactors; i++)
		s = text_append(a, s, "%s%s=%lld", i ? ", " : "", letter(a, i),
				(long long)r->factors[i].size);
	return r->nfactors ? arena_printf(a, " {%s}", s) : s;
}

/* "// i = b, j = d_0": the factors under the operator's own names. */
static char *names(arena *a, const rule *r)
{
	char *s = arena_strdup(a, "");
	for (int i = 0; i < r->nfactors; i++)
		s = text_append(a, s, "%s%s = %s", i ? ", " : "// ",
				letter(a, i), r->factors[i].name);
	return r->nfactors ? text_append(a, s, "\n") : s;
}

char *rule_shardy(arena *a, const rule *r)
{
	char *head = text_head(a, r, "//");
	if (r->ninputs == 0)
		return text_append(a, head, "// Shardy has no rule for an "
				   "operator without inputs\n");
	return arena_printf(
		a, "%s%s#sdy.op_sharding_rule<(%s)->(%s)%s%s%s%s>\n",
		head, names(a, r),
		tensors(a, r, r->inputs, r->ninputs),
		tensors(a, r, r->outputs, r->noutputs), sizes(a, r),
		special(a, r, RULE_REDUCE, "reduction"),
		special(a, r, RULE_WHOLE, "need_replication"),
		special(a, r, RULE_PERMUTE, "permutation"));
}
