/* Prints what libtdl says, to be compared with what tdlc prints:
 *
 *	ask operators
 *	ask describe|explain|verify FILE [OP] [OPTION=VALUE]...
 *	ask export FILE FORMAT OP|- [OPTION=VALUE]...
 *	ask coverage MODEL [OPTION=VALUE]...
 *	ask graph|costs MODEL [OPTION=VALUE]...
 *	ask compare|score|frontier MODEL [OPTION=VALUE]...
 *	ask report|layout|text MODEL [OPTION=VALUE]...	(a plan of it)
 *	ask cuda MODEL FOLDER [OPTION=VALUE]...		(a program of that)
 *	ask placed|judged|placements GRAPH [OPTION=VALUE]...
 *	ask diff PLAN PLAN
 *	ask reasons PLAN TENSOR [OPTION=VALUE]...
 *
 * The locale is that of $ASK_LOCALE. */
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tdl/tdl.h>

enum { MOST = 20 };

static int fail(tdl_context *c)
{
	size_t n;
	const tdl_diagnostic *d = tdl_diagnostics(c, &n);
	for (size_t i = 0; i < n; i++)
		fprintf(stderr, "%s: %s [%s]\n", d[i].file ? d[i].file : "ask",
			d[i].message, d[i].name);
	tdl_context_free(c);
	return 1;
}

/* The options that are not about the model. */
static const char of_searches[] = "devices algorithm pin with memory topology "
				  "warn-replicate";

/* NAME=VALUE, or NAME for a flag.  Those of a search go there, if it is not
 * NULL. */
static void read_options(char **argv, tdl_option *model, tdl_option *search)
{
	int nmodel = 0, nsearch = 0;
	for (; *argv; argv++) {
		char *eq = strchr(*argv, '=');
		if (eq)
			*eq = '\0';
		tdl_option o = { *argv, eq ? eq + 1 : NULL };
		if (search && strstr(of_searches, *argv))
			search[nsearch++] = o;
		else
			model[nmodel++] = o;
	}
}

static char *ask_module(tdl_context *c, int argc, char **argv)
{
	tdl_option o[MOST] = { { NULL, NULL } };
	tdl_module *m = !strcmp(argv[1], "operators") ?
				tdl_module_library(c) :
				tdl_module_load(c, argv[2]);
	if (!m)
		return NULL;
	if (argc > 4)
		read_options(argv + 4, o, NULL);
	return !strcmp(argv[1], "operators") ? tdl_module_operators(m) :
	       !strcmp(argv[1], "describe")  ? tdl_module_describe(m) :
	       !strcmp(argv[1], "explain")   ?
		       tdl_module_explain(m, argv[3], o) :
		       tdl_module_verify(m, argc > 3 ? argv[3] : NULL, NULL);
}

/* Without a line break at its end, which puts() adds. */
static char *ask_export(tdl_context *c, char **argv)
{
	tdl_option o[MOST] = { { NULL, NULL } };
	size_t n = 0;
	tdl_module *m = tdl_module_load(c, argv[2]);
	read_options(argv + 5, o, NULL);
	char *text = !m ? NULL :
			  tdl_module_export(m, strcmp(argv[4], "-") ? argv[4] :
								      NULL,
					    argv[3], o, &n);
	if (n > 0 && text[n - 1] == '\n')
		text[n - 1] = '\0';
	return text;
}

static char *ask_model(tdl_model *m, const char *what, const tdl_option *o)
{
	return !strcmp(what, "graph")	? tdl_model_graph(m) :
	       !strcmp(what, "costs")	? tdl_model_costs(m, NULL) :
	       !strcmp(what, "compare") ? tdl_model_compare(m, o) :
	       !strcmp(what, "score")	? tdl_model_score(m, o) :
					  tdl_model_frontier(m, o);
}

static char *ask_plan(tdl_context *c, char **argv)
{
	bool cuda = !strcmp(argv[1], "cuda");
	tdl_option o[MOST] = { { NULL, NULL } }, p[MOST] = { { NULL, NULL } };
	read_options(argv + (cuda ? 4 : 3), o, p);
	tdl_model *m = tdl_model_load(c, argv[2], o);
	if (!m || strstr("graph costs compare score frontier", argv[1]))
		return m ? ask_model(m, argv[1], p) : NULL;
	tdl_plan *plan = tdl_plan_search(m, p);
	return !plan			  ? NULL :
	       !strcmp(argv[1], "report") ? tdl_plan_report(plan) :
	       !strcmp(argv[1], "layout") ? tdl_plan_layout(plan, NULL) :
	       cuda && tdl_plan_export(plan, "cuda", argv[3]) != TDL_OK ?
					    NULL :
					    tdl_plan_text(plan);
}

static char *ask_reasons(tdl_context *c, char **argv)
{
	tdl_option o[MOST] = { { NULL, NULL } };
	tdl_plan *p = tdl_plan_load(c, argv[2]);
	read_options(argv + 4, o, NULL);
	return p ? tdl_plan_explain(p, argv[3], o) : NULL;
}

static char *ask_placement(tdl_context *c, char **argv)
{
	tdl_option o[MOST] = { { NULL, NULL } };
	read_options(argv + 3, o, NULL);
	tdl_placement *p = strcmp(argv[1], "placed") ?
				   NULL : tdl_placement_search(c, argv[2], o);
	return p ? tdl_placement_report(p) :
	       !strcmp(argv[1], "placed") ? NULL :
	       !strcmp(argv[1], "judged") ?
		       tdl_placement_score(c, argv[2], o) :
		       tdl_placement_compare(c, argv[2], o);
}

static char *ask_coverage(tdl_context *c, char **argv)
{
	tdl_option o[MOST] = { { NULL, NULL } };
	read_options(argv + 3, o, NULL);
	return tdl_model_coverage(c, argv[2], o);
}

static char *ask_diff(tdl_context *c, char **argv)
{
	tdl_plan *p = tdl_plan_load(c, argv[2]);
	tdl_plan *q = p ? tdl_plan_load(c, argv[3]) : NULL;
	return q ? tdl_plan_diff(p, q, NULL) : NULL;
}

/* A simulated step, or what is drawn of it. */
static char *ask_step(tdl_context *c, char **argv)
{
	tdl_plan *p = tdl_plan_load(c, argv[2]);
	return !p			     ? NULL :
	       !strcmp(argv[1], "simulate") ? tdl_plan_simulate(p, NULL) :
	       !strcmp(argv[1], "trace")    ? tdl_plan_trace(p, NULL) :
					      tdl_plan_chart(p, NULL, "svg");
}

int main(int argc, char **argv)
{
	const char *locale = getenv("ASK_LOCALE");
	if (locale && !setlocale(LC_ALL, locale))
		return 2;
	tdl_context *c = tdl_context_new(NULL);
	const char *what = argc > 1 ? argv[1] : "operators";
	char *text = strstr("operators describe explain verify", what) ?
			     ask_module(c, argc, argv) :
		     !strcmp(what, "export")   ? ask_export(c, argv) :
		     !strcmp(what, "coverage") ? ask_coverage(c, argv) :
		     !strcmp(what, "reasons")  ? ask_reasons(c, argv) :
		     strstr("placed judged placements", what) ?
			     ask_placement(c, argv) :
		     !strcmp(what, "diff")     ? ask_diff(c, argv) :
		     strstr("simulate trace chart", what) ?
			     ask_step(c, argv) :
						 ask_plan(c, argv);
	if (!text)
		return fail(c);
	puts(text);
	tdl_text_free(text);
	tdl_context_free(c); /* and all that is left in it */
	return 0;
}
