/* The reasons for a tensor's layout, as text. */
#include "config.h"

#include "libtdl/plan_reasons.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "libtdl/plan_report.h"

enum { MOST_NEIGHBOURS_SHOWN = 8 };

/* ---- words ------------------------------------------------------------- */

static const char *kind_text(const tensor *t)
{
	static const char *const words[] = {
		[TENSOR_INPUT] = "an input", [TENSOR_CONSTANT] = "a constant",
		[TENSOR_STATE] = "a state", [TENSOR_RESULT] = "computed",
	};
	return words[t->kind];
}

/* ---- text -------------------------------------------------------------- */

/* ", in 3.20 ms" if a time is known. */
static const char *time_text(arena *a, double seconds)
{
	return isfinite(seconds) ? arena_printf(a, ", in %s",
						units_seconds(seconds).text)
				 : "";
}

static void print_head(FILE *to, arena *a, const plan_reasons *r)
{
	const tensor *t = &r->graph->tensors[r->tensor];
	const mesh *m = &r->as.mesh;
	fprintf(to, "%s of %s on %d device%s, planned by %s\n", t->name,
	       r->graph->name, mesh_workers(m),
	       mesh_workers(m) == 1 ? "" : "s", r->algorithm);
	fprintf(to, "  %s, %s, %s\n", tensor_type_text(a, &t->type),
	       plan_bytes_text(a, tensor_nbytes(&t->type)), kind_text(t));
	if (t->next != NONE)
		fprintf(to, "  after a run it becomes %s, which lies like it\n",
		       r->graph->tensors[t->next].name);
	if (r->bucket > 0)
		fprintf(to, "  its partial results are combined in bucket "
			"%d\n", r->bucket);
	if (r->chain > 0)
		fprintf(to, "  chain %d computes it part by part%s\n", r->chain,
			r->inner ? ": it is never in memory whole" : "");
	text_indented(to, arena_printf(
		a, "the plan moves %s by the byte model%s for '%s'%s",
		plan_bytes_text(a, r->bytes), time_text(a, r->seconds),
		r->machine->name, r->buckets ? ", without buckets" : ""), 2);
	if (m->naxes == 0)
		fprintf(to, "  one device holds all of it\n");
}

/* "120 kB more" than the plan. */
static const char *beside_text(arena *a, const plan_reasons *r, int64_t bytes)
{
	if (bytes == r->bytes)
		return "as the plan";
	return arena_printf(a, "%s %s", plan_bytes_text(a, llabs(bytes -
								 r->bytes)),
			    bytes > r->bytes ? "more" : "less");
}

/* The part of the tensor that a group has, if it is no block, and the planner
 * if it is another one. */
static const char *extent_text(arena *a, const plan_reasons *r,
			       const plan_choice *x)
{
	bool other = strcmp(x->by, r->planner) != 0;
	return arena_printf(a, "%s%s%s",
			    x->dim < 0 ? ", all of it in each group" : "",
			    other ? ", by " : "", other ? x->by : "");
}

static void print_choices(FILE *to, arena *a, const plan_reasons *r, int axis)
{
	const plan_step *s = &r->steps[axis];
	int is = r->as.tensor_cuts[r->tensor].dim[axis];
	for (int i = 0; i < s->nchoices; i++) {
		const plan_choice *x = &s->choices[i];
		fprintf(to, "%s %-12s ", x->dim == is ? "*" : " ",
		       plan_reasons_dim(a, x->dim));
		if (x->refused)
			fprintf(to, "cannot be: %s\n", x->refused);
		else
			fprintf(to, "%10s  %s%s%s\n",
				plan_bytes_text(a, x->bytes),
				beside_text(a, r, x->bytes),
				time_text(a, x->seconds),
				extent_text(a, r, x));
	}
}

static void print_neighbour(FILE *to, arena *a, const plan_reasons *r, int axis,
			    const plan_neighbour *x)
{
	const node *n = &r->graph->nodes[x->node];
	const plan_step *s = &r->steps[axis];
	const char *by = plan_reasons_variable(a, r, x->node, axis), *gap = " ";
	bool divided = r->as.node_cuts[x->node].dim[axis] >= 0;
	const char *text = arena_printf(a, "%s (%s), %s%s:", n->name, n->op,
					divided ? "by " : "",
					by ? by : "whole");
	for (int i = 0; i < s->nchoices; i++) {
		if (x->bytes[i] < 0)
			continue;
		text = arena_printf(a, "%s%s%s %s", text, gap,
				    plan_reasons_dim(a, s->choices[i].dim),
				    plan_bytes_text(a, x->bytes[i]));
		gap = ", ";
	}
	text_indented(to, text, 4);
}

static void print_neighbours(FILE *to, arena *a, const plan_reasons *r,
			     int axis)
{
	const plan_step *s = &r->steps[axis];
	int n = 0;
	while (n < r->nneighbours && s->neighbours[n].spread > 0)
		n++;
	if (n > 0)
		fprintf(to,
			"  operators to which it makes a difference, and what "
			"they move:\n");
	for (int i = 0; i < n && i < MOST_NEIGHBOURS_SHOWN; i++)
		print_neighbour(to, a, r, axis, &s->neighbours[i]);
	if (n > MOST_NEIGHBOURS_SHOWN)
		fprintf(to, "    and %d more\n", n - MOST_NEIGHBOURS_SHOWN);
	if (n < r->nneighbours)
		fprintf(to, "  no difference to %d operator%s\n",
		       r->nneighbours - n,
		       r->nneighbours - n == 1 ? "" : "s");
}

static void print_undivided(FILE *to, arena *a, const plan_reasons *r)
{
	if (r->undivided.n)
		fputs("\noperators that cannot be divided\n", to);
	for (int i = 0; i < r->undivided.n; i++) {
		const plan_undivided *x = &r->undivided.at[i];
		const node *n = &r->graph->nodes[x->node];
		text_indented(to, arena_printf(a, "%s (%s) by %s: %s",
						   n->name, n->op,
						   x->variable, x->why), 2);
	}
}

void plan_reasons_text(FILE *to, arena *a, const plan_reasons *r)
{
	print_head(to, a, r);
	for (int i = 0; i < r->as.mesh.naxes; i++) {
		fprintf(to,
			"\nstep %d of %d, over %d groups: the best by %s with "
			"it\n",
			i + 1, r->as.mesh.naxes, r->as.mesh.size[i],
			r->planner);
		print_choices(to, a, r, i);
		print_neighbours(to, a, r, i);
	}
	print_undivided(to, a, r);
}
