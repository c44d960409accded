/* Prints a plan: who has what, the division of each operator, and transfers. */
#include "config.h"

#include "libtdl/plan_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "libtdl/name_groups.h"
#include "compiler/lower/cost.h"
#include "layout/layout_text.h"
#include "plan/chain.h"

/* ---- text -------------------------------------------------------------- */

static void print_head(FILE *to, const plan_view *v)
{
	const plan *p = v->p;
	const char *sizes = "";
	for (int a = 0; a < p->mesh.naxes && p->mesh.naxes > 1; a++)
		sizes = arena_printf(v->arena, "%s%s%d", sizes,
				     a ? " x " : " (", p->mesh.size[a]);
	int n = mesh_workers(&p->mesh);
	fprintf(to, "%s on %d device%s%s%s, planned by %s\n", p->model, n,
	       n == 1 ? "" : "s", sizes, *sizes ? ")" : "", p->algorithm);
	if (p->loop.turns > 0)
		fprintf(to,
			"  %-14s %d, of %" PRId64 " samples in all; %d of %d "
			"instructions are run for each\n",
			"micro-batches", p->loop.turns, p->loop.batch,
			p->loop.end - p->loop.begin, p->ninstrs);
	fprintf(to, "  %-14s %s a run, received by all devices\n",
		"communication",
		units_bytes((double)p->communication_bytes).text);
	fprintf(to, "  %-14s %s per device\n", "memory",
	       units_bytes((double)p->arena_bytes).text);
	fprintf(to, "  %-14s %s a run, for '%s'\n", "predicted",
	       units_seconds(lower_seconds(p, v->machine)).text,
	       v->machine->name);
	if (p->mesh.naxes)
		text_indented(to, "for each axis of the mesh: the "
			      "dimension that is cut, or the variable that is "
			      "divided; - for none", 2);
}

static const char *type_text(arena *a, const plan_tensor *t)
{
	const char *text = "";
	for (int d = 0; d < t->ndim; d++)
		text = arena_printf(a, "%s%s%lld", text, d ? ", " : "",
				    (long long)t->dims[d]);
	return arena_printf(a, "%s [%s]", dtype_name(t->type), text);
}

static const char *bytes_text(arena *a, int64_t n)
{
	return arena_strdup(a, units_bytes((double)n).text);
}

/* "0, -": for each axis of the mesh the dimension that is cut. */
static const char *cuts_text(arena *a, const mesh *m, const cuts *c)
{
	const char *text = "";
	for (int i = 0; i < m->naxes; i++)
		text = arena_printf(a, "%s%s%s", text, i ? ", " : "",
				    c->dim[i] == CUT_NONE ? "-"
				    : c->dim[i] < 0
					    ? layout_axis_text(a, c->dim[i])
					    : arena_printf(a, "%d",
							   c->dim[i]));
	return text;
}

/* "b, -": for each axis the variable that is divided. */
static const char *variables_text(arena *a, const plan *p, const plan_node *n)
{
	const kernel *k = p->kernels[n->kernel].kernel;
	const char *text = "";
	for (int i = 0; i < p->mesh.naxes; i++) {
		const char *by = layout_division_text(a, k, n->cuts.dim[i]);
		text = arena_printf(a, "%s%s%s", text, i ? ", " : "",
				    by ? by : "-");
	}
	return text;
}

static const char *times_text(arena *a, const name_group *g)
{
	return g->n == 1 ? "" : arena_printf(a, "%d", g->n);
}

/* Adds a row: the group's name, its number of members, and the other cells. */
static void add_group(text_table *t, const name_group *g,
		      const char *const *cells)
{
	table_add(t, g->name);
	table_add(t, times_text(t->arena, g));
	for (int i = 2; i < t->ncolumns; i++)
		table_add(t, cells[i - 2]);
}

static void add_heads(text_table *t, const char *const *heads)
{
	for (int i = 0; i < t->ncolumns; i++)
		table_add(t, heads[i]);
}

/* Prints the tensors of one role; nothing if there are none. */
static void print_tensors(FILE *to, const plan_view *v, plan_role role)
{
	const plan *p = v->p;
	arena *a = v->arena;
	const char **names = ARENA_ARRAY(a, const char *, p->ntensors + 1);
	const char **kinds = ARENA_ARRAY(a, const char *, p->ntensors + 1);
	text_table t = table_new(a, 5);
	int n = 0, *id = ARENA_ARRAY(a, int, p->ntensors + 1);
	for (int i = 0; i < p->ntensors; i++) {
		const plan_tensor *x = &p->tensors[i];
		if (x->role != role)
			continue;
		names[n] = x->name;
		kinds[n] = arena_printf(a, "%s\t%s", type_text(a, x),
					cuts_text(a, &p->mesh, &x->cuts));
		id[n++] = i;
	}
	if (n == 0)
		return;
	name_groups all = group_names(a, n, names, kinds);
	add_heads(&t, (const char *[]){ plan_role_name(&p->tensors[id[0]]),
					"times", "type", "cut", "a device" });
	for (int i = 0; i < all.n; i++) {
		int first = id[all.at[i].members[0]];
		const plan_tensor *x = &p->tensors[first];
		add_group(&t, &all.at[i],
			  (const char *[]){ type_text(a, x),
					    cuts_text(a, &p->mesh, &x->cuts),
					    bytes_text(a, plan_kept_bytes(p,
								     first)) });
	}
	fprintf(to, "\n");
	table_print(&t, to, 0);
}

static void print_operators(FILE *to, const plan_view *v)
{
	const plan *p = v->p;
	arena *a = v->arena;
	const char **names = ARENA_ARRAY(a, const char *, p->nnodes + 1);
	const char **kinds = ARENA_ARRAY(a, const char *, p->nnodes + 1);
	text_table t = table_new(a, 5);
	for (int i = 0; i < p->nnodes; i++) {
		const plan_node *n = &p->nodes[i];
		const plan_tensor *y = &p->tensors[n->output];
		names[i] = n->name;
		kinds[i] = arena_printf(a, "%s\t%s\t%s\t%s", n->op,
					variables_text(a, p, n),
					type_text(a, y),
					cuts_text(a, &p->mesh, &y->cuts));
	}
	name_groups all = group_names(a, p->nnodes, names, kinds);
	add_heads(&t, (const char *[]){ "times", "divided by", "result cut",
					"operator", "definition" });
	for (int i = 0; i < all.n; i++) {
		const plan_node *n = &p->nodes[all.at[i].members[0]];
		const plan_tensor *y = &p->tensors[n->output];
		table_add(&t, times_text(a, &all.at[i]));
		table_add(&t, variables_text(a, p, n));
		table_add(&t, cuts_text(a, &p->mesh, &y->cuts));
		table_add(&t, all.at[i].name);
		table_add(&t, n->op);
	}
	fprintf(to, "\n");
	table_print(&t, to, 0);
}

/* ---- transfers --------------------------------------------------------- */

typedef struct row {
	name_group group;
	const plan_instr *first;
	int64_t bytes; /* of all members together */
} row;

static int by_bytes(const void *x, const void *y)
{
	const row *a = x, *b = y;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

/* Prints transfers, those with most bytes first. */
static void print_transfers(FILE *to, const plan_view *v)
{
	const plan *p = v->p;
	arena *a = v->arena;
	const char **names = ARENA_ARRAY(a, const char *, p->ninstrs + 1);
	const char **kinds = ARENA_ARRAY(a, const char *, p->ninstrs + 1);
	const plan_instr **in = ARENA_ARRAY(a, const plan_instr *,
					    p->ninstrs + 1);
	int n = 0;
	for (int i = 0; i < p->ninstrs; i++)
		if (plan_moves(&p->program[i]) &&
		    plan_view_received(v, &p->program[i]) > 0)
			in[n++] = &p->program[i];
	for (int i = 0; i < n; i++) {
		names[i] = plan_moved_tensor(p, in[i])->name;
		kinds[i] = arena_printf(a, "%d %lld", in[i]->collective,
					(long long)plan_view_received(
						v, in[i]));
	}
	name_groups all = group_names(a, n, names, kinds);
	row *moves = ARENA_ARRAY(a, row, all.n + 1);
	for (int i = 0; i < all.n; i++) {
		const name_group *g = &all.at[i];
		const plan_instr *first = in[g->members[0]];
		moves[i] = (row){ *g, first,
				  plan_view_received(v, first) * g->n };
	}
	qsort(moves, (size_t)all.n, sizeof(*moves), by_bytes);
	if (n == 0)
		return;
	text_table t = table_new(a, 4);
	add_heads(&t, (const char *[]){ "tensor that moves", "times",
					"collective", "in all" });
	for (int i = 0; i < all.n; i++)
		add_group(&t, &moves[i].group,
			  (const char *[]){
				  collective_name(moves[i].first->collective),
				  bytes_text(a, moves[i].bytes) });
	fprintf(to, "\n");
	table_print(&t, to, 0);
}

/* The bytes received by instructions [begin, end). */
static int64_t received_in(const plan_view *v, int begin, int end)
{
	int64_t n = 0;
	for (int i = begin; i < end; i++)
		n += plan_view_received(v, &v->p->program[i]);
	return n;
}

/* Adds the row of a bucket, instructions [begin, end). */
static void add_bucket(text_table *t, const plan_view *v, int begin, int end)
{
	const plan *p = v->p;
	const plan_instr *in = &p->program[begin];
	int moves = plan_phase_end(p, begin);
	const char *first = plan_moved_tensor(p, in)->name;
	const char *last = plan_moved_tensor(p, &p->program[moves - 1])->name;
	const char *kind = collective_name(in->collective);
	if (moves < end)
		kind = arena_printf(v->arena, "%s, %s", kind, collective_name(
				    p->program[moves].collective));
	table_add(t, arena_printf(v->arena, "%d", in->bucket));
	table_add(t, arena_printf(v->arena, "%d", moves - begin));
	table_add(t, kind);
	table_add(t, bytes_text(v->arena, received_in(v, begin, end)));
	table_add(t, moves == begin + 1 ? first :
		     arena_printf(v->arena, "%s .. %s", first, last));
}

static void print_buckets(FILE *to, const plan_view *v)
{
	const plan *p = v->p;
	int reductions;
	if (plan_buckets(p, &reductions) == 0)
		return;
	text_table t = table_new(v->arena, 5);
	add_heads(&t, (const char *[]){ "bucket", "reductions", "collective",
					"in all", "first and last" });
	for (int i = 0, end; i < p->ninstrs; i = end) {
		end = plan_bucket_end(p, i);
		if (p->program[i].bucket > 0)
			add_bucket(&t, v, i, end);
	}
	fprintf(to, "\n");
	table_print(&t, to, 0);
}

/* Adds the row of a chain, instructions [begin, end). */
static void add_chain(text_table *t, const plan_view *v, int begin, int end)
{
	const plan *p = v->p;
	table_add(t, arena_printf(v->arena, "%d", p->program[begin].chain));
	table_add(t, arena_printf(v->arena, "%d", end - begin));
	table_add(t, bytes_text(v->arena, plan_chain_saved(p, begin)));
	table_add(t, arena_printf(v->arena, "%s .. %s",
				  plan_instr_name(p, &p->program[begin]),
				  plan_instr_name(p, &p->program[end - 1])));
}

static void print_chains(FILE *to, const plan_view *v)
{
	const plan *p = v->p;
	text_table t = table_new(v->arena, 4);
	bool any = false;
	add_heads(&t, (const char *[]){ "chain", "kernels", "never in memory",
					"first and last" });
	for (int i = 0, end; i < p->ninstrs; i = end) {
		end = plan_chain_end(p, i);
		if (p->program[i].chain == 0)
			continue;
		any = true;
		add_chain(&t, v, i, end);
	}
	if (!any)
		return;
	fprintf(to, "\n");
	table_print(&t, to, 0);
}

void plan_view_tables(FILE *to, const plan_view *v)
{
	print_tensors(to, v, PLAN_INPUT);
	print_tensors(to, v, PLAN_CONSTANT);
	print_tensors(to, v, PLAN_STATE);
	print_operators(to, v);
	print_transfers(to, v);
	print_buckets(to, v);
	print_chains(to, v);
}

void plan_view_text(FILE *to, const plan_view *v)
{
	print_head(to, v);
	plan_view_tables(to, v);
}
