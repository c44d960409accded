/* Prints what libtdl says, to be compared with what tdlc prints:
 *
 *	ask operators
 *	ask describe|explain|verify FILE [OP] [OPTION=VALUE]...
 *	ask graph MODEL [OPTION=VALUE]...
 *	ask report|layout|text MODEL [OPTION=VALUE]...	(a plan of it)
 *	ask diff PLAN PLAN
 *
 * The locale is that of $ASK_LOCALE. */
#include <locale.h>
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
		if (search && (!strcmp(*argv, "devices") ||
			       !strcmp(*argv, "algorithm")))
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

static char *ask_plan(tdl_context *c, char **argv)
{
	tdl_option o[MOST] = { { NULL, NULL } }, p[MOST] = { { NULL, NULL } };
	read_options(argv + 3, o, p);
	tdl_model *m = tdl_model_load(c, argv[2], o);
	if (!m || !strcmp(argv[1], "graph"))
		return m ? tdl_model_graph(m) : NULL;
	tdl_plan *plan = tdl_plan_search(m, p);
	return !plan			  ? NULL :
	       !strcmp(argv[1], "report") ? tdl_plan_report(plan) :
	       !strcmp(argv[1], "layout") ? tdl_plan_layout(plan, NULL) :
					    tdl_plan_text(plan);
}

static char *ask_diff(tdl_context *c, char **argv)
{
	tdl_plan *p = tdl_plan_load(c, argv[2]);
	tdl_plan *q = p ? tdl_plan_load(c, argv[3]) : NULL;
	return q ? tdl_plan_diff(p, q, NULL) : NULL;
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
		     !strcmp(what, "diff") ? ask_diff(c, argv) :
					     ask_plan(c, argv);
	if (!text)
		return fail(c);
	puts(text);
	tdl_text_free(text);
	tdl_context_free(c); /* and all that is left in it */
	return 0;
}
