/* Operators: tdl_module of tdl.h. */
#include "config.h"

#include <string.h>

#include "compiler/analysis/bounds.h"
#include "libtdl/api.h"
#include "libtdl/check.h"
#include "libtdl/describe.h"
#include "libtdl/explain.h"
#include "libtdl/operators.h"
#include "libtdl/verify_job.h"

/* ---- reading ----------------------------------------------------------- */

typedef struct reading {
	const char *path;
	const dsl_text *text; /* NULL: a file */
	tdl_module *result;
} reading;

/* Keeps the texts of all that was read. */
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

static void read_module(api_call *c, void *arg)
{
	reading *r = arg;
	job *d = &c->job;
	if (r->text)
		api_add_texts(c, r->text, 1);
	if (r->path)
		check_files(d, &r->path, 1);
	else
		job_load_library(d);
	if (diag_errors(d->sink))
		return;
	arena *a = arena_new();
	tdl_module *m = ARENA_NEW(a, tdl_module);
	m->context = c->context;
	m->arena = a;
	m->path = r->path ? arena_strdup(a, r->path) : NULL;
	keep_texts(d, m);
	r->result = m;
}

static tdl_module *read_as(tdl_context *c, reading *r)
{
	return api_run(c, read_module, r) == TDL_OK ? r->result : NULL;
}

tdl_module *tdl_module_load(tdl_context *c, const char *path)
{
	reading r = { .path = api_path(path) };
	return read_as(c, &r);
}

tdl_module *tdl_module_of_text(tdl_context *c, const char *path,
			       const char *text, size_t nbytes)
{
	const dsl_text t = api_given(path, text, nbytes);
	reading r = { .path = path, .text = &t };
	return read_as(c, &r);
}

tdl_module *tdl_module_library(tdl_context *c)
{
	reading r = { 0 };
	return read_as(c, &r);
}

void tdl_module_free(tdl_module *m)
{
	if (m)
		arena_free(m->arena);
}

/* ---- asking ------------------------------------------------------------ */

typedef struct question {
	tdl_module *of;
	const char *op;
	const tdl_option *options;
	char *answer;
} question;

tdl_modules *api_read_again(api_call *c, const tdl_module *m)
{
	job *d = &c->job;
	api_add_texts(c, m->texts.at, m->texts.n);
	tdl_modules *all = m->path ? job_modules(d) : job_load_library(d);
	if (m->path && !dsl_load(all, m->path))
		return NULL;
	c->known = diag_count(d->sink);
	return all;
}

const ast_op *api_operator(api_call *c, const tdl_module *of,
			   const tdl_modules *m, const char *name)
{
	int64_t effort = 200000;
	job *d = &c->job;
	const ast_op *op = dsl_op(m, name);
	if (!op)
		api_status(c, job_no_operator(d, m, name, of->path ? of->path :
							job_opdefs(d)));
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
	if (m)
		q->answer = api_text(operators_json(a, m, mapped_from(a, m)));
}

char *tdl_module_operators(tdl_module *m)
{
	question q = { .of = m };
	return ask(list_operators, &q);
}

/* Whether an operator is one of the module itself. */
static bool is_own(const api_call *c, const tdl_module *m, const ast_op *op)
{
	const char *path = diag_path(c->job.sink, op->at);
	return !op->faulty && (!m->path || (path && !strcmp(path, m->path)));
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

static json_t *explain_symbolic(api_call *c, const explain_request *r)
{
	enum { MOST_PARTS = 64 };
	desc_op *op = descriptor_of(c->job.arena, r->modules, r->op);
	descriptor one = { 1, &op };
	if (r->k > MOST_PARTS) {
		api_fail(c, TDL_USAGE, "without shapes, devices is at most %d",
			 MOST_PARTS);
		return NULL;
	}
	return r->k ? describe_parts_json(op, (int)r->k) : describe_json(&one);
}

static json_t *explain_concrete(api_call *c, explain_request *r)
{
	cli_status status = CLI_OK;
	const expansion *x = explain_shapes(&c->job, r, &status);
	if (x)
		return explain_json(c->job.arena, r, x);
	api_status(c, status);
	return NULL;
}

static void explain(api_call *c, void *arg)
{
	question *q = arg;
	explain_request r = { .json = true };
	const cli_option table[] = { EXPLAIN_OPTIONS(&r), { CLI_END } };
	if (!api_options(c, table, q->options) ||
	    !(r.modules = api_read_again(c, q->of)) ||
	    !(r.op = api_operator(c, q->of, r.modules, q->op)))
		return;
	json_t *j = r.shapes.n || r.defines.n ? explain_concrete(c, &r) :
						explain_symbolic(c, &r);
	if (j)
		q->answer = api_text(j);
}

char *tdl_module_explain(tdl_module *m, const char *op,
			 const tdl_option *options)
{
	question q = { .of = m, .op = op, .options = options };
	return ask(explain, &q);
}

static void take_result(void *list, arena *a, const verify_result *r)
{
	(void)a;
	json_array_append_new(list, verify_result_json(r));
}

static void verify(api_call *c, void *arg)
{
	question *q = arg;
	verify_request r = VERIFY_REQUEST;
	const cli_option table[] = { VERIFY_OPTIONS(&r), { CLI_END } };
	op_list ops = { 0 };
	tdl_modules *m;
	if (!api_options(c, table, q->options) ||
	    !(m = api_read_again(c, q->of)))
		return;
	cli_status status = verify_list(&c->job, m, q->of->path, &q->op,
					q->op != NULL, &ops);
	if (status != CLI_OK) {
		api_status(c, status);
		return;
	}
	json_t *all = json_array();
	verify_totals t = verify_ops(m, &ops, &r, take_result, all);
	q->answer = api_text(verify_json(&r, &t, all));
	if (t.bad)
		c->status = TDL_DIFFERENCE;
}

char *tdl_module_verify(tdl_module *m, const char *op,
			const tdl_option *options)
{
	question q = { .of = m, .op = op, .options = options };
	return ask(verify, &q);
}
