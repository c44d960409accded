/* The option --precision: a model computes in 16-bit floats where that is safe,
 * and keeps its weights in f32.
 *
 * The type in which a call computes follows from its operator's text.  Sums of
 * products of tensors, such as matrix products and convolutions, take the short
 * type: they take most of the time, and are accumulated in f32 anyway.  Other
 * sums, such as those of norms, softmax and losses, use f32.  So do tensors
 * read at data-dependent indices, because their gradient is accumulated in
 * memory.  Any other call has the type of its arguments, the longer one of two;
 * weights and constants take the type of the other arguments.  (Micikevicius
 * and others, "Mixed precision training", ICLR'18; the lists of torch.autocast
 * give the same result.)
 *
 * Arguments are converted by calls of an operator, which have gradients.
 * Kernels that read a tensor in a longer type read the shorter one and convert
 * it themselves, so no copy is kept.  Weights are converted again for the
 * backward pass. */
#include "config.h"

#include "compiler/graph/builder.h"

#include <math.h>
#include <string.h>

typedef enum summing {
	SUMS_NOTHING,
	/* sums products of different tensors, and nothing else */
	SUMS_PRODUCTS,
	/* sums other things, in the operator or in its gradient */
	SUMS_ANYTHING,
} summing;

typedef VEC(const ast_symbol *) symbols;

/* ---- what an operator sums ---------------------------------------------- */

/* Whether e reads a tensor, rather than an element of a list attribute. */
static bool is_read(const ast_expr *e)
{
	return e->kind == AST_INDEX && e->args[0]->symbol &&
	       e->args[0]->symbol->kind == SYMBOL_TENSOR;
}

static void find_reads(arena *a, const ast_expr *e, symbols *to)
{
	if (is_read(e))
		vec_push(a, to, e->args[0]->symbol);
	for (int i = 0; i < e->nargs; i++)
		find_reads(a, e->args[i], to);
}

/* Whether e is a product of two factors that read different tensors. */
static bool is_product(arena *a, const ast_expr *e)
{
	symbols left = { 0 }, right = { 0 };
	while (e->kind == AST_UNARY && e->op == OP_NEG)
		e = e->args[0];
	if (e->kind != AST_BINARY || e->op != OP_MUL)
		return false;
	find_reads(a, e->args[0], &left);
	find_reads(a, e->args[1], &right);
	for (int i = 0; i < left.n; i++)
		for (int j = 0; j < right.n; j++)
			if (left.at[i] == right.at[j])
				return false;
	return left.n > 0 && right.n > 0;
}

/* Whether a tensor is read at an index that is itself read from a tensor. */
static bool is_gather(arena *a, const ast_expr *e)
{
	symbols in_index = { 0 };
	for (int i = 1; is_read(e) && i < e->nargs; i++)
		find_reads(a, e->args[i], &in_index);
	return in_index.n > 0;
}

static summing most(summing x, summing y)
{
	return x > y ? x : y;
}

static summing expr_sums(arena *a, const ast_expr *e)
{
	summing s = SUMS_NOTHING;
	const reducer_facts *by = ast_reducer(e);
	if (by && by->choice == FN_NO_CHOICE)
		s = by->combine == FN_ADD && !by->averages &&
				    is_product(a, e->args[0]->args[0])
			    ? SUMS_PRODUCTS
			    : SUMS_ANYTHING;
	if (is_gather(a, e))
		s = SUMS_ANYTHING;
	for (int i = 0; i < e->nargs; i++)
		s = most(s, expr_sums(a, e->args[i]));
	return s;
}

static summing op_sums(graph_builder *b, const ast_op *op);

/* The sums in a let's value, a lambda or a call of an operator.  Operators do
 * not call each other in cycles. */
static summing let_sums(graph_builder *b, const ast_expr *e)
{
	const ast_op *callee = ast_op_of(e);
	summing s = callee ? op_sums(b, callee) : expr_sums(b->tmp, e);
	for (int i = 0; callee && i < e->nargs; i++)
		s = most(s, let_sums(b, e->args[i]));
	return s;
}

static summing op_sums(graph_builder *b, const ast_op *op)
{
	summing s = SUMS_NOTHING;
	for (int i = 0; i < op->nlets; i++)
		s = most(s, let_sums(b, op->lets[i].value));
	for (int i = 0; i < op->nbodies; i++)
		s = most(s, expr_sums(b->tmp, op->bodies[i]));
	return s;
}

/* ---- what a call computes in -------------------------------------------- */

/* Whether a parameter has the type shared by those without one of their own,
 * and its argument has one of the two types. */
static bool takes_part(const graph_builder *b, const ast_tensor *p,
		       tensor_id arg)
{
	dtype t = graph_type(b, arg)->type;
	return p->type.kind == TYPE_SHARED &&
	       (t == DT_F32 || t == b->precision);
}

/* Whether a tensor adapts to the type of other arguments: a weight or constant,
 * or computed from these alone. */
static bool is_pliable(const graph_builder *b, tensor_id t)
{
	return graph_tensor(b, t)->parameter || build_known(b, t) != NONE;
}

/* The float type in which a call computes; DT_NONE if its arguments stay
 * unchanged. */
static dtype type_of_call(graph_builder *b, const ast_op *op,
			  const tensor_id *args)
{
	bool firm = false, wide = false;
	for (int i = 0; i < op->nparams; i++) {
		dtype t = graph_type(b, args[i])->type;
		if (op->params[i].type.kind != TYPE_SHARED)
			continue;
		if (!takes_part(b, &op->params[i], args[i]))
			return DT_NONE;
		if (is_pliable(b, args[i]))
			continue;
		firm = true;
		wide |= t == DT_F32;
	}
	switch (op_sums(b, op)) {
	case SUMS_PRODUCTS:
		return b->precision;
	case SUMS_ANYTHING:
		return DT_F32;
	default:
		return !firm || wide ? DT_F32 : b->precision;
	}
}

static bool find_converter(graph_builder *b)
{
	if (!b->converter)
		b->converter = dsl_op(b->modules, "convert");
	if (!b->converter)
		diag_error_in(b->sink, DIAG_BAD_OPTION,
			      diag_option(b->sink, "precision"),
			      "it needs the operator 'convert', which the "
			      "library does not have");
	return b->converter != NULL;
}

/* Replaces *t by the tensor converted to another element type. */
static bool convert(graph_builder *b, tensor_id *t, dtype to, const char *name,
		    call_site site)
{
	if (graph_type(b, *t)->type == to)
		return true;
	if (!find_converter(b))
		return false;
	int64_t *type = ARENA_NEW(b->tmp, int64_t);
	attr_value *v = ARENA_NEW(b->tmp, attr_value);
	const attr_value **attrs = ARENA_ARRAY(b->tmp, const attr_value *, 2);
	const char *own = graph_tensor(b, *t)->name;
	*type = to;
	*v = (attr_value){ .type = ATTR_TYPE, .n = 1, .ints = type };
	attrs[0] = v;
	name = arena_printf(b->arena, "%s.%s", own ? own : name,
			    dtype_name(to));
	return graph_call(b, b->converter, name, t, attrs, site, t);
}

static bool is_active(const graph_builder *b)
{
	return b->precision != DT_NONE && !b->training;
}

bool precision_arguments(graph_builder *b, const ast_op *op, const char *name,
			 call_site site, tensor_id *args)
{
	if (!is_active(b) || op == b->converter)
		return true;
	dtype to = type_of_call(b, op, args);
	for (int i = 0; to != DT_NONE && i < op->nparams; i++)
		if (takes_part(b, &op->params[i], args[i]) &&
		    !convert(b, &args[i], to, name, site))
			return false;
	return true;
}

bool precision_restore(graph_builder *b, tensor_id *t, dtype to,
		       const char *name)
{
	const call_site site = { .place = b->name };
	return !is_active(b) || graph_type(b, *t)->type != b->precision ||
	       to == b->precision || convert(b, t, to, name, site);
}

/* ---- longer types in kernels --------------------------------------------- */

/* The tensor of which t is an elementwise conversion from another float type;
 * NONE. */
static tensor_id unconverted(const graph_builder *b, tensor_id t)
{
	const built_tensor *x = b->tensors.at[t];
	if (x->node == NONE)
		return NONE;
	const built_node *n = &b->nodes.at[x->node];
	const kernel *k = n->kernel;
	if (k->opaque || k->body->kind != KX_CAST ||
	    !dtype_is_float(k->inputs[0].type) || !dtype_is_float(k->type))
		return NONE;
	kernel plain = *k;
	plain.body = k->body->args[0];
	plain.type = plain.body->type;
	return kernel_is_copy(&plain) ? n->inputs[0] : NONE;
}

static int bits_of(const graph_builder *b, tensor_id t)
{
	return dtype_bits(graph_type(b, t)->type);
}

/* The tensor of a shorter type of which t is a conversion; NONE. */
static tensor_id shorter(const graph_builder *b, tensor_id t)
{
	tensor_id x = unconverted(b, t);
	return x != NONE && bits_of(b, x) < bits_of(b, t) ? x : NONE;
}

/* Converts a weight of a shorter type again for the backward pass.  The
 * original is stored anyway, while a converted copy would have to be kept. */
static tensor_id converted_again(graph_builder *b, tensor_id t)
{
	built_tensor *x = b->tensors.at[t];
	tensor_id w = unconverted(b, t);
	if (!b->training || w == NONE || !graph_tensor(b, w)->parameter ||
	    bits_of(b, w) <= bits_of(b, t))
		return t;
	if (!x->again) {
		const built_node n = b->nodes.at[x->node];
		tensor_id copy = build_node(
			b, n.kernel, arena_printf(b->arena, "%s.again", n.base),
			n.op, n.label, &w);
		x->again = b->tensors.at[copy]->again = copy + 1;
	}
	return x->again - 1;
}

typedef struct widening {
	arena *a;
	const dtype *from; /* by input; DT_NONE: it is read unchanged */
	bool failed;
} widening;

static kexpr *widen(widening *w, const kexpr *e)
{
	kexpr *to = ARENA_COPY(w->a, e, 1);
	dtype from = e->kind == KX_READ ? w->from[e->input] : DT_NONE;
	to->args = ARENA_ARRAY(w->a, kexpr *, e->nargs + 1);
	for (int i = 0; i < e->nargs; i++)
		to->args[i] = widen(w, e->args[i]);
	if (from == DT_NONE)
		return to;
	if (e->guarded) { /* the replacement value of a read has its type */
		kexpr **value = &to->args[kx_ndim(e)];
		w->failed |= (*value)->kind != KX_FLOAT ||
			     ((*value)->f != 0 && !isinf((*value)->f));
		*value = kx_float(w->a, (*value)->f, from);
	}
	to->type = from;
	return kx_cast(w->a, to, e->type);
}

const kernel *precision_widened(graph_builder *b, const kernel *k,
				tensor_id *inputs)
{
	dtype from[MAX_NINPUTS];
	tensor_id source[MAX_NINPUTS];
	bool any = false;
	if (b->precision == DT_NONE || k->opaque)
		return k;
	for (int i = 0; i < k->ninputs; i++)
		inputs[i] = converted_again(b, inputs[i]);
	kernel *to = ARENA_COPY(b->arena, k, 1);
	to->inputs = ARENA_COPY(b->arena, k->inputs, k->ninputs);
	for (int i = 0; i < k->ninputs; i++) {
		source[i] = shorter(b, inputs[i]);
		from[i] = DT_NONE;
		if (source[i] == NONE) {
			source[i] = inputs[i];
			continue;
		}
		any = true;
		from[i] = to->inputs[i].type = graph_type(b, source[i])->type;
	}
	widening w = { b->arena, from, false };
	if (!any)
		return k;
	to->body = widen(&w, k->body);
	if (w.failed)
		return k;
	memcpy(inputs, source, (size_t)k->ninputs * sizeof(*inputs));
	to->naccesses = 0;
	kernel_finish(b->arena, to);
	return build_share(b, to);
}
