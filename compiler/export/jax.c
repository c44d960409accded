/* The keywords of JAX's custom_partitioning.def_partition() that state a
 * sharding rule (jax/_src/custom_partitioning_sharding_rule.py, 0.10). */
#include "config.h"

#include "compiler/export/text.h"

static const char *dim(arena *a, const rule *r, const rule_dim *d, void *more)
{
	char *s = arena_strdup(a, "");
	(void)more;
	for (int i = 0; i < d->n; i++) {
		const rule_factor *f = &r->factors[d->factors[i]];
		s = text_append(a, s, "%s%s", i ? " " : "",
				f->pack ? "..." : f->name);
	}
	return d->n > 1 ? arena_printf(a, "(%s)", s) : s;
}

static char *tensors(arena *a, const rule *r, const rule_tensor *t, int n)
{
	return text_tensors(a, r, t, n, " ", "", "", dim, NULL);
}

static char *special(arena *a, const rule *r, rule_kind kind, const char *name)
{
	char *s = arena_strdup(a, "");
	bool any = false;
	for (int i = 0; i < r->nfactors; i++) {
		if (r->factors[i].kind != kind)
			continue;
		s = text_append(a, s, "%s\"%s\",", any ? " " : "",
				r->factors[i].name);
		any = true;
	}
	return any ? arena_printf(a, "    %s=(%s),\n", name, s) : s;
}

static bool is_a_dimension(const rule_tensor *t, int n, int factor)
{
	for (int i = 0; i < n; i++)
		for (int d = 0; d < t[i].ndims; d++)
			if (t[i].dims[d].n == 1 &&
			    t[i].dims[d].factors[0] == factor)
				return true;
	return false;
}

/* The sizes of factors that are no whole dimension of any tensor; only these
 * have to be stated. */
static char *sizes(arena *a, const rule *r)
{
	char *s = arena_strdup(a, "");
	for (int i = 0; i < r->nfactors; i++)
		if (!is_a_dimension(r->inputs, r->ninputs, i) &&
		    !is_a_dimension(r->outputs, r->noutputs, i))
			s = text_append(a, s, "    %s=%lld,\n",
					r->factors[i].name,
					(long long)r->factors[i].size);
	return s;
}

/* Whether packs can be written as the ellipsis: the pack comes first wherever
 * it occurs, and is passed on. */
static bool packs_lead(const rule_tensor *t, int n, const rule *r)
{
	for (int i = 0; i < n; i++)
		for (int d = 0; d < t[i].ndims; d++) {
			const rule_factor *f =
				&r->factors[t[i].dims[d].factors[0]];
			if (f->pack && (d > 0 || f->kind != RULE_PASS))
				return false;
		}
	return true;
}

char *rule_jax(arena *a, const rule *r, const char **why)
{
	*why = "JAX's '...' stands for leading dimensions that are passed on";
	int npacks = 0;
	for (int i = 0; i < r->nfactors; i++)
		npacks += r->factors[i].pack;
	if (npacks > 1 || !packs_lead(r->inputs, r->ninputs, r) ||
	    !packs_lead(r->outputs, r->noutputs, r))
		return NULL;
	char *head = text_head(a, r, "#");
	if (r->ninputs == 0)
		return text_append(a, head, "# JAX has no rule for an operator "
				   "without inputs\n");
	return arena_printf(
		a, "%sdict(\n    sharding_rule=\"%s -> %s\",\n%s%s%s%s)\n",
		head, tensors(a, r, r->inputs, r->ninputs),
		tensors(a, r, r->outputs, r->noutputs),
		special(a, r, RULE_REDUCE, "reduction_factors"),
		special(a, r, RULE_WHOLE, "need_replication_factors"),
		special(a, r, RULE_PERMUTE, "permutation_factors"),
		sizes(a, r));
}
