/* Pieces of printed expressions with their precedence, shared by the parts of
 * the printer.  Inside compiler/codegen/expr*.c only. */
#ifndef TDL_COMPILER_CODEGEN_EXPR_PIECE_H
#define TDL_COMPILER_CODEGEN_EXPR_PIECE_H

#include "compiler/codegen/expr.h"

typedef struct expr_piece {
	const char *s;
	int bind;
} expr_piece;

expr_piece print_piece(printer *p, const kexpr *e);

/* The text, in parentheses if it binds less tightly than `bind'. */
const char *wrap(printer *p, expr_piece x, int bind);
const char *print_at(printer *p, const kexpr *e, int bind);

/* An index expression; e is not printed as a value of its own type. */
expr_piece print_index(printer *p, const kexpr *e);

/* Constants.  (expr_types.c) */
expr_piece print_int(printer *p, int64_t i, dtype t);
expr_piece print_float(printer *p, double f, dtype t);

/* is_narrow: C computes in a wider type, so that the result must be cut back.
 * is_part_of_byte: C has no type of so few bits. */
bool is_narrow(dtype t);
bool is_part_of_byte(dtype t);

/* A float value as an integer of type t; an integer, computed by C in a wider
 * type, as one of type t. */
const char *print_to_int(printer *p, const char *x, dtype t);
expr_piece print_wrapped(printer *p, expr_piece x, dtype t);

/* Functions, kernel/functions.def.  (expr_fn.c) */
expr_piece print_fn(printer *p, const kexpr *e);

/* KX_SELECT.  (expr_select.c) */
expr_piece print_select(printer *p, const kexpr *e);

#endif
