#include "config.h"

#include "compiler/lower/constants.h"

#include <string.h>

/* Bytes of constants that a plan file contains, and the same limit for what
 * folds read. */
enum { MOST_INLINE = 16 << 20 };

/* Whether n elements of this size all have the same bytes. */
static bool all_equal(const void *data, int64_t n, size_t size)
{
	const char *p = data;
	return n > 0 && !memcmp(p, p + size, (size_t)(n - 1) * size);
}

static void set_random(const constant *c, plan_constant *to)
{
	bool uniform = c->init == INIT_UNIFORM;
	to->kind = PLAN_CONST_RANDOM;
	to->law = uniform ? PLAN_UNIFORM : PLAN_NORMAL;
	to->a = uniform ? c->lo : c->mean;
	to->b = uniform ? c->hi : c->std;
	to->key = c->key;
}

void lower_set_constant(const constant *c, plan_tensor *t)
{
	plan_constant *to = &t->constant;
	if (c->init != INIT_NONE) {
		set_random(c, to);
		return;
	}
	if (c->path && !c->data) {
		to->kind = PLAN_CONST_FILE;
		to->path = c->path;
		to->offset = c->offset;
		return;
	}
	bool fill = c->fill || all_equal(c->data, plan_tensor_nelem(t),
					 dtype_size(t->type));
	to->kind = fill ? PLAN_CONST_FILL : PLAN_CONST_INLINE;
	to->data = c->data;
}

bool lower_checksums(plan *p, diag_sink *s)
{
	int64_t held = 0, most = MOST_INLINE;
	bool ok = true;
	if (p->nfolds > 0)
		most *= 2;
	for (int i = 0; i < p->ntensors; i++) {
		plan_tensor *t = &p->tensors[i];
		plan_constant *c = &t->constant;
		if (c->kind == PLAN_CONST_FILE)
			ok = plan_file_crc(c->path, c->offset,
					   plan_tensor_nbytes(t), &c->crc,
					   s) && ok;
		else if (c->kind == PLAN_CONST_INLINE)
			held += plan_tensor_nbytes(t);
	}
	if (held <= most)
		return ok;
	diag_error_in(s, DIAG_CONSTANTS_INLINE, p->model,
		      "%lld bytes of constants are not in a file that the "
		      "plan can refer to, and the plan can keep at most "
		      "%lld; store them as raw or external data",
		      (long long)held, (long long)most);
	return false;
}

bool lower_constants(arena *a, const graph *g, plan *p, bool checksums,
		     diag_sink *s)
{
	for (int i = 0; i < g->ntensors; i++) {
		plan_tensor *t = &p->tensors[i];
		const tensor *from = &g->tensors[i];
		const constant *c = t->role == PLAN_INPUT ? from->value
							  : &from->constant;
		if (t->role != PLAN_RESULT && c)
			lower_set_constant(c, t);
	}
	lower_folds(a, g, p);
	return !checksums || lower_checksums(p, s);
}
