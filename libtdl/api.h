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
	atomic_bool stop; /* set by tdl_cancel() */
	tdl_progress *progress;
	void *progress_user;
	locale_t plain; /* the "C" locale, for texts and the numbers in them */
	int style;
	/* The settings, in an arena that lives as long as the context. */
	arena *own;
	const char *opdefs;
	cli_words folders, files, profiles;
	VEC(dsl_text) texts;
	/* The last call. */
	arena *said; /* holds the diagnostics */
	const tdl_diagnostic *diagnostics;
	size_t ndiagnostics;
	tdl_diagnostic cut_short; /* for a call that ran out of memory */
	tdl_status status;
};

/* The purpose for which a function of tdl.h is run. */
typedef enum api_mode {
	API_CALL,
	API_LIST, /* list its options */
	API_CHECK /* check whether it would accept some */
} api_mode;

/* Parts of a plan made by a call; the plan gets them if the call succeeds. */
typedef struct api_made {
	tdl_plan *of;
	const struct plan *whole, *plan;
	arena *of_whole, *of_plan;
} api_made;

/* A function of tdl.h while it runs, entirely in the memory of the context. */
typedef struct api_call {
	job job; /* job.arena is freed with the call unless it is kept */
	tdl_context *context;
	locale_t outer; /* the locale of the caller's thread */
	dsl_texts texts;
	plan_observer observer;
	VEC(const char *) messages; /* about options and limits */
	api_mode mode;
	const tdl_option *given; /* to be checked */
	const cli_option *listed;
	int nlisted;
	int known;     /* diagnostics that an earlier call has reported */
	tdl_status status;
	bool keeps;    /* job.arena belongs to the result */
	arena *borrowed; /* freed with the call */
	VEC(api_made) made;
	void (*body)(struct api_call *c, void *arg);
	void *arg;
} api_call;

/* At the end of a call: gives the plans their parts. */
void api_keep_made(api_call *c);

/* Runs body() as a call of the context. body() sets c->status where errors in
 * c->job.sink do not say enough.  Returns the status; the context keeps it with
 * the diagnostics.  After TDL_NO_MEMORY and TDL_CANCELLED the content of *arg
 * must not be used. */
tdl_status api_run(tdl_context *x, void (*body)(api_call *c, void *arg),
		   void *arg);

/* Sets options by a table; every function calls this first.  Returns false
 * after a message, and if nothing more is to be done. */
bool api_options(api_call *c, const cli_option *table,
		 const tdl_option *options);

/* The same for a function that reports more about its options.  The function
 * must stop where api_mode is not API_CALL. */
bool api_set_options(api_call *c, const cli_option *table,
		     const tdl_option *options);

/* A function with options: its body, and the argument to which its options
 * refer. */
typedef struct api_function {
	const char *name;
	void (*body)(api_call *c, void *arg);
	const void *arg;
	size_t size;
} api_function;

/* The functions of each file; the last name is NULL. */
extern const api_function api_of_modules[], api_of_exports[], api_of_models[],
	api_of_searches[], api_of_planning[], api_of_questions[],
	api_of_placements[], api_of_texts[], api_of_problems[];
/* Absent from programs that make no runs and link the library's parts instead
 * of the library: they need no threads and no archives. */
extern const api_function api_of_runs[] __attribute__((weak)),
	api_of_profiles[] __attribute__((weak));

/* Whether results are wanted as text for people. */
bool api_as_text(const api_call *c);

/* Sets the status from that of a command, without a message. */
void api_status(api_call *c, cli_status status);

/* Adds an error that is not in a file, and sets the status. */
void api_fail(api_call *c, tdl_status status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A text from the caller; NULL stands for one of no bytes. */
dsl_text api_given(const char *path, const void *text, size_t n);

/* The path of a file; "-" is an ordinary path unless the caller lends the
 * standard streams. */
const char *api_path(const tdl_context *x, const char *path);

/* Adds texts to be read in place of files; they precede the texts of the
 * context. */
void api_add_texts(api_call *c, const dsl_text *at, int n);

/* The text of a result, which tdl_text_free() frees. api_text() steals j,
 * api_printed() closes s. */
char *api_text(json_t *j);
char *api_printed(api_call *c, text_stream *s);
char *api_copy(const char *text, size_t n);

/* The progress of the context, as an observer; NULL if nobody wants it. */
plan_observer *api_observer(api_call *c);

/* The number of threads that may search for a plan: as many as the program has
 * processors; one if the memory comes from another allocator or has a quota, so
 * that the order of allocations is fixed and no more memory is held at a
 * time. */
int api_threads(const api_call *c);

/* Runs a function that leaves its result, a text, in *answer.  Returns NULL
 * unless the status is TDL_OK or TDL_DIFFERENCE. */
char *api_ask(tdl_context *x, void (*body)(api_call *c, void *arg), void *arg,
	      char **answer);

/* The texts of all that was read.  Analyses add to a set of modules, so each
 * call reads its own set from these texts. */
struct tdl_module {
	tdl_context *context;
	arena *arena;
	const char **paths; /* the files whose operators belong to it; .. */
	int npaths;	    /* .. 0: the library */
	VEC(dsl_text) texts;
	const char **files; /* all files that were read */
	int nfiles;
	bool is_descriptor; /* its only file is a .tdd */
	/* The modules as read, for the first call that needs them, with their
	 * diagnostics. */
	tdl_modules *fresh;
	arena *of_fresh;
	diag_sink *sink;
};

/* The modules, read again; the first time those of the reading itself.  Their
 * warnings count as reported.  NULL with errors added. */
tdl_modules *api_read_again(api_call *c, tdl_module *m);

/* The file, files or folder that it was read from, for messages. */
const char *api_where(api_call *c, const tdl_module *m);

/* Whether a file is one of those whose operators belong to it. */
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
	const diag_sink *sink; /* with the texts to which its ranges refer */
	int uses; /* by the caller, and by its plans */
};

/* Lets messages of a call refer to places in a model. */
void api_see_model(api_call *c, const tdl_model *m);

/* Whether a model suits the call; prints a message if not.  One whose stages
 * recompute is suitable only for plans with stages. */
bool api_model_agrees(api_call *c, const tdl_model *m, bool stages);

/* Ends a use; the last one frees the arena. */
void api_end_use(tdl_model *m);

/* Reads the options of a search, and makes the request for a model.  Returns
 * false after a message or with errors added. */
bool api_plan_request(api_call *c, const tdl_model *m,
		      const tdl_option *options, plan_options *o,
		      plan_request *how);

/* The name for a plan that is in no file; it counts as being in the current
 * folder. */
extern const char api_nowhere[];

struct tdl_plan {
	tdl_context *context;
	arena *arena;
	const char *path;
	/* For a plan that was found; NULL: it was read. */
	tdl_model *model;
	const struct plan_result *found;
	const topology *machine; /* of the search, .. */
	const plan_request *how; /* .. which is this */
	/* The other planners' plans, made on request; the frontier to which it
	 * belongs, or NULL. */
	const struct planner_request *others;
	const struct frontier *frontier;
	/* with kernels and checksums; made on request, as is .. */
	const struct plan *whole;
	const struct plan *plan;  /* .. the plan as read from its text */
	arena *of_whole, *of_plan;
	/* For a plan with several stages: as it was read; `whole' and `plan'
	 * are NULL. */
	const struct plan_pipeline *stages;
};

/* Whether a plan has several stages. */
bool api_has_stages(const tdl_plan *p);

/* The plan as a reader sees it, with one stage or several; NULL with errors
 * added. */
const struct plan_pipeline *api_read_stages(api_call *c, tdl_plan *p);

/* The text of the plan's file at path; NULL after a message or with errors
 * added. */
const char *api_text_at(api_call *c, tdl_plan *p, const char *path, size_t *n);

/* The plan with everything that its file has.  NULL with errors added, or after
 * a message if it has several stages. */
const struct plan *api_whole_plan(api_call *c, tdl_plan *p);

/* The text of its file at path, such that a reader accepts it; NULL after a
 * message or with errors added. */
const char *api_plan_text(api_call *c, const struct plan *p, const char *path,
			  size_t *n);

/* The plan as a reader sees it. */
const struct plan *api_read_plan(api_call *c, tdl_plan *p);

#endif
