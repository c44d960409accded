#include "config.h"

#include "compiler/export/jax_constant.h"

#include <inttypes.h>

#include "base/file.h"
#include "compiler/export/jax_expr.h"
#include "compiler/export/jax_names.h"
#include "kernel/eval.h"
#include "plan/base64.h"

const char *jax_shape_and_type(arena *a, const plan_tensor *t)
{
	return arena_printf(a, "%s, %s", jax_tuple(a, t->ndim, t->dims),
			    jax_type(t->type));
}

/* The element of a tensor whose elements are all equal. */
static const char *element(arena *a, const plan_tensor *t)
{
	const void *x = t->constant.data;
	kexpr e = { .kind = KX_FLOAT, .type = DT_F64 };
	jax_printer p = { .a = a };
	if (t->type == DT_U64)
		return arena_printf(a, "%" PRIu64,
				    (uint64_t)elem_get_i64(t->type, x, 0));
	if (!dtype_is_float(t->type))
		return arena_printf(a, "%" PRId64,
				    elem_get_i64(t->type, x, 0));
	e.f = elem_get_f64(t->type, x, 0);
	return jax_print(&p, &(jax_axes){ 0 }, &e).s;
}

const char *jax_constant(arena *a, const plan_tensor *t, const char *folder)
{
	const plan_constant *c = &t->constant;
	const char *like = jax_shape_and_type(a, t);
	switch (c->kind) {
	case PLAN_CONST_FILE:
		return arena_printf(
			a, "constant_file(%s, %s, %" PRId64 ")",
			jax_string(a, path_seen_from(a, folder, c->path)),
			like, c->offset);
	case PLAN_CONST_INLINE:
		return arena_printf(
			a, "constant_bytes(\"%s\", %s)",
			base64_encode(a, c->data,
				      (size_t)plan_tensor_nbytes(t)), like);
	case PLAN_CONST_RANDOM:
		return arena_printf(
			a, "constant_random(%" PRIu64 ", \"%s\", %.17g, %.17g, "
			"%s)", c->key,
			c->law == PLAN_UNIFORM ? "uniform" : "normal", c->a,
			c->b, like);
	case PLAN_CONST_FILL:
		return arena_printf(a, "np.full(%s, %s, %s)",
				    jax_tuple(a, t->ndim, t->dims),
				    element(a, t), jax_type(t->type));
	case PLAN_CONST_NONE:
	default:
		return arena_printf(a, "np.zeros(%s)", like);
	}
}
