/* The element types of expressions.  One set of rules serves the checker, which
 * knows only what is written; expansion, which knows the types of the
 * arguments; and gradients, whose expressions are not checked yet.
 *
 * Only constants convert implicitly: numbers, sizes, attributes, and
 * expressions of them. */
#ifndef TDL_DSL_ELEMENT_TYPE_H
#define TDL_DSL_ELEMENT_TYPE_H

#include "dsl/ast.h"

typedef enum etype_kind {
	TY_UNKNOWN, /* anything; decided by expansion */
	/* after an error that was reported: fits everywhere, and spreads */
	TY_FAULTY,
	TY_INT,	    /* a constant that takes any numeric type */
	TY_FLOAT,   /* a constant that takes any float type */
	TY_STRING,
	TY_SHARED,  /* that of the tensors without a declared type */
	TY_ANY_INT, /* `int': that of the tensor .symbol, where it is known */
	TY_ANY_FLOAT,
	TY_EXACT, /* .exact */
	/* the value of the attribute .symbol; while names are not bound .symbol
	 * is NULL and .name is set */
	TY_ATTR,
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
/* The type of a declaration; etype_unknown for TYPE_TENSOR and TYPE_ANY. */
etype etype_declared(const ast_type *t);
/* A noun phrase for messages, to follow "this is". */
const char *etype_text(arena *a, etype t);
bool etype_is(etype t, dtype exact);
bool etype_is_bool(etype t);
bool etype_is_constant(etype t); /* can take several types */
/* Whether a value of the type can be a float, an integer, a number, a bool. */
bool etype_may_be_float(etype t);
bool etype_may_be_int(etype t);
bool etype_may_be_number(etype t);
bool etype_may_be_bool(etype t);
/* Sets *r to the common type of two values; false if there is none. */
bool etype_unify(etype x, etype y, etype *r);

/* A violation of the rules; note adds to text, or is NULL. */
typedef struct etype_fault {
	diag_id id;
	range at;
	const char *text, *note;
} etype_fault;

/* The surroundings of an expression: the meaning of its names. */
typedef struct etype_scope {
	/* The type of a name's value or of a tensor's elements; the type that a
	 * conversion names. */
	etype (*of_name)(void *arg, const ast_expr *name);
	etype (*said)(void *arg, const ast_type *t);
	/* Called for each fault; its texts are in the arena.  NULL: faults are
	 * not wanted, and only the parts that decide the type are visited. */
	void (*fault)(void *arg, const etype_fault *f);
	arena *a; /* may be NULL where fault is */
	void *arg;
} etype_scope;

/* The type of an expression. etype_faulty if a part that decides it has a
 * fault; etype_unknown for an expression without a type, as a lambda. */
etype etype_of(const etype_scope *s, const ast_expr *e);

/* Checks that e is a condition; returns its type, bool unless there is a
 * fault. */
etype etype_of_condition(const etype_scope *s, const ast_expr *e);

/* The common type of n operands of one operator. */
etype etype_of_operands(const etype_scope *s, ast_expr *const *e, int n);

#endif
