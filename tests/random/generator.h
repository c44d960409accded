/* The state and the steps that the files of the generator of random operators
 * share. */
#ifndef TDL_TESTS_RANDOM_GENERATOR_H
#define TDL_TESTS_RANDOM_GENERATOR_H

#include "base/vec.h"
#include "compiler/verify/trial.h"
#include "tests/random/generate.h"

/* The types that unify: those without a declaration, `int', `float', an exact
 * one; and what it is in this operator. */
typedef enum class_kind { OF_SHARED, OF_INT, OF_FLOAT, OF_EXACT } class_kind;

typedef struct value_class {
	class_kind kind;
	dtype type;
} value_class;

/* A number that is known by name: a size, an attribute, a constant. */
typedef struct known {
	const char *name;
	int64_t n;
} known;

typedef struct variable {
	const char *name, *extent;
	int64_t n;
	bool settled; /* no read decides over how much it runs */
} variable;

typedef struct tensor {
	const char *name;
	value_class c;
	int ndim;
	known dims[MAX_DIMS];
	bool pack;     /* of dimensions ..d */
	bool repeated; /* broadcast b[..d] */
} tensor;

typedef struct generator {
	arena *arena;
	rng r;
	VEC(known) sizes;   /* dimensions of parameters */
	VEC(known) numbers; /* attributes and constants, integers */
	VEC(variable) vars;
	VEC(tensor) tensors; /* parameters, then lets */
	VEC(tensor) dubious; /* lets that a flag has to leave out, mostly */
	int nparams;
	value_class shared, some_int, some_float;
	bool has_pack;	 /* there is a pack ..d */
	int nbound;	 /* lambdas around that bind all of it */
	int nvars, nlets; /* for names that are new */
	int room;	 /* for more nodes */
	int reductions;	 /* around */
	const char *flags; /* attributes of other types, as declarations */
} generator;

static inline bool percent(generator *g, int n)
{
	return rng_percent(&g->r, n);
}

static inline int below(generator *g, int n)
{
	return (int)rng_in(&g->r, 0, n - 1);
}

#define TEXT(g, ...) arena_printf((g)->arena, __VA_ARGS__)

static inline value_class exact(dtype t)
{
	return (value_class){ OF_EXACT, t };
}

static inline bool same_class(value_class x, value_class y)
{
	return x.kind == y.kind && x.type == y.type;
}

/* A class that some tensor has, or one of any type. */
value_class any_class(generator *g);
/* The name that a cast to the class has. */
const char *class_name(const generator *g, value_class c);
const char *converted(generator *g, const char *text, value_class from,
		      value_class to);

/* An expression that has the class whatever it meets. */
const char *value(generator *g, value_class c);
/* The same, or a constant, or what is made of such, that takes it. */
const char *operand(generator *g, value_class c);
const char *condition(generator *g);
const char *literal(generator *g, value_class c);

/* A sum of index variables and numbers, and between which numbers it lies. */
typedef struct index_text {
	const char *text;
	int64_t lo, hi;
} index_text;
index_text affine(generator *g);

/* A read of a tensor, guarded where it may be outside; NULL where nothing
 * suits. */
const char *read_of(generator *g, const tensor *t);
/* A read in which variable v by itself indexes dimension d. */
const char *read_along(generator *g, const tensor *t, int d, int v);
const tensor *tensor_of(generator *g, value_class c);

/* A reduction, or NULL. */
const char *reduction(generator *g, value_class c);
/* A lambda's variables as text, brought into scope; and what a body has to
 * read so that all have an extent, and its class.  With a NULL for the class
 * all extents are written, and nothing has to be read. */
const char *open_vars(generator *g, int n, const char **must, value_class *of);

#endif
