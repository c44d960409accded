/* A model as a graph of kernels on tensors of known shapes.  Importers build it
 * with a graph_builder; planners cut it, lowering makes a plan of it.  A
 * finished graph does not change. */
#ifndef TDL_COMPILER_GRAPH_GRAPH_H
#define TDL_COMPILER_GRAPH_GRAPH_H

#include "base/vec.h"
#include "compiler/expand/expand.h"

typedef int tensor_id;
typedef int node_id;
enum { NONE = -1 };

typedef enum tensor_kind {
	TENSOR_INPUT,	 /* fed in each run */
	TENSOR_CONSTANT, /* known when planning: weights, folded constants */
	TENSOR_STATE,	 /* kept from one run to the next: parameters, an
			    optimizer's moments, running statistics */
	TENSOR_RESULT,	 /* computed by a node */
} tensor_kind;

/* The source of a constant's elements.  Element i is a function of (key, i)
 * alone, so that no cut changes it (kernel/random.h). */
typedef enum constant_init {
	INIT_NONE,    /* they are not random */
	INIT_UNIFORM, /* lo <= x < hi */
	INIT_NORMAL,
} constant_init;

/* The elements of a constant.  Little-endian, dense, row-major. */
typedef struct constant {
	const void *data;   /* in memory, or NULL */
	const char *path;   /* else in this file, .. */
	int64_t offset;	    /* .. from this byte; the length is the tensor's */
	bool fill;	    /* data is one element, repeated */
	constant_init init; /* else they are drawn: data and path are NULL */
	double lo, hi;	    /* of INIT_UNIFORM */
	double mean, std;   /* of INIT_NORMAL */
	uint64_t key;	    /* graph_key() */
} constant;

typedef struct tensor {
	const char *name; /* unique in the graph */
	tensor_kind kind;
	tensor_type type;
	bool output; /* of the model */
	/* A weight of the model, whether it is trained or not. */
	bool parameter;
	/* Of one that the model's exporter has computed of others, what these
	 * are, for people; NULL. */
	const char *folded_from;
	node_id producer;
	/* The elements of a constant, of a state before the first run. */
	constant constant;
	/* The default of an input, used in a run that feeds none; NULL: it must
	 * be fed. */
	const struct constant *value;
	/* Of a state: the tensor that it becomes after a run, one of the same
	 * type that is computed, no output, and the next of no other state.
	 * NONE: it stays as it is. */
	tensor_id next;
	/* The tensor that this one is a derivative of the loss by, or a part
	 * of that sum; NONE. */
	tensor_id gradient_of;
	/* Of an input, or a state that was one: 1 + the dimension that the
	 * model says is the batch; 0: none. */
	int batch;
} tensor;

typedef struct node {
	const char *name; /* unique: of the model's node, or made up; a stage
			     adds ".label" */
	const char *op;	  /* the operator that it comes from, and the stage:
			     "softmax.m" */
	const kernel *kernel; /* shared by nodes that compute the same */
	tensor_id *inputs;    /* kernel->ninputs of them */
	tensor_id output;
	/* The model's operator that it comes from, a survey_kind; NULL where
	 * no survey was asked for. */
	const char *origin;
	int call; /* nodes of one call of an operator have one number */
	/* The node of the forward pass whose gradient it helps to compute, or
	 * which it computes again; NONE. */
	node_id forward;
	/* Nodes of one step of an unrolled loop, and those at the same place
	 * of each step, have one number; -1 where there is none. */
	int step, cell;
	call_site site; /* the model's call that it comes from, or none */
} node;

/* A constant that follows from weights, which a run may have others of: what
 * has been computed when the graph was built is to be computed again then.
 * Tensors are known by their names, those of the graph or of what it keeps. */
typedef struct graph_fold {
	const kernel *kernel; /* NULL: the elements of its one input, in the
				 same order */
	int ninputs;
	const char **inputs; /* weights, constants, and outputs of folds before
				this one */
	const char *output;  /* a constant */
} graph_fold;

typedef struct graph {
	const char *name; /* of the model: its file without folder and ending */
	call_site site;	  /* where the model is, or nowhere */
	int ntensors, nnodes;
	tensor *tensors;
	node *nodes; /* in topological order */
	int ninputs, noutputs;
	tensor_id *inputs, *outputs; /* in the model's order */
	bool training;
	/* In a plan of several stages the backward passes of these are to
	 * compute their forward passes again; other plans cannot do so. */
	bool recompute_stages;
	tensor_id loss;		 /* what is trained for; NONE */
	tensor_id learning_rate; /* an input; NONE */
	tensor_id loss_scale;	 /* a state, which falls in a step that leaves
				    all others as they are; NONE */
	/* States hold so many entries of what runs add to, and this input, of
	 * one integer, says how many of them are there: where `length' is not
	 * 0. */
	int64_t length;
	tensor_id position;
	/* The names of weights that no run can change: they are constants, or
	 * were folded into some. */
	int nfixed;
	const char **fixed;
	/* The constants that follow from states, in an order in which they can
	 * be computed, and the tensors that no node reads, but they: states
	 * without a next value, and constants. */
	int nfolds, nkept;
	graph_fold *folds;
	tensor *kept;
	/* Where the batch is divided over time: how.  `whole' is the graph with
	 * all samples, of which this one has the shapes of one turn; NULL where
	 * it is that itself. */
	const struct graph_turns *turns;
	const struct graph *whole;
} graph;

/* The first tensor of a graph that folds make of one that they alone read,
 * known by its name, perhaps by way of others; NULL where there is none. */
const char *graph_folded_to(arena *tmp, const graph *g, const char *name);

/* Elements and bytes of a tensor; they fit, because importers check it. */
int64_t tensor_nelem(const tensor_type *t);
int64_t tensor_nbytes(const tensor_type *t);

/* The most bytes that a tensor may have. */
#define GRAPH_MAX_BYTES ((int64_t)1 << 50)
/* The most that all tensors of a graph and all reads and writes of its nodes
 * may add up to, so that a sum over a graph fits 63 bits whatever is added up;
 * for figures of all devices there is graph_is_countable(). */
#define GRAPH_MAX_TRAFFIC ((int64_t)1 << 56)

/* Whether dimensions are not negative, and they and the bytes are at most
 * GRAPH_MAX_BYTES. */
bool tensor_type_ok(const tensor_type *t);

/* "f32 [1, 3, 224, 224]" */
char *tensor_type_text(arena *a, const tensor_type *t);

/* The weights of a model, in bytes and in elements: those in states, also where
 * only folds read them; in a model without such states, the constants whose
 * type is not an integer. */
int64_t graph_parameter_bytes(const graph *g);
int64_t graph_parameter_nelem(const graph *g);
/* Over all nodes; INT64_MAX where it does not fit. */
int64_t graph_flops(const graph *g);

/* Bytes of all tensors, and of all reads and writes of nodes, each whole; of a
 * graph in turns, in one of them.  The bytes that k devices move and hold are
 * at most 2k times that, in each turn. */
int64_t graph_traffic(const graph *g);

/* Whether those of k devices in all turns fit 62 bits. */
bool graph_is_countable(const graph *g, int64_t k);

/* ---- building ---------------------------------------------------------- */

typedef struct graph_builder graph_builder;

/* Derived gradients are added to m when the graph is trained. */
graph_builder *graph_begin(arena *a, tdl_modules *m, diag_sink *s,
			   const char *name);
/* Says where the model is, for errors about all of it. */
void graph_set_site(graph_builder *b, call_site site);
tensor_id graph_add_input(graph_builder *b, const char *name,
			  const tensor_type *t);
tensor_id graph_add_constant(graph_builder *b, const char *name,
			     const tensor_type *t, const constant *c);
/* The same of a weight of the model that is stored with it: a constant, but
 * one that graph_train() may turn into a state. */
tensor_id graph_add_weight(graph_builder *b, const char *name,
			   const tensor_type *t, const constant *c);
/* The same of a single number that is no weight as long as nobody says so. */
tensor_id graph_add_number(graph_builder *b, const char *name,
			   const tensor_type *t, const constant *c);
/* In a model that is not trained: the weights that it uses are states all the
 * same, which runs do not change. */
void graph_free_weights(graph_builder *b);
/* A tensor that is kept from one run to the next. */
tensor_id graph_add_state(graph_builder *b, const char *name,
			  const tensor_type *t, const constant *initial);
/* In a model that is trained, a new state that is t, which is known, before the
 * first run; else t. */
tensor_id graph_keep(graph_builder *b, tensor_id t);
/* Says that a state is a weight of the model, to be trained. */
void graph_set_parameter(graph_builder *b, tensor_id state);
/* Says of what a model's exporter has computed a weight. */
void graph_set_folded(graph_builder *b, tensor_id weight, const char *from);
/* Sets the next value of a state, of the state's type.  A tensor that cannot be
 * the next value itself (see tensor.next) is copied by a node; the state
 * itself: it stays as it is. */
void graph_set_next(graph_builder *b, tensor_id state, tensor_id next);
/* Sets the value of an input in a run that feeds none. */
void graph_set_default(graph_builder *b, tensor_id input, const constant *c);
/* Says which dimension of an input is the model's batch. */
void graph_set_batch(graph_builder *b, tensor_id input, int dim);
/* The key of a random constant: of its name, and the seed of all. */
uint64_t graph_key(const char *name, uint64_t seed);
/* Memory that lives as long as the graph, for constants. */
void *graph_alloc(graph_builder *b, size_t size);
/* The tensor as it is known so far; the name may still change. */
const tensor *graph_tensor(const graph_builder *b, tensor_id t);
const tensor_type *graph_type(const graph_builder *b, tensor_id t);

/* Whether a tensor's elements are known when planning. */
bool graph_is_known(const graph_builder *b, tensor_id t);
/* The elements of a tensor that is known and has at most `limit` bytes, read if
 * they are in a file; else NULL.  For a fill they are spread out.  A weight
 * that they follow from is a constant then: the graph may depend on it. */
const void *graph_constant_data(graph_builder *b, tensor_id t, int64_t limit);

/* Calls an operator: adds a node per stage, named after `name`, and writes the
 * operator's nresults results to results.  Nodes that follow each other with
 * one name (the same pointer) and come from several calls have the operators'
 * names added.  A stage whose inputs are constants is computed at once where
 * that is cheap, see fold.c; a stage that was computed before is not computed
 * again, and a stage that copies an input becomes that input (in a model that
 * is trained, when graph_train() is done).  Returns false when errors were
 * added. */
bool graph_call(graph_builder *b, const ast_op *op, const char *name,
		const tensor_id *args, const attr_value *const *attrs,
		call_site site, tensor_id *results);

/* Gives a tensor that a call or graph_add_constant() made the name that it has
 * in the model.  The first name stays. */
void graph_name(graph_builder *b, tensor_id t, const char *name);

/* The same for an output of the model.  A tensor that cannot be one itself (an
 * input, a constant, an output already) is copied by a node. */
void graph_set_output(graph_builder *b, tensor_id t, const char *name);

/* The finished graph: nodes and tensors that no output and no state's next
 * depends on are gone, but for inputs; equal kernels are one; names are unique.
 * NULL when errors were added. */
graph *graph_finish(graph_builder *b);

#endif
