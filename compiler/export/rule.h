/* The sharding rule of an operator, as other systems state it: the sets of
 * dimensions of its inputs and results that are divided together.
 *
 * A factor is the unit of division; a dimension is a product of factors, the
 * major one first.  An operator of several stages has one rule, in which each
 * factor either passes through all of its stages or may not be divided. */
#ifndef TDL_COMPILER_EXPORT_RULE_H
#define TDL_COMPILER_EXPORT_RULE_H

#include "compiler/export/index_maps.h"

typedef enum rule_kind {
	RULE_PASS,    /* the result is divided like the inputs */
	RULE_REDUCE,  /* results are partial and have to be added up */
	RULE_PERMUTE, /* as RULE_PASS, but elements move across borders */
	RULE_WHOLE,   /* may not be divided */
} rule_kind;

typedef struct rule_factor {
	const char *name; /* a unique identifier */
	int64_t size;	  /* -1 before shapes are known */
	rule_kind kind;
	bool pack;	 /* stands for any number of factors */
	bool positional; /* the result depends on the part's offset */
	bool direct;	 /* RULE_REDUCE: the result is the sum itself */
} rule_factor;

typedef struct rule_dim {
	int64_t size;
	int n;
	int factors[MAX_DIGITS];
} rule_dim;

typedef struct rule_tensor {
	const char *name;
	int ndims;
	rule_dim *dims;
} rule_tensor;

typedef struct rule {
	const char *op;
	int ninputs, noutputs, nfactors, nnotes;
	rule_tensor *inputs, *outputs;
	rule_factor *factors;
	/* facts that no target can express, one line each */
	const char **notes;
} rule;

rule *rule_of(arena *a, const links *l);

/* Whether some dimension of a tensor has the factor. */
bool rule_tensor_has(const rule_tensor *t, int factor);

/* ---- targets: the rule as text, comments and a last line break included -- */

/* #sdy.op_sharding_rule<..>, OpShardingRuleAttr of openxla/shardy.  Sizes must
 * be known. */
char *rule_shardy(arena *a, const rule *r);

/* The arguments of def_partition(), of jax.experimental.custom_partitioning
 * (JAX 0.10), that state the rule, as Python keywords.  NULL, with the reason
 * in *why, if they cannot state it. */
char *rule_jax(arena *a, const rule *r, const char **why);

/* An annotation of nnScaler ("m k+, k+ n -> m n"). op, of m, is the operator.
 * NULL, with *why, as above. */
char *rule_nnscaler(arena *a, const rule *r, const tdl_modules *m,
		    const ast_op *op, const char **why);

#endif
