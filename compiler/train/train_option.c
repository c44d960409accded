/* The text of an option that names an operator: "adamw,weight_decay=0.1". */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "compiler/train/trainer.h"

static bool read_float(const char *text, double *v)
{
	char *end;
	errno = 0;
	*v = strtod(text, &end);
	return *text && !*end && !errno;
}

/* Reads one element of the type that the attribute declares. */
static bool read_value(const ast_attr *a, const char *text, int64_t *i,
		       double *f)
{
	switch (a->type) {
	case ATTR_INT:
	case ATTR_AXIS:
		return cli_int(text, INT64_MIN, INT64_MAX, i);
	case ATTR_FLOAT:
		return read_float(text, f);
	case ATTR_BOOL:
		*i = !strcmp(text, "true");
		return *i || !strcmp(text, "false");
	case ATTR_TYPE:
		*i = dtype_parse(text);
		return *i != DT_NONE;
	case ATTR_STRING:
		return true;
	case ATTR_GRAPH:
		break; /* operators have no such attributes */
	}
	return false;
}

static const attr_value *read_attr(arena *a, const ast_attr *attr,
				   const char *text)
{
	int64_t *i = ARENA_NEW(a, int64_t);
	double *f = ARENA_NEW(a, double);
	const char **s = ARENA_NEW(a, const char *);
	if (attr->is_list || !read_value(attr, text, i, f))
		return NULL;
	*s = text;
	attr_value *v = ARENA_NEW(a, attr_value);
	*v = (attr_value){ attr->type, false, 1, i, f, s };
	return v;
}

static int find_attr(arena *a, const ast_op *op, const char *name)
{
	int i = ast_find_attr(op->attrs, op->nattrs, name);
	return i >= 0 ? i
		      : ast_find_attr(op->attrs, op->nattrs,
				      arena_printf(a, "default_%s", name));
}

/* Reads one "key=value". */
static bool read_setting(trainer *t, named_op *to, const char *text)
{
	arena *a = t->b->tmp;
	const ast_op *op = to->op;
	const char *name, *value;
	call_site site = train_option_site(t, to->option);
	if (!cli_setting(a, text, &name, &value))
		return train_error(t, DIAG_BAD_OPTION, site,
				   "'%s' is not ATTRIBUTE=VALUE", text);
	int i = find_attr(a, op, name);
	if (i == NONE)
		return train_error(t, DIAG_BAD_OPTION, site,
				   "'%s' has no attribute '%s'", op->name,
				   name);
	if (to->attrs[i])
		return train_error(t, DIAG_BAD_OPTION, site,
				   "'%s' is given twice", name);
	to->attrs[i] = read_attr(a, &op->attrs[i], value);
	if (!to->attrs[i])
		return train_error(t, DIAG_BAD_OPTION, site,
				   "the attribute '%s' is a %s%s, not '%s'",
				   name, op->attrs[i].is_list ? "list of " : "",
				   ast_attr_type_text(op->attrs[i].type),
				   value);
	return true;
}

call_site train_option_site(const trainer *t, const char *name)
{
	return (call_site){ .place = diag_option(t->b->sink, name) };
}

bool train_read_option(trainer *t, const char *option, const char *text,
		       named_op *to)
{
	arena *a = t->b->tmp;
	char *rest = arena_strdup(a, text);
	char *name = strsep(&rest, ",");
	*to = (named_op){ .option = option };
	to->op = dsl_op(t->b->modules, name);
	if (!to->op)
		return train_error(t, DIAG_BAD_OPTION,
				   train_option_site(t, option),
				   "there is no operator '%s'%s", name,
				   dsl_operator_hint(t->b->modules, a, name));
	to->attrs = ARENA_ARRAY(a, const attr_value *, to->op->nattrs + 1);
	for (char *word; (word = strsep(&rest, ","));)
		if (!read_setting(t, to, word))
			return false;
	return true;
}
