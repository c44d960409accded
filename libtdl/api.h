/* The common parts of the functions of tdl.h: a context, and a call. */
#ifndef TDL_LIBTDL_API_H
#define TDL_LIBTDL_API_H

#include <locale.h>

#include "base/json.h"
#include "base/memory.h"
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
	/* The settings, in an arena that lives as long as the context. */
	arena *own;
	const char *opdefs;
	cli_words folders, files;
	VEC(dsl_text) texts;
	/* The last call. */
	arena *said; /* of the diagnostics */
	const tdl_diagnostic *diagnostics;
	size_t ndiagnostics;
	tdl_diagnostic cut_short; /* the one of a call without memory */
	tdl_status status;
};

/* One function of tdl.h while it runs, all of it in the memory of the
 * context. */
typedef struct api_call {
	job job; /* job.arena ends with the call, unless it is kept */
	tdl_context *context;
	locale_t outer; /* of the caller's thread */
	dsl_texts texts;
	plan_observer observer;
	VEC(const char *) messages; /* of options and limits */
	int known;     /* diagnostics that an earlier call has told */
	tdl_status status;
	bool keeps;    /* job.arena is the result's */
	void (*body)(struct api_call *c, void *arg);
	void *arg;
} api_call;

/* Runs body(), which sets c->status if errors in c->job.sink do not say enough,
 * as a call of the context.  Returns the status, which the context keeps with
 * the diagnostics.  What *arg holds is not to be used after TDL_NO_MEMORY and
 * TDL_CANCELLED. */
tdl_status api_run(tdl_context *x, void (*body)(api_call *c, void *arg),
		   void *arg);

/* Sets options by a table; false with a message. */
bool api_options(api_call *c, const cli_option *table,
		 const tdl_option *options);

/* A status of a command, without its message. */
void api_status(api_call *c, cli_status status);

/* An error that is not in a file; sets the status. */
void api_fail(api_call *c, tdl_status status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A text of the caller; NULL is one of no bytes. */
dsl_text api_given(const char *path, const void *text, size_t n);

/* The path of a file, which "-" is, too: the standard streams are the
 * caller's. */
const char *api_path(const char *path);

/* Reads texts, too, before files and the texts of the context. */
void api_add_texts(api_call *c, const dsl_text *at, int n);

/* The text of a result, which is freed by tdl_text_free(); steals j. */
char *api_text(json_t *j);
char *api_copy(const char *text, size_t n);

/* The progress of the context, as an observer; NULL: nobody asks. */
plan_observer *api_observer(api_call *c);

/* A result that is a text, by a function that leaves it in *answer.  NULL
 * without the status TDL_OK, or TDL_DIFFERENCE. */
char *api_ask(tdl_context *x, void (*body)(api_call *c, void *arg), void *arg,
	      char **answer);

/* The texts of all that was read.  Analyses add to a set of modules, so that
 * each call reads its own out of them. */
struct tdl_module {
	tdl_context *context;
	arena *arena;
	const char *path; /* NULL: the library */
	VEC(dsl_text) texts;
};

/* The modules once more; NULL with errors added.  Their warnings are known. */
tdl_modules *api_read_again(api_call *c, const tdl_module *m);

/* The operator of that name, checked; NULL after a message or with errors
 * added. */
const ast_op *api_operator(api_call *c, const tdl_module *of,
			   const tdl_modules *m, const char *name);

struct tdl_model {
	tdl_context *context;
	arena *arena;
	const char *path;
	const struct graph *graph;     /* as it is written */
	const struct graph *canonical; /* for plans */
};

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
	const struct plan *plan;
	const char *report; /* JSON; NULL: it was read */
};

#endif
