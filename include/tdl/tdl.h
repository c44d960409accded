/* libtdl: operators, models, plans and runs of plans in the caller's process,
 * as in tdlc. docs/library-c.md shows how to use it.
 *
 * Everything belongs to a context.  A context, and what belongs to it, may be
 * used by one thread at a time; contexts are independent of each other.  Only
 * tdl_cancel() may be called by any thread at any time.
 *
 * No function prints, ends the process or changes anything global.  A function
 * that fails returns NULL, or a status other than TDL_OK; tdl_diagnostics() of
 * its context gives the reasons until the next call.  A call that runs out of
 * memory leaves nothing behind.  Pointers must not be NULL unless documented,
 * or if they point to no bytes; freeing functions accept NULL.  "-" is an
 * ordinary file name.  Numbers in texts have a decimal point in all locales.
 *
 * Options are names and values, like the long options of tdlc without dashes:
 *
 *	const tdl_option options[] = {
 *		{ "devices", "8" }, { "algorithm", "auto" }, { "train", NULL },
 *		{ "D", "batch=64" }, { NULL, NULL }
 *	};
 *
 * The array ends with a NULL name; NULL stands for no options.  Flags have the
 * value NULL.  Options that tdlc accepts repeatedly may be repeated here too.
 *
 * Results with parts are JSON in UTF-8, as `tdlc --json' prints it
 * (docs/json.md).  The caller frees them with tdl_text_free(). */
#ifndef TDL_TDL_H
#define TDL_TDL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TDL_API __attribute__((visibility("default")))
#else
#define TDL_API
#endif

/* The values up to TDL_DIFFERENCE are exit statuses of tdlc and tdlrun. */
typedef enum tdl_status {
	TDL_OK = 0,
	TDL_INPUT = 1,	    /* an input is faulty */
	TDL_USAGE = 2,	    /* an option, or the order of calls, is wrong */
	TDL_NO_PLAN = 3,    /* no plan satisfies the limits */
	TDL_MACHINE = 4,    /* a file, a thread or a program failed */
	TDL_DIFFERENCE = 5, /* verification found a difference */
	TDL_NO_MEMORY = 6,  /* memory is exhausted, or the quota is reached */
	TDL_CANCELLED = 7   /* tdl_cancel() */
} tdl_status;

typedef struct tdl_context tdl_context;
typedef struct tdl_module tdl_module;
typedef struct tdl_model tdl_model;
typedef struct tdl_plan tdl_plan;
typedef struct tdl_placement tdl_placement;
typedef struct tdl_run tdl_run;

typedef struct tdl_option {
	const char *name, *value;
} tdl_option;

/* The version of the library, "0.1.0". */
TDL_API const char *tdl_version(void);

/* ---- contexts ---------------------------------------------------------- */

/* Like malloc() and free(), with a user pointer; aligned for any type.  Runs of
 * plans call them from several threads at once. */
typedef struct tdl_allocator {
	void *(*alloc)(void *user, size_t nbytes);
	void (*free)(void *user, void *p);
	void *user;
} tdl_allocator;

/* Returns a new context with the allocator or, for NULL, malloc() and free().
 * Returns NULL if there is no memory.  JSON values, compressed data, threads
 * and the buffers of runs come from the C library and the system in any
 * case. */
TDL_API tdl_context *tdl_context_new(const tdl_allocator *allocator);

/* Frees a context and everything that belongs to it, except its runs, which
 * must be freed before. */
TDL_API void tdl_context_free(tdl_context *c);

/* Limits the bytes that the context may use at one time; 0, the default: no
 * limit. */
TDL_API void tdl_context_set_quota(tdl_context *c, size_t nbytes);

/* Bytes in use from its allocator: now, and at most so far. */
TDL_API size_t tdl_context_used(const tdl_context *c);
TDL_API size_t tdl_context_peak(const tdl_context *c);

/* Sets the folder of the operator library.  The default is $TDL_OPDEFS, else
 * the folder installed with this library. */
TDL_API tdl_status tdl_context_set_operators(tdl_context *c,
					     const char *folder);

/* Adds a folder in which imports are looked up, like -I. */
TDL_API tdl_status tdl_context_add_folder(tdl_context *c, const char *folder);

/* Adds a file that models may use in addition to the operator library, like
 * --load. */
TDL_API tdl_status tdl_context_add_file(tdl_context *c, const char *path);

/* Adds a profile written by `tdlrun --profile': from now on measured times are
 * used in predictions, like --profile. */
TDL_API tdl_status tdl_context_add_profile(tdl_context *c, const char *path);

/* From now on these bytes, which are copied, replace the content of the file at
 * path, also for imports: TDL, or an ONNX model. */
TDL_API tdl_status tdl_context_add_text(tdl_context *c, const char *path,
					const char *text, size_t nbytes);

/* The form of results and messages: a sum of these values, 0 by default. */
enum {
	/* Results with parts are text for people, of 80 columns, as tdlc prints
	 * it.  The text may differ between versions.  Results for which tdlc
	 * has no text stay JSON. */
	TDL_TEXT = 1,
	/* Messages name options as on the command line: "-k". */
	TDL_DASHES = 2,
	/* The file "-" is the standard input, or output. */
	TDL_STREAMS = 4,
	/* Graphs and plans are drawings in the language of graphviz. */
	TDL_DOT = 8,
	/* Drawings show each operator; without it, blocks of large ones are
	 * drawn whole. */
	TDL_UNFOLDED = 16
};
TDL_API void tdl_context_set_style(tdl_context *c, int style);

/* Called before each step of a search. phase is "search" (a planner, after
 * `done' plans), "compare" (plan done + 1 of `all'), "prove", or "measure"
 * (part done + 1 of `all', with its first operator as the algorithm).  It may
 * call tdl_cancel(), and functions of other contexts.  NULL removes it. */
typedef void tdl_progress(void *user, const char *phase,
			  const char *algorithm, int done, int all);
TDL_API void tdl_context_set_progress(tdl_context *c, tdl_progress *progress,
				      void *user);

/* Ends the context's running call, or else its next one, with TDL_CANCELLED.
 * May be called from any thread, or from a signal handler. */
TDL_API void tdl_cancel(tdl_context *c);

/* ---- what went wrong --------------------------------------------------- */

typedef enum tdl_severity {
	TDL_ERROR = 0,
	TDL_WARNING = 1,
	TDL_NOTE = 2 /* belongs to the diagnostic before */
} tdl_severity;

typedef struct tdl_diagnostic {
	tdl_severity severity;
	/* "read-outside", as tdlc prints it; "usage", "limit", "machine",
	 * "no-memory", "cancelled" for faults that are not in a file; "" for
	 * notes */
	const char *name;
	/* one sentence, lower case, no full stop; for "limit", figures may
	 * follow after a colon */
	const char *message;
	const char *file;    /* or another place; NULL: none */
	int line, column;    /* from 1; 0: none; columns count bytes */
	int end_line, end_column; /* after the last byte */
	/* The line, or 160 bytes of a long line around the place, without
	 * control characters, and the column of its first byte; NULL and 0:
	 * none. */
	const char *excerpt;
	int excerpt_column;
} tdl_diagnostic;

/* The diagnostics of the context's last call, including warnings if it
 * succeeded: *n of them, owned by the context and valid until its next call. */
TDL_API const tdl_diagnostic *tdl_diagnostics(const tdl_context *c, size_t *n);

/* The status of the last call other than those about the context itself. */
TDL_API tdl_status tdl_last_status(const tdl_context *c);

/* Frees a result that is text, before its context is freed. */
TDL_API void tdl_text_free(char *text);

/* ---- options ----------------------------------------------------------- */

typedef struct tdl_option_info {
	const char *name;     /* "devices"; NULL: the letter is its name */
	const char *argument; /* what the value is, as "N"; NULL: a flag */
	const char *help;     /* what it does: lower case, no full stop */
	/* some values that it accepts, perhaps not all, NULL-terminated; NULL:
	 * none known */
	const char *const *words;
	char letter;	      /* 'k', another name; 0: none */
	char repeats;	      /* 1: each value counts, not only the last */
} tdl_option_info;

/* The options of a function of this header, by its name: *n of them, owned by
 * the context and valid until its next call.  NULL for a name that is not of a
 * function with options. */
TDL_API const tdl_option_info *tdl_function_options(tdl_context *c,
						    const char *function,
						    size_t *n);

/* Whether the function would accept these options, as far as that does not
 * depend on the object for which it is called: TDL_OK, or TDL_USAGE. */
TDL_API tdl_status tdl_function_check(tdl_context *c, const char *function,
				      const tdl_option *options);

/* ---- operators --------------------------------------------------------- */

/* Reads a file of operators, or a text of that name, and everything that it
 * imports, and checks it.  The content is kept: later changes of the files have
 * no effect.  NULL on failure. */
TDL_API tdl_module *tdl_module_load(tdl_context *c, const char *path);
TDL_API tdl_module *tdl_module_of_text(tdl_context *c, const char *path,
				       const char *text, size_t nbytes);

/* The same for n files, n > 0, in one module.  The operators of all of them are
 * its own, and their models are built once with default arguments: `tdlc
 * check'. */
TDL_API tdl_module *tdl_module_load_all(tdl_context *c,
					const char *const *paths, size_t n);

/* A module may be a single file of descriptors, whose name ends in .tdd.  For
 * it, tdl_module_export() has the formats that do not need source. */

/* The paths of all files that were read for it, including imports, in the order
 * of reading: {"files": [..]}. */
TDL_API char *tdl_module_files(tdl_module *m);

/* The operator library, with the files of tdl_context_add_file(). */
TDL_API tdl_module *tdl_module_library(tdl_context *c);

TDL_API void tdl_module_free(tdl_module *m);

/* The names of its operators, including those of imports: `tdlc ops'. */
TDL_API char *tdl_module_operators(tdl_module *m);

/* The descriptors of its own operators: `tdlc compile`. */
TDL_API char *tdl_module_describe(tdl_module *m);

/* The descriptor of an operator; with options (shape, D, devices) its
 * strategies for given shapes: `tdlc explain'. */
TDL_API char *tdl_module_explain(tdl_module *m, const char *op,
				 const tdl_option *options);

/* The reference manual of its own operators, models and opaque functions, made
 * from their doc comments and from facts that follow from their definitions.
 * Options: format: markdown (the default), html or json; op, a name, perhaps of
 * an import; may be repeated: `tdlc doc'. */
TDL_API char *tdl_module_document(tdl_module *m, const tdl_option *options);

/* Tries the strategies of an operator or, for NULL, of all of its own.
 * Options: seed, trials, strict, gradients; op, further names, may be repeated.
 * If there is a difference, tdl_last_status() is TDL_DIFFERENCE, and the text
 * describes it: `tdlc verify'. */
TDL_API char *tdl_module_verify(tdl_module *m, const char *op,
				const tdl_option *options);

/* Operators in other programs' formats: *nbytes bytes followed by a zero;
 * nbytes may be NULL.  For one operator: "shardy", "nnscaler", "jax", its
 * sharding rule in that notation; "c", "cuda", its kernels.  For one or, with
 * NULL, all of its own: "descriptor", "header" (C), "json", "gradients" (the
 * operators that compute the gradients, in TDL).  For all: "ast".  Options:
 * shape and D, for rules and kernels; output, the path of the file that the
 * text will be, which names the guard of a header and to which paths of imports
 * are relative: `tdlc explain --format', `tdlc compile'. */
TDL_API char *tdl_module_export(tdl_module *m, const char *op,
				const char *format, const tdl_option *options,
				size_t *nbytes);

/* A file of operators and models, or a text of that name, in canonical layout;
 * imports are not read.  If the layout changes, tdl_last_status() is
 * TDL_DIFFERENCE: `tdlc fmt'. */
TDL_API char *tdl_format(tdl_context *c, const char *path);
TDL_API char *tdl_format_text(tdl_context *c, const char *path,
			      const char *text, size_t nbytes);

/* ---- models ------------------------------------------------------------ */

/* Reads a model: TDL if its path ends in .tdl, otherwise ONNX.  Options are
 * those of `tdlc plan' about the model: D, shape, model, train, evaluate, loss,
 * optimizer, clip-norm, precision, freeze, train-only, recompute, seed.  NULL
 * on failure. */
TDL_API tdl_model *tdl_model_load(tdl_context *c, const char *path,
				  const tdl_option *options);

/* The same for bytes in memory.  Weights of an ONNX model in separate files are
 * looked up beside path. */
TDL_API tdl_model *tdl_model_of_text(tdl_context *c, const char *path,
				     const void *data, size_t nbytes,
				     const tdl_option *options);

TDL_API void tdl_model_free(tdl_model *m);

/* Its graph: `tdlc show MODEL`. */
TDL_API char *tdl_model_graph(tdl_model *m);

/* The model as a cost graph for placements of whole operators, with the times
 * of a machine; NULL: the default one: `tdlc show --costs'. */
TDL_API char *tdl_model_costs(tdl_model *m, const char *topology);

/* The operators of a model that can be divided, and those that cannot.  Takes a
 * path because ONNX with unmapped operators cannot be loaded as a tdl_model.
 * Options: devices (2), D, shape, model: `tdlc coverage'. */
TDL_API char *tdl_model_coverage(tdl_context *c, const char *path,
				 const tdl_option *options);

/* Measures the layers of a model on this machine, with threads as devices: each
 * layer alone, and after the one before it.  Adds the times of their kernels
 * and transfers to the profile in a file, which is created if missing, for
 * tdl_context_add_profile().  Never more than two layers are in memory; layers
 * that need more than `memory' are left out.  Options: devices (1); algorithm
 * (tofu), which divides layers over them; micro-batches, a number;
 * micro-batch-statistics, batch-dim; topology, memory; steps (12), for each
 * layer; kernels, as in tdl_run_open().  TDL_NO_PLAN if no layer was measured:
 * `tdlc profile'. */
TDL_API char *tdl_model_profile(tdl_model *m, const char *path,
				const tdl_option *options);

/* ---- plans ------------------------------------------------------------- */

/* Searches for a plan.  Options are those of `tdlc plan': devices (required),
 * algorithm, objective, sequence-parallel, micro-batches (a number, or auto:
 * divides the batch of a step into that many parts, run one after the other),
 * micro-batch-statistics, batch-dim (NAME=D: dimension D of input NAME is the
 * batch; may be repeated), bucket-bytes (a size, or auto), time-limit,
 * topology, memory, pin, pins, fail-on-opaque, warn-replicate, no-fuse; for
 * stages of a pipeline stages, replicas, schedule, inside.  With algorithm auto
 * and micro-batches, the plan may have several stages without a request for
 * them, unless stages is none.  The model may be freed afterwards.  Sources of
 * kernels are generated, and weights read, only when something needs the whole
 * plan file.  NULL on failure. */
TDL_API tdl_plan *tdl_plan_search(tdl_model *m, const tdl_option *options);

/* Plans of all planners, or of some, side by side.  Options: devices
 * (required), algorithm and with, which may be repeated, sequence-parallel,
 * bucket-bytes, time-limit, topology, pin, pins: `tdlc compare'. */
TDL_API char *tdl_model_compare(tdl_model *m, const tdl_option *options);

/* The same, beside the plan that the pins (required) make, for example from
 * another system: `tdlc score'. */
TDL_API char *tdl_model_score(tdl_model *m, const tdl_option *options);

/* The plans for which no other plan is better in both time and memory.  Options
 * are those of tdl_plan_search() except algorithm, objective and
 * sequence-parallel: `tdlc plan --frontier'. */
TDL_API char *tdl_model_frontier(tdl_model *m, const tdl_option *options);

/* Reads a plan from a file, or from its text.  NULL on failure. */
TDL_API tdl_plan *tdl_plan_load(tdl_context *c, const char *path);
TDL_API tdl_plan *tdl_plan_of_text(tdl_context *c, const char *path,
				   const char *text, size_t nbytes);

TDL_API void tdl_plan_free(tdl_plan *p);

/* Writes a plan for tdl_plan_load() and tdlrun.  The file is replaced
 * atomically. */
TDL_API tdl_status tdl_plan_write(tdl_plan *p, const char *path);

/* The text of that file; paths of weights in other files are relative to the
 * current folder. */
TDL_API char *tdl_plan_text(tdl_plan *p);

/* The result of the search: `tdlc plan`.  NULL, TDL_USAGE, for a plan that was
 * read. */
TDL_API char *tdl_plan_report(tdl_plan *p);

/* The plan as its reader wants it: who holds what, what divides each operator,
 * what moves: `tdlc show PLAN'.  Times are predicted for a machine; NULL: the
 * default one. */
TDL_API char *tdl_plan_layout(tdl_plan *p, const char *topology);

/* Everything that is drawn of a plan (docs/report.md): its figures, and the
 * page that draws them, HTML that loads nothing.  Options: topology, the
 * machine for predicted times, by default that of the search, or else the
 * default one; planners, frontier and trace, files written by `tdlc compare
 * --json', `tdlc plan --frontier --json' and `tdlrun --trace', to be drawn
 * beside it: `tdlc report'. */
TDL_API char *tdl_plan_facts(tdl_plan *p, const tdl_option *options);
TDL_API char *tdl_plan_page(tdl_plan *p, const tdl_option *options);

/* A step of the plan, simulated event by event on a machine (NULL: the default
 * one): when each stage computes, moves and waits, and its memory over time:
 * `tdlc simulate'. */
TDL_API char *tdl_plan_simulate(tdl_plan *p, const char *topology);

/* The bytes that a plan moves and needs, and the times of a step on a machine
 * (NULL: the plan's, or the default one) and on one device of it: `tdlc score
 * PLAN'. */
TDL_API char *tdl_plan_score(tdl_plan *p, const char *topology);

/* The same step as a trace: JSON that Chrome and Perfetto show: `tdlc simulate
 * --trace'. */
TDL_API char *tdl_plan_trace(tdl_plan *p, const char *topology);

/* The simulated step beside a measured one, from a file written by `tdlrun
 * --trace' for that plan: the seconds of the step, of each kind of instruction
 * and of each instruction in both, ordered by difference: `tdlc simulate
 * --beside'. */
TDL_API char *tdl_plan_beside(tdl_plan *p, const char *topology,
			      const char *trace);

/* A diagram of the pipeline in that step: which stage does which pass of which
 * micro-batch when. format is "svg", or "text", a line for each stage: `tdlc
 * show PLAN --diagram'. */
TDL_API char *tdl_plan_chart(tdl_plan *p, const char *topology,
			     const char *format);

/* Why layers are in their stages, for a plan found with --stages: for each cut
 * between stages, what the stages take and need, what crosses it, and what the
 * same plan would take and need if the cut were a layer earlier or later: `tdlc
 * explain MODEL'. */
TDL_API char *tdl_plan_cuts(tdl_plan *p);

/* The differences between two plans of one context, with the times of both on a
 * machine.  NULL: the machine of the plans (TDL_USAGE if these differ), or the
 * default one: `tdlc diff'. */
TDL_API char *tdl_plan_diff(tdl_plan *p, tdl_plan *q, const char *topology);

/* The reasons for a tensor's layout: the alternatives; what the best plan with
 * each of them moves and how long it takes; and the operators that cause it.
 * Options: algorithm, which completes each alternative, tofu or joint;
 * topology, the machine, by default the plan's, or else the default one: `tdlc
 * explain --plan'. */
TDL_API char *tdl_plan_explain(tdl_plan *p, const char *tensor,
			       const tdl_option *options);

/* Writes a plan for another system, `tdlc export'. format "jax": a Python
 * module, to a file; "cuda": a program, to a folder, in which files may remain
 * after a failure. */
TDL_API tdl_status tdl_plan_export(tdl_plan *p, const char *format,
				   const char *path);

/* Writes the ONNX model from which a plan was made to a file, with the plan's
 * layouts as its multi-device annotations: `tdlc export --to onnx'. */
TDL_API tdl_status tdl_plan_annotate(tdl_plan *p, const char *model,
				     const char *path);

/* ---- placements -------------------------------------------------------- */

/* Places whole operators on devices, or divides layers into stages, for a cost
 * graph in a file or for a model, which is read for this.  Options: algorithm
 * (one that minimizes the makespan; load, mcap, pipedream, capture); devices
 * (required, except for layer tables), network, topology, link, memory, factor,
 * colocation, time-limit; for stages and loads objective, schedule,
 * micro-batches, recompute, no-recompute, zero, uneven, frontier, predictor,
 * any-split, cores, each accepted by some algorithms; for models D, shape,
 * model, train, evaluate, loss, optimizer, clip-norm, precision, freeze,
 * train-only, seed.
 *
 * TDL_NO_PLAN, with the reasons, if nothing fits: `tdlc place'. */
TDL_API tdl_placement *tdl_placement_search(tdl_context *c, const char *path,
					    const tdl_option *options);
TDL_API void tdl_placement_free(tdl_placement *p);

/* The figures of the result: times in seconds, memory in bytes, a device for
 * each operator, or the stages: `tdlc place --json'. */
TDL_API char *tdl_placement_report(tdl_placement *p);

/* The text of a placement file, for tdl_placement_score(): `tdlc place -o'.
 * NULL, TDL_USAGE, for plans of pipedream and capture, which put a layer on
 * several devices. */
TDL_API char *tdl_placement_text(tdl_placement *p);

/* A chart of one pass: which device computes and sends when; format is "svg",
 * or "text", a line for each device: `tdlc place --gantt'.  NULL, TDL_USAGE,
 * for stages and loads. */
TDL_API char *tdl_placement_chart(tdl_placement *p, const char *format);

/* Placements by all algorithms, or by some, side by side.  Options: devices
 * (required), network, topology, link, memory, factor, colocation, time-limit;
 * algorithm, which may be repeated; those of models: `tdlc compare'. */
TDL_API char *tdl_placement_compare(tdl_context *c, const char *path,
				    const tdl_option *options);

/* The cost of a given placement, by the same judge.  Options are the same,
 * except those of a search (colocation, time-limit, algorithm), plus placement
 * (required), a file: `tdlc score'.  If a device needs more memory than it has,
 * tdl_last_status() is TDL_NO_PLAN. */
TDL_API char *tdl_placement_score(tdl_context *c, const char *path,
				  const tdl_option *options);

/* ---- problems ---------------------------------------------------------- */

/* The least cost of a strategy problem in a file in the WCSP format of
 * toulbar2, an assignment with that cost, and the proven bound.  Options:
 * time-limit, in seconds.  If nothing below the problem's upper bound exists,
 * or was found, tdl_last_status() is TDL_NO_PLAN: `tdlc solve'. */
TDL_API char *tdl_solve(tdl_context *c, const char *path,
			const tdl_option *options);

/* ---- runs -------------------------------------------------------------- */

/* An array that the caller owns: dense, row-major. type is "f32", "i64", ..;
 * dims and data may be NULL if there are none. */
typedef struct tdl_array {
	const char *name;
	const char *type;
	int ndim;
	const int64_t *dims;
	void *data;
	size_t nbytes;
} tdl_array;

/* Prepares a plan for running, with a thread for each of its devices.  Options:
 * kernels: generated (the default; needs a C compiler) or interpreter;
 * kernels-from, a library with kernels of opaque functions.  The plan may be
 * freed afterwards.  NULL on failure. */
TDL_API tdl_run *tdl_run_open(tdl_plan *p, const tdl_option *options);
TDL_API void tdl_run_free(tdl_run *r);

/* Runs the plan once.  Each input of the plan must be among inputs[0..ninputs)
 * with its type and shape; the results named by outputs[0..noutputs) are
 * written to their data.  States continue from step to step.  After a failure
 * other than TDL_USAGE the run is unusable: an index outside of a tensor,
 * TDL_INPUT, is found while other devices are under way.  A step of training
 * has an input in addition to its model's, the learning rate: "lr", f64,
 * without dimensions. */
TDL_API tdl_status tdl_run_step(tdl_run *r, const tdl_array *inputs,
				size_t ninputs, const tdl_array *outputs,
				size_t noutputs);

/* Copies the value of a state between two steps; sets it. */
TDL_API tdl_status tdl_run_get_state(tdl_run *r, const tdl_array *state);
TDL_API tdl_status tdl_run_set_state(tdl_run *r, const tdl_array *state);

#ifdef __cplusplus
}
#endif

#endif
