#include "config.h"

#include "compiler/lower/constants.h"

#include <string.h>

/* Bytes of constants that a plan file holds itself. */
enum { MOST_INLINE = 16 << 20 };

/* Whether n elements of a size are all the same bytes. */
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

static bool set_constant(const constant *c, plan_tensor *t, bool checksum,
			 diag_sink *s)
{
	plan_constant *to = &t->constant;
	if (c->init != INIT_NONE) {
		set_random(c, to);
		return true;
	}
	if (c->path && !c->data) {
		to->kind = PLAN_CONST_FILE;
		to->path = c->path;
		to->offset = c->offset;
		return !checksum ||
		       plan_file_crc(c->path, c->offset, plan_tensor_nbytes(t),
				     &to->crc, s);
	}
	bool fill = c->fill || all_equal(c->data, plan_tensor_nelem(t),
					 dtype_size(t->type));
	to->kind = fill ? PLAN_CONST_FILL : PLAN_CONST_INLINE;
	to->data = c->data;
	return true;
}

bool lower_constants(const graph *g, plan *p, bool checksums, diag_sink *s)
{
	int64_t held = 0;
	bool ok = true;
	for (int i = 0; i < p->ntensors; i++) {
		plan_tensor *t = &p->tensors[i];
		const tensor *from = &g->tensors[i];
		const constant *c = t->role == PLAN_INPUT ? from->value
							  : &from->constant;
		if (t->role == PLAN_RESULT || !c)
			continue;
		ok = set_constant(c, t, checksums, s) && ok;
		if (t->constant.kind == PLAN_CONST_INLINE)
			held += plan_tensor_nbytes(t);
	}
	if (checksums && held > MOST_INLINE) {
		diag_error_in(s, DIAG_CONSTANTS_INLINE, g->name,
			      "constants of %lld bytes are in no file that the "
			      "plan could refer to, at most %d can be kept in "
			      "the plan; store them as raw or external data",
			      (long long)held, MOST_INLINE);
		return false;
	}
	return ok;
}
