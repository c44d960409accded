#include "config.h"

#include "compiler/cost/joint_problem.h"

#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "compiler/cost/byte_model.h"
#include "compiler/cost/pair_costs.h"
#include "compiler/graph/turns.h"

/* A table of all candidates of a node and of one of its tensors, and the
 * properties that determine it. */
typedef struct entry {
	const kernel *kernel;
	uint32_t inputs; /* as in pair_costs.h, .. */
	int runs;	 /* .. likewise */
	const candidates *nodes, *tensors;
	int64_t *table;
} entry;

typedef struct builder {
	arena *arena;
	const mesh *mesh;
	problem *problem;
	joint_filler fill; /* NULL: only count tables */
	int64_t cells;	   /* in the tables so far, equal ones counted once */
	VEC(entry) entries;
	hash_table by_key;
} builder;

/* The number of candidates from the i-th on that agree with it on all axes but
 * the last; *last receives their choices there. */
static int run_of(const candidates *w, int i, int naxes, choices *last)
{
	last->n = 0;
	for (int j = i; j < w->n; j++) {
		if (memcmp(w->at[i].dim, w->at[j].dim, (size_t)naxes - 1))
			break;
		last->at[last->n++] = w->at[j].dim[naxes - 1];
	}
	return last->n;
}

/* Fills in a part of a table whose rows have `width' costs; p has the choices
 * of the node and the tensor there. */
static void fill_part(int64_t *to, int width, const pair *p,
		      const int64_t *part)
{
	for (int x = 0; x < p->vars->n; x++)
		memcpy(to + (size_t)x * (size_t)width,
		       part + (size_t)x * (size_t)p->dims->n,
		       (size_t)p->dims->n * sizeof(*part));
}

/* Assembles the table from tables of the last axis, for all ways to decide the
 * axes before. */
static void fill_by_axis(const mesh *m, const joint_pair *e, int64_t *table)
{
	arena *tmp = arena_new();
	pair_cache *cache = pair_cache_new(tmp, m);
	choices vars, dims;
	pair p = { .kernel = e->kernel, .inputs = e->inputs, .runs = 1,
		   .vars = &vars, .dims = &dims };
	int naxes = m->naxes;
	for (int i = 0, ni; i < e->nodes->n; i += ni) {
		ni = run_of(e->nodes, i, naxes, &vars);
		p.node_cuts = &e->nodes->at[i];
		for (int j = 0, nj; j < e->tensors->n; j += nj) {
			nj = run_of(e->tensors, j, naxes, &dims);
			p.tensor_cuts = &e->tensors->at[j];
			fill_part(table + (size_t)i * (size_t)e->tensors->n + j,
				  e->tensors->n, &p, pair_table(cache, &p));
		}
	}
	arena_free(tmp);
}

static void fill(const mesh *m, const joint_pair *p, int64_t *table)
{
	if (joint_table_can(m, p))
		joint_table(m, p, table);
	else
		fill_by_axis(m, p, table);
}

/* ---- tables that were made already ------------------------------------- */

static bool same_entry(const entry *x, const entry *y)
{
	return x->kernel == y->kernel && x->inputs == y->inputs &&
	       x->runs == y->runs && x->nodes == y->nodes &&
	       x->tensors == y->tensors;
}

/* Fills in the table for one run, n costs, and multiplies it by the runs. */
static void fill_runs(const builder *b, const entry *e, size_t n,
		      int64_t *table)
{
	const joint_pair of = { e->kernel, e->inputs, e->nodes, e->tensors };
	b->fill(b->mesh, &of, table);
	for (size_t i = 0; e->runs > 1 && i < n; i++)
		table[i] = cost_mul(table[i], e->runs);
}

static const int64_t *table_of(builder *b, const entry *e)
{
	const uint64_t key[] = { e->inputs, (uintptr_t)e->kernel,
				 (uintptr_t)e->nodes, (uintptr_t)e->tensors };
	uint64_t h = hash_words(HASH_SEED, key, sizeof(key) / sizeof(*key));
	uint32_t at = 0;
	for (int i; (i = hash_table_next(&b->by_key, h, &at)) >= 0;) {
		const entry *x = &b->entries.at[i];
		if (same_entry(x, e))
			return x->table;
	}
	size_t n = (size_t)e->nodes->n * (size_t)e->tensors->n;
	entry new = *e;
	b->cells += (int64_t)n;
	new.table = ARENA_ARRAY(b->arena, int64_t, b->fill ? n : 1);
	if (b->fill)
		fill_runs(b, e, n, new.table);
	hash_table_add(b->arena, &b->by_key, h, b->entries.n);
	vec_push(b->arena, &b->entries, new);
	return new.table;
}

/* ---- the problem ------------------------------------------------------- */

/* Whether a node's input i, or for -1 the result, has a table of its own: a
 * tensor read several times has one. */
static bool has_table(const node *n, int i, uint32_t *inputs)
{
	*inputs = i < 0 ? 0 : byte_model_same_inputs(n, i);
	return i < 0 || __builtin_ctz(*inputs) == i;
}

static tensor_id tensor_at(const node *n, int i)
{
	return i < 0 ? n->output : n->inputs[i];
}

static void add_node(builder *b, const graph *g, const candidate_set *w,
		     node_id id)
{
	const node *n = &g->nodes[id];
	entry e = { .kernel = n->kernel, .runs = graph_runs(g, id),
		    .nodes = w->nodes[id] };
	for (int i = -1; i < n->kernel->ninputs; i++) {
		if (!has_table(n, i, &e.inputs))
			continue;
		tensor_id t = tensor_at(n, i);
		e.tensors = w->tensors[t];
		problem_add_table(b->problem, g->ntensors + id, w->tied[t],
				  table_of(b, &e));
	}
}

problem *joint_problem(arena *a, const graph *g, const mesh *m,
		       const candidate_set *w)
{
	return joint_problem_of(a, g, m, w, fill);
}

problem *joint_problem_of(arena *a, const graph *g, const mesh *m,
			  const candidate_set *w, joint_filler filler)
{
	builder b = { .arena = a, .mesh = m, .problem = problem_new(a),
		      .fill = filler };
	for (tensor_id t = 0; t < g->ntensors; t++)
		problem_add_var(b.problem,
				w->tied[t] == t ? w->tensors[t]->n : 1);
	for (node_id n = 0; n < g->nnodes; n++)
		problem_add_var(b.problem, w->nodes[n]->n);
	for (node_id n = 0; n < g->nnodes; n++)
		add_node(&b, g, w, n);
	return b.problem;
}

int64_t joint_work(const graph *g, const mesh *m, const candidate_set *w)
{
	arena *tmp = arena_new();
	builder b = { .arena = tmp, .mesh = m, .problem = problem_new(tmp) };
	for (int v = 0; v < g->ntensors + g->nnodes; v++)
		problem_add_var(b.problem, 1);
	for (node_id n = 0; n < g->nnodes; n++)
		add_node(&b, g, w, n);
	int64_t work = cost_mul(b.cells, joint_cell_work(m));
	arena_free(tmp);
	return work;
}

int64_t joint_cells(const graph *g, const candidate_set *w)
{
	int64_t cells = 0;
	for (node_id id = 0; id < g->nnodes; id++) {
		const node *n = &g->nodes[id];
		uint32_t inputs;
		for (int i = -1; i < n->kernel->ninputs; i++)
			if (has_table(n, i, &inputs))
				cells += (int64_t)w->nodes[id]->n *
					 w->tensors[tensor_at(n, i)]->n;
	}
	return cost_clamp(cells);
}
