/* tdlc diff: two plans of one model, and what their differences cost. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/text.h"
#include "base/units.h"
#include "compiler/driver/driver.h"
#include "compiler/driver/plan_input.h"
#include "compiler/driver/plan_print.h"
#include "compiler/lower/cost.h"
#include "plan/plan.h"

typedef struct differ {
	arena *arena;
	const plan *plan[2];
	const topology *machine;
} differ;

/* The meaning of a name in both plans; NULL: none. */
typedef struct difference {
	const char *name;
	const char *was, *is; /* "cut 0, cut 1" */
} difference;

typedef VEC(difference) differences;

/* ---- what differs ------------------------------------------------------ */

static const char *layout_text(arena *a, const mesh *m, const cuts *c)
{
	const char *text = "";
	for (int i = 0; i < m->naxes; i++)
		text = arena_printf(a, "%s%s%s", text, i ? ", " : "",
				    c->dim[i] == CUT_NONE
					    ? "replicated"
					    : arena_printf(a, "cut %d",
							   c->dim[i]));
	return m->naxes ? text : "whole";
}

static const char *strategy_text(arena *a, const plan *p, const plan_node *n)
{
	const kernel *k = p->kernels[n->kernel].kernel;
	const char *text = "";
	for (int i = 0; i < p->mesh.naxes; i++) {
		int v = n->cuts.dim[i];
		text = arena_printf(a, "%s%s%s", text, i ? ", " : "",
				    v == CUT_NONE ? "whole"
				    : arena_printf(a, "by %s",
						   k->vars[v].name));
	}
	return p->mesh.naxes ? text : "whole";
}

/* All tensors of a plan, or all operators, by name. */
static strmap *texts_of(arena *a, const plan *p, bool operators)
{
	strmap *all = strmap_new(a);
	for (int i = 0; !operators && i < p->ntensors; i++)
		strmap_put(all, p->tensors[i].name,
			   (void *)layout_text(a, &p->mesh,
					       &p->tensors[i].cuts));
	for (int i = 0; operators && i < p->nnodes; i++)
		strmap_put(all, p->nodes[i].name,
			   (void *)strategy_text(a, p, &p->nodes[i]));
	return all;
}

/* The differences in the order of the first plan, then names that only the
 * second has. */
static differences compare(const differ *d, bool operators)
{
	strmap *was = texts_of(d->arena, d->plan[0], operators);
	strmap *is = texts_of(d->arena, d->plan[1], operators);
	differences all = { 0 };
	for (int i = 0; i < strmap_count(was); i++) {
		difference x = { strmap_key(was, i), strmap_value(was, i),
				 strmap_get(is, strmap_key(was, i)) };
		if (!x.is || strcmp(x.was, x.is))
			vec_push(d->arena, &all, x);
	}
	for (int i = 0; i < strmap_count(is); i++) {
		difference x = { strmap_key(is, i), NULL, strmap_value(is, i) };
		if (!strmap_get(was, x.name))
			vec_push(d->arena, &all, x);
	}
	return all;
}

/* ---- printing ---------------------------------------------------------- */

static json_t *text_json(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *differences_json(const differences *all)
{
	json_t *list = json_array();
	for (int i = 0; i < all->n; i++)
		json_array_append_new(
			list, json_pack("{s:s,s:o,s:o}", "name",
					all->at[i].name, "from",
					text_json(all->at[i].was), "to",
					text_json(all->at[i].is)));
	return list;
}

static json_t *plan_json(const differ *d, const plan *p)
{
	json_t *sizes = json_array();
	for (int a = 0; a < p->mesh.naxes; a++)
		json_array_append_new(sizes, json_integer(p->mesh.size[a]));
	return json_pack("{s:s,s:s,s:i,s:o,s:I,s:I,s:f,s:s}", "model",
			 p->model, "algorithm", p->algorithm, "devices",
			 mesh_workers(&p->mesh), "mesh", sizes,
			 "communication_bytes",
			 (json_int_t)p->communication_bytes,
			 "peak_bytes_per_device", (json_int_t)p->arena_bytes,
			 "predicted_seconds", lower_seconds(p, d->machine),
			 "predicted_for", d->machine->name);
}

static json_t *diff_json(const differ *d, const differences *tensors,
			 const differences *operators)
{
	json_t *plans = json_array();
	for (int i = 0; i < 2; i++)
		json_array_append_new(plans, plan_json(d, d->plan[i]));
	return json_pack("{s:o,s:o,s:o}", "plans", plans, "tensors",
			 differences_json(tensors), "operators",
			 differences_json(operators));
}

static const char *or_nothing(const char *text)
{
	return text ? text : "nothing";
}

static bool is_like(const difference *x, const difference *y)
{
	return !strcmp(or_nothing(x->was), or_nothing(y->was)) &&
	       !strcmp(or_nothing(x->is), or_nothing(y->is));
}

/* The names that change as the one at `first' does; they are marked. */
static void print_names(const differences *all, int first, bool *printed)
{
	char *names = NULL;
	size_t size;
	FILE *to = open_memstream(&names, &size);
	for (int i = first; to && i < all->n; i++) {
		if (printed[i] || !is_like(&all->at[i], &all->at[first]))
			continue;
		printed[i] = true;
		fprintf(to, "%s%s", i > first ? ", " : "", all->at[i].name);
	}
	if (!to || fclose(to))
		abort();
	text_indented(stdout, names, 2);
	free(names);
}

/* The differences, grouped by what becomes what. */
static void print_differences(arena *a, const char *what,
			      const differences *all)
{
	bool *printed = ARENA_ARRAY(a, bool, all->n);
	for (int i = 0; i < all->n; i++) {
		const difference *x = &all->at[i];
		if (printed[i])
			continue;
		printf("\n%s: %s -> %s\n", what, or_nothing(x->was),
		       or_nothing(x->is));
		print_names(all, i, printed);
	}
}

static void print_text(const differ *d, const differences *tensors,
		       const differences *operators)
{
	const plan *p = d->plan[0], *q = d->plan[1];
	arena *a = d->arena;
	printf("%-14s %s by %s on %d -> %s by %s on %d\n", "plan", p->model,
	       p->algorithm, mesh_workers(&p->mesh), q->model, q->algorithm,
	       mesh_workers(&q->mesh));
	printf("%-14s %s -> %s\n", "communication",
	       plan_bytes_text(a, p->communication_bytes),
	       plan_bytes_text(a, q->communication_bytes));
	printf("%-14s %s -> %s\n", "memory",
	       plan_bytes_text(a, p->arena_bytes),
	       plan_bytes_text(a, q->arena_bytes));
	printf("%-14s %s -> %s, for '%s'\n", "predicted",
	       units_seconds(lower_seconds(p, d->machine)).text,
	       units_seconds(lower_seconds(q, d->machine)).text,
	       d->machine->name);
	print_differences(a, "tensors", tensors);
	print_differences(a, "operators", operators);
}

cli_status command_diff(driver *d, int argc, char **argv)
{
	bool json = false;
	const char *on = NULL;
	const cli_option options[] = {
		PLAN_OPTION_TOPOLOGY(&on),
		DRIVER_OPTION_JSON(&json),
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	cli_status status;
	differ x = { .arena = d->arena };
	int first = cli_parse(d->arena, &d->program, options, argc, argv,
			      &status);
	if (first < 0)
		return status;
	if (argc - first != 2)
		return cli_usage(&d->program, "two plans are expected");
	for (int i = 0; i < 2; i++) {
		x.plan[i] = plan_read(d->arena, d->sink, argv[first + i]);
		if (x.plan[i])
			x.machine = plan_topology(d, on,
					mesh_workers(&x.plan[i]->mesh));
		if (!x.plan[i] || !x.machine)
			return CLI_OK;
	}
	differences tensors = compare(&x, false), operators = compare(&x, true);
	if (json)
		return driver_print_json(d, diff_json(&x, &tensors,
						      &operators));
	print_text(&x, &tensors, &operators);
	return CLI_OK;
}
