/* tdlc show: the operators and tensors of a model; a plan. */
#include "config.h"

#include "compiler/driver/commands.h"

#include <stdio.h>
#include <string.h>

typedef struct show_options {
	bool dot, unfolded, costs;
	const char *machine, *diagram;
} show_options;

/* Whether a file begins with a brace, as plans do and models in ONNX and TDL do
 * not. */
static bool is_plan(const char *path)
{
	FILE *f = fopen(path, "rb");
	int c = f ? getc(f) : EOF;
	while (c == ' ' || c == '\t' || c == '\n' || c == '\r')
		c = getc(f);
	if (f)
		fclose(f);
	return c == '{';
}

static cli_status show_plan(page *p, const show_options *o, const char *path)
{
	bool changed = o->costs || (o->dot && o->machine) || p->load.n ||
		       page_has(p, "tdl_model_load", NULL);
	if (changed)
		return cli_usage(&p->program, "a plan is shown as it is; --dot "
				 "goes with it, or --topology and --json or "
				 "--diagram");
	tdl_plan *plan = page_plan(p, path);
	if (!plan || !page_can_write(p, o->diagram))
		return p->status;
	if (!o->diagram)
		return page_print(p, tdl_plan_layout(plan, o->machine));
	if (!strcmp(o->diagram, "-"))
		return page_print(p, tdl_plan_chart(plan, o->machine, "text"));
	return page_write_text(p, o->diagram,
			       tdl_plan_chart(plan, o->machine, "svg"));
}

static cli_status show_model(page *p, const show_options *o, const char *path)
{
	if (o->diagram)
		return cli_usage(&p->program, "--diagram is for plans");
	if (o->machine && !o->costs)
		return cli_usage(&p->program, "--topology goes with --costs or "
				 "with a plan");
	tdl_model *m = page_model(p, path);
	if (!m)
		return p->status;
	p->json |= o->costs;
	return page_print(p, o->costs ? tdl_model_costs(m, o->machine) :
					tdl_model_graph(m));
}

cli_status command_show(page *p, int argc, char **argv)
{
	show_options o = { 0 };
	const cli_option options[] = {
		{ CLI_FLAG, 0, "dot", NULL, "print a drawing for graphviz",
		  &o.dot },
		{ CLI_FLAG, 0, "unfolded", NULL,
		  "with --dot: draw every operator, however many",
		  &o.unfolded },
		{ CLI_FLAG, 0, "costs", NULL,
		  "print a cost graph for tdlc place, as JSON: times of "
		  "operators, bytes of results and states", &o.costs },
		{ CLI_TEXT, 0, "diagram", "FILE",
		  "draw a plan's pipeline as SVG, without the rest; - prints "
		  "it as text", &o.diagram },
		PAGE_OPTION_TOPOLOGY(p, &o.machine),
		PAGE_OPTION_JSON(p),
		PAGE_OPTION_LOAD(p),
		PAGE_OPTIONS(p),
		{ CLI_END },
	};
	page_function(p, "tdl_model_load", NULL);
	page_options(p, options);
	const char *path = page_one(p, argc, argv,
				    "one model or plan is expected");
	if (!path)
		return p->status;
	if (p->json + o.dot + o.costs + (o.diagram != NULL) > 1)
		return cli_usage(&p->program, "--json, --dot, --costs and "
				 "--diagram exclude each other");
	if (o.unfolded && !o.dot)
		return cli_usage(&p->program, "--unfolded goes with --dot");
	if (o.dot)
		tdl_context_set_style(p->context,
				      TDL_DOT | TDL_DASHES | TDL_STREAMS |
				      (o.unfolded ? TDL_UNFOLDED : 0));
	return is_plan(path) ? show_plan(p, &o, path) :
			       show_model(p, &o, path);
}
