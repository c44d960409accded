/* The element types of expressions: one set of rules, for the checker, which
 * knows what is written, for expansion, which knows the types of the arguments,
 * and for gradients, whose expressions are not checked yet.
 *
 * Nothing converts by itself but constants: numbers, sizes, attributes, and
 * what is computed from them. */
#ifndef TDL_DSL_ELEMENT_TYPE_H
#define TDL_DSL_ELEMENT_TYPE_H

#include "dsl/ast.h"

typedef enum etype_kind {
	TY_UNKNOWN, /* anything; expansion will see */
	TY_FAULTY,  /* the type after an error that was reported: fits
		     * everywhere, and spreads */
	TY_INT,	    /* a constant that takes any numeric type */
	TY_FLOAT,   /* a constant that takes any float type */
	TY_STRING,
	TY_SHARED,  /* that of the tensors without a declared type */
	TY_ANY_INT, /* `int': that of the tensor .symbol, where it is known */
	TY_ANY_FLOAT,
	TY_EXACT, /* .exact */
	TY_ATTR,  /* the value of the attribute .symbol, NULL as long as names
		     are not bound, which is called .name */
} etype_kind;

typedef struct etype {
	etype_kind kind;
	dtype exact;
	const char *name;
	const ast_symbol *symbol;
} etype;

static const etype etype_unknown = { .kind = TY_UNKNOWN };
static const etype etype_faulty = { .kind = TY_FAULTY };

etype etype_exact(dtype t);
/* The type that a declaration says; etype_unknown for TYPE_TENSOR, TYPE_ANY. */
etype etype_declared(const ast_type *t);
/* A noun phrase for messages, to follow "this is". */
const char *etype_text(arena *a, etype t);
bool etype_is(etype t, dtype exact);
bool etype_is_bool(etype t);
bool etype_is_constant(etype t); /* one that takes several types */
/* Whether a value of the type can be a float, an integer, a number, a bool. */
bool etype_may_be_float(etype t);
bool etype_may_be_int(etype t);
bool etype_may_be_number(etype t);
bool etype_may_be_bool(etype t);
/* The type that two values have in common; false if there is none. */
bool etype_unify(etype x, etype y, etype *r);

/* An expression against the rules; note is more to say, or NULL. */
typedef struct etype_fault {
	diag_id id;
	range at;
	const char *text, *note;
} etype_fault;

/* Where expressions stand: what their names mean. */
typedef struct etype_scope {
	/* The type of a name's value, of a tensor's elements; and the one that
	 * is written in a conversion. */
	etype (*of_name)(void *arg, const ast_expr *name);
	etype (*said)(void *arg, const ast_type *t);
	/* Is told of faults, whose texts are in the arena; NULL: nobody asks,
	 * and only what decides the type is looked at. */
	void (*fault)(void *arg, const etype_fault *f);
	arena *a; /* may be NULL where fault is */
	void *arg;
} etype_scope;

/* The type of an expression; etype_faulty where there is a fault in what
 * decides it, etype_unknown for what has none, as a lambda. */
etype etype_of(const etype_scope *s, const ast_expr *e);

/* The type of a condition: bool, unless it is none. */
etype etype_of_condition(const etype_scope *s, const ast_expr *e);

/* The type that operands have in common, as those of an operator. */
etype etype_of_operands(const etype_scope *s, ast_expr *const *e, int n);

#endif
