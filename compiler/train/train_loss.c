/* The option --loss OPERATOR: the loss for training a model that has none. */
#include "config.h"

#include "compiler/train/trainer.h"

#include <string.h>

/* The sizes that the operator's first parameter gives to names in its
 * signature. */
typedef struct binding {
	const ast_tensor *param;
	const tensor_type *type;
} binding;

static bool is_pack(const ast_expr *e)
{
	return e->kind == AST_PACK && e->pack->kind == PACK_ALL;
}

/* The dimensions that a dimension of the signature stands for, dims[0..*n).
 * Returns false if the first parameter does not have it. */
static bool find_dims(const binding *b, const ast_expr *e, const int64_t **dims,
		      int *n)
{
	const ast_tensor *p = b->param;
	int at = 0;
	for (int i = 0; i < p->ndims; i++) {
		const ast_expr *d = p->dims[i];
		int width = d->kind == AST_PACK ? b->type->ndim - p->ndims + 1
						: 1;
		bool same = is_pack(e) ? is_pack(d) &&
						 d->pack->symbol ==
							 e->pack->symbol
				       : e->kind == AST_NAME &&
						 d->symbol == e->symbol;
		*dims = &b->type->dims[at];
		*n = width;
		if (width < 0)
			return false;
		if (same)
			return true;
		at += width;
	}
	return false;
}

static dtype label_element(const ast_tensor *p, dtype other)
{
	switch (p->type.kind) {
	case TYPE_SHARED:
	case TYPE_FLOAT:
		return other;
	case TYPE_INT:
		return DT_I64;
	default:
		return p->type.exact;
	}
}

/* The type of the label, derived from the prediction's. */
static bool label_type(const ast_op *op, const tensor_type *prediction,
		       tensor_type *label)
{
	const binding b = { &op->params[0], prediction };
	const ast_tensor *p = &op->params[1];
	label->type = label_element(p, prediction->type);
	label->ndim = 0;
	for (int i = 0; i < p->ndims; i++) {
		const ast_expr *e = p->dims[i];
		const int64_t *dims = &e->i;
		int n = 1;
		if (e->kind != AST_INT && !find_dims(&b, e, &dims, &n))
			return false;
		for (int d = 0; d < n && label->ndim < MAX_NDIM; d++)
			label->dims[label->ndim++] = dims[d];
	}
	return label->type != DT_NONE;
}

bool train_add_loss(trainer *t)
{
	graph_builder *b = t->b;
	const call_site site = train_option_site(t, "loss");
	named_op loss;
	if (!train_read_option(t, "loss", t->o->loss, &loss))
		return false;
	const ast_op *op = loss.op;
	if (op->nparams != 2 || op->nresults != 1)
		return train_error(t, DIAG_BAD_OPTIMIZER, site,
				   "a loss has two parameters, the prediction "
				   "and the label, and one result; '%s' does "
				   "not", op->name);
	if (b->outputs.n == 0)
		return train_error(t, DIAG_NO_LOSS, site,
				   "the model has no output");
	for (int i = 0; i < b->outputs.n; i++)
		if (!strcmp(graph_tensor(b, b->outputs.at[i])->name, "loss"))
			return train_error(t, DIAG_NO_LOSS, site,
					   "the model has an output 'loss' "
					   "already");
	tensor_id args[2] = { b->sources.at[0], NONE }, result;
	tensor_type label = { 0 };
	if (!label_type(op, graph_type(b, args[0]), &label))
		return train_error(t, DIAG_BAD_OPTIMIZER, site,
				   "the shape of '%s' of '%s' does not follow "
				   "from that of the model's first output, %s",
				   op->params[1].name, op->name,
				   tensor_type_text(b->tmp,
						    graph_type(b, args[0])));
	args[1] = graph_add_input(b, "label", &label);
	if (!graph_call(b, op, "loss", args, loss.attrs, site, &result))
		return false;
	graph_set_output(b, result, "loss");
	return true;
}
