/* Operators in other programs' formats: tdl_module_export() of tdl.h. */
#include "config.h"

#include <string.h>

#include "libtdl/api.h"
#include "libtdl/emit.h"
#include "libtdl/rule_text.h"

typedef struct export {
	tdl_module *of;
	const char *op, *format;
	const tdl_option *options;
	size_t nbytes;
	char *answer;
} export;

/* The index of a name in a list ended by NULL; -1 if it is not there. */
static int index_of(const char *const *names, const char *name)
{
	for (int i = 0; names[i]; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

/* Exports a rule in the notation of another system. */
static void export_rule(api_call *c, export *e, int format)
{
	explain_request r = { .format = format };
	const cli_option table[] = { EXPLAIN_OPTIONS_SHAPES(&r), { CLI_END } };
	cli_status status = CLI_OK;
	if (!api_options(c, table, e->options))
		return;
	if (!e->op) {
		api_fail(c, TDL_USAGE, "the format '%s' is of one operator",
			 e->format);
		return;
	}
	if (!(r.modules = api_read_again(c, e->of)) ||
	    !(r.op = api_operator(c, e->of, r.modules, e->op)))
		return;
	const char *text = rule_text(&c->job, &r, &status);
	api_status(c, status);
	if (text)
		e->answer = api_copy(text, e->nbytes = strlen(text));
}

/* Adds a module; a file named twice counts once. */
static void add_own(emit_input *in, const ast_module *m)
{
	for (int i = 0; i < in->n; i++)
		if (in->own[i] == m)
			return;
	if (m)
		in->own[in->n++] = m;
}

/* Finds the modules, and those whose operators belong to the module itself. */
static bool read_input(api_call *c, tdl_module *of, emit_input *in)
{
	if (of->is_descriptor) {
		const dsl_text *t = &of->texts.at[0];
		in->modules = job_modules(&c->job);
		in->read = descriptor_read(c->job.arena, c->job.sink, t->path,
					   t->text, t->len);
		return in->read;
	}
	in->modules = api_read_again(c, of);
	if (!in->modules)
		return false;
	in->own = ARENA_ARRAY(c->job.arena, const ast_module *,
			      in->modules->nmodules + of->npaths);
	for (int i = 0; i < of->npaths; i++)
		add_own(in, job_module(in->modules, of->paths[i]));
	for (int i = 0; of->npaths == 0 && i < in->modules->nmodules; i++)
		add_own(in, in->modules->modules[i]);
	return true;
}

/* Whether options for kernels are given with another format. */
static bool has_others_options(api_call *c, const emit_request *r)
{
	bool has = (r->shapes.n || r->defines.n) && !emits_kernels(r);
	if (has)
		api_fail(c, TDL_USAGE, "%s and %s go with the formats c and "
			 "cuda", job_option(&c->job, "shape"),
			 job_option(&c->job, "D"));
	return has;
}

static void export_emitted(api_call *c, export *e, emit_request *r)
{
	const cli_option table[] = {
		EMIT_OPTIONS_KERNELS(r),
		{ CLI_TEXT, 0, "output", "FILE",
		  "the path of the file that the text will be", &r->output },
		{ CLI_END },
	};
	cli_status status;
	emit_input in = { 0 };
	r->op = e->op;
	r->output = "operators";
	if (!api_options(c, table, e->options) || has_others_options(c, r) ||
	    !read_input(c, e->of, &in) ||
	    (e->op && !api_operator(c, e->of, in.modules, e->op)))
		return;
	const void *data = emit_text(&c->job, r, &in, &e->nbytes, &status);
	api_status(c, status);
	if (data)
		e->answer = api_copy(data, e->nbytes);
}

static void export_as(api_call *c, void *arg)
{
	export *e = arg;
	emit_request r = { 0 };
	int rule = index_of(explain_formats, e->format);
	if (rule > EXPLAIN_TEXT) {
		export_rule(c, e, rule);
		return;
	}
	r.gradients = !strcmp(e->format, "gradients");
	r.emit = r.gradients ? 0 : index_of(emit_names, e->format);
	if (r.emit < 0)
		api_fail(c, TDL_USAGE, "there is no format '%s'", e->format);
	else if (e->of && e->of->is_descriptor &&
		 (r.gradients || r.emit == EMIT_AST || emits_kernels(&r)))
		api_fail(c, TDL_USAGE, "a .tdd file has no source");
	else if (e->op && r.emit == EMIT_AST)
		api_fail(c, TDL_USAGE, "the format 'ast' is of all operators");
	else
		export_emitted(c, e, &r);
}

char *tdl_module_export(tdl_module *m, const char *op, const char *format,
			const tdl_option *options, size_t *nbytes)
{
	export e = { .of = m, .op = op, .format = format, .options = options };
	char *text = api_ask(m->context, export_as, &e, &e.answer);
	if (nbytes)
		*nbytes = text ? e.nbytes : 0;
	return text;
}

const api_function api_of_exports[] = {
	{ "tdl_module_export", export_as, &(const export){ .format = "c" },
	  sizeof(export) },
	{ 0 }
};
