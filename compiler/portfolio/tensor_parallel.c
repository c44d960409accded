#include "config.h"

#include "compiler/portfolio/tensor_parallel.h"

#include <fnmatch.h>
#include <string.h>

#include "base/json.h"
#include "compiler/portfolio/pins.h"
#include "kernel/region.h"

/* The part of a product that a style divides: the columns of the result, or the
 * depth that is summed over, or rows of a table; or nothing. */
typedef enum tp_kind { TP_RESULT, TP_DEPTH, TP_NOTHING } tp_kind;

static const struct {
	const char *name;
	tp_kind kind;
} styles[] = {
	{ "colwise", TP_RESULT },
	{ "colwise_rep", TP_RESULT },
	{ "colwise_gather_output", TP_RESULT },
	{ "packed_colwise", TP_RESULT },
	{ "rowwise", TP_DEPTH },
	{ "rowwise_rep", TP_DEPTH },
	{ "rowwise_split_input", TP_DEPTH },
	{ "packed_rowwise", TP_DEPTH },
	{ "embedding_rowwise", TP_DEPTH },
	{ "replicate", TP_NOTHING },
	{ "replicated_with_grad_allreduce", TP_NOTHING },
	{ "ColumnParallelLinear", TP_RESULT },
	{ "RowParallelLinear", TP_DEPTH },
	{ "VocabParallelEmbedding", TP_DEPTH },
};

typedef struct reading {
	arena *a;
	diag_sink *sink;
	const char *path;
	const graph *g;
	const json_t *plan;
} reading;

static bool fail(const reading *r, const char *why)
{
	diag_error_in(r->sink, DIAG_BAD_PIN, r->path, "%s", why);
	return false;
}

static int style_of(const json_t *style)
{
	const char *s = json_string_value(style);
	for (size_t i = 0; s && i < sizeof(styles) / sizeof(*styles); i++)
		if (!strcmp(s, styles[i].name))
			return (int)i;
	return -1;
}

/* Whether a pattern of modules fits the weight of one: itself or something in
 * it, in the model or in a part of it, as in model.layers.0. */
static bool fits(const reading *r, const char *pattern, const char *name)
{
	static const char *const before[] = { "", "*." };
	static const char *const behind[] = { "", ".*" };
	for (int i = 0; i < 4; i++)
		if (!fnmatch(arena_printf(r->a, "%s%s%s", before[i / 2],
					  pattern, behind[i % 2]), name, 0))
			return true;
	return false;
}

/* The first dimension of an input that goes along a variable of the result, or
 * along one that is summed over or looked up; -1. */
static int dim_along(const kernel *k, int input, bool of_result)
{
	int spans[MAX_NDIM];
	kernel_need_spans(k, input, spans);
	for (int d = 0; d < k->inputs[input].ndim; d++) {
		bool looked_up = false;
		for (int i = 0; i < k->nderived; i++)
			looked_up |= k->derived[i].input == input &&
				     k->derived[i].dim == d;
		bool result = !looked_up && spans[d] >= 0 &&
			      spans[d] < k->nout;
		bool depth = looked_up || spans[d] >= k->nout;
		if (of_result ? result : depth)
			return d;
	}
	return -1;
}

/* The dimension of a weight that a style divides, by the first operator that
 * reads it; -1 where that has none: a bias of what is summed over. */
static int dim_of(const reading *r, tensor_id t, tp_kind kind)
{
	for (node_id n = 0; n < r->g->nnodes; n++) {
		const node *x = &r->g->nodes[n];
		for (int i = 0; i < x->kernel->ninputs; i++)
			if (x->inputs[i] == t)
				return dim_along(x->kernel, i,
						 kind == TP_RESULT);
	}
	return -1;
}

/* The kind of a weight, and marks the patterns that fit some. */
static tp_kind kind_of(const reading *r, const char *name, bool *used)
{
	const char *pattern;
	json_t *style;
	tp_kind kind = TP_NOTHING;
	int i = 0;
	json_object_foreach((json_t *)(uintptr_t)r->plan, pattern, style) {
		if (fits(r, pattern, name)) {
			kind = styles[style_of(style)].kind;
			used[i] = true;
		}
		i++;
	}
	return kind;
}

static bool check_styles(const reading *r)
{
	const char *pattern, *known = "";
	json_t *style;
	for (size_t i = 0; i < sizeof(styles) / sizeof(*styles); i++)
		known = arena_printf(r->a, "%s%s%s", known, i ? ", " : "",
				     styles[i].name);
	json_object_foreach((json_t *)(uintptr_t)r->plan, pattern, style)
		if (style_of(style) < 0)
			return fail(r, arena_printf(
				r->a, "the style of '%s' is none of %s",
				pattern, known));
	return true;
}

static char *lines(const reading *r)
{
	bool *used = ARENA_ARRAY(r->a, bool, json_object_size(r->plan) + 1);
	char *s = arena_strdup(r->a, "");
	const char *pattern;
	json_t *style;
	int i = 0;
	for (tensor_id t = 0; t < r->g->ntensors; t++) {
		const tensor *x = &r->g->tensors[t];
		if (!x->parameter && x->kind != TENSOR_INPUT)
			continue;
		tp_kind kind = x->parameter ? kind_of(r, x->name, used)
					    : TP_NOTHING;
		int d = kind == TP_NOTHING ? -1 : dim_of(r, t, kind);
		s = arena_printf(r->a, d < 0 ? "%s%s=replicated\n"
					     : "%s%s=cut %d\n", s,
				 pins_pattern(r->a, x->name), d);
	}
	json_object_foreach((json_t *)(uintptr_t)r->plan, pattern, style)
		if (!used[i++]) {
			fail(r, arena_printf(r->a, "no weight is in a module "
					     "'%s'", pattern));
			return NULL;
		}
	return s;
}

char *tensor_parallel_pins(arena *a, diag_sink *sink, const char *path,
			   const char *text, size_t len, const graph *g)
{
	json_error_t e;
	json_t *j = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
	json_t *of_model = json_object_get(j, "base_model_tp_plan");
	reading r = { a, sink, path, g, of_model ? of_model : j };
	char *s = NULL;
	if (!j)
		fail(&r, arena_printf(a, "line %d: %s", e.line, e.text));
	else if (!json_is_object(r.plan))
		fail(&r, "an object with a style for each pattern of modules "
		     "is expected");
	else if (check_styles(&r))
		s = lines(&r);
	json_decref(j);
	return s;
}
