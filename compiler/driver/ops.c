/* tdlc ops: the installed operators. */
#include "config.h"

#include "compiler/driver/driver.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "libtdl/operators.h"

static void print_ops(driver *d, const tdl_modules *m, const strmap *onnx)
{
	text_table t = table_new(d->arena, 2);
	for (int i = 0; i < strmap_count(m->ops); i++) {
		const ast_op *op = strmap_value(m->ops, i);
		const mapped_names *l = strmap_get(onnx, op->name);
		const char *text = operator_summary(d->arena, op->doc);
		for (int j = 0; l && j < l->n; j++)
			text = arena_printf(d->arena, "%s%s%s", text,
					    j ? ", " : "\nin ", l->at[j]);
		table_add(&t, op->name);
		table_add(&t, text);
	}
	table_print(&t, stdout, 0);
}

cli_status command_ops(driver *d, int argc, char **argv)
{
	bool json = false;
	const cli_option options[] = {
		DRIVER_OPTION_JSON(&json),
		DRIVER_OPTION_LOAD(d),
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	cli_status status;
	int first = cli_parse(d->arena, &d->program, options, argc, argv,
			      &status);
	if (first < 0)
		return status;
	if (first < argc)
		return cli_usage(&d->program, "unexpected operand '%s'",
				 argv[first]);
	tdl_modules *m = job_load_library(d);
	if (!m)
		return CLI_INPUT;
	strmap *onnx = mapped_from(d->arena, m);
	if (json)
		return driver_print_json(d, operators_json(d->arena, m, onnx));
	print_ops(d, m, onnx);
	return CLI_OK;
}
