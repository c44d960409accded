/* Operators as texts for people, formatted and documented.  Functions of
 * tdl.h. */
#include "config.h"

#include <string.h>

#include "base/file.h"
#include "libtdl/api.h"
#include "libtdl/doc.h"

/* ---- the canonical layout ---------------------------------------------- */

typedef struct formatting {
	const char *path;
	const char *text; /* NULL: that of the file */
	size_t n;
	char *answer;
} formatting;

static void format(api_call *c, void *arg)
{
	enum { MOST = 16 << 20 };
	formatting *f = arg;
	job *d = &c->job;
	const char *text = f->text;
	size_t n = f->n;
	if (!text)
		text = file_read(d->arena, d->sink, f->path, MOST, &n);
	const ast_module *m = text ? dsl_parse(job_modules(d), f->path, text,
					       n) : NULL;
	if (!m)
		return;
	const char *to = dsl_format(d->arena, m);
	size_t len = strlen(to);
	f->answer = api_copy(to, len);
	if (len != n || memcmp(to, text, n))
		c->status = TDL_DIFFERENCE;
}

char *tdl_format(tdl_context *c, const char *path)
{
	formatting f = { .path = api_path(c, path) };
	return api_ask(c, format, &f, &f.answer);
}

char *tdl_format_text(tdl_context *c, const char *path, const char *text,
		      size_t nbytes)
{
	const dsl_text t = api_given(path, text, nbytes);
	formatting f = { t.path, t.text, nbytes, NULL };
	return api_ask(c, format, &f, &f.answer);
}

/* ---- the reference ----------------------------------------------------- */

typedef struct documenting {
	tdl_module *of;
	const tdl_option *options;
	char *answer;
} documenting;

static bool is_own(const void *of, const ast_module *m)
{
	return api_is_own(of, m->path);
}

static bool is_any(const void *of, const ast_module *m)
{
	(void)of;
	(void)m;
	return true;
}

static void document(api_call *c, void *arg)
{
	documenting *q = arg;
	job *d = &c->job;
	doc_request r = { .arena = d->arena, .of = q->of };
	const cli_option table[] = {
		{ CLI_CHOICE, 0, "format", "FORMAT",
		  "markdown, html: one self-contained file, or json",
		  &r.format, .choices = doc_formats },
		{ CLI_REPEAT, 0, "op", "NAME",
		  "one of the definitions; may be repeated", &r.names },
		{ CLI_END },
	};
	text_stream s;
	if (!api_options(c, table, q->options) ||
	    !(r.modules = api_read_again(c, q->of)))
		return;
	r.files = q->of->npaths > 0;
	r.is_own = r.names.n ? is_any : is_own;
	for (int i = 0; i < r.names.n; i++)
		if (!doc_is_known(&r, r.names.at[i])) {
			api_status(c, job_no_operator(
				d, r.modules, r.names.at[i],
				api_where(c, q->of)));
			return;
		}
	doc_write(text_stream_open(&s), &r);
	q->answer = api_printed(c, &s);
}

char *tdl_module_document(tdl_module *m, const tdl_option *options)
{
	documenting q = { .of = m, .options = options };
	return api_ask(m->context, document, &q, &q.answer);
}

/* ---- files ------------------------------------------------------------- */

static void list_files(api_call *c, void *arg)
{
	documenting *q = arg;
	const tdl_module *m = q->of;
	json_t *all = json_array();
	(void)c;
	for (int i = 0; i < m->nfiles; i++)
		json_array_append_new(all, json_of_text(m->files[i]));
	q->answer = api_text(json_pack("{s:o}", "files", all));
}

char *tdl_module_files(tdl_module *m)
{
	documenting q = { .of = m };
	return api_ask(m->context, list_files, &q, &q.answer);
}

const api_function api_of_texts[] = {
	{ "tdl_module_document", document, &(const documenting){ 0 },
	  sizeof(documenting) },
	{ 0 }
};
