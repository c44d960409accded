/* The shapes and attributes given to tdlc explain. */
#include "config.h"

#include "libtdl/explain.h"

#include <stdlib.h>
#include <string.h>

/* ---- attributes --------------------------------------------------------- */

static const char *const type_names[] = {
	[ATTR_INT] = "whole number",   [ATTR_FLOAT] = "number",
	[ATTR_STRING] = "text",	       [ATTR_BOOL] = "true or false",
	[ATTR_TYPE] = "element type",  [ATTR_AXIS] = "whole number",
};

typedef struct values {
	int64_t *ints;
	double *floats;
	const char **strings;
} values;

static bool read_value(attr_type type, const char *text, values *v, int i)
{
	char *end;
	switch (type) {
	case ATTR_INT:
	case ATTR_AXIS:
		return cli_int(text, INT64_MIN, INT64_MAX, &v->ints[i]);
	case ATTR_FLOAT:
		v->floats[i] = strtod(text, &end);
		return *text && !*end;
	case ATTR_BOOL:
		v->ints[i] = !strcmp(text, "true");
		return v->ints[i] || !strcmp(text, "false");
	case ATTR_TYPE:
		v->ints[i] = dtype_parse(text);
		return v->ints[i] != DT_NONE;
	case ATTR_STRING:
		v->strings[i] = text;
		return true;
	case ATTR_GRAPH:
		break; /* operators have no such attributes */
	}
	return false;
}

/* "1,2" or "[1, 2]" as a list of words. */
static cli_words split_list(arena *a, const char *text)
{
	cli_words words = { 0 };
	size_t n = strlen(text);
	if (n >= 2 && text[0] == '[' && text[n - 1] == ']') {
		text++;
		n -= 2;
	}
	char *rest = arena_strndup(a, text, n);
	for (char *comma; *rest; rest = comma + 1) {
		comma = strchr(rest, ',');
		char *end = comma ? comma : rest + strlen(rest);
		char *word = rest;
		while (*word == ' ')
			word++;
		while (end > word && end[-1] == ' ')
			end--;
		*end = '\0';
		vec_push(a, &words, word);
		if (!comma)
			break;
	}
	return words;
}

static attr_value *read_attr(arena *a, const ast_attr *attr, const char *text)
{
	cli_words words = { 0 };
	if (attr->is_list)
		words = split_list(a, text);
	else
		vec_push(a, &words, text);
	values v = { ARENA_ARRAY(a, int64_t, words.n + 1),
		     ARENA_ARRAY(a, double, words.n + 1),
		     ARENA_ARRAY(a, const char *, words.n + 1) };
	for (int i = 0; i < words.n; i++)
		if (!read_value(attr->type, words.at[i], &v, i))
			return NULL;
	attr_value *r = ARENA_NEW(a, attr_value);
	*r = (attr_value){ attr->type, attr->is_list, words.n, v.ints,
			   v.floats, v.strings };
	return r;
}

const attr_value **explain_attrs(job *d, const explain_request *r,
				 cli_status *status)
{
	const ast_op *op = r->op;
	const attr_value **attrs =
		ARENA_ARRAY(d->arena, const attr_value *, op->nattrs + 1);
	*status = CLI_USAGE;
	for (int i = 0; i < r->defines.n; i++) {
		const char *name, *value;
		if (!cli_setting(d->arena, r->defines.at[i], &name, &value)) {
			cli_usage(&d->program, "%s takes ATTR=VALUE, not '%s'",
				  job_option(d, "D"), r->defines.at[i]);
			return NULL;
		}
		int j = ast_find_attr(op->attrs, op->nattrs, name);
		if (j < 0) {
			cli_usage(&d->program, "'%s' has no attribute '%s'",
				  op->name, name);
			return NULL;
		}
		if (attrs[j]) {
			cli_usage(&d->program, "%s %s is given twice",
				  job_option(d, "D"), name);
			return NULL;
		}
		attrs[j] = read_attr(d->arena, &op->attrs[j], value);
		if (!attrs[j]) {
			cli_usage(&d->program, "the attribute '%s' is a %s%s, "
				  "not '%s'", name,
				  op->attrs[j].is_list ? "list, each a " : "",
				  type_names[op->attrs[j].type], value);
			return NULL;
		}
	}
	return attrs;
}

/* ---- shapes ------------------------------------------------------------- */

/* An element type for a parameter: the declared one, or one of the declared
 * class. */
static dtype type_of(const ast_op *op, const ast_tensor *p,
		     const attr_value *const *attrs)
{
	const ast_type *t = &p->type;
	if (t->kind == TYPE_NAMED) {
		int i = ast_find_attr(op->attrs, op->nattrs, t->name);
		if (i >= 0 && attrs[i])
			return (dtype)attrs[i]->ints[0];
		const ast_expr *init = i >= 0 ? op->attrs[i].init : NULL;
		t = init ? init->type : NULL;
	}
	if (t && t->kind == TYPE_INT)
		return DT_I64;
	return t && t->kind == TYPE_EXACT ? t->exact : DT_F32;
}

/* Sets the type of all parameters that share one. */
static void set_shared_type(const ast_op *op, tensor_type *types, dtype t)
{
	for (int i = 0; i < op->nparams; i++)
		if (op->params[i].type.kind == TYPE_SHARED)
			types[i].type = t;
}

expansion *explain_expand(job *d, const explain_request *r,
			  tensor_type *types, const attr_value *const *attrs)
{
	static const dtype shared[] = { DT_F32, DT_I64, DT_BOOL };
	call_site site = { .place = "the command line" };
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
		set_shared_type(r->op, types, shared[i]);
		diag_sink *unsaid = diag_sink_new(d->arena);
		expansion *x = expand_op(d->arena, r->modules, unsaid, r->op,
					 types, attrs, site);
		if (x)
			return x;
	}
	set_shared_type(r->op, types, shared[0]);
	return expand_op(d->arena, r->modules, d->sink, r->op, types, attrs,
			 site);
}

tensor_type *explain_params(job *d, const explain_request *r,
			    const attr_value *const *attrs, cli_status *status)
{
	const ast_op *op = r->op;
	tensor_type *types = ARENA_ARRAY(d->arena, tensor_type,
					 op->nparams + 1);
	bool *given = ARENA_ARRAY(d->arena, bool, op->nparams + 1);
	*status = CLI_USAGE;
	for (int i = 0; i < r->shapes.n; i++) {
		const char *name;
		int64_t dims[MAX_NDIM];
		int j = 0, n = cli_shape(d->arena, r->shapes.at[i], &name,
					 dims, MAX_NDIM);
		if (n < 0) {
			cli_usage(&d->program, "%s takes NAME=AxBxC with at "
				  "most %d sizes, not '%s'",
				  job_option(d, "shape"), MAX_NDIM,
				  r->shapes.at[i]);
			return NULL;
		}
		while (j < op->nparams && strcmp(op->params[j].name, name))
			j++;
		if (j == op->nparams) {
			cli_usage(&d->program, "'%s' has no input '%s'",
				  op->name, name);
			return NULL;
		}
		if (given[j]) {
			cli_usage(&d->program, "%s %s is given twice",
				  job_option(d, "shape"), name);
			return NULL;
		}
		given[j] = true;
		types[j].ndim = n;
		memcpy(types[j].dims, dims, (size_t)n * sizeof(*dims));
	}
	for (int i = 0; i < op->nparams; i++) {
		types[i].type = type_of(op, &op->params[i], attrs);
		if (given[i])
			continue;
		cli_usage(&d->program, "the shape of '%s' is missing; give it "
			  "with %s %s=..", op->params[i].name,
			  job_option(d, "shape"), op->params[i].name);
		return NULL;
	}
	return types;
}
