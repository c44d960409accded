/* The common parts of the functions of tdl.h: a context, and a call. */
#ifndef TDL_LIBTDL_API_H
#define TDL_LIBTDL_API_H

#include <locale.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/stream.h"
#include "compiler/portfolio/request.h"
#include "include/tdl/tdl.h"
#include "libtdl/job.h"
#include "libtdl/plan_search.h"

struct tdl_context {
	memory memory;
	atomic_bool stop; /* tdl_cancel() was called */
	tdl_progress *progress;
	void *progress_user;
	locale_t plain; /* "C": of texts and numbers in them */
	int style;
	/* The settings, in an arena that lives as long as the context. */
	arena *own;
	const char *opdefs;
	cli_words folders, files, profiles;
	VEC(dsl_text) texts;
	/* The last call. */
	arena *said; /* of the diagnostics */
	const tdl_diagnostic *diagnostics;
	size_t ndiagnostics;
	tdl_diagnostic cut_short; /* the one of a call without memory */
	tdl_status status;
};

/* The question to a function. */
typedef enum api_mode {
	API_CALL,
	API_LIST, /* its options */
	API_CHECK /* whether it would take some */
} api_mode;

/* The parts of a plan that a call makes; the plan has them if it succeeds. */
typedef struct api_made {
	tdl_plan *of;
	const struct plan *whole, *plan;
	arena *of_whole, *of_plan;
} api_made;

/* One function of tdl.h while it runs, all of it in the memory of the
 * context. */
typedef struct api_call {
	job job; /* job.arena ends with the call, unless it is kept */
	tdl_context *context;
	locale_t outer; /* of the caller's thread */
	dsl_texts texts;
	plan_observer observer;
	VEC(const char *) messages; /* of options and limits */
	api_mode mode;
	const tdl_option *given; /* to be checked */
	const cli_option *listed;
	int nlisted;
	int known;     /* diagnostics that an earlier call has told */
	tdl_status status;
	bool keeps;    /* job.arena is the result's */
	arena *borrowed; /* ends with the call */
	VEC(api_made) made;
	void (*body)(struct api_call *c, void *arg);
	void *arg;
} api_call;

/* At the end of a call. */
void api_keep_made(api_call *c);

/* Runs body(), which sets c->status if errors in c->job.sink do not say enough,
 * as a call of the context.  Returns the status, which the context keeps with
 * the diagnostics.  What *arg holds is not to be used after TDL_NO_MEMORY and
 * TDL_CANCELLED. */
tdl_status api_run(tdl_context *x, void (*body)(api_call *c, void *arg),
		   void *arg);

/* Sets options by a table: the first thing that a function does.  False after a
 * message, and where no more is asked for. */
bool api_options(api_call *c, const cli_option *table,
		 const tdl_option *options);

/* The same for a function that has more to say about them.  It stops where
 * api_mode is not API_CALL. */
bool api_set_options(api_call *c, const cli_option *table,
		     const tdl_option *options);

/* A function with options: its body, and the argument that options depend
 * on. */
typedef struct api_function {
	const char *name;
	void (*body)(api_call *c, void *arg);
	const void *arg;
	size_t size;
} api_function;

/* Those of each file; they end with a NULL name. */
extern const api_function api_of_modules[], api_of_exports[], api_of_models[],
	api_of_searches[], api_of_planning[], api_of_questions[],
	api_of_placements[], api_of_texts[], api_of_problems[];
/* Absent from programs that make no runs and have the library's parts, not the
 * library: these need no thread and no archives. */
extern const api_function api_of_runs[] __attribute__((weak)),
	api_of_profiles[] __attribute__((weak));

/* Results as text for people are asked for. */
bool api_as_text(const api_call *c);

/* A status of a command, without its message. */
void api_status(api_call *c, cli_status status);

/* An error that is not in a file; sets the status. */
void api_fail(api_call *c, tdl_status status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A text of the caller; NULL is one of no bytes. */
dsl_text api_given(const char *path, const void *text, size_t n);

/* The path of a file, which "-" is, too, unless the caller lends the standard
 * streams. */
const char *api_path(const tdl_context *x, const char *path);

/* Reads texts, too, before files and the texts of the context. */
void api_add_texts(api_call *c, const dsl_text *at, int n);

/* The text of a result, which is freed by tdl_text_free(); steals j, or
 * closes s. */
char *api_text(json_t *j);
char *api_printed(api_call *c, text_stream *s);
char *api_copy(const char *text, size_t n);

/* The progress of the context, as an observer; NULL: nobody asks. */
plan_observer *api_observer(api_call *c);

/* Threads that may search for a plan at once: as many as the program has
 * processors, one where the memory is another's allocator or has a quota: the
 * order of allocations is known then, and searches hold no more at once. */
int api_threads(const api_call *c);

/* A result that is a text, by a function that leaves it in *answer.  NULL
 * without the status TDL_OK, or TDL_DIFFERENCE. */
char *api_ask(tdl_context *x, void (*body)(api_call *c, void *arg), void *arg,
	      char **answer);

/* The texts of all that was read.  Analyses add to a set of modules, so that
 * each call reads its own out of them. */
struct tdl_module {
	tdl_context *context;
	arena *arena;
	const char **paths; /* the files whose operators are its own; .. */
	int npaths;	    /* .. 0: the library */
	VEC(dsl_text) texts;
	const char **files; /* all that were read */
	int nfiles;
	bool is_descriptor; /* the only one is a .tdd */
	/* The modules of the reading, for the first call that asks, with its
	 * diagnostics. */
	tdl_modules *fresh;
	arena *of_fresh;
	diag_sink *sink;
};

/* The modules once more, those of the reading itself the first time; NULL with
 * errors added.  Their warnings are known. */
tdl_modules *api_read_again(api_call *c, tdl_module *m);

/* The file, the files or the folder that it was read from, in messages. */
const char *api_where(api_call *c, const tdl_module *m);

/* Whether a file is one of those whose operators are its own. */
bool api_is_own(const tdl_module *m, const char *path);

/* The operator of that name, checked; NULL after a message or with errors
 * added. */
const ast_op *api_operator(api_call *c, const tdl_module *of,
			   const tdl_modules *m, const char *name);

struct tdl_model {
	tdl_context *context;
	arena *arena;
	const char *path;
	const struct graph *graph;
	const diag_sink *sink; /* with the texts that they are of */
	int uses; /* of the caller, and by plans of it */
};

/* Lets messages of a call be about places in a model. */
void api_see_model(api_call *c, const tdl_model *m);

/* Whether a model goes with what is done, after a message where not: one whose
 * stages are to compute again goes with plans of stages alone. */
bool api_model_agrees(api_call *c, const tdl_model *m, bool stages);

/* The arena goes with the last use. */
void api_end_use(tdl_model *m);

/* The options of a search, and the request that they make for a model.  False
 * after a message or with errors added. */
bool api_plan_request(api_call *c, const tdl_model *m,
		      const tdl_option *options, plan_options *o,
		      plan_request *how);

/* The name of a plan that is in no file; it lies in the current folder. */
extern const char api_nowhere[];

struct tdl_plan {
	tdl_context *context;
	arena *arena;
	const char *path;
	/* Of a plan that was found; NULL: it was read. */
	tdl_model *model;
	const struct plan_result *found;
	const topology *machine; /* of the search, .. */
	const plan_request *how; /* .. which is this */
	/* The other planners' plans, to be asked for; those of the frontier,
	 * which it is one of, or NULL. */
	const struct planner_request *others;
	const struct frontier *frontier;
	const struct plan *whole; /* with kernels and checksums; made when it is
				     asked for, as .. */
	const struct plan *plan;  /* .. what is read of its text */
	arena *of_whole, *of_plan;
	/* Of several stages, as it was read; then `whole' and `plan' are
	 * NULL. */
	const struct plan_pipeline *stages;
};

/* Whether a plan has several stages. */
bool api_has_stages(const tdl_plan *p);

/* The plan as it is read, of one stage or of several; NULL with errors
 * added. */
const struct plan_pipeline *api_read_stages(api_call *c, tdl_plan *p);

/* The text of the plan's file at path; NULL after a message or with errors
 * added. */
const char *api_text_at(api_call *c, tdl_plan *p, const char *path, size_t *n);

/* The plan with all that a file has of it; NULL with errors added, or after a
 * message where it has several stages. */
const struct plan *api_whole_plan(api_call *c, tdl_plan *p);

/* The text of its file at path, which a reader accepts; NULL after a message or
 * with errors added. */
const char *api_plan_text(api_call *c, const struct plan *p, const char *path,
			  size_t *n);

/* The same as it is read. */
const struct plan *api_read_plan(api_call *c, tdl_plan *p);

#endif
