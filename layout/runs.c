#include "config.h"

#include "layout/runs.h"

runs runs_of(const box *at, const region *dst, const region *src)
{
	runs r = { .n = 1, .ndim = at->n, .dst = -dst->first,
		   .src = -src->first, .left = 1 };
	int64_t ds = 1, ss = 1;
	bool dense = true;
	if (box_is_empty(at)) {
		r.left = 0;
		return r;
	}
	for (int d = at->n - 1; d >= 0; d--) {
		int64_t n = at->hi[d] - at->lo[d];
		int64_t dn = dst->at.hi[d] - dst->at.lo[d];
		int64_t sn = src->at.hi[d] - src->at.lo[d];
		r.dst += (at->lo[d] - dst->at.lo[d]) * ds;
		r.src += (at->lo[d] - src->at.lo[d]) * ss;
		if (dense) {
			r.n *= n;
			r.depth = d;
		} else {
			r.left *= n;
		}
		r.count[d] = n;
		r.dst_step[d] = ds;
		r.src_step[d] = ss;
		dense = dense && n == dn && n == sn;
		ds *= dn;
		ss *= sn;
	}
	return r;
}

bool runs_next(runs *r)
{
	if (r->left-- <= 0)
		return false;
	if (!r->started) {
		r->started = true;
		return true;
	}
	for (int d = r->depth - 1; d >= 0; d--) {
		r->dst += r->dst_step[d];
		r->src += r->src_step[d];
		if (++r->i[d] < r->count[d])
			break;
		r->dst -= r->dst_step[d] * r->count[d];
		r->src -= r->src_step[d] * r->count[d];
		r->i[d] = 0;
	}
	return true;
}
