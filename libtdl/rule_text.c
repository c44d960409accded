#include "config.h"

#include "libtdl/rule_text.h"

#include "compiler/export/rule.h"

/* For given shapes.  NULL with *status set if they are wrong. */
static links *links_of_shapes(job *d, const explain_request *r,
			      cli_status *status)
{
	const attr_value **attrs = explain_attrs(d, r, status);
	tensor_type *types = attrs ? explain_params(d, r, attrs, status)
				   : NULL;
	if (!types)
		return NULL;
	expansion *x = explain_expand(d, r, types, attrs);
	*status = CLI_INPUT;
	return x ? links_of_expansion(d->arena, r->op, x, types) : NULL;
}

static const char *text_of(job *d, const explain_request *r, const links *l,
			   const char **why)
{
	const rule *made = rule_of(d->arena, l);
	switch (r->format) {
	case EXPLAIN_SHARDY:
		return rule_shardy(d->arena, made);
	case EXPLAIN_JAX:
		return rule_jax(d->arena, made, why);
	default:
		return rule_nnscaler(d->arena, made, r->modules, r->op, why);
	}
}

const char *const explain_formats[] = {
	[EXPLAIN_TEXT] = "text", [EXPLAIN_SHARDY] = "shardy",
	[EXPLAIN_NNSCALER] = "nnscaler", [EXPLAIN_JAX] = "jax", NULL
};

const char *rule_text(job *d, const explain_request *r, cli_status *status)
{
	bool shapes = r->shapes.n || r->defines.n;
	const char *why = "sizes are part of it", *text = NULL;
	links *l = NULL;
	*status = CLI_OK;
	if (shapes)
		l = links_of_shapes(d, r, status);
	else if (r->format != EXPLAIN_SHARDY)
		l = links_of_descriptor(d->arena,
					descriptor_of(d->arena, r->modules,
						      r->op), &why);
	if (shapes && !l)
		return NULL;
	*status = CLI_OK;
	if (l)
		text = text_of(d, r, l, &why);
	if (!text)
		*status = cli_usage(&d->program, "the rule of '%s' needs "
				    "shapes: %s; give them with %s NAME=AxB",
				    r->op->name, why, job_option(d, "shape"));
	return text;
}
