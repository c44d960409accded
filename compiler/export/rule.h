/* The sharding rule of an operator: the sets of dimensions of its inputs and
 * results that are divided together, as other systems state it.
 *
 * A factor is the unit of division; a dimension is a product of factors, the
 * major one first.  An operator of several stages has one rule, in which a
 * factor is passed on by all of its stages or may not be divided. */
#ifndef TDL_COMPILER_EXPORT_RULE_H
#define TDL_COMPILER_EXPORT_RULE_H

#include "compiler/export/index_maps.h"

typedef enum rule_kind {
	RULE_PASS,    /* the result is divided as the inputs are */
	RULE_REDUCE,  /* results are partial, to be added up */
	RULE_PERMUTE, /* as RULE_PASS, once elements moved across borders */
	RULE_WHOLE,   /* may not be divided */
} rule_kind;

typedef struct rule_factor {
	const char *name; /* an identifier, one of its own in the rule */
	int64_t size;	  /* -1 before shapes are known */
	rule_kind kind;
	bool pack;	 /* stands for any number of factors */
	bool positional; /* the result depends on the part's offset */
	bool direct;	 /* of RULE_REDUCE: the result is the sum itself */
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
	const char **notes; /* facts that no target can express, a line each */
} rule;

rule *rule_of(arena *a, const links *l);

/* Whether a factor is in some dimension of a tensor. */
bool rule_tensor_has(const rule_tensor *t, int factor);

/* ---- targets: the rule as text, comments and a last line break included -- */

/* #sdy.op_sharding_rule<..>, OpShardingRuleAttr of openxla/shardy; sizes are
 * known. */
char *rule_shardy(arena *a, const rule *r);

/* The arguments of jax.experimental.custom_partitioning's def_partition() that
 * state the rule (JAX 0.10), as Python keywords.  NULL, with *why, where they
 * cannot state it. */
char *rule_jax(arena *a, const rule *r, const char **why);

/* An annotation of nnScaler ("m k+, k+ n -> m n").  op, of m, is the
 * operator's text.  NULL, with *why, as above. */
char *rule_nnscaler(arena *a, const rule *r, const tdl_modules *m,
		    const ast_op *op, const char **why);

#endif
