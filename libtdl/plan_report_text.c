#include "config.h"

#include "libtdl/plan_report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "base/units.h"
#include "libtdl/division_text.h"
#include "libtdl/name_groups.h"
#include "libtdl/plan_speed.h"
#include "libtdl/plan_stages.h"

enum { MOST_OPERATORS_SHOWN = 5, ITEM_COLUMN = 17 };

/* ---- text -------------------------------------------------------------- */

/* Prints "  communication  ..", wrapped between words. */
static void print_item(FILE *to, const char *label, const char *text)
{
	fprintf(to, "  %-14s ", label);
	text_wrap(to, text, ITEM_COLUMN, ITEM_COLUMN);
}

static const char *plural(int n)
{
	return n == 1 ? "" : "s";
}

/* The numbers of micro-batches that were tried, with their figures. */
const char *plan_tried_text(arena *a, const plan_result *r)
{
	const char *text = "";
	for (int i = 0; i < r->tried.n; i++) {
		const plan_try *x = &r->tried.at[i];
		text = arena_printf(a, "%s%s%d (%s, %s)", text,
				    i ? ", " : "; tried: ", x->turns,
				    units_seconds(x->seconds).text,
				    plan_bytes_text(a, x->memory));
	}
	return text;
}

static const char *micro_batches(arena *a, const plan_result *r)
{
	const plan_loop *o = &r->plan->loop;
	int64_t batch = o->turns > 0 ? o->batch : r->batch;
	bool uneven = o->turns > 0 && batch % o->turns != 0;
	return arena_printf(a, "%d, of %" PRId64 " sample%s in all%s%s%s",
			    o->turns > 0 ? o->turns : 1, batch,
			    batch == 1 ? "" : "s",
			    uneven ? "; the byte model counts the smallest as "
				     "often" : "",
			    o->statistics ? "; each has statistics of its own"
					  : "", plan_tried_text(a, r));
}

static void print_head(FILE *to, arena *a, const plan_result *r)
{
	const graph *g = r->graph;
	const mesh *m = &r->search->assignment.mesh;
	int n = mesh_workers(m);
	const char *axes = "";
	for (int i = 0; i < m->naxes && m->naxes > 1; i++)
		axes = arena_printf(a, "%s%s%d", axes, i ? " x " : " (",
				    m->size[i]);
	text_wrap(to, arena_printf(
		a, "%s on %d device%s%s%s, planned by %s", g->name, n,
		plural(n), axes, *axes ? ")" : "", r->search->algorithm),
		  0, 2);
	print_item(to, "model", arena_printf(
		a, "%d operator%s, %d tensor%s, %s parameters (%s), %s",
		g->nnodes, plural(g->nnodes), g->ntensors, plural(g->ntensors),
		units_scaled((double)graph_parameter_nelem(g), "").text,
		plan_bytes_text(a, graph_parameter_bytes(g)),
		units_scaled((double)graph_flops(g), "FLOP").text));
	if (r->plan->loop.turns > 0 || r->tried.n > 0)
		print_item(to, "micro-batches", micro_batches(a, r));
}

static int divided_nodes(const plan_result *r)
{
	const assignment *as = &r->search->assignment;
	int n = 0;
	for (int i = 0; i < r->graph->nnodes; i++) {
		bool divided = false;
		for (int x = 0; x < as->mesh.naxes; x++)
			divided = divided ||
				  as->node_cuts[i].dim[x] >= 0;
		n += divided;
	}
	return n;
}

/* Prints how much of the model is divided over several devices. */
static void print_divided(FILE *to, arena *a, const plan_result *r)
{
	int n = divided_nodes(r);
	if (r->search->assignment.mesh.naxes == 0)
		return;
	print_item(to, "divided", n == 0 ?
		   "nothing: each device computes the whole model" :
		   arena_printf(a, "%d of %d operators", n, r->graph->nnodes));
}

static void print_buckets(FILE *to, arena *a, const plan *p)
{
	int reductions, n = plan_buckets(p, &reductions);
	if (n > 0)
		print_item(to, "buckets", arena_printf(
			a, "%d, of %d small reductions", n, reductions));
}

static void print_communication(FILE *to, arena *a, const plan_result *r)
{
	const search_result *s = r->search;
	int naxes = s->assignment.mesh.naxes, counts[COLL_COUNT];
	const char *before = " in ";
	int64_t moved = r->plan->communication_bytes;
	const char *text = arena_printf(
		a, "%s a run%s", plan_bytes_text(a, moved),
		moved > 0 ? ", received by all devices" : "");
	plan_count_transfers(r->plan, counts);
	for (int c = 0; c < COLL_COUNT; c++) {
		if (counts[c] == 0 || c == COLL_LOCAL)
			continue;
		text = arena_printf(a, "%s%s%d %s", text, before, counts[c],
				    collective_name((collective)c));
		before = ", ";
	}
	print_item(to, "communication", text);
	text = arena_printf(a, "%s%s", plan_bytes_text(a, s->total),
			    s->total > 0 ? " in all" : "");
	for (int i = 0; i < naxes && naxes > 1 && s->total > 0; i++)
		text = arena_printf(a, "%s%s%s", text, i ? " + " : " = ",
				    plan_bytes_text(a, s->by_step[i]));
	if (naxes > 1 && s->total > 0)
		text = arena_printf(a, "%s by axis", text);
	if (s->lower_bound >= 0)
		text = arena_printf(a, "%s, at least %s", text,
				    plan_bytes_text(a, s->lower_bound));
	print_item(to, "byte model", text);
}

/* "; step 2 within 4 %": the gaps of steps that are not proved optimal. */
static const char *gaps_text(arena *a, const search_result *s)
{
	const char *text = "";
	for (int i = 0; i < s->assignment.mesh.naxes; i++) {
		double least = (double)s->least_by_step[i];
		double is = (double)s->by_step[i];
		if (!s->optimal_by_step[i] && least >= 0 && is > least)
			text = arena_printf(a, "%s; step %d within %.2g %%",
					    text, i + 1,
					    100 * (is - least) / is);
	}
	return text;
}

/* The statement that was proved, and the plans for which it holds. */
static const char *proof_text(arena *a, const search_result *s)
{
	bool steps = s->proves == SEARCH_PROVES_STEPS &&
		     s->assignment.mesh.naxes > 1;
	return arena_printf(a, "by the byte model no %s moves less%s%s%s",
			    steps ? "step" : "plan",
			    s->among ? " among those " : "",
			    s->among ? s->among : "",
			    s->pinned ? " with these pins" : "");
}

/* Prints the search.  Its duration differs from run to run, so it has its own
 * line, which affects no other. */
static void print_search(FILE *to, arena *a, const plan_result *r)
{
	const search_result *s = r->search;
	int naxes = s->assignment.mesh.naxes, optimal = 0;
	const char *gaps = gaps_text(a, s);
	for (int i = 0; i < naxes; i++)
		optimal += s->optimal_by_step[i];
	print_item(to, "search", units_seconds(s->seconds).text);
	if (naxes > 0 && optimal == naxes)
		print_item(to, "proven", proof_text(a, s));
	else if (optimal > 0 || *gaps)
		print_item(to, "proven", arena_printf(a, "%d of %d steps%s",
						  optimal, naxes, gaps));
}

/* Prints the figure that the planner minimised if it is not bytes. */
static void print_own_costs(FILE *to, arena *a, const search_costs *c)
{
	if (!c->unit)
		return;
	double least = c->total > 0 ? (double)c->total : 1;
	print_item(to, "own cost", arena_printf(
		a, "%s by the planner's own model; data parallelism costs "
		"%.2f times that, one device %.2f times",
		units_scaled((double)c->total, c->unit).text,
		(double)c->data_parallel / least,
		(double)c->one_device / least));
}

/* Operators of repeated blocks that are divided alike. */
typedef struct row {
	name_group group;
	int64_t bytes; /* of all members together */
} row;

static int by_bytes(const void *x, const void *y)
{
	const row *a = x, *b = y;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a->group.members[0] < b->group.members[0] ? -1 : 1;
}

static const char *strategy_text(arena *a, const plan_result *r, int n)
{
	const assignment *as = &r->search->assignment;
	return division_of_node(a, &as->mesh, &as->node_cuts[n],
				r->graph->nodes[n].kernel);
}

static int64_t bytes_of_node(const plan_result *r, int n)
{
	int64_t bytes = 0;
	for (int i = 0; i < r->search->assignment.mesh.naxes; i++)
		bytes += r->search->node_bytes[n][i];
	return bytes;
}

/* Prints the operators that move most bytes in the byte model. */
static void print_operators(FILE *to, arena *a, const plan_result *r)
{
	int n = r->graph->nnodes;
	const node *nodes = r->graph->nodes;
	const char **names = ARENA_ARRAY(a, const char *, n + 1);
	const char **kinds = ARENA_ARRAY(a, const char *, n + 1);
	for (int i = 0; i < n; i++) {
		names[i] = nodes[i].name;
		kinds[i] = arena_printf(a, "%s\t%s", nodes[i].op,
					strategy_text(a, r, i));
	}
	name_groups all = group_names(a, n, names, kinds);
	row *rows = ARENA_ARRAY(a, row, all.n + 1);
	for (int i = 0; i < all.n; i++) {
		rows[i].group = all.at[i];
		for (int j = 0; j < all.at[i].n; j++)
			rows[i].bytes += bytes_of_node(r,
						       all.at[i].members[j]);
	}
	qsort(rows, (size_t)all.n, sizeof(*rows), by_bytes);
	for (int i = 0; i < all.n && i < MOST_OPERATORS_SHOWN; i++) {
		const name_group *g = &rows[i].group;
		int first = g->members[0];
		if (rows[i].bytes <= 0)
			return;
		print_item(to, i ? "" : "moves most", arena_printf(
			a, "%-9s %s%s (%s) %s",
			plan_bytes_text(a, rows[i].bytes),
			g->n == 1 ? "" : arena_printf(a, "%d x ", g->n),
			g->name, nodes[first].op, strategy_text(a, r, first)));
	}
}

void plan_report_text(FILE *to, arena *a, const plan_result *r)
{
	if (r->pipeline) {
		plan_stages_text(to, a, r);
		return;
	}
	print_head(to, a, r);
	print_divided(to, a, r);
	print_communication(to, a, r);
	print_buckets(to, a, r->plan);
	const char *text = arena_printf(
		a, "%s per device; one device alone would need %s",
		plan_bytes_text(a, r->plan->arena_bytes),
		plan_bytes_text(a, r->one_device_bytes));
	if (r->machine_memory > 0 && r->plan->arena_bytes > r->machine_memory)
		text = arena_printf(a, "%s; '%s' has %s", text, r->machine,
				    plan_bytes_text(a, r->machine_memory));
	print_item(to, "memory", text);
	if (r->plan->copies_bytes > 0)
		print_item(to, "copies", arena_printf(
			a, "%s more per GPU, of operands for cuBLASLt",
			plan_bytes_text(a, r->plan->copies_bytes)));
	if (r->plan->kept_bytes > 0)
		print_item(to, "kept", arena_printf(
			a, "%s more per processor's worker, of packed factors",
			plan_bytes_text(a, r->plan->kept_bytes)));
	text = arena_printf(a, "%s a run, for '%s'",
			    units_seconds(r->seconds).text, r->machine);
	if (r->communication > 0)
		text = arena_printf(a, "%s; %s of computing, %s of moving",
				    text, units_seconds(r->computation).text,
				    units_seconds(r->communication).text);
	if (r->search->assignment.mesh.naxes > 0)
		text = arena_printf(a, "%s; one device alone: %s", text,
				    units_seconds(r->one_device_seconds).text);
	print_item(to, "predicted", text);
	if (r->topology->profiled)
		print_item(to, "of it", plan_speed_share_text(a, r));
	if (*plan_speed_text(a, r))
		print_item(to, "speed", plan_speed_text(a, r));
	print_search(to, a, r);
	print_own_costs(to, a, &r->search->own);
	print_operators(to, a, r);
	if (r->search->note)
		print_item(to, "note", r->search->note);
}
