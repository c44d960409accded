/* The binding of a signature; shared by expand.c and signature.c alone. */
#ifndef TDL_COMPILER_EXPAND_SIGNATURE_H
#define TDL_COMPILER_EXPAND_SIGNATURE_H

#include "compiler/expand/context.h"

/* Whether the packs of a declared shape are bound, or this shape can bind
 * them. */
bool dims_ready(context *cx, const ast_tensor *t);
/* Binds the packs of the broadcast parameters; types[i] is parameter i's. */
bool bind_broadcast(context *cx, const tensor_type *types);
/* Checks the dimensions that are declared as expressions. */
bool check_sizes(context *cx, const ast_tensor *t, const tensor_type *type);
/* Checks an argument's element type.  Binds the type that tensors without a
 * declared one share. */
bool bind_type(context *cx, const ast_tensor *p, dtype t);

/* The value of an attribute: the given one, else the default.  Checks its
 * length. */
const attr_value *bind_attr(context *cx, const ast_attr *a,
			    const attr_value *given);
/* Evaluates an expression as the value of an attribute. */
const attr_value *attr_from_expr(context *cx, const ast_attr *a,
				 const ast_expr *e);

#endif
