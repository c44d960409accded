/* tdlc explain: the strategies of one operator, or why a plan cuts a tensor as
 * it does. */
#include "config.h"

#include "compiler/driver/driver.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "compiler/analysis/bounds.h"
#include "compiler/driver/explain_plan.h"
#include "compiler/driver/explain_text.h"
#include "libtdl/describe.h"
#include "libtdl/plan_reasons.h"
#include "libtdl/rule_text.h"

enum { MAX_SYMBOLIC_PARTS = 64 };

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
		tdl_modules *own = job_modules(d);
		if (dsl_load(own, file))
			*m = own;
	} else {
		*m = job_load_library(d);
	}
	if (!*m)
		return NULL;
	const ast_op *op = dsl_op(*m, name);
	if (!op)
		*status = job_no_operator(d, *m, name, file ? file
					     : job_opdefs(d));
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

/* In the words of another system. */
static cli_status print_rule(driver *d, const explain_request *r)
{
	cli_status status;
	const char *text = rule_text(d, r, &status);
	if (text)
		fputs(text, stdout);
	return status;
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
		return print_rule(d, r);
	if (r->shapes.n || r->defines.n)
		return explain_concrete(d, r);
	return explain_symbolic(d, r);
}

/* The command with --plan or --tensor. */
static cli_status explain_tensor(driver *d, const explain_request *r,
				 const explain_plan_request *q, int noperands)
{
	if (!q->plan || !q->tensor)
		return cli_usage(&d->program, "--plan and --tensor go "
				 "together");
	if (noperands || r->shapes.n || r->defines.n || r->k ||
	    r->format != EXPLAIN_TEXT)
		return cli_usage(&d->program, "with --plan there are only "
				 "--tensor, --algorithm and --json");
	return explain_plan(d, q);
}

cli_status command_explain(driver *d, int argc, char **argv)
{
	explain_request r = { 0 };
	explain_plan_request of_plan = { .algorithm = -1 };
	const cli_option options[] = {
		EXPLAIN_OPTIONS(&r),
		{ CLI_CHOICE, 0, "format", "FORMAT",
		  "text; or a rule in the notation of another system: shardy, "
		  "nnscaler, jax",
		  &r.format, .choices = explain_formats },
		{ CLI_TEXT, 0, "plan", "PLAN",
		  "instead, say why this plan cuts a tensor as it does",
		  &of_plan.plan },
		{ CLI_TEXT, 0, "tensor", "T", "the tensor, with --plan",
		  &of_plan.tensor },
		PLAN_REASONS_OPTION_ALGORITHM(&of_plan.algorithm),
		DRIVER_OPTION_JSON(&r.json),
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	cli_status status;
	int first = cli_parse(d->arena, &d->program, options, argc, argv,
			      &status);
	if (first < 0)
		return status;
	of_plan.json = r.json;
	if (of_plan.plan || of_plan.tensor)
		return explain_tensor(d, &r, &of_plan, argc - first);
	if (of_plan.algorithm >= 0)
		return cli_usage(&d->program, "--algorithm goes with --plan");
	if (r.format != EXPLAIN_TEXT && (r.json || r.k))
		return cli_usage(&d->program, "--format=%s goes with neither "
				 "-k nor --json", explain_formats[r.format]);
	if (argc - first < 1 || argc - first > 2)
		return cli_usage(&d->program, "it takes the name of an "
				 "operator, and optionally a file");
	if (path_ends_in(argv[first], ".tdl"))
		return cli_usage(&d->program, "the name of an operator comes "
				 "before the file '%s'", argv[first]);
	return explain(d, &r, argv[first],
		       argc - first == 2 ? argv[first + 1] : NULL);
}
