#include "config.h"

#include "kernel/conv_group.h"

static bool is_output(const kernel *k, int v)
{
	return v < k->nout;
}

static bool is_group(const kernel *k, const conv_place *p, conv_grouping *g)
{
	int64_t extent = k->vars[g->var].extent;
	return g->inside != g->var && is_output(k, g->var) && p->c == 0 &&
	       p->divisor == 1 && !p->modulus && p->coef[g->inside] == 1 &&
	       g->size == k->vars[g->inside].extent && g->size > 0 &&
	       extent > 0 && extent % g->each == 0;
}

/* The i-th way to read an index as one into a group; false after the last. */
static bool find_group(const kernel *k, const conv_place *p, int i,
		       conv_grouping *g)
{
	uint32_t divided = p->over_by ? UINT32_C(1) << p->over : p->vars;
	for (int u = 0; u < k->nvars; u++)
		for (int v = 0; v < k->nvars; v++) {
			uint32_t both = UINT32_C(1) << u;
			if (!(p->vars >> u & 1) || !(divided >> v & 1))
				continue;
			*g = (conv_grouping){ v, u, 1, p->coef[v] };
			if (p->over_by) {
				g->each = p->over_by;
				g->size = p->over_coef;
			} else {
				both |= UINT32_C(1) << v;
			}
			if (p->vars == both && is_group(k, p, g) && i-- == 0)
				return true;
		}
	return false;
}

static bool same_group(const conv_grouping *g, const conv_grouping *h)
{
	return g->var == h->var && g->inside == h->inside &&
	       g->each == h->each && g->size == h->size;
}

static bool has_plain(const conv_reading *r, int v)
{
	for (int d = 0; d < kx_ndim(r->read); d++)
		if (conv_read_var(&r->at[d]) == v)
			return true;
	return false;
}

/* The dimension of a read that is also indexed by these groups; -1. */
static int find_dim(const kernel *k, const conv_reading *r,
		    const conv_grouping *g)
{
	conv_grouping h;
	for (int d = 0; d < kx_ndim(r->read); d++)
		for (int i = 0; find_group(k, &r->at[d], i, &h); i++)
			if (same_group(g, &h))
				return d;
	return -1;
}

/* The dimension of a read that is indexed by the place within a group; -1. */
static int find_rest(const conv_reading *r, const conv_grouping *g)
{
	for (int d = 0; d < kx_ndim(r->read); d++) {
		const conv_place *p = &r->at[d];
		bool rest = g->each > 1 ?
				    p->modulus == g->each && p->c == 0 &&
					    p->vars == UINT32_C(1) << g->var &&
					    p->coef[g->var] == 1 :
				    !p->vars && p->c == 0 && !p->over_by;
		if (rest)
			return d;
	}
	return -1;
}

static void set_plain(conv_reading *r, int d, int v)
{
	r->nwindows -= conv_read_var(&r->at[d]) < 0;
	r->at[d] = conv_read_place(v);
}

/* Rewrites a convolution in groups as one without: dimension d of one factor is
 * indexed by the groups g.  The other factor is indexed by the variable itself,
 * or by the same groups. */
static bool join(const kernel *k, conv_reading *r, int d, conv_reading *other,
		 const conv_grouping *g)
{
	if (!has_plain(other, g->var)) {
		int e = find_dim(k, other, g), rest = find_rest(other, g);
		if (e < 0 || rest < 0 || e == rest)
			return false;
		set_plain(other, e, g->inside);
		set_plain(other, rest, g->var);
	}
	set_plain(r, d, g->inside);
	return true;
}

bool conv_group_join(const kernel *k, conv_reading *r, conv_reading *other,
			conv_grouping *g)
{
	for (int d = 0; d < kx_ndim(r->read); d++)
		for (int i = 0; find_group(k, &r->at[d], i, g); i++)
			if (join(k, r, d, other, g))
				return true;
	return false;
}
