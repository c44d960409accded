/* tdlc explain: the strategies of one operator. */
#include "config.h"

#include "compiler/driver/driver.h"

#include <stdio.h>
#include <string.h>

#include "compiler/analysis/bounds.h"
#include "compiler/driver/describe.h"
#include "compiler/driver/explain.h"

enum { MAX_PARTS = 4096, MAX_SYMBOLIC_PARTS = 64 };

static const char *const formats[] = {
	[EXPLAIN_TEXT] = "text", [EXPLAIN_SHARDY] = "shardy",
	[EXPLAIN_NNSCALER] = "nnscaler", [EXPLAIN_JAX] = "jax", NULL
};

/* ---- what is asked ------------------------------------------------------ */

/* The operator and the modules it is in; NULL, with *status, where there is
 * none. */
static const ast_op *find_operator(driver *d, const char *name,
				   const char *file, tdl_modules **m,
				   cli_status *status)
{
	*status = CLI_INPUT;
	*m = NULL;
	if (file) {
		tdl_modules *own = driver_modules(d);
		if (dsl_load(own, file))
			*m = own;
	} else {
		*m = driver_load_opdefs(d);
	}
	if (!*m)
		return NULL;
	const ast_op *op = dsl_op(*m, name);
	if (!op)
		*status = cli_usage(&d->program, "there is no operator '%s' in "
				    "%s", name,
				    file ? file : driver_opdefs(d));
	return op;
}

/* ---- symbolic ----------------------------------------------------------- */

static cli_status explain_symbolic(driver *d, const explain_request *r)
{
	desc_op *op = descriptor_of(d->arena, r->modules, r->op);
	if (r->k > MAX_SYMBOLIC_PARTS)
		return cli_usage(&d->program, "without shapes, -k is at most "
				 "%d", MAX_SYMBOLIC_PARTS);
	if (!r->json) {
		describe_text(stdout, op);
		if (r->k)
			describe_parts_text(stdout, op, (int)r->k);
		return CLI_OK;
	}
	descriptor one = { 1, &op };
	if (r->k)
		return driver_print_json(d, describe_parts_json(op,
								(int)r->k));
	return driver_print_json(d, describe_json(&one));
}

/* ---- the command -------------------------------------------------------- */

static cli_status explain(driver *d, explain_request *r, const char *name,
			  const char *file)
{
	cli_status status;
	r->op = find_operator(d, name, file, &r->modules, &status);
	if (!r->op)
		return status;
	int64_t effort = 200000;
	if (!analysis_check_op(r->modules, d->sink, r->op, &effort))
		return CLI_INPUT;
	if (r->format != EXPLAIN_TEXT)
		return explain_rule(d, r);
	if (r->shapes.n || r->defines.n)
		return explain_concrete(d, r);
	return explain_symbolic(d, r);
}

cli_status command_explain(driver *d, int argc, char **argv)
{
	explain_request r = { 0 };
	const cli_option options[] = {
		{ CLI_REPEAT, 0, "shape", "NAME=AxB",
		  "the shape of input NAME; once for each", &r.shapes },
		{ CLI_REPEAT, 'D', NULL, "ATTR=V",
		  "the value of an attribute; a list is 1,2", &r.defines },
		{ CLI_INT, 'k', "devices", "N",
		  "show what each of N parts reads and computes (2 where\n"
		  "shapes are given)", &r.k, .min = 1, .max = MAX_PARTS },
		{ CLI_CHOICE, 0, "format", "FORMAT",
		  "text; or a rule in the words of another system: shardy,\n"
		  "nnscaler, jax",
		  &r.format, .choices = formats },
		DRIVER_OPTION_JSON(&r.json),
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	cli_status status;
	int first = cli_parse(d->arena, &d->program, options, argc, argv,
			      &status);
	if (first < 0)
		return status;
	if (r.format != EXPLAIN_TEXT && (r.json || r.k))
		return cli_usage(&d->program, "--format=%s goes with neither "
				 "-k nor --json", formats[r.format]);
	if (argc - first < 1 || argc - first > 2)
		return cli_usage(&d->program, "it takes the name of an "
				 "operator, and maybe a file");
	return explain(d, &r, argv[first],
		       argc - first == 2 ? argv[first + 1] : NULL);
}
