/* A model as a graph of kernels on tensors of known shapes.  Importers build it
 * with a graph_builder, planners cut it, lowering makes a plan of it.  A
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

/* The distribution of a constant's random elements.  Element i depends only on
 * (key, i), so that no cut changes it (kernel/random.h). */
typedef enum constant_init {
	INIT_NONE,    /* not random */
	INIT_UNIFORM, /* lo <= x < hi */
	INIT_NORMAL,
} constant_init;

/* The elements of a constant: little-endian, dense, row-major. */
typedef struct constant {
	/* the elements in memory; NULL: in a file or random */
	const void *data;
	const char *path;   /* the file, .. */
	/* .. from this byte on, as many bytes as the tensor has */
	int64_t offset;
	bool fill;	    /* data is one element, repeated */
	/* otherwise drawn at random; data and path are NULL */
	constant_init init;
	double lo, hi;	    /* of INIT_UNIFORM */
	double mean, std;   /* of INIT_NORMAL */
	uint64_t key;	    /* graph_key() */
} constant;

typedef struct tensor {
	const char *name; /* unique in the graph */
	tensor_kind kind;
	tensor_type type;
	bool output; /* of the model */
	/* a weight of the model, trained or not */
	bool parameter;
	/* If the model's exporter computed it from other weights: their names,
	 * for people; else NULL. */
	const char *folded_from;
	node_id producer;
	/* The elements of a constant, of a state before the first run. */
	constant constant;
	/* The default of an input, used in a run that feeds none; NULL: it must
	 * be fed. */
	const struct constant *value;
	/* For a state: the tensor that is its value after a run; NONE: it does
	 * not change.  It is computed, has the same type, and is neither an
	 * output nor the next value of another state. */
	tensor_id next;
	/* The tensor by which this one is a derivative of the loss, or a term
	 * of it; NONE. */
	tensor_id gradient_of;
	/* For an input, or a state that was one: 1 + the dimension that the
	 * model declares as the batch; 0: none. */
	int batch;
} tensor;

typedef struct node {
	/* unique: the model's node's name, or made up; a stage appends
	 * ".label" */
	const char *name;
	const char *op;	  /* the operator, and the stage: "softmax.m" */
	const kernel *kernel; /* shared by nodes that compute the same */
	tensor_id *inputs;    /* kernel->ninputs of them */
	tensor_id output;
	/* The survey_kind of the model's operator from which it comes; NULL if
	 * no survey was requested. */
	const char *origin;
	int call; /* the same for all nodes of one call of an operator */
	/* The node of the forward pass whose gradient it helps to compute, or
	 * which it recomputes; NONE. */
	node_id forward;
	/* The iteration of an unrolled loop, the same for all its nodes; the
	 * place within an iteration, the same in each. -1 outside of loops. */
	int step, cell;
	call_site site; /* the call in the model from which it comes, or none */
} node;

/* A constant computed from weights while the graph was built; a run with other
 * weights must compute it again.  Tensors are identified by their names, in the
 * graph or in graph.kept. */
typedef struct graph_fold {
	/* NULL: copies the elements of its one input, in the same order */
	const kernel *kernel;
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
	/* In a plan of several stages, their backward passes recompute the
	 * forward passes.  Ignored in other plans. */
	bool recompute_stages;
	tensor_id loss;		 /* the tensor that training minimises; NONE */
	tensor_id learning_rate; /* an input; NONE */
	/* a state that decreases in a step that leaves all others unchanged;
	 * NONE */
	tensor_id loss_scale;
	/* If length is not 0: states hold `length' entries, of which runs write
	 * more, and the input `position', one integer, says how many there
	 * are. */
	int64_t length;
	tensor_id position;
	/* The names of weights that no run can change: they are constants, or
	 * were folded into some. */
	int nfixed;
	const char **fixed;
	/* The folds that depend on states, in an order in which they can be
	 * computed; and the tensors that only folds read: states without a next
	 * value, and constants. */
	int nfolds, nkept;
	graph_fold *folds;
	tensor *kept;
	/* If the batch is divided over time: the division, and the graph with
	 * all samples, of which this graph has the shapes of one turn.  Else
	 * NULL. */
	const struct graph_turns *turns;
	const struct graph *whole;
} graph;

/* The first tensor of a graph that folds compute, directly or through others,
 * from the tensor `name', which only folds read; NULL if there is none. */
const char *graph_folded_to(arena *tmp, const graph *g, const char *name);

/* Elements and bytes of a tensor.  Importers check that they fit. */
int64_t tensor_nelem(const tensor_type *t);
int64_t tensor_nbytes(const tensor_type *t);

/* The most bytes of a tensor. */
#define GRAPH_MAX_BYTES ((int64_t)1 << 50)
/* The limit on the bytes of all tensors of a graph plus all reads and writes of
 * its nodes, so that any sum over a graph fits 63 bits.  For sums over all
 * devices see graph_is_countable(). */
#define GRAPH_MAX_TRAFFIC ((int64_t)1 << 56)

/* Whether no dimension is negative, and all dimensions and the bytes are at
 * most GRAPH_MAX_BYTES. */
bool tensor_type_ok(const tensor_type *t);

/* "f32 [1, 3, 224, 224]" */
char *tensor_type_text(arena *a, const tensor_type *t);

/* Bytes and elements of a model's weights: those in states, including states
 * that only folds read; in a model without such states, the constants of types
 * other than integers. */
int64_t graph_parameter_bytes(const graph *g);
int64_t graph_parameter_nelem(const graph *g);
/* Operations of all nodes; INT64_MAX if they do not fit. */
int64_t graph_flops(const graph *g);

/* Bytes of all tensors and of all reads and writes of nodes, each undivided;
 * for a graph in turns, in one turn. k devices move and hold at most 2k times
 * that, in each turn. */
int64_t graph_traffic(const graph *g);

/* Whether the traffic of k devices in all turns fits 62 bits. */
bool graph_is_countable(const graph *g, int64_t k);

/* ---- building ---------------------------------------------------------- */

typedef struct graph_builder graph_builder;

/* Begins a graph, whose result will be in a.  If the graph is trained, derived
 * gradients are added to m. */
graph_builder *graph_begin(arena *a, tdl_modules *m, diag_sink *s,
			   const char *name);
/* Sets the place of the model, for errors that concern all of it. */
void graph_set_site(graph_builder *b, call_site site);
tensor_id graph_add_input(graph_builder *b, const char *name,
			  const tensor_type *t);
tensor_id graph_add_constant(graph_builder *b, const char *name,
			     const tensor_type *t, const constant *c);
/* The same for a weight stored with the model: a constant that graph_train()
 * may turn into a state. */
tensor_id graph_add_weight(graph_builder *b, const char *name,
			   const tensor_type *t, const constant *c);
/* The same for a single number, which is a weight only if the user says so. */
tensor_id graph_add_number(graph_builder *b, const char *name,
			   const tensor_type *t, const constant *c);
/* For a model that is not trained: makes states, which runs do not change, of
 * the weights that it uses. */
void graph_free_weights(graph_builder *b);
/* Adds a tensor that is kept from one run to the next. */
tensor_id graph_add_state(graph_builder *b, const char *name,
			  const tensor_type *t, const constant *initial);
/* In a model that is trained: a new state whose value before the first run is
 * t, a known tensor.  Otherwise returns t. */
tensor_id graph_keep(graph_builder *b, tensor_id t);
/* Marks a state as a weight of the model, to be trained. */
void graph_set_parameter(graph_builder *b, tensor_id state);
/* Notes the weights from which a model's exporter computed a weight. */
void graph_set_folded(graph_builder *b, tensor_id weight, const char *from);
/* Sets the next value of a state, of the state's type.  A tensor that cannot be
 * the next value itself (see tensor.next) is copied by a node.  If next is the
 * state itself, it does not change. */
void graph_set_next(graph_builder *b, tensor_id state, tensor_id next);
/* Sets the value of an input in a run that feeds none. */
void graph_set_default(graph_builder *b, tensor_id input, const constant *c);
/* Sets the dimension of an input that is the model's batch. */
void graph_set_batch(graph_builder *b, tensor_id input, int dim);
/* The key of a random constant, from its name and the common seed. */
uint64_t graph_key(const char *name, uint64_t seed);
/* Memory that lives as long as the graph, for constants. */
void *graph_alloc(graph_builder *b, size_t size);
/* The tensor as known so far; its name may still change. */
const tensor *graph_tensor(const graph_builder *b, tensor_id t);
const tensor_type *graph_type(const graph_builder *b, tensor_id t);

/* Whether a tensor's elements are known when planning. */
bool graph_is_known(const graph_builder *b, tensor_id t);
/* The elements of a known tensor of at most `limit' bytes, read from their file
 * or repeated for a fill; else NULL.  The graph may depend on them, so a weight
 * from which they follow becomes a constant. */
const void *graph_constant_data(graph_builder *b, tensor_id t, int64_t limit);

/* Calls an operator: adds a node per stage, named after `name', and writes the
 * operator's nresults results to results.  If consecutive nodes from several
 * calls have the same name (the same pointer), the operators' names are
 * appended.  A stage with constant inputs is computed at once if that is cheap
 * (fold.c).  A stage that was computed before is shared, and a stage that
 * copies an input is replaced by it (in a model that is trained, once
 * graph_train() is done).  Returns false after adding errors. */
bool graph_call(graph_builder *b, const ast_op *op, const char *name,
		const tensor_id *args, const attr_value *const *attrs,
		call_site site, tensor_id *results);

/* Gives a tensor made by a call or by graph_add_constant() its name in the
 * model.  The first name stays. */
void graph_name(graph_builder *b, tensor_id t, const char *name);

/* The same for an output of the model.  A tensor that cannot be an output
 * itself (an input, a constant, an output already) is copied by a node. */
void graph_set_output(graph_builder *b, tensor_id t, const char *name);

/* Returns the finished graph: nodes and tensors on which no output and no
 * state's next value depends are removed, except inputs; equal kernels are
 * shared; names are unique.  NULL after adding errors. */
graph *graph_finish(graph_builder *b);

#endif
