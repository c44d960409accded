#include "config.h"

#include "compiler/portfolio/tensor_parallel.h"

#include <fnmatch.h>
#include <string.h>

#include "base/json.h"
#include "compiler/portfolio/pins.h"
#include "kernel/region.h"

/* The part of a product that a style divides: the columns of the result, the
 * depth that is summed over, rows of a table, or nothing.  A TP_SILENT style is
 * about a module, which follows by itself here, and not about its weights. */
typedef enum tp_kind { TP_RESULT, TP_DEPTH, TP_NOTHING, TP_SILENT } tp_kind;

static const struct {
	const char *name;
	tp_kind kind;
	bool packed; /* several weights one after the other, each divided */
} styles[] = {
	{ "colwise", TP_RESULT },
	{ "colwise_rep", TP_RESULT },
	{ "colwise_gather_output", TP_RESULT },
	{ "packed_colwise", TP_RESULT, true },
	{ "rowwise", TP_DEPTH },
	{ "rowwise_rep", TP_DEPTH },
	{ "rowwise_split_input", TP_DEPTH },
	{ "packed_rowwise", TP_DEPTH, true },
	{ "embedding_rowwise", TP_DEPTH },
	{ "embedding_colwise", TP_RESULT },
	{ "mla_kv_a_proj", TP_NOTHING },
	{ "moe_tp_experts", TP_SILENT },
	{ "moe_identity_expert", TP_SILENT },
	{ "local_params", TP_SILENT },
	{ "all_reduce", TP_SILENT },
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

/* The rank of a pattern for a weight, in the model or in a part of it such as
 * model.layers.0.  2 if it matches the weight itself, 1 for a module that
 * contains it, 0 otherwise. */
static int fits(const reading *r, const char *pattern, const char *name)
{
	static const char *const before[] = { "", "*." };
	static const char *const behind[] = { ".*", "" };
	for (int i = 3; i >= 0; i--)
		if (!fnmatch(arena_printf(r->a, "%s%s%s", before[i % 2],
					  pattern, behind[i / 2]), name, 0))
			return 1 + i / 2;
	return 0;
}

/* Whether a variable also runs over a dimension of another input. */
static bool is_shared(const kernel *k, int input, int var)
{
	int spans[MAX_NDIM];
	for (int i = 0; i < k->ninputs; i++) {
		kernel_need_spans(k, i, spans);
		for (int d = 0; i != input && d < k->inputs[i].ndim; d++)
			if (spans[d] == var)
				return true;
	}
	return false;
}

/* The dimension of an input that goes along a variable of the result,
 * preferably one that no other input has, unlike that of experts.  Otherwise
 * along a variable that is summed over or looked up; -1 if there is none. */
static int dim_along(const kernel *k, int input, bool of_result)
{
	int spans[MAX_NDIM], found = -1;
	kernel_need_spans(k, input, spans);
	for (int d = 0; d < k->inputs[input].ndim; d++) {
		bool looked_up = false;
		for (int i = 0; i < k->nderived; i++)
			looked_up |= k->derived[i].input == input &&
				     k->derived[i].dim == d;
		bool result = !looked_up && spans[d] >= 0 &&
			      spans[d] < k->nout;
		bool depth = looked_up || spans[d] >= k->nout;
		if (!(of_result ? result : depth))
			continue;
		if (!of_result || !is_shared(k, input, spans[d]))
			return d;
		found = found < 0 ? d : found;
	}
	return found;
}

/* Whether a node only moves elements of input i, a weight: it reads no other
 * value, or takes matrices at indices from a stack of them, such as experts. */
static bool only_moves(const reading *r, const node *n, int input)
{
	const kernel *k = n->kernel;
	int nothers = 0;
	for (int i = 0; i < k->ninputs; i++) {
		tensor_kind is = r->g->tensors[n->inputs[i]].kind;
		nothers += i != input && is != TENSOR_CONSTANT;
	}
	bool stack = k->nderived > 0 && k->derived[0].input == input &&
		     k->inputs[input].ndim >= 3;
	return k->reducer == RED_NONE && !k->opaque &&
	       (nothers == 0 ? k->nderived == 0 : nothers == 1 && stack);
}

/* The first node that reads a tensor, and as which input; NULL if nobody reads
 * it. */
static const node *first_reader(const reading *r, tensor_id t, int *input)
{
	for (node_id n = 0; n < r->g->nnodes; n++) {
		const node *x = &r->g->nodes[n];
		for (*input = 0; *input < x->kernel->ninputs; ++*input)
			if (x->inputs[*input] == t)
				return x;
	}
	return NULL;
}

/* The dimension of a weight that a style divides, found from the first operator
 * that does more than move it, after transposes and the like.  -1 if that has
 * none, as for a bias of a result that is summed over. */
static int dim_of(const reading *r, tensor_id t, tp_kind kind)
{
	enum { MOST = 16 };
	const node *by[MOST];
	int input[MOST], n = 0;
	for (; n < MOST && (by[n] = first_reader(r, t, &input[n])); n++) {
		if (!only_moves(r, by[n], input[n]))
			break;
		t = by[n]->output;
	}
	if (n == MOST || !by[n])
		return -1;
	int d = dim_along(by[n]->kernel, input[n], kind == TP_RESULT);
	while (d >= 0 && n-- > 0) {
		const kernel *k = by[n]->kernel;
		int spans[MAX_NDIM], var = d;
		kernel_need_spans(k, input[n], spans);
		d = -1;
		for (int i = 0; i < k->inputs[input[n]].ndim; i++)
			d = spans[i] == var ? i : d;
	}
	return d;
}

/* The style of a weight: that of the pattern with the highest rank, of several
 * the longest; -1 if there is none.  Marks all patterns that match. */
static int best_style(const reading *r, const char *name, bool *used)
{
	const char *pattern;
	json_t *style;
	int i = 0, best = 0, found = -1;
	size_t longest = 0;
	json_object_foreach((json_t *)(uintptr_t)r->plan, pattern, style) {
		int says = style_of(style);
		int fit = fits(r, pattern, name);
		used[i++] |= fit > 0;
		if (styles[says].kind == TP_SILENT || fit < best ||
		    (fit == best && strlen(pattern) < longest))
			continue;
		if (fit > 0)
			found = says;
		best = fit;
		longest = fit > 0 ? strlen(pattern) : 0;
	}
	return found;
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

/* Checks the patterns.  Those for other forms of a network, such as its dense
 * layers, may match nothing.  If none matches anything, the plan is for another
 * network. */
static bool check_used(const reading *r, const bool *used)
{
	const char *pattern, *unused = NULL;
	json_t *style;
	int i = 0, n = 0;
	json_object_foreach((json_t *)(uintptr_t)r->plan, pattern, style) {
		if (used[i++])
			n++;
		else
			unused = arena_printf(r->a, "%s%s'%s'",
					      unused ? unused : "",
					      unused ? ", " : "", pattern);
	}
	if (unused && n == 0)
		return fail(r, arena_printf(r->a, "no weight is in a module "
						  "%s", unused));
	if (unused)
		diag_warning_in(r->sink, DIAG_BAD_PIN, r->path,
				"no weight is in a module %s", unused);
	return true;
}

/* Reports what a weight's style asks for and the weight does not get. */
static void doubt(const reading *r, const tensor *x, int style, int dim)
{
	if (styles[style].kind == TP_NOTHING)
		return;
	if (dim < 0 && x->type.ndim > 1)
		diag_warning_in(r->sink, DIAG_BAD_PIN, r->path,
				"'%s' cannot be cut as its style says and is "
				"replicated", x->name);
	if (dim >= 0 && styles[style].packed)
		diag_warning_in(r->sink, DIAG_BAD_PIN, r->path,
				"'%s' is cut into blocks, while '%s' cuts each "
				"of the weights in it: results of several of "
				"them move", x->name, styles[style].name);
}

static char *lines(const reading *r)
{
	bool *used = ARENA_ARRAY(r->a, bool, json_object_size(r->plan) + 1);
	char *s = arena_strdup(r->a, "");
	for (tensor_id t = 0; t < r->g->ntensors; t++) {
		const tensor *x = &r->g->tensors[t];
		if (!x->parameter && x->kind != TENSOR_INPUT)
			continue;
		int style = x->parameter ? best_style(r, x->name, used) : -1;
		tp_kind kind = style < 0 ? TP_NOTHING : styles[style].kind;
		int d = kind == TP_NOTHING ? -1 : dim_of(r, t, kind);
		if (style >= 0)
			doubt(r, x, style, d);
		s = arena_printf(r->a, d < 0 ? "%s%s=replicated\n"
					     : "%s%s=cut %d\n", s,
				 pins_pattern(r->a, x->name), d);
	}
	return check_used(r, used) ? s : NULL;
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
