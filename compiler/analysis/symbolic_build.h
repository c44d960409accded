/* The state of one symbolic expansion, shared by the files symbolic_*.c alone.
 * A sval carries what the analysis knows of a scalar; a collector gathers the
 * reads of one stage while its body is walked. */
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
	SYM_MAX_SLOTS = 64, /* told apart in facts on linearity */
	SYM_MAX_MEMBERS = SYM_MAX_TOGETHER, /* 64 sets of them */
};

/* Reads, by slot of a collector and by set of its members: the bit of a set
 * stands for the reads of all its members, the bit of member i in the number of
 * the set being i. */
typedef struct read_bits {
	uint64_t slots, sets;
} read_bits;

typedef struct reliance {
	dependence slots, sets;
} reliance;

/* A scalar, as far as the analysis is concerned. */
typedef struct sval {
	const poly *p; /* of an integer expression without reads; else NULL */
	const poly *cases; /* where p is NULL for a choice: see sym_index */
	bool data;     /* depends on elements of tensors */
	bool attr;     /* depends on an attribute that is not a number */
	value_facts is; /* where p is NULL; the types in any case */
	bool varies;   /* from point to point */
	sym_read *read; /* set if the scalar is just a read */
	reliance whole; /* of the body as it stands */
	reliance apart; /* with gathers in stages of their own */
	int64_t flops;
	int nfactors; /* a product of so many reads; -1: not such a product */
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
	/* Set where the dimensions are ..(d \ sel) and ..(d & sel). */
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
	const ast_expr *value; /* NULL: not known before a call */
	frame *env;	       /* of the value */
} sattr;

typedef struct sname {
	sname_kind kind;
	const poly *p;
	int index; /* of a variable, tensor, attribute */
	/* Of an argument that is broadcast: its declared dimensions from
	 * pack_at on are those of a pack, of which the first `missing` are
	 * absent and `width` are there. */
	int pack_at, missing, width;
} sname;

/* The operator that is being expanded, and the values of its symbols. */
struct frame {
	const ast_op *op;
	const char *label; /* prefix of stages, "" at the top */
	int depth;
	frame *caller;
	sname *names;	 /* by symbol */
	spack **pack_of; /* by symbol; NULL where it is none's */
	VEC(spack *) packs;
	sattr *attrs; /* by the operator's attributes */
};

/* A binding that the end of a scope undoes: the variable of a pack's
 * dimension. */
typedef struct undo {
	spack *pack;
	int dim, var;
} undo;

/* The reads of a tensor: all; those without a guard that are looked up in
 * dimension dim, or in one that follows only from shapes. */
typedef struct slot {
	int tensor, dim;
} slot;

enum { SLOT_WHOLE = -1, SLOT_SOME = -2 };

typedef VEC(int) int_list;

/* A read at a data-dependent index that may become a stage: it and those in
 * its index are reads[first..end) of the collector. */
typedef struct gather {
	int first, end;
	sym_read *read;
	int_list touched;
	const char *open_because;
	reliance dep;
	int slot; /* of the reads of its result */
} gather;

/* The reads of a condition, and the variables in them. */
typedef struct condition_reads {
	int nreads;
	sym_read **reads;
	int_list touched;
} condition_reads;

/* The reads, slots and gathers found while a stage's body is walked. */
typedef struct collector {
	struct collector *outer;
	VEC(sym_read *) reads;
	VEC(slot) slots;
	VEC(int) members; /* slots of all reads of a tensor */
	VEC(gather) gathers;
	int_list touched; /* variables, each once */
	const char *open_because;
	const char *apart_because; /* the same without gathers */
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

	VEC(condition_reads) conditions; /* around */
	int npaths;		   /* the cases that they allow */
	sym_path *paths;
	int nbranches; /* depth of branches of conditions */
	bool vague;
	bool quiet; /* reads are not collected: they were, or will be */
	strmap *attr_atoms;
	VEC(undo) undo;
} build;

/* ---- symbolic_scalar.c -------------------------------------------------- */

sval sym_scalar(build *b, const ast_expr *e);
sval sym_poly(const poly *p);
/* The element i of an attribute, or the attribute itself for i < 0; NULL where
 * it is no number. */
const poly *sym_attr(build *b, frame *f, const sattr *attr, int64_t i);
/* NULL for any other symbol. */
const sattr *sym_find_attr(const frame *f, const ast_symbol *s);
/* The value of a symbol; NULL where it has none. */
const sname *sym_find(const build *b, const ast_symbol *s);
void sym_touch(build *b, int var);

/* The facts that hold of any function of x and y: reads and cost. */
sval sym_both(sval x, sval y);
/* The polynomial of an integer, with atoms for choices if need be; or NULL. */
const poly *sym_any_poly(sval x);

/* ---- symbolic_choice.c -------------------------------------------------- */

/* if c then x else y */
sval sym_choose(build *b, const ast_expr *c, const ast_expr *x,
		const ast_expr *y);
/* `a and b`, `a or b`: b is evaluated under the facts of a. */
sval sym_logical(build *b, const ast_expr *e);

/* ---- symbolic_index.c --------------------------------------------------- */

spack *sym_find_pack(build *b, const ast_symbol *s);
/* A pack without dimensions, which is that of the symbol. */
spack *sym_new_pack(build *b, const ast_symbol *s);
/* The dimensions (vars NULL) or the variables of a pack item.  Returns their
 * number, -1 where that is known only with shapes. */
int sym_pack_items(build *b, const ast_pack *p, sym_dim *dims, int *vars);
sval sym_read_tensor(build *b, const ast_expr *e, const sname *tensor,
		     const ast_expr *otherwise);
/* The dimensions that a signature's tensor declares; false where they are
 * known only with shapes. */
bool sym_declared_dims(build *b, const ast_tensor *t, dim_list *out);
void sym_open(build *b, const char *because);

/* ---- symbolic_abstract.c ------------------------------------------------ */

/* The facts on r = f(x[0], x[1]), or f(x[0]), and its dependence on reads;
 * `equal': both are the same expression. */
void sym_fn_facts(const build *b, fn f, sval *r, const sval *x, bool equal);
/* Of r = if c then x else y. */
void sym_choice_facts(const build *b, sval *r, const sval *c, const sval *x,
		      const sval *y);
/* Of v after a conversion. */
void sym_cast_facts(const build *b, sval *v, type_set to);
/* Of v, such a read; otherwise: its value outside, NULL where it has none. */
void sym_read_facts(const build *b, sval *v, read_bits bits, const sval *index,
		    const sval *otherwise);
/* A body of a reduction is evaluated where a condition on reads holds. */
void sym_add_condition(sval *body, read_bits bits);
/* On what x and y depend, in any way. */
reliance sym_depend_any(const reliance *x, const reliance *y);
/* Whether parts of a sum are numbers of the types, an empty one's 0, too. */
bool sym_adds(type_set types);
/* The partial values that pass a stage whose result is of one of the types. */
void sym_note_passing(build *b, sym_stage *s, sval body, const collector *c,
		      type_set types);

/* ---- symbolic_gather.c -------------------------------------------------- */

/* The state of a collector before the index of a read. */
typedef struct read_begin {
	int nreads, ngathers;
	int_list touched;
	const char *because, *apart_because;
} read_begin;

/* A read of a tensor; its index is walked between the two, and the index's
 * dependence handed to the second.  otherwise: its value outside, or NULL. */
read_begin sym_begin_read(build *b);
sval sym_end_read(build *b, const read_begin *at, sym_read *r,
		  const sval *index, const sval *otherwise);
/* Walks e, a condition, and notes its reads. */
sval sym_condition(build *b, const ast_expr *e, condition_reads *out);
/* Makes the conditions around part of the body of a reduction. */
void sym_add_conditions(build *b, sval *body);
/* Whether the body is linear in reads that are looked up. */
bool sym_is_derived(const collector *c, sval body);
/* Makes stages of the gathers; c and body become those of the rest. */
void sym_extract_gathers(build *b, collector *c, sval *body);

/* ---- symbolic_scope.c --------------------------------------------------- */

/* The variables of packs that are bound at a point. */
typedef struct sym_scope {
	int nundo;
} sym_scope;

/* The frame of an operator or opaque function, whose symbols have no values
 * yet. */
frame *sym_new_frame(build *b, const ast_op *op, int nsymbols,
		     const char *label);

sym_scope sym_push_scope(const build *b);
void sym_pop_scope(build *b, sym_scope s);
/* Adds a variable and its atom; its index in b->vars. */
int sym_add_var(build *b, sym_var v);
/* "the output declares 'x' to run over X elements" */
const char *sym_declared_by(build *b, const char *result, const char *name,
			    const sym_dim *d);
/* Binds the variables of a lambda.  Returns their number, -1 where that
 * failed. */
int sym_bind_vars(build *b, const ast_expr *lambda, const dim_list *given,
		  const char *result, int *vars);

/* ---- symbolic_stage.c --------------------------------------------------- */

/* A lambda as a tensor; -1 where that failed. */
int sym_lambda(build *b, const ast_expr *lambda, const dim_list *given,
	       const char *result, const char *label);
sval sym_reduction(build *b, const ast_expr *e);
int sym_add_tensor(build *b, sym_tensor t);
/* A stage over the variables outs[] and, reduced, reds[]; its result, -1 where
 * there are too many. */
int sym_add_stage(build *b, const char *label, const int *outs, int nouts,
		  const int *reds, int nreds, reducer r, sval body,
		  const collector *c);
/* The variables that were touched, without own[], in the order of their
 * binding. */
int sym_outer_vars(build *b, const collector *c, const int *own, int nown,
		   int *out);
/* The types of elements with a declaration; what has none is taken to be of
 * floats, and of 16 bits or more. */
type_set sym_declared_types(const build *b, const ast_type *t);
/* Begins and ends the walk of one stage's body; the variables that it touches,
 * except own[], are touched by the stage around it, too. */
void sym_collect(build *b, collector *c);
void sym_collected(build *b, collector *c, const int *own, int nown);
/* A read of a stage's result at variables; as a value. */
sym_read *sym_read_of_stage(build *b, int tensor, const int *vars, int n,
			    range at);
sval sym_plain_read(build *b, int tensor, const int *vars, int n, range at);

/* ---- symbolic_opaque.c -------------------------------------------------- */

sval sym_opaque(build *b, const ast_expr *call, const ast_expr *index);
/* The dimensions of the result of an opaque call. */
bool sym_opaque_dims(build *b, const ast_expr *call, dim_list *out);

/* ---- symbolic_extent.c -------------------------------------------------- */

/* The extent of a variable that no result and no text declares; false where it
 * cannot be inferred. */
bool sym_infer_extent(build *b, const ast_var *v, sym_var *out);
/* Notes that an index runs over both extents, where these differ for most
 * sizes; attributes may make them equal. */
void sym_compare_extents(build *b, const char *name, const sym_dim *x,
			 range x_at, const sym_dim *y, range y_at);

#endif
