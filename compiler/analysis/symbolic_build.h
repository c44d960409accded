/* What the files symbolic_*.c share: the state of one symbolic expansion. */
#ifndef TDL_COMPILER_ANALYSIS_SYMBOLIC_BUILD_H
#define TDL_COMPILER_ANALYSIS_SYMBOLIC_BUILD_H

#include "base/vec.h"
#include "compiler/analysis/symbolic.h"

enum {
	SYM_MAX_DIMS = 32,
	SYM_MAX_PATHS = 16,
	SYM_MAX_STAGES = 2000,
	SYM_MAX_READS = 50000,
	SYM_MAX_CALLS = 32,
	SYM_MAX_TENSORS = 64, /* told apart in facts on linearity */
};

/* A scalar, as far as the analysis is concerned. */
typedef struct sval {
	const poly *p; /* of an integer expression without reads; else NULL */
	bool data;     /* depends on elements of tensors */
	bool attr;     /* depends on an attribute that is no number */
	bool zero;
	bool varies;   /* from point to point */
	sym_read *read; /* set where it is a read and nothing more */
	uint64_t uses, linear; /* sets of tensors, by slot */
	int64_t flops;
	int nfactors; /* a product of so many reads; -1 for no such */
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

typedef enum sname_kind { SN_POLY, SN_VAR, SN_TENSOR, SN_ATTR } sname_kind;

typedef struct sattr {
	const ast_attr *decl;
	const ast_expr *value; /* NULL: not known before a call */
	frame *env;	       /* of the value */
} sattr;

typedef struct sname {
	const char *name;
	sname_kind kind;
	const poly *p;
	int index; /* of a variable, tensor, attribute */
	/* Of an argument that is broadcast: its declared dimensions from
	 * pack_at on are those of a pack, of which the first `missing` are
	 * absent and `width` are there. */
	int pack_at, missing, width;
} sname;

/* The operator at hand: the names that it sees. */
struct frame {
	const ast_op *op;
	const char *label; /* prefix of stages, "" at the top */
	int depth;
	frame *caller;
	VEC(sname) names;
	VEC(spack *) packs;
	VEC(sattr) attrs;
};

/* What a scope has to put back: the variable of a pack's dimension. */
typedef struct undo {
	spack *pack;
	int dim, var;
} undo;

/* What is collected while a stage's body is walked. */
typedef struct collector {
	struct collector *outer;
	VEC(sym_read *) reads;
	VEC(int) slots;	     /* tensor of each slot */
	VEC(int) touched;    /* variables, each once, ascending */
	const char *open_because;
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
	int nreads, nextracted;
	bool failed; /* too much, or not understood */
	const char *open_because;

	int npaths; /* the conditions around */
	sym_path *paths;
	bool vague;
	bool quiet; /* reads are not collected: they were, or will be */
	strmap *attr_atoms;
	VEC(undo) undo;
} build;

/* ---- symbolic_scalar.c -------------------------------------------------- */

sval sym_scalar(build *b, const ast_expr *e);
sval sym_poly(const poly *p);
/* Walks e under a condition that is `truth`. */
sval sym_under(build *b, const ast_expr *cond, bool truth, const ast_expr *e);
/* The element i of an attribute, or the attribute itself for i < 0; NULL where
 * it is no number. */
const poly *sym_attr(build *b, frame *f, const sattr *attr, int64_t i);
const sattr *sym_find_attr(const frame *f, const char *name);
const sname *sym_find(const build *b, const char *name);
void sym_touch(build *b, int var);

/* ---- symbolic_index.c --------------------------------------------------- */

spack *sym_find_pack(build *b, const char *name);
/* The dimensions (vars NULL) or the variables of a pack item.  Returns their
 * number, -1 where that is known only with shapes. */
int sym_pack_items(build *b, const ast_pack *p, sym_dim *dims, int *vars);
sval sym_read_tensor(build *b, const ast_expr *e, const sname *tensor,
		     const ast_expr *otherwise);
/* The dimensions that a signature's tensor declares; false where they are
 * known only with shapes. */
bool sym_declared_dims(build *b, const ast_tensor *t, dim_list *out);
void sym_open(build *b, const char *because);

/* ---- symbolic_stage.c --------------------------------------------------- */

/* A lambda as a tensor; -1 where that failed. */
int sym_lambda(build *b, const ast_expr *lambda, const dim_list *given,
	       const char *result, const char *label);
sval sym_reduction(build *b, const ast_expr *e);
sval sym_opaque(build *b, const ast_expr *call, const ast_expr *index);
const ast_opaque *sym_opaque_of(const build *b, const ast_expr *e);
/* The dimensions of what an opaque call returns. */
bool sym_opaque_dims(build *b, const ast_expr *call, dim_list *out);
reducer sym_reducer(const ast_expr *e, bool *mean);
int sym_add_tensor(build *b, sym_tensor t);

/* ---- symbolic_extent.c -------------------------------------------------- */

/* The extent of a variable that no result and no text declares; false where it
 * cannot be inferred. */
bool sym_infer_extent(build *b, const ast_expr *lambda, const ast_var *v,
		      sym_var *out);

#endif
