/* Makes inputs of outputs: pairs of them become states.  Adds the position at
 * which new entries are written, and inputs computed from it. */
#include "config.h"

#include "compiler/graph/carry.h"

#include <stdarg.h>
#include <string.h>

#include "compiler/graph/builder.h"
#include "kernel/eval.h"

typedef struct carrier {
	graph_builder *b;
	const carry_options *o;
	tensor_id position; /* NONE: not made yet */
	int64_t growth;	    /* new entries in a step; 0: no state grows */
} carrier;

static bool fail(const carrier *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static bool fail(const carrier *c, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	const char *text = arena_vprintf(c->b->tmp, fmt, ap);
	va_end(ap);
	call_error(c->b->sink, DIAG_BAD_CARRY, c->b->model, c->b->name, "%s",
		   text);
	return false;
}

/* ---- names ------------------------------------------------------------- */

/* Whether a name matches a pattern.  If so, *star and *n are set to the part
 * that the pattern's '*' stands for. */
static bool matches(const char *pattern, const char *name, const char **star,
		    size_t *n)
{
	const char *at = strchr(pattern, '*');
	size_t before = at ? (size_t)(at - pattern) : 0, len = strlen(name);
	*star = "";
	*n = 0;
	if (!at)
		return !strcmp(pattern, name);
	size_t behind = strlen(at + 1);
	if (len < before + behind || strncmp(pattern, name, before) != 0 ||
	    strcmp(at + 1, name + len - behind) != 0)
		return false;
	*star = name + before;
	*n = len - before - behind;
	return true;
}

/* The pattern with its '*' replaced by those n bytes, in a. */
static const char *filled(arena *a, const char *pattern, const char *star,
			  size_t n)
{
	const char *at = strchr(pattern, '*');
	if (!at)
		return pattern;
	return arena_printf(a, "%.*s%.*s%s", (int)(at - pattern), pattern,
			    (int)n, star, at + 1);
}

bool carry_takes(const carry_options *o, const char *input)
{
	const char *star;
	size_t n;
	for (int i = 0; i < o->npairs; i++)
		if (matches(o->pairs[i].input, input, &star, &n))
			return true;
	return false;
}

/* The index in a list of the tensor with a name; NONE if there is none. */
static int find(const graph_builder *b, const tensor_id *list, int n,
		const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(graph_tensor(b, list[i])->name, name))
			return i;
	return NONE;
}

/* The index of the input that an option names; NONE with an error added if
 * there is none. */
static int find_input(const carrier *c, const char *name, const char *option)
{
	const graph_builder *b = c->b;
	int at = find(b, b->inputs.at, b->inputs.n, name);
	if (at == NONE)
		fail(c, "the model has no input '%s' for %s", name,
		     diag_option(b->sink, option));
	return at;
}

static void remove_at(tensor_id *list, int *n, int at)
{
	memmove(list + at, list + at + 1,
		(size_t)(--*n - at) * sizeof(*list));
}

/* ---- calls ------------------------------------------------------------- */

typedef struct setting {
	const char *name;
	int64_t v;
} setting;

/* The first n extents of a tensor, as the attribute `outer' of an operator. */
static const attr_value *outer_dims(graph_builder *b, tensor_id t, int n)
{
	const tensor_type *type = graph_type(b, t);
	int64_t *dims = ARENA_COPY(b->tmp, type->dims, n);
	attr_value *v = ARENA_NEW(b->tmp, attr_value);
	*v = (attr_value){ .type = ATTR_INT, .is_list = true, .n = n,
			   .ints = dims };
	return v;
}

/* Calls an operator of the library.  Its attributes are single numbers, and
 * `outer', the first so many dimensions of its first argument. */
static bool call(carrier *c, const char *op_name, const char *name,
		 const tensor_id *args, int outer, const setting *set,
		 tensor_id *result)
{
	graph_builder *b = c->b;
	const ast_op *op = dsl_op(b->modules, op_name);
	if (!op)
		return fail(c, "it needs the operator '%s', which the library "
			       "does not have", op_name);
	const attr_value **attrs =
		ARENA_ARRAY(b->tmp, const attr_value *, op->nattrs + 1);
	for (int i = 0; i < op->nattrs; i++) {
		const setting *s = set;
		while (s && s->name && strcmp(s->name, op->attrs[i].name) != 0)
			s++;
		if (!s || !s->name) {
			attrs[i] = outer_dims(b, args[0], outer);
			continue;
		}
		attr_value *v = ARENA_NEW(b->tmp, attr_value);
		*v = (attr_value){ .type = op->attrs[i].type, .n = 1,
				   .ints = ARENA_COPY(b->tmp, &s->v, 1) };
		attrs[i] = v;
	}
	return graph_call(b, op, arena_strdup(b->arena, name), args, attrs,
			  b->model, result);
}

/* Moves nodes from `first' on to the front: they depend on inputs alone, and
 * the other nodes read their results. */
static void move_to_front(graph_builder *b, int first)
{
	int n = b->nodes.n - first;
	built_node *all = ARENA_COPY(b->tmp, b->nodes.at, b->nodes.n);
	memcpy(b->nodes.at, all + first, (size_t)n * sizeof(*all));
	memcpy(b->nodes.at + n, all, (size_t)first * sizeof(*all));
	for (int i = 0; i < b->nodes.n; i++)
		b->tensors.at[b->nodes.at[i].output]->node = i;
}

/* ---- the position ------------------------------------------------------ */

static void set_zero(graph_builder *b, tensor_id input)
{
	void *data = graph_alloc(b, 16);
	memset(data, 0, 16);
	graph_set_default(b, input, &(constant){ .data = data, .fill = true });
}

static bool is_called(const char *name, const char *other)
{
	return other && !strcmp(name, other);
}

/* Whether the model has an input of that name that nothing replaces. */
static bool stays(const carrier *c, const char *name)
{
	const graph_builder *b = c->b;
	return find(b, b->inputs.at, b->inputs.n, name) != NONE &&
	       !is_called(name, c->o->positions) &&
	       !is_called(name, c->o->mask);
}

/* Warns about an input of the model named like the running position.  If its
 * type fits, the warning shows how to make it the position. */
static void warn_of_own(const carrier *c, const char *own,
			const tensor_type *type)
{
	const graph_builder *b = c->b;
	int at = find(b, b->inputs.at, b->inputs.n, own);
	const tensor_type *t = graph_type(b, b->inputs.at[at]);
	const char *how = "";
	if (t->type == type->type && t->ndim == type->ndim)
		how = arena_printf(b->tmp, "; %s %s makes it that",
				   diag_option(b->sink, "carry-position"),
				   own);
	diag_warning_in(b->sink, DIAG_BAD_CARRY, b->name,
			"the model's input '%s' is not the running position, "
			"which gets another name%s", own, how);
}

static bool find_position(carrier *c)
{
	graph_builder *b = c->b;
	const char *name = c->o->position, *own = "position";
	tensor_type scalar = { .type = DT_I64 };
	if (!name) {
		if (stays(c, own))
			warn_of_own(c, own, &scalar);
		c->position = graph_add_input(b, own, &scalar);
		set_zero(b, c->position);
		return true;
	}
	int at = find_input(c, name, "carry-position");
	if (at == NONE)
		return false;
	const tensor_type *t = graph_type(b, b->inputs.at[at]);
	if (!dtype_is_int(t->type) || t->ndim > 0)
		return fail(c, "the input '%s', %s, is not one integer, as a "
			       "position is", name,
			    tensor_type_text(b->tmp, t));
	c->position = b->inputs.at[at];
	set_zero(b, c->position);
	return true;
}

/* Whether the position is an i64, as operators that write at it require.  Adds
 * an error if not. */
static bool is_wide(carrier *c)
{
	return graph_type(c->b, c->position)->type == DT_I64 ||
	       fail(c, "the input '%s' is not of i64, as entries that are "
		       "written at it need", c->o->position);
}

/* Replaces an input by the result of an operator on the position. */
static bool replace_input(carrier *c, int at, const char *op,
			  const setting *set)
{
	graph_builder *b = c->b;
	tensor_id old = b->inputs.at[at], new;
	int first = b->nodes.n;
	if (!call(c, op, graph_tensor(b, old)->name, &c->position, 0, set,
		  &new))
		return false;
	move_to_front(b, first);
	tensor_id *to = ARENA_ARRAY(b->tmp, tensor_id, b->tensors.n);
	for (int i = 0; i < b->tensors.n; i++)
		to[i] = i == old ? new : i;
	build_replace(b, to);
	remove_at(b->inputs.at, &b->inputs.n, at);
	return true;
}

static bool add_mask(carrier *c)
{
	graph_builder *b = c->b;
	const char *name = c->o->mask;
	int at = find_input(c, name, "carry-mask");
	if (at == NONE)
		return false;
	const tensor_type t = *graph_type(b, b->inputs.at[at]);
	int64_t total = c->o->length + c->growth;
	bool four = t.ndim == 4 && t.dims[2] == c->growth;
	if (dtype_is_float(t.type) || (t.ndim != 2 && !four) ||
	    t.dims[t.ndim - 1] != total)
		return fail(c, "the mask '%s' is %s, not of integers or bool "
			       "with [rows, %lld], or [rows, heads, %lld, "
			       "%lld]",
			    name, tensor_type_text(b->tmp, &t),
			    (long long)total, (long long)c->growth,
			    (long long)total);
	const setting set[] = {
		{ "rows", t.dims[0] }, { "heads", four ? t.dims[1] : 0 },
		{ "new", c->growth }, { "length", c->o->length },
		{ "total", total }, { "elements", t.type }, { NULL, 0 },
	};
	return replace_input(c, at, four ? "visible_entries"
					 : "written_entries", set);
}

static bool add_positions(carrier *c)
{
	graph_builder *b = c->b;
	const char *name = c->o->positions;
	int at = find_input(c, name, "carry-positions");
	if (at == NONE)
		return false;
	const tensor_type t = *graph_type(b, b->inputs.at[at]);
	if (!dtype_is_int(t.type) || t.ndim != 2)
		return fail(c, "the positions '%s' are %s, not integers with "
			       "[rows, new]", name,
			    tensor_type_text(b->tmp, &t));
	int64_t most = c->o->length ? c->o->length - 1 : INT64_MAX;
	const setting set[] = { { "rows", t.dims[0] }, { "new", t.dims[1] },
				{ "most", most }, { "elements", t.type },
				{ NULL, 0 } };
	return replace_input(c, at, "running_positions", set);
}

/* ---- pairs ------------------------------------------------------------- */

/* Finds the dimension in which an output has more entries than the input; NONE
 * if their shapes are equal.  Returns false if they differ otherwise. */
static bool find_growth(carrier *c, tensor_id state, tensor_id next, int *dim)
{
	const tensor_type *x = graph_type(c->b, state);
	const tensor_type *y = graph_type(c->b, next);
	int differ = 0;
	*dim = NONE;
	for (int d = 0; x->ndim == y->ndim && d < x->ndim; d++)
		if (x->dims[d] != y->dims[d]) {
			*dim = d;
			differ++;
		}
	bool grows = differ == 1 && x->dims[*dim] == c->o->length &&
		     y->dims[*dim] > x->dims[*dim];
	if (x->type != y->type || x->ndim != y->ndim || (differ && !grows))
		return fail(c, "the output '%s', %s, is not a next value of "
			       "'%s', %s: they have to be alike, or the output "
			       "has more entries in one dimension than the %s "
			       "N of the input",
			    graph_tensor(c->b, next)->name,
			    tensor_type_text(c->b->tmp, y),
			    graph_tensor(c->b, state)->name,
			    tensor_type_text(c->b->tmp, x),
			    diag_option(c->b->sink, "carry-length"));
	int64_t growth = grows ? y->dims[*dim] - x->dims[*dim] : 0;
	if (growth && c->growth && growth != c->growth)
		return fail(c, "'%s' grows by %lld entries, other outputs by "
			       "%lld", graph_tensor(c->b, next)->name,
			    (long long)growth, (long long)c->growth);
	if (growth)
		c->growth = growth;
	return growth <= c->o->length ||
	       fail(c, "a step has %lld new entries, more than the %lld of %s",
		    (long long)growth, (long long)c->o->length,
		    diag_option(c->b->sink, "carry-length"));
}

/* Whether the first entries of an output are those of the state, according to
 * the kernel that computes it. */
static bool begins_with(const graph_builder *b, tensor_id next,
			tensor_id state, int dim)
{
	const built_node *n = NULL;
	for (tensor_id t = next; b->tensors.at[t]->node != NONE;) {
		n = &b->nodes.at[b->tensors.at[t]->node];
		if (!kernel_is_copy(n->kernel))
			break;
		t = n->inputs[0];
	}
	for (int i = 0; n && i < n->kernel->ninputs; i++) {
		box space = kernel_space(n->kernel);
		if (n->inputs[i] != state || dim >= space.n)
			continue;
		space.hi[dim] = graph_type(b, state)->dims[dim];
		if (!box_is_empty(&space) &&
		    kernel_copies(b->tmp, n->kernel, &space, i))
			return true;
	}
	return false;
}

/* Makes the next value of a growing state by writing the output's new entries
 * into it. */
static bool write_entries(carrier *c, tensor_id state, tensor_id output,
			  int dim, tensor_id *next)
{
	graph_builder *b = c->b;
	const char *name = arena_printf(b->tmp, "%s.next",
					graph_tensor(b, state)->name);
	const setting set[] = { { "length", c->o->length }, { NULL, 0 } };
	if (!begins_with(b, output, state, dim))
		return call(c, "move_entries", name,
			    (tensor_id[]){ output, c->position }, dim, set,
			    next);
	return call(c, "write_entries", name,
		    (tensor_id[]){ state, output, c->position }, dim, NULL,
		    next);
}

typedef struct carried {
	tensor_id state, output;
	int dim; /* the dimension that grows; NONE: none */
} carried;

typedef VEC(carried) carried_list;

/* Makes a state of an input and an output.  Its first value is 0 or given by
 * the model.  The output is removed from the model's outputs. */
static bool take_pair(carrier *c, int input, const char *output,
		      carried_list *all)
{
	graph_builder *b = c->b;
	int at = find(b, b->outputs.at, b->outputs.n, output);
	tensor *x = &b->tensors.at[b->inputs.at[input]]->t;
	if (at == NONE)
		return fail(c, "the model has no output '%s' to become '%s'",
			    output, x->name);
	carried p = { b->inputs.at[input], b->outputs.at[at], NONE };
	if (!find_growth(c, p.state, p.output, &p.dim))
		return false;
	void *zero = graph_alloc(b, 16);
	memset(zero, 0, 16);
	x->constant = x->value ? *x->value
			       : (constant){ .data = zero, .fill = true };
	x->kind = TENSOR_STATE;
	x->value = NULL;
	remove_at(b->inputs.at, &b->inputs.n, input);
	b->tensors.at[p.output]->t.output = false;
	remove_at(b->outputs.at, &b->outputs.n, at);
	int sources = b->sources.n;
	remove_at(b->sources.at, &sources, at);
	b->sources.n = sources;
	vec_push(b->tmp, all, p);
	return true;
}

static bool take_pairs(carrier *c, const carry_pair *pair, carried_list *all)
{
	graph_builder *b = c->b;
	int before = all->n;
	const char *star;
	size_t n;
	for (int i = 0; i < b->inputs.n;) {
		const char *name = graph_tensor(b, b->inputs.at[i])->name;
		if (!matches(pair->input, name, &star, &n))
			i++;
		else if (!take_pair(c, i, filled(b->tmp, pair->output, star, n),
				    all))
			return false;
	}
	return all->n > before ||
	       fail(c, "the model has no input '%s' for %s", pair->input,
		    diag_option(b->sink, "carry"));
}

/* Checks that options come with the options they need.  Adds an error if
 * not. */
static bool check_options(carrier *c)
{
	const carry_options *o = c->o;
	const diag_sink *s = c->b->sink;
	if (c->growth == 0 && (o->length || o->mask))
		return o->position && !o->mask ? true :
		       fail(c, "%s needs a carried input that grows",
			    diag_option(s, o->mask ? "carry-mask"
						   : "carry-length"));
	if (c->growth > 0 && !o->mask)
		return fail(c, "caches grow, and no input says which of their "
			       "entries are written; %s names one",
			    diag_option(s, "carry-mask"));
	if (c->growth > 0 && !o->positions)
		diag_warning_in(c->b->sink, DIAG_BAD_CARRY, c->b->name,
				"no input has the positions of new entries "
				"(%s): a model that takes them from the length "
				"of its caches sees %lld",
				diag_option(s, "carry-positions"),
				(long long)o->length);
	return true;
}

static bool set_next(carrier *c, const carried *p)
{
	tensor_id next = p->output;
	if (p->dim != NONE &&
	    !write_entries(c, p->state, p->output, p->dim, &next))
		return false;
	graph_set_next(c->b, p->state, next);
	return true;
}

static bool uses_position(const carrier *c)
{
	const carry_options *o = c->o;
	return c->growth > 0 || o->positions || o->position;
}

bool graph_carry(graph_builder *b, const carry_options *o)
{
	carrier c = { .b = b, .o = o, .position = NONE };
	carried_list all = { 0 };
	if (diag_errors(b->sink) > b->nerrors)
		return false;
	for (int i = 0; i < o->npairs; i++)
		if (!take_pairs(&c, &o->pairs[i], &all))
			return false;
	if (!check_options(&c) || (uses_position(&c) && !find_position(&c)))
		return false;
	if ((c.growth > 0 || o->positions) && !is_wide(&c))
		return false;
	if ((o->mask && !add_mask(&c)) || (o->positions && !add_positions(&c)))
		return false;
	for (int i = 0; i < all.n; i++)
		if (!set_next(&c, &all.at[i]))
			return false;
	b->position = c.position;
	b->length = c.position == NONE ? 0 : o->length;
	return true;
}
