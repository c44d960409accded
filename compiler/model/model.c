/* Models in TDL: choosing a model, reading its arguments, and running its body
 * in the evaluator of entries and defs. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/graph/carry.h"
#include "compiler/model/eval_expr.h"
#include "compiler/train/train.h"

/* ---- which model -------------------------------------------------------- */

static bool say_several(diag_sink *s, arena *a, const ast_module *module,
			const char *path)
{
	const char *names = "";
	for (int i = 0; i < module->ndefs; i++)
		if (module->defs[i].kind == DEF_MODEL)
			names = arena_printf(a, "%s%s%s", names,
					     *names ? ", " : "",
					     module->defs[i].model->name);
	diag_error_in(s, DIAG_NO_MODEL, path,
		      "the file has several models; %s says which one: %s",
		      diag_option(s, "model"), names);
	return false;
}

/* The file's only model, or the one with the given name; NULL with an error
 * added. */
static const ast_model *find_model(diag_sink *s, arena *a,
				   const ast_module *module, const char *path,
				   const char *name)
{
	const ast_model *found = NULL;
	for (int i = 0; i < module->ndefs; i++) {
		const ast_def *d = &module->defs[i];
		if (d->kind != DEF_MODEL ||
		    (name && strcmp(d->model->name, name)))
			continue;
		if (found && !say_several(s, a, module, path))
			return NULL;
		found = d->model;
	}
	if (!found && name)
		diag_error_in(s, DIAG_NO_MODEL, path,
			      "the file has no model '%s'", name);
	else if (!found)
		diag_error_in(s, DIAG_NO_MODEL, path,
			      "the file has no model");
	return found;
}

/* ---- arguments ---------------------------------------------------------- */

static bool read_integer(const char *text, mvalue *v)
{
	char *end;
	errno = 0;
	long long i = strtoll(text, &end, 10);
	*v = mv_int(i);
	return *text && !*end && !errno;
}

static bool read_number(const char *text, mvalue *v)
{
	char *end;
	double f = strtod(text, &end);
	*v = mv_float(f);
	return *text && !*end && isfinite(f);
}

/* Reads an integer, a number, a truth value, a type, or otherwise a string. */
static mvalue read_word(const char *text)
{
	mvalue v;
	if (read_integer(text, &v) || read_number(text, &v))
		return v;
	if (!strcmp(text, "true") || !strcmp(text, "false"))
		return mv_bool(*text == 't');
	dtype t = dtype_parse(text);
	return t != DT_NONE ? mv_type(t) : mv_string(text);
}

static const char *without_blanks(arena *a, const char *s, size_t n)
{
	while (n > 0 && strchr(" \t", *s)) {
		s++;
		n--;
	}
	while (n > 0 && strchr(" \t", s[n - 1]))
		n--;
	return arena_strndup(a, s, n);
}

/* The length of the list item at s, up to a comma outside brackets. */
static size_t item_length(const char *s)
{
	size_t n = 0;
	for (int depth = 0; s[n] && (depth > 0 || s[n] != ','); n++)
		depth += s[n] == '[' ? 1 : s[n] == ']' ? -1 : 0;
	return n;
}

static bool in_brackets(const char *s)
{
	size_t n = strlen(s);
	return n > 1 && s[0] == '[' && s[n - 1] == ']';
}

enum { MAX_LIST_DEPTH = 16 }; /* lists in lists */

/* Reads [3, 4, 6, 3] or [[1, 2], [3]]; the outer brackets are optional.
 * Returns false if the list is too long or too deep. */
static bool read_list(arena *a, const char *text, int depth, mvalue *v)
{
	VEC(mvalue) items = { 0 };
	text = without_blanks(a, text, strlen(text));
	if (in_brackets(text) && item_length(text) == strlen(text))
		text = without_blanks(a, text + 1, strlen(text) - 2);
	for (bool more = *text; more;) {
		size_t n = item_length(text);
		const char *item = without_blanks(a, text, n);
		mvalue x = { .kind = MV_BAD };
		if (items.n == MAPPING_MAX_LIST || depth == MAX_LIST_DEPTH)
			return false;
		if (!in_brackets(item))
			x = read_word(item);
		else if (!read_list(a, item, depth + 1, &x))
			return false;
		vec_push(a, &items, x);
		more = text[n] == ',';
		text += n + more;
	}
	*v = mv_list(items.at, items.n);
	return true;
}

/* The value of a text on the command line, of the same kind as `usual', or any
 * kind if that is nothing. */
static bool read_argument(arena *a, const char *text, const mvalue *usual,
			  mvalue *v)
{
	switch (usual->kind) {
	case MV_STRING:
		*v = mv_string(text);
		return true;
	case MV_FLOAT:
		return read_number(text, v);
	case MV_LIST:
		return read_list(a, text, 0, v);
	case MV_NULL:
		if (*text == '[')
			return read_list(a, text, 0, v);
		*v = read_word(text);
		return true;
	default:
		*v = read_word(text);
		return v->kind == usual->kind;
	}
}

/* Arguments are evaluated in order, as a default may use earlier ones. */
static bool bind_argument(evaluator *ev, const ast_named *p)
{
	const model_options *o = ev->options;
	mvalue usual = { .kind = MV_NULL }, v;
	if (p->value) {
		usual = mapping_eval(ev, p->value);
		if (usual.kind == MV_BAD)
			return false;
	}
	v = usual;
	bool given = false;
	for (int i = 0; i < o->nsizes; i++) {
		if (strcmp(o->size_names[i], p->name))
			continue;
		o->size_used[i] = given = true;
		if (read_argument(ev->tmp, o->size_texts[i], &usual, &v))
			continue;
		mapping_error(ev, DIAG_MODEL_ARGUMENT, p->at,
			      "%s %s=%s: this has to be %s",
			      diag_option(ev->sink, "D"), p->name,
			      o->size_texts[i], mv_kind_name(usual.kind));
		return false;
	}
	if (!given && !p->value) {
		mapping_error(ev, DIAG_MODEL_ARGUMENT, p->at,
			      "the model needs a value for '%s', %s %s=..",
			      p->name, diag_option(ev->sink, "D"), p->name);
		return false;
	}
	mapping_set(ev, p->name, v);
	return true;
}

/* ---- the body ----------------------------------------------------------- */

static bool run_model(evaluator *ev)
{
	const ast_model *m = ev->model;
	outcome out = { 0 };
	mapping_enter(ev, NULL, NOWHERE, "");
	for (int i = 0; i < m->nparams; i++)
		if (!bind_argument(ev, &m->params[i]))
			return false;
	if (mapping_statements(ev, m->body, m->nbody, &out) == FLOW_FAILED)
		return false;
	if (strmap_count(ev->outputs) > 0) {
		mapping_leave(ev);
		return true;
	}
	mapping_error(ev, DIAG_NO_OUTPUT, m->name_at,
		      "the model '%s' has no output with these arguments",
		      m->name);
	return false;
}

graph *model_graph(arena *a, tdl_modules *m, diag_sink *s,
		   const ast_model *model, const model_options *o)
{
	evaluator ev = { .modules = m, .sink = s, .tmp = arena_new(),
			 .model = model, .options = o, .base = "",
			 .before = arena_used(a),
			 .steps = o->steps ? o->steps : MAPPING_MAX_STEPS };
	ev.declared = strmap_new(ev.tmp);
	ev.outputs = strmap_new(ev.tmp);
	ev.b = graph_begin(a, m, s, model->name);
	graph_set_site(ev.b, (call_site){ .at = model->name_at });
	if (o->train)
		graph_record(ev.b, o->train);
	if (run_model(&ev) && (!o->carry || graph_carry(ev.b, o->carry)) &&
	    o->train)
		graph_train(ev.b);
	arena_free(ev.tmp);
	return graph_finish(ev.b);
}

/* ---- files -------------------------------------------------------------- */

bool model_is_tdl(const char *path)
{
	size_t n = strlen(path);
	return n > 4 && !strcmp(path + n - 4, ".tdl");
}

graph *model_read_tdl(arena *a, tdl_modules *m, diag_sink *s, const char *path,
		      const model_options *o)
{
	int errors = diag_errors(s);
	if (!dsl_load(m, path))
		return NULL;
	const ast_module *module = dsl_module(m, path);
	const ast_model *model =
		module ? find_model(s, a, module, path, o->model) : NULL;
	if (!model || model->faulty || diag_errors(s) > errors)
		return NULL;
	return model_graph(a, m, s, model, o);
}
