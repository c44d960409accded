/* Plans a network over devices, prints who holds what, and runs the plan, in
 * this process.
 *
 *	cc embed.c $(pkg-config --cflags --libs tdl) -o embed
 *	./embed 4
 *
 * It is C and C++. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tdl/tdl.h>

static const char network[] =
	"model tiny(batch = 8, width = 16) {\n"
	"    input x[batch, width]\n"
	"    param w[width, width]\n"
	"    y = relu(matmul(x, w))\n"
	"    output y\n"
	"}\n";

/* Prints what the last call has found; gives up after an error. */
static void tell(const tdl_context *c, int failed)
{
	size_t n;
	const tdl_diagnostic *d = tdl_diagnostics(c, &n);
	for (size_t i = 0; i < n; i++)
		fprintf(stderr, "%s:%d:%d: %s [%s]\n",
			d[i].file ? d[i].file : "embed", d[i].line,
			d[i].column, d[i].message, d[i].name);
	if (failed)
		exit(1);
}

static void run(tdl_context *c, tdl_plan *plan)
{
	int64_t dims[] = { 8, 16 };
	float x[8 * 16], y[8 * 16];
	for (int i = 0; i < 8 * 16; i++)
		x[i] = (float)(i % 7);
	tdl_array in = { "x", "f32", 2, dims, x, sizeof(x) };
	tdl_array out = { "y", "f32", 2, dims, y, sizeof(y) };
	const tdl_option options[] = { { "kernels", "interpreter" },
				       { NULL, NULL } };
	tdl_run *r = tdl_run_open(plan, options);
	tell(c, !r);
	tell(c, tdl_run_step(r, &in, 1, &out, 1) != TDL_OK);
	printf("y[0] is %g\n", (double)y[0]);
	tdl_run_free(r);
}

int main(int argc, char **argv)
{
	const tdl_option options[] = {
		{ "devices", argc > 1 ? argv[1] : "4" }, { NULL, NULL }
	};
	tdl_context *c = tdl_context_new(NULL);
	if (!c)
		return 1;
	tdl_model *model = tdl_model_of_text(c, "tiny.tdl", network,
					     strlen(network), NULL);
	tell(c, !model);
	tdl_plan *plan = tdl_plan_search(model, options);
	tell(c, !plan);
	char *layout = tdl_plan_layout(plan, NULL);
	tell(c, !layout);
	puts(layout);
	run(c, plan);
	tdl_text_free(layout);
	tdl_plan_free(plan);
	tdl_model_free(model);
	tdl_context_free(c);
	return 0;
}
