/* The state of one symbolic expansion, shared by the files symbolic_*.c alone.
 *
 * An sval has the facts about a scalar; a collector gathers the reads of one
 * stage while its body is walked. */
#ifndef TDL_COMPILER_ANALYSIS_SYMBOLIC_BUILD_H
#define TDL_COMPILER_ANALYSIS_SYMBOLIC_BUILD_H

#include "base/vec.h"
#include "compiler/analysis/symbolic.h"
#include "dsl/builtins.h"
#include "kernel/abstract.h"

enum {
	SYM_MAX_DIMS = 32,
	SYM_MAX_PATHS = 16,
	SYM_MAX_STAGES = 2000,
	SYM_MAX_READS = 50000,
	SYM_MAX_CALLS = 32,
	SYM_MAX_SLOTS = 64, /* distinguished in facts about linearity */
	SYM_MAX_MEMBERS = SYM_MAX_TOGETHER, /* so that they have 64 sets */
};

/* Reads, by slot of a collector and by set of its members.  A set's bit stands
 * for the reads of all its members; bit i of a set's number says whether member
 * i is in it. */
typedef struct read_bits {
	uint64_t slots, sets;
} read_bits;

typedef struct reliance {
	dependence slots, sets;
} reliance;

/* A scalar: the facts that the analysis has about it. */
typedef struct sval {
	const poly *p; /* an integer expression without reads; else NULL */
	/* set where p is NULL because of a choice: see sym_index */
	const poly *cases;
	bool data;     /* depends on elements of tensors */
	bool attr;     /* depends on an attribute that is not a number */
	value_facts is; /* facts where p is NULL; types always */
	bool varies;   /* differs from point to point */
	sym_read *read; /* set if the scalar is nothing but a read */
	reliance whole; /* of the body as written */
	reliance apart; /* if gathers become stages of their own */
	int64_t flops;
	/* the number of reads of which it is the product; -1: not such a
	 * product */
	int nfactors;
} sval;

/* A set of dimensions of a tensor or of a list of indices. */
typedef struct dim_list {
	int n;
	sym_dim dims[SYM_MAX_DIMS];
} dim_list;

typedef struct frame frame;

typedef struct spack {
	const char *name;
	dim_list dims;
	/* Set if the dimensions are ..(d \ sel) and ..(d & sel). */
	const ast_expr *selector;
	const frame *selector_in;
	int var[SYM_MAX_DIMS]; /* index in build.vars; -1: not bound */
} spack;

/* The value of a symbol of an operator. */
typedef enum sname_kind {
	SN_UNBOUND,
	SN_POLY,
	SN_VAR,
	SN_TENSOR,
	SN_ATTR,
} sname_kind;

typedef struct sattr {
	const ast_attr *decl;
	const ast_expr *value; /* NULL: known only to a call */
	frame *env;	       /* of the value */
} sattr;

typedef struct sname {
	sname_kind kind;
	const poly *p;
	int index; /* of a variable, tensor, attribute */
	/* For an argument that is broadcast: its declared dimensions from
	 * pack_at on are those of a pack, of which the first `missing' are
	 * absent and `width' are present. */
	int pack_at, missing, width;
} sname;

/* The operator being expanded, and the values of its symbols. */
struct frame {
	const ast_op *op;
	const char *label; /* prefix of stages, "" at the top */
	int depth;
	frame *caller;
	sname *names;	 /* by symbol */
	spack **pack_of; /* by symbol; NULL if it is no pack */
	VEC(spack *) packs;
	sattr *attrs; /* by the operator's attributes */
};

/* A binding, of a variable to a pack's dimension, that the end of a scope
 * undoes. */
typedef struct undo {
	spack *pack;
	int dim, var;
} undo;

/* A group of reads of a tensor: all of them (SLOT_WHOLE); the unguarded ones
 * with a data-dependent index in dimension dim, or in a dimension that only
 * shapes determine (SLOT_SOME). */
typedef struct slot {
	int tensor, dim;
} slot;

enum { SLOT_WHOLE = -1, SLOT_SOME = -2 };

typedef VEC(int) int_list;

/* A read at a data-dependent index that may become a stage.  It and the reads
 * in its index are reads[first..end) of the collector. */
typedef struct gather {
	int first, end;
	sym_read *read;
	int_list touched;
	const char *open_because;
	reliance dep;
	int slot; /* of the reads of the stage's result */
} gather;

/* The reads in a condition, and its variables. */
typedef struct condition_reads {
	int nreads;
	sym_read **reads;
	int_list touched;
} condition_reads;

/* The reads, slots and gathers found while walking a stage's body. */
typedef struct collector {
	struct collector *outer;
	VEC(sym_read *) reads;
	VEC(slot) slots;
	VEC(int) members; /* slots that have all reads of a tensor */
	VEC(gather) gathers;
	int_list touched; /* variables, each once */
	const char *open_because;
	const char *apart_because; /* the same if gathers become stages */
	bool conditional;
} collector;

typedef struct build {
	arena *arena;
	const tdl_modules *modules;
	poly_space *space;
	frame *frame;
	collector *into;
	VEC(sym_var) vars; /* of all lambdas */
	VEC(sym_tensor) tensors;
	VEC(sym_stage *) stages;
	VEC(sym_conflict) conflicts;
	VEC(sym_choice) choices;
	int nasked; /* depth of conditions inside conditions */
	int nindices; /* depth of indices of reads */
	int nreads, nextracted;
	bool failed; /* the operator is too large, or not understood */
	const char *open_because;

	VEC(condition_reads) conditions; /* the enclosing ones */
	int npaths;		   /* the cases that they allow */
	sym_path *paths;
	int nbranches; /* depth of branches of conditions */
	bool vague;
	bool quiet; /* reads are not collected: another walk does it */
	strmap *attr_atoms;
	VEC(undo) undo;
} build;

/* ---- symbolic_scalar.c -------------------------------------------------- */

sval sym_scalar(build *b, const ast_expr *e);
sval sym_poly(const poly *p);
/* Element i of an attribute, or the attribute itself for i < 0; NULL if it is
 * not a number. */
const poly *sym_attr(build *b, frame *f, const sattr *attr, int64_t i);
/* NULL for any other symbol. */
const sattr *sym_find_attr(const frame *f, const ast_symbol *s);
/* The value of a symbol; NULL if it has none. */
const sname *sym_find(const build *b, const ast_symbol *s);
void sym_touch(build *b, int var);

/* The facts that hold for any function of x and y: reads and cost. */
sval sym_both(sval x, sval y);
/* An integer as a polynomial, with atoms for choices if need be; or NULL. */
const poly *sym_any_poly(sval x);

/* ---- symbolic_choice.c -------------------------------------------------- */

/* if c then x else y */
sval sym_choose(build *b, const ast_expr *c, const ast_expr *x,
		const ast_expr *y);
/* `a and b`, `a or b`: b is evaluated under the facts of a. */
sval sym_logical(build *b, const ast_expr *e);

/* ---- symbolic_index.c --------------------------------------------------- */

spack *sym_find_pack(build *b, const ast_symbol *s);
/* A new pack for the symbol, without dimensions. */
spack *sym_new_pack(build *b, const ast_symbol *s);
/* Writes the dimensions (vars NULL) or the variables of a pack item.  Returns
 * their number; -1 if it depends on shapes. */
int sym_pack_items(build *b, const ast_pack *p, sym_dim *dims, int *vars);
sval sym_read_tensor(build *b, const ast_expr *e, const sname *tensor,
		     const ast_expr *otherwise);
/* The dimensions that a signature's tensor declares; false if they depend on
 * shapes. */
bool sym_declared_dims(build *b, const ast_tensor *t, dim_list *out);
void sym_open(build *b, const char *because);

/* ---- symbolic_abstract.c ------------------------------------------------ */

/* Sets the facts about r = f(x[0], x[1]), or f(x[0]), and its dependence on
 * reads.  `equal': both arguments are the same expression. */
void sym_fn_facts(const build *b, fn f, sval *r, const sval *x, bool equal);
/* The same for r = if c then x else y. */
void sym_choice_facts(const build *b, sval *r, const sval *c, const sval *x,
		      const sval *y);
/* The same for v after a conversion. */
void sym_cast_facts(const build *b, sval *v, type_set to);
/* The same for v, a read. otherwise: its value outside of the tensor, NULL if
 * it has none. */
void sym_read_facts(const build *b, sval *v, read_bits bits, const sval *index,
		    const sval *otherwise);
/* Makes the body of a reduction depend on the reads in a condition. */
void sym_add_condition(sval *body, read_bits bits);
/* Depends in any way on all that x and y depend on. */
reliance sym_depend_any(const reliance *x, const reliance *y);
/* Whether the parts of a sum, including 0 for an empty part, are numbers of the
 * types. */
bool sym_adds(type_set types);
/* Notes the partial values that pass a stage; its result has one of the
 * types. */
void sym_note_passing(build *b, sym_stage *s, sval body, const collector *c,
		      type_set types);

/* ---- symbolic_gather.c -------------------------------------------------- */

/* The state of a collector before it walks the index of a read. */
typedef struct read_begin {
	int nreads, ngathers;
	int_list touched;
	const char *because, *apart_because;
} read_begin;

/* Bracket the walk of a read's index; sym_end_read() receives the index's
 * dependence. otherwise: the value outside of the tensor, or NULL. */
read_begin sym_begin_read(build *b);
sval sym_end_read(build *b, const read_begin *at, sym_read *r,
		  const sval *index, const sval *otherwise);
/* Walks the condition e and notes its reads. */
sval sym_condition(build *b, const ast_expr *e, condition_reads *out);
/* Makes the body of a reduction depend on the enclosing conditions. */
void sym_add_conditions(build *b, sval *body);
/* Whether the body is linear in the reads at data-dependent indices. */
bool sym_is_derived(const collector *c, sval body);
/* Turns the gathers into stages; c and body become those of the remaining
 * body. */
void sym_extract_gathers(build *b, collector *c, sval *body);

/* ---- symbolic_scope.c --------------------------------------------------- */

/* The pack variables bound at a point. */
typedef struct sym_scope {
	int nundo;
} sym_scope;

/* The frame of an operator or opaque function; its symbols have no values
 * yet. */
frame *sym_new_frame(build *b, const ast_op *op, int nsymbols,
		     const char *label);

sym_scope sym_push_scope(const build *b);
void sym_pop_scope(build *b, sym_scope s);
/* Adds a variable and its atom; returns its index in b->vars. */
int sym_add_var(build *b, sym_var v);
/* "the output declares 'x' to run over X elements" */
const char *sym_declared_by(build *b, const char *result, const char *name,
			    const sym_dim *d);
/* Binds the variables of a lambda.  Returns their number, -1 on failure. */
int sym_bind_vars(build *b, const ast_expr *lambda, const dim_list *given,
		  const char *result, int *vars);

/* ---- symbolic_stage.c --------------------------------------------------- */

/* Expands a lambda to a tensor; -1 on failure. */
int sym_lambda(build *b, const ast_expr *lambda, const dim_list *given,
	       const char *result, const char *label);
sval sym_reduction(build *b, const ast_expr *e);
int sym_add_tensor(build *b, sym_tensor t);
/* Adds a stage over the variables outs[] and the reduced ones reds[].  Returns
 * its result; -1 if there are too many stages. */
int sym_add_stage(build *b, const char *label, const int *outs, int nouts,
		  const int *reds, int nreds, reducer r, sval body,
		  const collector *c);
/* Lists the touched variables except own[], in the order of their binding. */
int sym_outer_vars(build *b, const collector *c, const int *own, int nown,
		   int *out);
/* The possible element types of a declaration.  Without one, floats of 16 bits
 * or more are assumed. */
type_set sym_declared_types(const build *b, const ast_type *t);
/* Begin and end the walk of a stage's body.  The variables that it touches,
 * except own[], count as touched by the enclosing stage too. */
void sym_collect(build *b, collector *c);
void sym_collected(build *b, collector *c, const int *own, int nown);
/* A read of a stage's result at variables; the same as a value. */
sym_read *sym_read_of_stage(build *b, int tensor, const int *vars, int n,
			    range at);
sval sym_plain_read(build *b, int tensor, const int *vars, int n, range at);

/* ---- symbolic_opaque.c -------------------------------------------------- */

sval sym_opaque(build *b, const ast_expr *call, const ast_expr *index);
/* The dimensions of the result of an opaque call. */
bool sym_opaque_dims(build *b, const ast_expr *call, dim_list *out);

/* ---- symbolic_extent.c -------------------------------------------------- */

/* Infers the extent of a variable that neither a result nor the text declares;
 * false if that fails. */
bool sym_infer_extent(build *b, const ast_var *v, sym_var *out);
/* Notes that an index runs over both extents if these differ for most sizes;
 * attributes may make them equal. */
void sym_compare_extents(build *b, const char *name, const sym_dim *x,
			 range x_at, const sym_dim *y, range y_at);

#endif
