#include "config.h"

#include "compiler/portfolio/pipeline_layers.h"

#include <math.h>

#include "compiler/graph/passes.h"
#include "kernel/region.h"

enum {
	FEW_NODES = 48, /* nodes of a graph that may be cut everywhere */
	/* the time is divided into so many windows; a cut has to be the best
	 * within one */
	WINDOWS = 256,
};

/* ---- nodes in a row ---------------------------------------------------- */

typedef struct node_row {
	const graph *g;
	int n;
	node_id *node;	   /* nodes that count, in order */
	int *at;	   /* by node: its place; NONE */
	double *forward, *backward; /* by place */
	double *crossing;  /* by place: before it */
	bool *cut;	   /* by place: a cut is allowed before it */
} node_row;

static double seconds_of(const graph *g, node_id n, const topology *t)
{
	const kernel *k = g->nodes[n].kernel;
	box space = kernel_space(k);
	kernel_work w = kernel_work_of(k, &space);
	return topology_kernel_seconds(t, k, &space, &w, 1);
}

/* The place of the forward node for which a backward node is there.  If that
 * one has no place, the first place after it. */
static int place_of_partner(const node_row *r, const graph_passes *p,
			    node_id n)
{
	node_id at = p->partner[n];
	while (at != NONE && at < r->g->nnodes && r->at[at] == NONE)
		at++;
	return at == NONE || at >= r->g->nnodes ? NONE : r->at[at];
}

static void count_seconds(const node_row *r, const graph_passes *passes,
			  const topology *t)
{
	int last = r->n - 1;
	for (node_id n = 0; n < r->g->nnodes; n++) {
		if (r->g->turns->sections[n] != SECTION_BODY)
			continue;
		double s = seconds_of(r->g, n, t);
		if (r->at[n] != NONE) {
			r->forward[r->at[n]] = s;
		} else if (passes->backward[n]) {
			int p = place_of_partner(r, passes, n);
			last = p == NONE ? last : p;
			r->backward[last] += s;
		}
	}
}

/* Adds the bytes of each result from after its place to its last reader. */
static void count_crossing(const node_row *r, arena *tmp)
{
	const graph *g = r->g;
	int *last = ARENA_ARRAY(tmp, int, g->ntensors);
	for (int i = 0; i < r->n; i++) {
		const node *x = &g->nodes[r->node[i]];
		for (int j = 0; j < x->kernel->ninputs; j++)
			last[x->inputs[j]] = i;
	}
	for (int i = 0; i < r->n; i++) {
		tensor_id t = g->nodes[r->node[i]].output;
		if (last[t] <= i)
			continue;
		double bytes = (double)tensor_nbytes(&g->tensors[t].type);
		r->crossing[i + 1] += bytes;
		r->crossing[last[t] + 1] -= bytes;
	}
	for (int i = 1; i <= r->n; i++)
		r->crossing[i] += r->crossing[i - 1];
}

/* ---- cuts -------------------------------------------------------------- */

static bool is_least_around(const node_row *r, int i)
{
	return r->crossing[i] <= r->crossing[i - 1] &&
	       (i + 1 >= r->n || r->crossing[i] <= r->crossing[i + 1]);
}

/* Whether a place within `window' seconds has fewer bytes crossing than place
 * i, or equally many and already a cut before it.  So some of a row of equal
 * places remain. */
static bool is_beaten(const node_row *r, int i, double window)
{
	for (int way = -1; way <= 1; way += 2) {
		double seconds = 0;
		for (int j = i; j > 0 && j < r->n && seconds <= window;
		     j += way) {
			int over = way < 0 ? j - 1 : j;
			if (r->crossing[j] < r->crossing[i] ||
			    (j < i && r->cut[j] &&
			     r->crossing[j] == r->crossing[i]))
				return true;
			seconds += r->forward[over] + r->backward[over];
		}
	}
	return false;
}

static void find_cuts(const node_row *r)
{
	double total = 0;
	for (int i = 0; i < r->n; i++)
		total += r->forward[i] + r->backward[i];
	for (int i = 1; i < r->n; i++)
		r->cut[i] = r->n <= FEW_NODES ||
			    (is_least_around(r, i) &&
			     !is_beaten(r, i, total / WINDOWS));
}

/* ---- layers ------------------------------------------------------------ */

static node_row row_new(arena *tmp, const graph *g, const bool *is_layer)
{
	node_row r = { .g = g };
	r.node = ARENA_ARRAY(tmp, node_id, g->nnodes);
	r.at = ARENA_ARRAY(tmp, int, g->nnodes);
	for (node_id n = 0; n < g->nnodes; n++) {
		r.at[n] = NONE;
		if (!is_layer[n])
			continue;
		r.at[n] = r.n;
		r.node[r.n++] = n;
	}
	r.forward = ARENA_ARRAY(tmp, double, r.n + 1);
	r.backward = ARENA_ARRAY(tmp, double, r.n + 1);
	r.crossing = ARENA_ARRAY(tmp, double, r.n + 2);
	r.cut = ARENA_ARRAY(tmp, bool, r.n + 1);
	return r;
}

static void add_layers(arena *a, pipeline_layers *l, const node_row *r)
{
	l->first = ARENA_ARRAY(a, node_id, r->n + 1);
	l->forward = ARENA_ARRAY(a, double, r->n + 1);
	l->backward = ARENA_ARRAY(a, double, r->n + 1);
	l->crossing = ARENA_ARRAY(a, double, r->n + 2);
	for (int i = 0; i < r->n; i++) {
		if (i == 0 || r->cut[i]) {
			l->crossing[l->n] = r->crossing[i];
			l->first[l->n++] = r->node[i];
		}
		l->layer[r->node[i]] = l->n - 1;
		l->forward[l->n - 1] += r->forward[i];
		l->backward[l->n - 1] += r->backward[i];
	}
}

const pipeline_layers *pipeline_layers_new(arena *a, const graph *g,
					   const topology *t)
{
	arena *tmp = arena_new();
	pipeline_layers *l = ARENA_NEW(a, pipeline_layers);
	l->g = g;
	const graph_passes passes = graph_passes_of(tmp, g);
	l->layer = ARENA_ARRAY(a, int, g->nnodes);
	for (node_id n = 0; n < g->nnodes; n++)
		l->layer[n] = NONE;
	node_row r = row_new(tmp, g, stage_layers(tmp, g));
	count_seconds(&r, &passes, t);
	count_crossing(&r, tmp);
	find_cuts(&r);
	add_layers(a, l, &r);
	arena_free(tmp);
	return l;
}

/* By tensor: the last layer that reads it; 0 if none does. */
static int *last_layers(const pipeline_layers *l, arena *tmp)
{
	const graph *g = l->g;
	int *last = ARENA_ARRAY(tmp, int, g->ntensors);
	for (node_id n = 0; n < g->nnodes; n++)
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++) {
			tensor_id t = g->nodes[n].inputs[i];
			if (l->layer[n] > last[t])
				last[t] = l->layer[n];
		}
	return last;
}

/* Sums the bytes made in a layer before each place and read after it. */
static void cross_layers(pipeline_layers *l, arena *tmp)
{
	const graph *g = l->g;
	int *last = last_layers(l, tmp);
	for (node_id n = 0; n < g->nnodes; n++) {
		tensor_id t = g->nodes[n].output;
		if (l->layer[n] == NONE || last[t] <= l->layer[n])
			continue;
		double nbytes = (double)tensor_nbytes(&g->tensors[t].type);
		l->crossing[l->layer[n] + 1] += nbytes;
		l->crossing[last[t] + 1] -= nbytes;
	}
	for (int i = 1; i <= l->n; i++)
		l->crossing[i] += l->crossing[i - 1];
}

/* Numbers the nodes of each part in their order. */
static void number_parts(pipeline_layers *l, const node_row *r, int nparts,
			 const int *part, int *first)
{
	for (int q = 0; q < nparts; q++) {
		first[q] = l->n;
		for (int i = 0; i < r->n; i++) {
			node_id n = r->node[i];
			if (part[n] != q)
				continue;
			l->first[l->n] = n;
			l->forward[l->n] = r->forward[i];
			l->backward[l->n] = r->backward[i];
			l->layer[n] = l->n++;
		}
	}
	first[nparts] = l->n;
}

const pipeline_layers *pipeline_layers_of_parts(arena *a, const graph *g,
						const topology *t, int nparts,
						const int *part, int *first)
{
	arena *tmp = arena_new();
	pipeline_layers *l = ARENA_NEW(a, pipeline_layers);
	const graph_passes passes = graph_passes_of(tmp, g);
	node_row r = row_new(tmp, g, stage_layers(tmp, g));
	*l = (pipeline_layers){ g, ARENA_ARRAY(a, int, g->nnodes), 0,
				ARENA_ARRAY(a, node_id, r.n + 1),
				ARENA_ARRAY(a, double, r.n + 1),
				ARENA_ARRAY(a, double, r.n + 1),
				ARENA_ARRAY(a, double, r.n + 2) };
	for (node_id n = 0; n < g->nnodes; n++)
		l->layer[n] = NONE;
	count_seconds(&r, &passes, t);
	number_parts(l, &r, nparts, part, first);
	cross_layers(l, tmp);
	arena_free(tmp);
	return l;
}

stage_division pipeline_layers_divide(arena *a, const pipeline_layers *l,
				      int nstages, int nchunks,
				      const int *first)
{
	int *parts = ARENA_ARRAY(a, int, l->g->nnodes);
	for (node_id n = 0; n < l->g->nnodes; n++) {
		int q = 0;
		while (l->layer[n] >= first[q + 1])
			q++;
		parts[n] = q;
	}
	return stage_division_new(a, l->g, nstages, nchunks, parts);
}

/* ---- balance ----------------------------------------------------------- */

/* best[s][j] is the longest stage of the best split of layers [0, j) into s
 * stages. */
void pipeline_layers_balance(const pipeline_layers *l, int nstages,
			     const double *speed, double bandwidth, int *first)
{
	arena *tmp = arena_new();
	int n = l->n, row = n + 1;
	double *best = ARENA_ARRAY(tmp, double, (size_t)(nstages + 1) *
						(size_t)row);
	int *from = ARENA_ARRAY(tmp, int, (size_t)(nstages + 1) * (size_t)row);
	for (int j = 1; j <= n; j++)
		best[j] = INFINITY;
	for (int s = 1; s <= nstages; s++)
		for (int j = 0; j <= n; j++) {
			double seconds = 0;
			double *to = &best[s * row + j];
			*to = INFINITY;
			for (int i = j; i-- > 0;) {
				seconds += l->forward[i] + l->backward[i];
				double moved = 2 * (l->crossing[i] +
						    l->crossing[j]);
				double own = fmax(seconds, 1e-12) /
						     speed[s - 1] +
					     moved / bandwidth;
				double all = fmax(own,
						  best[(s - 1) * row + i]);
				if (all >= *to)
					continue;
				*to = all;
				from[s * row + j] = i;
			}
		}
	for (int s = nstages, j = n; s >= 0; s--) {
		first[s] = j;
		j = s > 0 ? from[s * row + j] : 0;
	}
	arena_free(tmp);
}
