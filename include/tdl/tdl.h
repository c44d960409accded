/* libtdl: operators, models and plans, as tdlc has them, and runs of plans, in
 * the process of the caller.  docs/library-c.md shows how it is used.
 *
 * Everything belongs to a context.  A context, and what belongs to it, is used
 * by one thread at a time; two contexts know nothing of each other.  Only
 * tdl_cancel() may be called by any thread at any time.
 *
 * No function prints, ends the process or changes anything global.  A function
 * that fails returns NULL, or a status other than TDL_OK, and the reasons are
 * tdl_diagnostics() of its context until the next call.  Where memory runs out
 * nothing is left of the call.  Pointers must not be NULL unless said, or where
 * they are to no bytes; freeing functions accept NULL.  "-" is a file of that
 * name.  Numbers in texts have a point in all locales.
 *
 * Options are names and values as of the long options of tdlc, without dashes:
 *
 *	const tdl_option options[] = {
 *		{ "devices", "8" }, { "algorithm", "auto" }, { "train", NULL },
 *		{ "D", "batch=64" }, { NULL, NULL }
 *	};
 *
 * The array ends with a NULL name; NULL stands for no options.  Flags have the
 * value NULL; options that may be repeated may be here, too.
 *
 * Results with parts are JSON: UTF-8, as `tdlc --json` prints it
 * (docs/json.md), and freed with tdl_text_free(). */
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

/* Those up to TDL_DIFFERENCE are exit statuses of tdlc and tdlrun. */
typedef enum tdl_status {
	TDL_OK = 0,
	TDL_INPUT = 1,	    /* an input is at fault */
	TDL_USAGE = 2,	    /* an option, or the order of calls, is */
	TDL_NO_PLAN = 3,    /* no plan satisfies the limits */
	TDL_MACHINE = 4,    /* a file, a thread or a program failed */
	TDL_DIFFERENCE = 5, /* verification found a difference */
	TDL_NO_MEMORY = 6,  /* there is none, or the quota is reached */
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

/* As malloc() and free(), with the user's pointer; aligned for any type.  Runs
 * of plans call them from several threads at once. */
typedef struct tdl_allocator {
	void *(*alloc)(void *user, size_t nbytes);
	void (*free)(void *user, void *p);
	void *user;
} tdl_allocator;

/* A new context, with the allocator or, for NULL, that of C.  NULL where there
 * is no memory.  JSON values, compressed data, threads, and the buffers of
 * runs, are taken from the C library and the system all the same. */
TDL_API tdl_context *tdl_context_new(const tdl_allocator *allocator);

/* Ends a context and all that belongs to it but its runs, which have to be
 * ended before. */
TDL_API void tdl_context_free(tdl_context *c);

/* Bytes that the context may use at one time; 0, at first: any number. */
TDL_API void tdl_context_set_quota(tdl_context *c, size_t nbytes);

/* Bytes of its allocator that are in use now, and the most that ever were. */
TDL_API size_t tdl_context_used(const tdl_context *c);
TDL_API size_t tdl_context_peak(const tdl_context *c);

/* The folder of the operator library.  Without it: $TDL_OPDEFS, else the one
 * that is installed beside this library. */
TDL_API tdl_status tdl_context_set_operators(tdl_context *c,
					     const char *folder);

/* Another folder in which imports are looked up, as of -I. */
TDL_API tdl_status tdl_context_add_folder(tdl_context *c, const char *folder);

/* A file that models may use besides the operator library, as of --load. */
TDL_API tdl_status tdl_context_add_file(tdl_context *c, const char *path);

/* A profile, which `tdlrun --profile' has written: from now on times are
 * predicted by what was measured, as of --profile. */
TDL_API tdl_status tdl_context_add_profile(tdl_context *c, const char *path);

/* From now on, who reads the file at path, an import among others, gets these
 * bytes, which are copied: TDL, or an ONNX model. */
TDL_API tdl_status tdl_context_add_text(tdl_context *c, const char *path,
					const char *text, size_t nbytes);

/* The form of results and messages: any sum of these, 0 at first. */
enum {
	/* Results with parts are text for people, of 80 columns, as tdlc prints
	 * it, which may be other text in each version; those for which tdlc has
	 * none stay JSON. */
	TDL_TEXT = 1,
	/* Messages name options as they are on the command line, "-k". */
	TDL_DASHES = 2,
	/* The file "-" is the standard input, or output. */
	TDL_STREAMS = 4,
	/* Graphs and plans are drawings in the language of graphviz. */
	TDL_DOT = 8,
	/* These show each operator; else blocks of large ones are whole. */
	TDL_UNFOLDED = 16
};
TDL_API void tdl_context_set_style(tdl_context *c, int style);

/* Is called before each step of a search: phase is "search" (a planner, after
 * `done' plans), "compare" (plan done + 1 of `all'), "prove", or "measure"
 * (part done + 1 of `all'; for the algorithm, its first operator).  It may call
 * tdl_cancel(), and functions of other contexts.  NULL ends that. */
typedef void tdl_progress(void *user, const char *phase,
			  const char *algorithm, int done, int all);
TDL_API void tdl_context_set_progress(tdl_context *c, tdl_progress *progress,
				      void *user);

/* Ends the call of the context that is running, or else the next one, with
 * TDL_CANCELLED.  From any thread, or from a signal's handler. */
TDL_API void tdl_cancel(tdl_context *c);

/* ---- what went wrong --------------------------------------------------- */

typedef enum tdl_severity {
	TDL_ERROR = 0,
	TDL_WARNING = 1,
	TDL_NOTE = 2 /* belongs to the one before */
} tdl_severity;

typedef struct tdl_diagnostic {
	tdl_severity severity;
	const char *name;    /* "read-outside", as tdlc prints it; "usage",
				"limit", "machine", "no-memory", "cancelled"
				for what is in no file; "" for notes */
	const char *message; /* one sentence, lower case, no full stop; "limit"
				may have the figures behind a colon */
	const char *file;    /* or another place; NULL: none */
	int line, column;    /* from 1; 0: none; columns count bytes */
	int end_line, end_column; /* behind the last byte */
	/* The line, of a long one the 160 bytes around the place, without
	 * control characters, and the column of its first byte; NULL, 0:
	 * none. */
	const char *excerpt;
	int excerpt_column;
} tdl_diagnostic;

/* The findings of the last call of the context, warnings of one that succeeded
 * among them: *n of them, the context's, until its next call. */
TDL_API const tdl_diagnostic *tdl_diagnostics(const tdl_context *c, size_t *n);

/* The status of the last call that is not about the context itself. */
TDL_API tdl_status tdl_last_status(const tdl_context *c);

/* Frees a result that is text.  Its context must be there. */
TDL_API void tdl_text_free(char *text);

/* ---- options ----------------------------------------------------------- */

typedef struct tdl_option_info {
	const char *name;     /* "devices"; NULL: the letter is its name */
	const char *argument; /* "N", what the value is; NULL: a flag */
	const char *help;     /* what it does: lower case, no full stop */
	const char *const *words; /* some values that it may have, if not all,
				     NULL-terminated; NULL: none is known */
	char letter;	      /* 'k', another name; 0: none */
	char repeats;	      /* 1: each value counts, not only the last */
} tdl_option_info;

/* The options of a function of this header that takes options, by its name:
 * *n of them, the context's, until its next call.  NULL for another name. */
TDL_API const tdl_option_info *tdl_function_options(tdl_context *c,
						    const char *function,
						    size_t *n);

/* Whether the function would take these options, as far as that does not depend
 * on the object that it is called for: TDL_OK, or TDL_USAGE. */
TDL_API tdl_status tdl_function_check(tdl_context *c, const char *function,
				      const tdl_option *options);

/* ---- operators --------------------------------------------------------- */

/* Reads a file of operators, or a text that is called so, with all that it
 * imports, and checks it.  What was read is kept: files that change later
 * change nothing. */
TDL_API tdl_module *tdl_module_load(tdl_context *c, const char *path);
TDL_API tdl_module *tdl_module_of_text(tdl_context *c, const char *path,
				       const char *text, size_t nbytes);

/* The same of n files, n > 0, in one module; their operators are its own, and
 * their models are built once, for the defaults of their arguments: `tdlc
 * check'. */
TDL_API tdl_module *tdl_module_load_all(tdl_context *c,
					const char *const *paths, size_t n);

/* A module may be a file of descriptors alone, whose name ends in .tdd; of it
 * there are the formats of tdl_module_export() without source. */

/* The paths of all files that were read for it, imports among them, in the
 * order of their reading: {"files": [..]}. */
TDL_API char *tdl_module_files(tdl_module *m);

/* The operator library, with the files of tdl_context_add_file(). */
TDL_API tdl_module *tdl_module_library(tdl_context *c);

TDL_API void tdl_module_free(tdl_module *m);

/* The names of its operators, those of imports among them: `tdlc ops`. */
TDL_API char *tdl_module_operators(tdl_module *m);

/* The descriptors of its own operators: `tdlc compile`. */
TDL_API char *tdl_module_describe(tdl_module *m);

/* The descriptor of an operator; with options (shape, D, devices) its
 * strategies for shapes: `tdlc explain`. */
TDL_API char *tdl_module_explain(tdl_module *m, const char *op,
				 const tdl_option *options);

/* The reference of its own operators, models and opaque functions, out of their
 * doc comments and of what follows from them.  Options: format, which is
 * markdown (the default), html or json; op, a name, which may be repeated and
 * may be of an import: `tdlc doc'. */
TDL_API char *tdl_module_document(tdl_module *m, const tdl_option *options);

/* Tries the strategies of an operator, or of all of its own, NULL; options:
 * seed, trials, strict, gradients; op, further names, may be repeated.
 * TDL_DIFFERENCE is the tdl_last_status() where there is a difference; the text
 * says which: `tdlc verify`. */
TDL_API char *tdl_module_verify(tdl_module *m, const char *op,
				const tdl_option *options);

/* Operators as other programs read them, *nbytes bytes and a zero behind them;
 * nbytes may be NULL.  Of one operator: "shardy", "nnscaler", "jax", its
 * sharding rule in the notation of these; "c", "cuda", its kernels.  Of one, or
 * of all of its own, NULL: "descriptor", "header" (C), "json", "gradients" (TDL
 * of the operators that compute the gradients).  Of all: "ast".  Options: shape
 * and D, of rules and kernels; output, the path of the file that the text will
 * be, which names the guard of a header and is where imports are seen from:
 * `tdlc explain --format', `tdlc compile'. */
TDL_API char *tdl_module_export(tdl_module *m, const char *op,
				const char *format, const tdl_option *options,
				size_t *nbytes);

/* A file of operators and models, or a text that is called so, in the canonical
 * layout; imports are not read.  TDL_DIFFERENCE is the tdl_last_status() where
 * it is another text: `tdlc fmt'. */
TDL_API char *tdl_format(tdl_context *c, const char *path);
TDL_API char *tdl_format_text(tdl_context *c, const char *path,
			      const char *text, size_t nbytes);

/* ---- models ------------------------------------------------------------ */

/* Reads a model; one whose path ends in .tdl is TDL, others are ONNX.  Options
 * are those of `tdlc plan` about the model: D, shape, model, train, evaluate,
 * loss, optimizer, clip-norm, precision, freeze, train-only, recompute,
 * seed. */
TDL_API tdl_model *tdl_model_load(tdl_context *c, const char *path,
				  const tdl_option *options);

/* The same of bytes in memory.  Weights of ONNX in files of their own are
 * looked up beside path. */
TDL_API tdl_model *tdl_model_of_text(tdl_context *c, const char *path,
				     const void *data, size_t nbytes,
				     const tdl_option *options);

TDL_API void tdl_model_free(tdl_model *m);

/* Its graph: `tdlc show MODEL`. */
TDL_API char *tdl_model_graph(tdl_model *m);

/* The model as a cost graph for placements of whole operators, with times of a
 * machine, NULL for the default: `tdlc show --costs'. */
TDL_API char *tdl_model_costs(tdl_model *m, const char *topology);

/* The operators of a model that can be divided, and the others.  The model is
 * read for this, as ONNX with operators that nothing maps is no tdl_model.
 * Options: devices (2), D, shape, model: `tdlc coverage'. */
TDL_API char *tdl_model_coverage(tdl_context *c, const char *path,
				 const tdl_option *options);

/* Measures the layers of a model on this machine, by threads: each alone, and
 * behind the one before it.  The times of their kernels and transfers are added
 * to the profile in a file, which is made where there is none, for
 * tdl_context_add_profile().  Never more than two layers are in memory; those
 * that need more than `memory' are left out.  Options: devices (1), algorithm
 * (tofu), which divides them over these; micro-batches, a number,
 * micro-batch-statistics, batch-dim; topology, memory; steps (12), of each;
 * kernels, as of tdl_run_open().  TDL_NO_PLAN where no layer is measured:
 * `tdlc profile'. */
TDL_API char *tdl_model_profile(tdl_model *m, const char *path,
				const tdl_option *options);

/* ---- plans ------------------------------------------------------------- */

/* Searches for a plan.  Options are those of `tdlc plan`: devices (needed),
 * algorithm, objective, sequence-parallel, micro-batches (a number, or auto:
 * the batch of a step is divided into so many parts, run one after the other),
 * micro-batch-statistics, batch-dim (NAME=D: dimension D of input NAME is the
 * batch; may be repeated), bucket-bytes (a size, or auto), time-limit,
 * topology, memory, pin, pins, fail-on-opaque, warn-replicate, no-fuse; of
 * stages of a pipeline stages, replicas, schedule, inside.  With algorithm auto
 * and micro-batches the plan may have several stages without being asked for
 * them, unless stages is none.  The model may be freed.  Kernels get their
 * sources, and weights are read, when something asks for all that a file of the
 * plan has. */
TDL_API tdl_plan *tdl_plan_search(tdl_model *m, const tdl_option *options);

/* Plans of all planners, or of some, side by side.  Options: devices (needed),
 * algorithm and with, which may be repeated, sequence-parallel, bucket-bytes,
 * time-limit, topology, pin, pins: `tdlc compare'. */
TDL_API char *tdl_model_compare(tdl_model *m, const tdl_option *options);

/* The same beside the plan that the pins make (needed), out of another system,
 * say: `tdlc score'. */
TDL_API char *tdl_model_score(tdl_model *m, const tdl_option *options);

/* The plans that none is better than in both time and memory.  Options are
 * those of tdl_plan_search() but algorithm, objective and sequence-parallel:
 * `tdlc plan --frontier'. */
TDL_API char *tdl_model_frontier(tdl_model *m, const tdl_option *options);

/* Reads a plan: a file, or its text. */
TDL_API tdl_plan *tdl_plan_load(tdl_context *c, const char *path);
TDL_API tdl_plan *tdl_plan_of_text(tdl_context *c, const char *path,
				   const char *text, size_t nbytes);

TDL_API void tdl_plan_free(tdl_plan *p);

/* Writes a plan that tdl_plan_load() and tdlrun read; the file is replaced as a
 * whole or not at all. */
TDL_API tdl_status tdl_plan_write(tdl_plan *p, const char *path);

/* The text of that file; weights in other files are seen from the current
 * folder. */
TDL_API char *tdl_plan_text(tdl_plan *p);

/* The result of the search: `tdlc plan`.  NULL, TDL_USAGE, for a plan that was
 * read. */
TDL_API char *tdl_plan_report(tdl_plan *p);

/* The plan as it is read: who holds what, what divides each operator, what
 * moves: `tdlc show PLAN`.  The time is predicted for a machine, NULL for the
 * default. */
TDL_API char *tdl_plan_layout(tdl_plan *p, const char *topology);

/* All that is drawn of a plan (docs/report.md): its figures, and the page that
 * draws them, HTML that loads nothing.  Options: topology, the machine for
 * which times are predicted, without it that of the search, or else the
 * default; planners, frontier and trace, files of what `tdlc compare --json',
 * `tdlc plan --frontier --json' and `tdlrun --trace' have written, to be drawn
 * beside it: `tdlc report'. */
TDL_API char *tdl_plan_facts(tdl_plan *p, const tdl_option *options);
TDL_API char *tdl_plan_page(tdl_plan *p, const tdl_option *options);

/* A step of the plan, simulated on a machine, NULL for the default, event by
 * event: when each stage computes, moves and waits, its memory over time:
 * `tdlc simulate'. */
TDL_API char *tdl_plan_simulate(tdl_plan *p, const char *topology);

/* The bytes that a plan moves and needs, and the times of a step on a machine,
 * NULL for that of the plan or the default, and on one device of it: `tdlc
 * score PLAN'. */
TDL_API char *tdl_plan_score(tdl_plan *p, const char *topology);

/* The same step as a trace, JSON that Chrome and Perfetto show: `tdlc simulate
 * --trace'. */
TDL_API char *tdl_plan_trace(tdl_plan *p, const char *topology);

/* The simulated step beside one that was measured, a file of `tdlrun --trace'
 * with that plan: the seconds of the step, of each kind of instruction and of
 * each instruction, in both, by how far they are apart: `tdlc simulate
 * --beside'. */
TDL_API char *tdl_plan_beside(tdl_plan *p, const char *topology,
			      const char *trace);

/* The diagram of the pipeline in that step: which stage does which pass of
 * which micro-batch when.  format is "svg", or "text", a line for each stage:
 * `tdlc show PLAN --diagram'. */
TDL_API char *tdl_plan_chart(tdl_plan *p, const char *topology,
			     const char *format);

/* Why layers lie in their stages, of a plan with --stages that was searched
 * for: for each cut between stages what they take and need, what goes over it,
 * and what the same plan would take and need were it a layer earlier or later:
 * `tdlc explain MODEL'. */
TDL_API char *tdl_plan_cuts(tdl_plan *p);

/* The differences between two plans of one context, with the times of both on
 * a machine; NULL is that of the plans, TDL_USAGE where each has one of its
 * own, or the default: `tdlc diff`. */
TDL_API char *tdl_plan_diff(tdl_plan *p, tdl_plan *q, const char *topology);

/* The reasons for a tensor's layout: the alternatives, what the best plan with
 * each moves, and how long it takes, and the operators that would.  Options:
 * algorithm, which completes each, tofu or joint; topology, the machine,
 * without it that of the plan, or the default: `tdlc explain --plan'. */
TDL_API char *tdl_plan_explain(tdl_plan *p, const char *tensor,
			       const tdl_option *options);

/* Writes a plan for another system, `tdlc export': format "jax", to a file, a
 * module of Python; "cuda", to a folder, a program, of which some files may be
 * there after a failure. */
TDL_API tdl_status tdl_plan_export(tdl_plan *p, const char *format,
				   const char *path);

/* Writes the ONNX model of which a plan was made to a file, with the plan's
 * layouts as its multi-device annotations: `tdlc export --to onnx'. */
TDL_API tdl_status tdl_plan_annotate(tdl_plan *p, const char *model,
				     const char *path);

/* ---- placements -------------------------------------------------------- */

/* Places whole operators on devices, or divides layers into stages: of a cost
 * graph in a file, or of a model, which is read for this.  Options: algorithm
 * (one that minimizes the makespan; load, mcap, pipedream, capture); devices
 * (needed, but of layer tables), network, topology, link, memory, factor,
 * colocation, time-limit; of stages and loads objective, schedule,
 * micro-batches, recompute, no-recompute, zero, uneven, frontier, predictor,
 * any-split, cores, of which each algorithm takes some; of models D, shape,
 * model, train, evaluate, loss, optimizer, clip-norm, precision, freeze,
 * train-only, seed.
 * TDL_NO_PLAN, and the reasons, where nothing fits: `tdlc place'. */
TDL_API tdl_placement *tdl_placement_search(tdl_context *c, const char *path,
					    const tdl_option *options);
TDL_API void tdl_placement_free(tdl_placement *p);

/* The figures of what was found: times in seconds, memory in bytes, a device
 * for each operator, or the stages: `tdlc place --json'. */
TDL_API char *tdl_placement_report(tdl_placement *p);

/* The text of a placement file, which tdl_placement_score() reads: `tdlc place
 * -o'.  NULL, TDL_USAGE, for plans of pipedream and capture, whose layers are
 * on several devices each. */
TDL_API char *tdl_placement_text(tdl_placement *p);

/* One pass as a chart of who computes and sends when; format is "svg", or
 * "text", a line for each device: `tdlc place --gantt'.  NULL, TDL_USAGE, for
 * stages and loads. */
TDL_API char *tdl_placement_chart(tdl_placement *p, const char *format);

/* Placements by all algorithms, or by some, side by side.  Options: devices
 * (needed), network, topology, link, memory, factor, colocation, time-limit;
 * algorithm, which may be repeated; those of models: `tdlc compare'. */
TDL_API char *tdl_placement_compare(tdl_context *c, const char *path,
				    const tdl_option *options);

/* The cost of a given placement, by the same judge.  Options are the same but
 * those of a search (colocation, time-limit, algorithm), and placement
 * (needed), a file: `tdlc score'.  TDL_NO_PLAN is the tdl_last_status() where a
 * device needs more than it has. */
TDL_API char *tdl_placement_score(tdl_context *c, const char *path,
				  const tdl_option *options);

/* ---- problems ---------------------------------------------------------- */

/* The least cost of a strategy problem in a file, in the WCSP format of
 * toulbar2, an assignment that has it, and the bound that is proven.  Options:
 * time-limit, in seconds.  TDL_NO_PLAN is the tdl_last_status() where nothing
 * is below the problem's upper bound, or was found: `tdlc solve'. */
TDL_API char *tdl_solve(tdl_context *c, const char *path,
			const tdl_option *options);

/* ---- runs -------------------------------------------------------------- */

/* An array of the caller's: dense, row-major.  type is "f32", "i64", ..; dims
 * and data may be NULL where there are none. */
typedef struct tdl_array {
	const char *name;
	const char *type;
	int ndim;
	const int64_t *dims;
	void *data;
	size_t nbytes;
} tdl_array;

/* Makes a plan ready to run, a thread for each of its devices.  Options:
 * kernels, which is generated (the default; needs a C compiler) or interpreter;
 * kernels-from, a library with kernels of opaque functions.  The plan may be
 * freed. */
TDL_API tdl_run *tdl_run_open(tdl_plan *p, const tdl_option *options);
TDL_API void tdl_run_free(tdl_run *r);

/* Runs it once.  Each input of the plan has to be among inputs[0..ninputs) with
 * its type and shape; results of the names of outputs[0..noutputs) are written
 * to their data.  States go on from step to step.  After a failure other than
 * TDL_USAGE the run is of no use: an index outside of a tensor, TDL_INPUT, is
 * found when other devices are on their way.  A step of training has an input
 * more than its model, the learning rate: "lr", f64, without dimensions. */
TDL_API tdl_status tdl_run_step(tdl_run *r, const tdl_array *inputs,
				size_t ninputs, const tdl_array *outputs,
				size_t noutputs);

/* Copies the value of a state, between two steps, or gives it another. */
TDL_API tdl_status tdl_run_get_state(tdl_run *r, const tdl_array *state);
TDL_API tdl_status tdl_run_set_state(tdl_run *r, const tdl_array *state);

#ifdef __cplusplus
}
#endif

#endif
