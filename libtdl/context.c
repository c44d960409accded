/* Contexts, calls and diagnostics: the functions of tdl.h that concern no
 * object. */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/jobs.h"
#include "libtdl/api.h"

const char *tdl_version(void)
{
	return PACKAGE_VERSION;
}

/* ---- contexts ---------------------------------------------------------- */

tdl_context *tdl_context_new(const tdl_allocator *allocator)
{
	memory m = { 0 };
	if (allocator) {
		m.alloc = allocator->alloc;
		m.free = allocator->free;
		m.user = allocator->user;
	}
	tdl_context *x = memory_take(&m, sizeof(*x), true);
	locale_t plain = x ? newlocale(LC_ALL_MASK, "C", (locale_t)0) :
			     (locale_t)0;
	if (x && !plain)
		memory_give(&m, x, sizeof(*x));
	if (!plain)
		return NULL;
	x->plain = plain;
	x->memory.alloc = m.alloc;
	x->memory.free = m.free;
	x->memory.user = m.user;
	x->memory.stopped = &x->stop;
	return x;
}

void tdl_context_free(tdl_context *c)
{
	if (!c)
		return;
	while (c->memory.items) {
		memory_item *i = c->memory.items;
		memory_leave(i);
		i->end(i);
	}
	memory last = { .alloc = c->memory.alloc, .free = c->memory.free,
			.user = c->memory.user };
	freelocale(c->plain);
	memory_give(&last, c, sizeof(*c));
}

void tdl_context_set_quota(tdl_context *c, size_t nbytes)
{
	c->memory.quota = nbytes;
}

size_t tdl_context_used(const tdl_context *c)
{
	return atomic_load(&c->memory.used);
}

size_t tdl_context_peak(const tdl_context *c)
{
	return atomic_load(&c->memory.peak);
}

void tdl_context_set_progress(tdl_context *c, tdl_progress *progress,
			      void *user)
{
	c->progress = progress;
	c->progress_user = user;
}

void tdl_context_set_style(tdl_context *c, int style)
{
	c->style = style;
}

bool api_as_text(const api_call *c)
{
	return c->context->style & TDL_TEXT;
}

void tdl_cancel(tdl_context *c)
{
	atomic_store(&c->stop, true);
}

/* ---- settings ---------------------------------------------------------- */

typedef struct setting {
	tdl_context *x;
	cli_words *list; /* the text is added to this list, .. */
	const char **to; /* .. or stored here */
	const char *text;
	dsl_text source; /* copied if both are NULL */
} setting;

static void set(api_call *c, void *arg)
{
	setting *s = arg;
	tdl_context *x = s->x;
	(void)c;
	if (s->list) {
		vec_push(x->own, s->list, arena_strdup(x->own, s->text));
	} else if (s->to) {
		*s->to = arena_strdup(x->own, s->text);
	} else {
		const dsl_text *t = &s->source;
		dsl_text copy = { arena_strdup(x->own, t->path),
				  arena_strndup(x->own, t->text, t->len),
				  t->len };
		vec_push(x->own, &x->texts, copy);
	}
}

static void open_own(api_call *c, void *arg)
{
	(void)c;
	((tdl_context *)arg)->own = arena_new();
}

static tdl_status apply(setting *s)
{
	tdl_context *x = s->x;
	if (!x->own && api_run(x, open_own, x) != TDL_OK) {
		x->own = NULL;
		return x->status;
	}
	return api_run(x, set, s);
}

tdl_status tdl_context_set_operators(tdl_context *c, const char *folder)
{
	setting s = { .x = c, .to = &c->opdefs, .text = folder };
	return apply(&s);
}

tdl_status tdl_context_add_folder(tdl_context *c, const char *folder)
{
	setting s = { .x = c, .list = &c->folders, .text = folder };
	return apply(&s);
}

tdl_status tdl_context_add_file(tdl_context *c, const char *path)
{
	setting s = { .x = c, .list = &c->files,
		      .text = api_path(c, path) };
	return apply(&s);
}

tdl_status tdl_context_add_profile(tdl_context *c, const char *path)
{
	setting s = { .x = c, .list = &c->profiles,
		      .text = api_path(c, path) };
	return apply(&s);
}

tdl_status tdl_context_add_text(tdl_context *c, const char *path,
				const char *text, size_t nbytes)
{
	setting s = { .x = c, .source = api_given(path, text,
						      nbytes) };
	return apply(&s);
}

/* ---- diagnostics ------------------------------------------------------- */

const tdl_diagnostic *tdl_diagnostics(const tdl_context *c, size_t *n)
{
	*n = c->ndiagnostics;
	return c->diagnostics;
}

tdl_status tdl_last_status(const tdl_context *c)
{
	return c->status;
}

static const char *name_of(tdl_status status)
{
	return status == TDL_USAGE   ? "usage"
	       : status == TDL_NO_PLAN ? "limit"
	       : status == TDL_INPUT   ? "input"
				       : "machine";
}

static tdl_diagnostic told(arena *a, const diag_view *v)
{
	return (tdl_diagnostic){
		.severity = (tdl_severity)v->severity, .name = v->name,
		.message = arena_strdup(a, v->message),
		.file = v->file ? arena_strdup(a, v->file) : NULL,
		.line = v->line, .column = v->column,
		.end_line = v->end_line, .end_column = v->end_column,
		.excerpt = v->excerpt ? arena_strdup(a, v->excerpt) : NULL,
		.excerpt_column = v->excerpt_column
	};
}

/* Passes all diagnostics of a call to the context, or none. */
static void tell(api_call *c)
{
	tdl_context *x = c->context;
	int first = c->known, last = diag_count(c->job.sink);
	size_t n = 0;
	if (first >= last && c->messages.n == 0)
		return;
	arena *a = arena_new();
	tdl_diagnostic *all = ARENA_ARRAY(a, tdl_diagnostic,
					  last - first + c->messages.n);
	for (int i = first; i < last; i++) {
		diag_view v = diag_at(c->job.sink, i);
		all[n++] = told(a, &v);
	}
	for (int i = 0; i < c->messages.n; i++)
		all[n++] = (tdl_diagnostic){
			.name = name_of(c->status),
			.message = arena_strdup(a, c->messages.at[i])
		};
	x->said = a;
	x->diagnostics = all;
	x->ndiagnostics = n;
}

/* ---- calls ------------------------------------------------------------- */

static void note(void *to, const char *text)
{
	api_call *c = to;
	vec_push(c->job.arena, &c->messages, arena_strdup(c->job.arena, text));
}

/* The folder of this library or, if it is linked into a program, of the
 * program.  In that case the loader knows the name by which the program was
 * started. */
static const char *own_folder(arena *a)
{
	Dl_info i;
	void *at;
	const char *(*self)(void) = tdl_version;
	memcpy(&at, &self, sizeof(at));
	if (!dladdr(at, &i) || !i.dli_fname)
		return NULL;
	bool program = !strchr(i.dli_fname, '/') ||
		       !strcmp(i.dli_fname, program_invocation_name);
	const char *real = program ? path_real(a, "/proc/self/exe") : NULL;
	if (!real)
		real = path_real(a, i.dli_fname);
	return real ? path_folder(a, real) : NULL;
}

static void run_call(void *arg)
{
	api_call *c = arg;
	tdl_context *x = c->context;
	job *d = &c->job;
	memory_poll();
	*d = (job){ .arena = arena_new(), .opdefs = x->opdefs,
		    .folders = x->folders, .load = x->files,
		    .profiles = x->profiles };
	d->program = (cli_program){ .name = "libtdl", .say = note, .to = c,
				    .members = !(x->style & TDL_DASHES) };
	d->sink = diag_sink_new(d->arena);
	if (d->program.members)
		diag_name_members(d->sink);
	d->here = own_folder(d->arena);
	api_add_texts(c, x->texts.at, x->texts.n);
	c->body(c, c->arg);
	if (c->status == TDL_OK && diag_errors(d->sink))
		c->status = TDL_INPUT;
	tell(c);
	api_keep_made(c);
	if (c->borrowed)
		arena_free(c->borrowed);
	if (!c->keeps || c->status != TDL_OK)
		arena_free(d->arena);
}

/* Sets the only diagnostic of a call that ended early. */
static tdl_status cut_short(tdl_context *x, memory_end end)
{
	const char *message =
		end == MEMORY_QUOTA	? "the quota of memory is reached"
		: end == MEMORY_STOPPED ? "the call was cancelled"
		: end == MEMORY_JSON	? "no memory for a result, or it has "
					  "a text that is not UTF-8"
					: "out of memory";
	if (end == MEMORY_STOPPED)
		atomic_store(&x->stop, false);
	x->cut_short = (tdl_diagnostic){
		.name = end == MEMORY_STOPPED ? "cancelled" : "no-memory",
		.message = message
	};
	x->diagnostics = &x->cut_short;
	x->ndiagnostics = 1;
	return end == MEMORY_STOPPED ? TDL_CANCELLED : TDL_NO_MEMORY;
}

tdl_status api_run(tdl_context *x, void (*body)(api_call *c, void *arg),
		   void *arg)
{
	api_call c = { .context = x, .body = body, .arg = arg };
	arena_free(x->said);
	x->said = NULL;
	x->diagnostics = NULL;
	x->ndiagnostics = 0;
	c.outer = uselocale(x->plain);
	memory_end end = memory_call(&x->memory, run_call, &c);
	uselocale(c.outer);
	x->status = end == MEMORY_DONE ? c.status : cut_short(x, end);
	return x->status;
}

char *api_ask(tdl_context *x, void (*body)(api_call *c, void *arg), void *arg,
	      char **answer)
{
	tdl_status status = api_run(x, body, arg);
	return status == TDL_OK || status == TDL_NO_PLAN ||
			       status == TDL_DIFFERENCE ? *answer : NULL;
}

bool api_set_options(api_call *c, const cli_option *table,
		     const tdl_option *options)
{
	cli_status status = CLI_OK;
	if (c->mode == API_LIST) {
		while (table[c->nlisted].kind != CLI_END)
			c->nlisted++;
		c->listed = ARENA_COPY(c->job.arena, table, c->nlisted);
		return false;
	}
	if (c->mode == API_CHECK)
		options = c->given;
	for (; options && options->name && status == CLI_OK; options++)
		status = cli_set(c->job.arena, &c->job.program, table,
				 options->name, options->value);
	api_status(c, status);
	return status == CLI_OK;
}

bool api_options(api_call *c, const cli_option *table,
		 const tdl_option *options)
{
	return api_set_options(c, table, options) && c->mode == API_CALL;
}

void api_status(api_call *c, cli_status status)
{
	if (status != CLI_OK && c->status == TDL_OK)
		c->status = (tdl_status)status;
}

void api_fail(api_call *c, tdl_status status, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vec_push(c->job.arena, &c->messages,
		 arena_vprintf(c->job.arena, fmt, ap));
	va_end(ap);
	c->status = status;
}

dsl_text api_given(const char *path, const void *text, size_t n)
{
	return (dsl_text){ path, text && n > 0 ? text : "", n };
}

const char *api_path(const tdl_context *x, const char *path)
{
	return x->style & TDL_STREAMS || strcmp(path, "-") ? path : "./-";
}

void api_add_texts(api_call *c, const dsl_text *at, int n)
{
	dsl_text *all = ARENA_ARRAY(c->job.arena, dsl_text, n + c->texts.n);
	if (n > 0)
		memcpy(all, at, (size_t)n * sizeof(*all));
	if (c->texts.n > 0)
		memcpy(all + n, c->texts.at,
		       (size_t)c->texts.n * sizeof(*all));
	c->texts = (dsl_texts){ n + c->texts.n, all };
	c->job.texts = ARENA_COPY(c->job.arena, &c->texts, 1);
}

char *api_copy(const char *text, size_t n)
{
	char *copy = memory_malloc(n + 1);
	memcpy(copy, text, n);
	copy[n] = '\0';
	return copy;
}

char *api_text(json_t *j)
{
	arena *tmp = arena_new();
	const char *text = json_text(tmp, j, JSON_INDENT(2));
	char *copy = api_copy(text, strlen(text));
	json_decref(j);
	arena_free(tmp);
	return copy;
}

char *api_printed(api_call *c, text_stream *s)
{
	size_t n;
	const char *text = text_stream_close(s, c->job.arena, &n);
	return api_copy(text, n);
}

void tdl_text_free(char *text)
{
	memory_free(text);
}

static void observe(plan_observer *o, plan_phase phase, const char *algorithm,
		    int done, int all)
{
	static const char *const phases[] = {
		[PHASE_SEARCH] = "search", [PHASE_COMPARE] = "compare",
		[PHASE_PROVE] = "prove", [PHASE_MEASURE] = "measure",
	};
	const api_call *c = (const api_call *)((char *)o -
					       offsetof(api_call, observer));
	const tdl_context *x = c->context;
	uselocale(c->outer);
	x->progress(x->progress_user, phases[phase], algorithm ? algorithm : "",
		    done, all);
	uselocale(x->plain);
	memory_poll();
}

plan_observer *api_observer(api_call *c)
{
	if (!c->context->progress)
		return NULL;
	c->observer.step = observe;
	return &c->observer;
}

int api_threads(const api_call *c)
{
	const memory *m = &c->context->memory;
	return m->alloc || m->quota ? 1 : processors(NULL);
}
