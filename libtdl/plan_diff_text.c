/* The differences between two plans, as text. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/text.h"
#include "base/units.h"
#include "libtdl/name_groups.h"
#include "libtdl/plan_diff.h"
#include "libtdl/plan_report.h"

static const char *or_nothing(const char *text)
{
	return text ? text : "nothing";
}

static bool is_like(const plan_difference *x, const plan_difference *y)
{
	return !strcmp(or_nothing(x->was), or_nothing(y->was)) &&
	       !strcmp(or_nothing(x->is), or_nothing(y->is));
}

/* The names that change in the same way as the one at `first'.  Those of
 * repeated blocks are written as one with their number: "layer_{0..11}.w (12)".
 * The names are marked as printed. */
static void print_names(FILE *to, arena *a, const plan_differences *all,
			int first, bool *printed)
{
	const char **names = ARENA_ARRAY(a, const char *, all->n);
	const char **kinds = ARENA_ARRAY(a, const char *, all->n), *text = "";
	int n = 0;
	for (int i = first; i < all->n; i++) {
		if (printed[i] || !is_like(&all->at[i], &all->at[first]))
			continue;
		printed[i] = true;
		kinds[n] = "";
		names[n++] = all->at[i].name;
	}
	name_groups groups = group_names(a, n, names, kinds);
	for (int i = 0; i < groups.n; i++) {
		const name_group *g = &groups.at[i];
		text = arena_printf(a, "%s%s%s", text, i ? ", " : "", g->name);
		if (g->n > 1)
			text = arena_printf(a, "%s (%d)", text, g->n);
	}
	text_indented(to, text, 2);
}

/* Prints the differences, grouped by the change. */
static void print_differences(FILE *to, arena *a, const char *what,
			      const plan_differences *all)
{
	bool *printed = ARENA_ARRAY(a, bool, all->n);
	for (int i = 0; i < all->n; i++) {
		const plan_difference *x = &all->at[i];
		if (printed[i])
			continue;
		fprintf(to, "\n");
		text_wrap(to, arena_printf(a, "%s: %s -> %s", what,
					   or_nothing(x->was),
					   or_nothing(x->is)), 0, 4);
		print_names(to, a, all, i, printed);
	}
}

static const char *buckets_text(arena *a, const plan_pipeline *p)
{
	int reductions, n = plan_all_buckets(p, &reductions);
	return n ? arena_printf(a, "%d, of %d reductions", n, reductions)
		 : "none";
}

static void print_buckets(FILE *to, arena *a, const plan_pipeline *p,
			  const plan_pipeline *q)
{
	int reductions;
	if (plan_all_buckets(p, &reductions) ||
	    plan_all_buckets(q, &reductions))
		fprintf(to, "%-14s %s -> %s\n", "buckets", buckets_text(a, p),
			buckets_text(a, q));
}

/* "2, by 1f1b": the number of stages and the schedule. */
static const char *stages_text(arena *a, const plan_pipeline *p)
{
	return p->schedule ? arena_printf(a, "%d, by %s", p->nstages,
					  p->schedule)
			   : "1";
}

void plan_diff_text(FILE *to, const plan_pair *d,
		    const plan_differences *tensors,
		    const plan_differences *operators)
{
	const plan_pipeline *p = d->plan[0], *q = d->plan[1];
	arena *a = d->arena;
	fprintf(to, "%-14s %s by %s on %d -> %s by %s on %d\n", "plan",
		p->model, p->algorithm, pipeline_first(p, p->nstages), q->model,
		q->algorithm, pipeline_first(q, q->nstages));
	if (p->schedule || q->schedule)
		fprintf(to, "%-14s %s -> %s\n", "stages", stages_text(a, p),
			stages_text(a, q));
	if (p->stages[0].loop.turns || q->stages[0].loop.turns)
		fprintf(to, "%-14s %d -> %d\n", "micro-batches",
		       plan_micro_batches(p), plan_micro_batches(q));
	print_buckets(to, a, p, q);
	fprintf(to, "%-14s %s -> %s\n", "communication",
	       plan_bytes_text(a, p->communication_bytes),
	       plan_bytes_text(a, q->communication_bytes));
	fprintf(to, "%-14s %s -> %s\n", "memory",
	       plan_bytes_text(a, plan_most_memory(p)),
	       plan_bytes_text(a, plan_most_memory(q)));
	fprintf(to, "%-14s %s -> %s, for '%s'\n", "predicted",
	       units_seconds(d->seconds[0]).text,
	       units_seconds(d->seconds[1]).text, d->machine->name);
	print_differences(to, a, "tensors", tensors);
	print_differences(to, a, "operators", operators);
}
