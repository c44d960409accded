/* Operators: the type tdl_module of tdl.h. */
#include "config.h"

#include <string.h>

#include "base/file.h"
#include "compiler/analysis/bounds.h"
#include "libtdl/api.h"
#include "libtdl/check.h"
#include "libtdl/describe.h"
#include "libtdl/explain.h"
#include "libtdl/operators.h"
#include "libtdl/verify_job.h"

/* ---- reading ----------------------------------------------------------- */

typedef struct reading {
	tdl_context *of;
	const char *const *paths;
	size_t n; /* 0: the library */
	const dsl_text *text; /* NULL: files are read */
	tdl_module *result;
} reading;

/* Keeps the texts of all files that were read. */
static void keep_texts(const job *d, tdl_module *m)
{
	dsl_text t;
	for (int i = 0; diag_source(d->sink, i, &t.path, &t.text, &t.len);
	     i++) {
		dsl_text copy = { arena_strdup(m->arena, t.path),
				  arena_strndup(m->arena, t.text, t.len),
				  t.len };
		vec_push(m->arena, &m->texts, copy);
	}
}

/* Reads a file of strategies written by `tdlc compile'; it has no source
 * text. */
static void read_descriptor(api_call *c, tdl_module *m)
{
	enum { MOST = 64 << 20 };
	job *d = &c->job;
	dsl_text t = { .path = m->paths[0] };
	t.text = file_read(m->arena, d->sink, t.path, MOST, &t.len);
	if (t.text)
		descriptor_read(d->arena, d->sink, t.path, t.text, t.len);
	vec_push(m->arena, &m->texts, t);
	m->is_descriptor = true;
}

static void read_module(api_call *c, void *arg)
{
	reading *r = arg;
	job *d = &c->job;
	arena *a = arena_new();
	tdl_module *m = ARENA_NEW(a, tdl_module);
	m->context = c->context;
	m->arena = a;
	m->paths = ARENA_ARRAY(a, const char *, r->n);
	m->npaths = (int)r->n;
	for (size_t i = 0; i < r->n; i++)
		m->paths[i] = arena_strdup(a, api_path(r->of, r->paths[i]));
	if (r->text)
		api_add_texts(c, r->text, 1);
	if (r->n == 1 && !r->text && path_ends_in(m->paths[0], ".tdd")) {
		read_descriptor(c, m);
		r->result = m;
		return;
	}
	tdl_modules *all = r->n ? check_files(d, m->paths, m->npaths) :
				  job_load_library(d);
	if (diag_errors(d->sink)) {
		arena_free(a);
		return;
	}
	keep_texts(d, m);
	m->nfiles = all->nfiles;
	m->files = ARENA_ARRAY(a, const char *, all->nfiles);
	for (int i = 0; i < all->nfiles; i++)
		m->files[i] = arena_strdup(a, all->files[i]);
	m->fresh = all;
	m->of_fresh = d->arena;
	m->sink = d->sink;
	c->keeps = true;
	r->result = m;
}

static tdl_module *read_as(reading *r)
{
	return api_run(r->of, read_module, r) == TDL_OK ? r->result : NULL;
}

tdl_module *tdl_module_load(tdl_context *c, const char *path)
{
	reading r = { .of = c, .paths = &path, .n = 1 };
	return read_as(&r);
}

tdl_module *tdl_module_load_all(tdl_context *c, const char *const *paths,
				size_t n)
{
	reading r = { .of = c, .paths = paths, .n = n };
	return read_as(&r);
}

tdl_module *tdl_module_of_text(tdl_context *c, const char *path,
			       const char *text, size_t nbytes)
{
	const dsl_text t = api_given(path, text, nbytes);
	reading r = { .of = c, .paths = &path, .n = 1, .text = &t };
	return read_as(&r);
}

tdl_module *tdl_module_library(tdl_context *c)
{
	reading r = { .of = c };
	return read_as(&r);
}

void tdl_module_free(tdl_module *m)
{
	if (!m)
		return;
	if (m->fresh)
		arena_free(m->of_fresh);
	arena_free(m->arena);
}

/* ---- asking ------------------------------------------------------------ */

typedef struct question {
	tdl_module *of;
	const char *op;
	const tdl_option *options;
	char *answer;
} question;

tdl_modules *api_read_again(api_call *c, tdl_module *m)
{
	job *d = &c->job;
	tdl_modules *all = m->fresh;
	m->fresh = NULL;
	if (all) {
		c->borrowed = m->of_fresh;
		arena_hand_over(c->borrowed);
		d->sink = m->sink;
		c->known = diag_count(d->sink);
		return all;
	}
	if (m->is_descriptor) {
		api_fail(c, TDL_USAGE, "a .tdd file has no source");
		return NULL;
	}
	api_add_texts(c, m->texts.at, m->texts.n);
	all = m->npaths ? job_modules(d) : job_load_library(d);
	for (int i = 0; i < m->npaths; i++)
		if (!dsl_load(all, m->paths[i]))
			return NULL;
	c->known = diag_count(d->sink);
	return all;
}

const char *api_where(api_call *c, const tdl_module *m)
{
	return m->npaths == 0 ? job_opdefs(&c->job) :
	       m->npaths == 1 ? m->paths[0] :
				"the files given";
}

bool api_is_own(const tdl_module *m, const char *path)
{
	for (int i = 0; path && i < m->npaths; i++)
		if (!strcmp(m->paths[i], path))
			return true;
	return m->npaths == 0;
}

const ast_op *api_operator(api_call *c, const tdl_module *of,
			   const tdl_modules *m, const char *name)
{
	int64_t effort = 200000;
	job *d = &c->job;
	const ast_op *op = dsl_op(m, name);
	if (!op)
		api_status(c, job_no_operator(d, m, name, api_where(c, of)));
	return op && analysis_check_op(m, d->sink, op, &effort) ? op : NULL;
}

static char *ask(void (*body)(api_call *c, void *arg), question *q)
{
	return api_ask(q->of->context, body, q, &q->answer);
}

static void list_operators(api_call *c, void *arg)
{
	question *q = arg;
	arena *a = c->job.arena;
	tdl_modules *m = api_read_again(c, q->of);
	if (!m)
		return;
	const strmap *onnx = mapped_from(a, m);
	if (api_as_text(c)) {
		text_stream s;
		operators_text(text_stream_open(&s), a, m, onnx);
		q->answer = api_printed(c, &s);
	} else {
		q->answer = api_text(operators_json(a, m, onnx));
	}
}

char *tdl_module_operators(tdl_module *m)
{
	question q = { .of = m };
	return ask(list_operators, &q);
}

/* Whether an operator belongs to the module itself. */
static bool is_own(const api_call *c, const tdl_module *m, const ast_op *op)
{
	return !op->faulty && api_is_own(m, diag_path(c->job.sink, op->at));
}

static void describe(api_call *c, void *arg)
{
	question *q = arg;
	arena *a = c->job.arena;
	tdl_modules *m = api_read_again(c, q->of);
	descriptor all = { 0 };
	if (!m)
		return;
	int n = strmap_count(m->ops);
	all.ops = ARENA_ARRAY(a, desc_op *, n);
	for (int i = 0; i < n; i++) {
		const ast_op *op = strmap_value(m->ops, i);
		if (is_own(c, q->of, op))
			all.ops[all.nops++] = descriptor_of(a, m, op);
	}
	q->answer = api_text(describe_json(&all));
}

char *tdl_module_describe(tdl_module *m)
{
	question q = { .of = m };
	return ask(describe, &q);
}

static char *explain_symbolic(api_call *c, const explain_request *r)
{
	enum { MOST_PARTS = 64 };
	desc_op *op = descriptor_of(c->job.arena, r->modules, r->op);
	descriptor one = { 1, &op };
	text_stream s;
	if (r->k > MOST_PARTS) {
		api_fail(c, TDL_USAGE, "without shapes, %s is at most %d",
			 job_option(&c->job, "devices"), MOST_PARTS);
		return NULL;
	}
	if (!api_as_text(c))
		return api_text(r->k ? describe_parts_json(op, (int)r->k) :
				       describe_json(&one));
	FILE *to = text_stream_open(&s);
	describe_text(to, op);
	if (r->k)
		describe_parts_text(to, op, (int)r->k);
	return api_printed(c, &s);
}

static char *explain_concrete(api_call *c, explain_request *r)
{
	cli_status status = CLI_OK;
	arena *a = c->job.arena;
	const expansion *x = explain_shapes(&c->job, r, &status);
	text_stream s;
	if (!x) {
		api_status(c, status);
		return NULL;
	}
	if (!api_as_text(c))
		return api_text(explain_json(a, r, x));
	explain_text(text_stream_open(&s), a, r, x);
	return api_printed(c, &s);
}

static void explain(api_call *c, void *arg)
{
	question *q = arg;
	explain_request r = { 0 };
	const cli_option table[] = { EXPLAIN_OPTIONS(&r), { CLI_END } };
	if (!api_options(c, table, q->options) ||
	    !(r.modules = api_read_again(c, q->of)) ||
	    !(r.op = api_operator(c, q->of, r.modules, q->op)))
		return;
	q->answer = r.shapes.n || r.defines.n ? explain_concrete(c, &r) :
						explain_symbolic(c, &r);
}

char *tdl_module_explain(tdl_module *m, const char *op,
			 const tdl_option *options)
{
	question q = { .of = m, .op = op, .options = options };
	return ask(explain, &q);
}

/* Lists the operators to verify that have no errors: the named ones, or all of
 * the module.  Returns false with errors added. */
static bool list_ops(api_call *c, const question *q, const tdl_modules *m,
		     cli_words *names, op_list *ops)
{
	arena *a = c->job.arena;
	const ast_op *op;
	if (q->op)
		vec_push(a, names, q->op);
	for (int i = 0; i < names->n; i++) {
		op = api_operator(c, q->of, m, names->at[i]);
		if (!op)
			return false;
		vec_push(a, ops, op);
	}
	for (int i = 0; names->n == 0 && i < strmap_count(m->ops); i++) {
		op = strmap_value(m->ops, i);
		if (!is_own(c, q->of, op))
			continue;
		if (!api_operator(c, q->of, m, op->name))
			return false;
		vec_push(a, ops, op);
	}
	return true;
}

/* The receivers of results. */
typedef struct verified {
	json_t *list; /* NULL: .. */
	FILE *to;
} verified;

static void take_result(void *to, arena *a, const verify_result *r)
{
	const verified *v = to;
	if (v->list)
		json_array_append_new(v->list, verify_result_json(r));
	else
		verify_result_text(v->to, a, r);
}

static void verify(api_call *c, void *arg)
{
	question *q = arg;
	verify_request r = VERIFY_REQUEST;
	cli_words names = { 0 };
	const cli_option table[] = {
		VERIFY_OPTIONS(&r),
		{ CLI_REPEAT, 0, "op", "NAME",
		  "an operator to verify; may be repeated", &names },
		{ CLI_END },
	};
	op_list ops = { 0 };
	tdl_modules *m;
	if (!api_options(c, table, q->options) ||
	    !(m = api_read_again(c, q->of)))
		return;
	if (!list_ops(c, q, m, &names, &ops))
		return;
	text_stream s;
	verified v = { 0 };
	if (api_as_text(c))
		v.to = text_stream_open(&s);
	else
		v.list = json_array();
	verify_totals t = verify_ops(m, &ops, &r, take_result, &v);
	if (v.to)
		verify_text(v.to, c->job.arena, &t);
	q->answer = v.to ? api_printed(c, &s) :
			   api_text(verify_json(&r, &t, v.list));
	if (t.bad)
		c->status = TDL_DIFFERENCE;
}

char *tdl_module_verify(tdl_module *m, const char *op,
			const tdl_option *options)
{
	question q = { .of = m, .op = op, .options = options };
	return ask(verify, &q);
}

const api_function api_of_modules[] = {
	{ "tdl_module_explain", explain, &(const question){ 0 },
	  sizeof(question) },
	{ "tdl_module_verify", verify, &(const question){ 0 },
	  sizeof(question) },
	{ 0 }
};
