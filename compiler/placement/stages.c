/* Profiles and models as sequences of layers. */
#include "config.h"

#include <math.h>

#include "base/vec.h"
#include "compiler/placement/stages.h"

static void add_reads(arena *a, layer_chain *l, const cost_graph *g,
		      const int *position)
{
	VEC(int) reads = { 0 };
	for (int v = 0; v < l->n; v++)
		l->last_reader[v] = -1;
	for (int v = 0; v < l->n; v++) {
		int op = l->op[v];
		l->first_read[v] = reads.n;
		int end = g->first_pred[op + 1];
		for (int e = g->first_pred[op]; e < end; e++) {
			int u = position[g->pred[e].op];
			vec_push(a, &reads, u);
			if (v > l->last_reader[u])
				l->last_reader[u] = v;
		}
	}
	l->first_read[l->n] = reads.n;
	l->reads = reads.at;
}

/* ---- models -------------------------------------------------------------- */

/* Assigns all operators to layers like their forward operators.  Operators
 * without one go to the last layer. */
static void layer_backward(const layer_chain *l, const cost_graph *g,
			   int *position)
{
	for (int v = 0; v < g->nops; v++)
		if (g->ops[v].backward)
			position[v] = g->ops[v].mirror < 0 ?
					      l->n - 1 :
					      position[g->ops[v].mirror];
}

static double kept_always(const cost_op *op)
{
	return (double)op->resident_nbytes + (double)op->gradient_nbytes;
}

/* Counts the bytes of each colour at each layer with that colour.  Those of an
 * operator without colour count at its layer. */
static void share_parameters(layer_chain *l, const cost_graph *g,
			     const int *position)
{
	arena *own = arena_new();
	double *bytes = ARENA_ARRAY(own, double, g->ncolours);
	int *next = ARENA_ARRAY(own, int, g->ncolours);
	for (int c = 0; c < g->ncolours; c++)
		next[c] = l->n;
	for (int v = 0; v < g->nops; v++)
		bytes[g->ops[v].colour] += kept_always(&g->ops[v]);
	for (int v = l->n - 1; v >= 0; v--) {
		int c = g->ops[l->op[v]].colour;
		l->parameters[v] = bytes[c];
		l->next_tied[v] = next[c];
		next[c] = v;
	}
	for (int v = 0; v < g->nops; v++)
		if (next[g->ops[v].colour] == l->n)
			l->alone[position[v]] += kept_always(&g->ops[v]);
	arena_free(own);
}

static void layers_of_model(arena *a, layer_chain *l, const cost_graph *g,
			    int *position)
{
	layer_backward(l, g, position);
	share_parameters(l, g, position);
	for (int v = 0; v < l->n; v++) {
		int r = g->first_result[l->op[v]];
		l->activation[v] = (double)g->results[r].nbytes;
	}
	for (int v = 0; v < g->nops; v++)
		if (g->ops[v].backward && !g->ops[v].once)
			l->backward[position[v]] += (double)g->ops[v].ns;
	l->memory = stage_memory_new(a, g, position, l->n);
}

/* ---- all ----------------------------------------------------------------- */

static layer_chain *new_chain(arena *a, int n)
{
	layer_chain *l = ARENA_NEW(a, layer_chain);
	l->op = ARENA_ARRAY(a, int, n);
	l->forward = ARENA_ARRAY(a, double, n);
	l->backward = ARENA_ARRAY(a, double, n);
	l->parameters = ARENA_ARRAY(a, double, n);
	l->activation = ARENA_ARRAY(a, double, n);
	l->alone = ARENA_ARRAY(a, double, n);
	l->next_tied = ARENA_ARRAY(a, int, n);
	l->first_read = ARENA_ARRAY(a, int, n + 1);
	l->last_reader = ARENA_ARRAY(a, int, n);
	return l;
}

layer_chain *layer_chain_new(arena *a, const cost_graph *g)
{
	int *position = ARENA_ARRAY(a, int, g->nops);
	layer_chain *l = new_chain(a, g->nops);
	for (int i = 0; i < g->nops; i++) {
		const cost_op *op = &g->ops[g->order[i]];
		if (op->backward)
			continue;
		int v = l->n++;
		position[g->order[i]] = v;
		l->op[v] = g->order[i];
		l->forward[v] = (double)op->ns;
	}
	for (int v = 0; v < l->n; v++) {
		const cost_op *op = &g->ops[l->op[v]];
		l->next_tied[v] = l->n;
		if (op->mirror >= 0)
			l->backward[v] = (double)g->ops[op->mirror].ns;
		l->parameters[v] = (double)op->resident_nbytes;
		l->activation[v] = (double)op->activation_nbytes;
	}
	if (g->format == COST_FORMAT_MODEL && l->n > 0)
		layers_of_model(a, l, g, position);
	add_reads(a, l, g, position);
	return l;
}

/* Bytes made before i and read in [i, j), for all j.  seen[u] is i + 1 if u is
 * counted already. */
static void incoming(const layer_chain *l, int i, int *seen, double *bytes)
{
	double sum = 0;
	for (int v = i; v < l->n; v++) {
		for (int e = l->first_read[v]; e < l->first_read[v + 1]; e++) {
			int u = l->reads[e];
			if (u < i && seen[u] != i + 1) {
				seen[u] = i + 1;
				sum += l->activation[u];
			}
		}
		bytes[v + 1] = sum;
	}
}

/* Bytes made in [i, j) and read from j on, for all i. */
static void outgoing(const layer_chain *l, int j, double *bytes)
{
	double sum = 0;
	for (int u = j - 1; u >= 0; u--) {
		if (l->last_reader[u] >= j)
			sum += l->activation[u];
		bytes[u] = sum;
	}
}

static double transfer_ns(double bytes, double bandwidth)
{
	return floor(bytes / bandwidth * 1e9 + 0.5);
}

/* Puts incoming bytes into `kept' and outgoing ones into `time', for fill() to
 * continue with. */
static void fill_transfers(const layer_chain *l, intervals *t)
{
	arena *own = arena_new();
	int *seen = ARENA_ARRAY(own, int, l->n);
	double *bytes = ARENA_ARRAY(own, double, l->n + 1);
	for (int i = 0; i < l->n; i++) {
		incoming(l, i, seen, bytes);
		for (int j = i + 1; j <= l->n; j++)
			t->kept[interval_at(i, j)] = bytes[j];
	}
	for (int j = 1; j <= l->n; j++)
		outgoing(l, j, &t->time[interval_at(0, j)]);
	arena_free(own);
}

intervals *layer_intervals(arena *a, const layer_chain *l,
			   const stage_model *m)
{
	intervals *t = intervals_new(a, l->n, false);
	if (m->schedule == SCHEDULE_INTERLEAVED)
		t->running = intervals_table(a, l->n);
	fill_transfers(l, t);
	for (int j = 1; j <= l->n; j++) {
		double ns = 0, parameters = 0, activations = 0;
		for (int i = j - 1; i >= 0; i--) {
			size_t x = interval_at(i, j);
			ns += l->forward[i] * (m->recompute ? 2 : 1) +
				l->backward[i];
			parameters += l->alone[i];
			if (l->next_tied[i] >= j)
				parameters += l->parameters[i];
			activations += l->activation[i];
			t->time[x] = ns + transfer_ns(
				2 * (t->kept[x] + t->time[x]), m->bandwidth);
			t->fixed[x] = m->factor * parameters;
			if (l->memory)
				continue;
			*(m->recompute ? &t->fixed[x] : &t->kept[x]) +=
				activations;
			if (m->recompute && t->running)
				t->running[x] = activations;
		}
	}
	if (l->memory)
		stage_memory_fill(l->memory, m->recompute, t);
	intervals_finish(a, t);
	return t;
}

/* The predictor adds up as many differences as there are layers. */
double stages_most_bytes(const layer_chain *l, const stage_model *m)
{
	double parameters = 0, activations = 0;
	for (int v = 0; v < l->n; v++) {
		parameters += l->parameters[v] + l->alone[v];
		activations += l->activation[v];
	}
	if (l->memory)
		activations = stage_memory_most(l->memory);
	return fmax(m->factor, 1) * m->chunks * parameters +
		(l->n + 1.0) * (m->micro_batches + 1.0) * activations;
}

int *stage_in_flight(arena *a, const stage_model *m, int nstages)
{
	int *n = ARENA_ARRAY(a, int, nstages);
	for (int s = 0; s < nstages; s++)
		n[s] = schedule_in_flight(m->schedule, s, nstages, 1,
					  m->micro_batches);
	return n;
}

int *stages_placement(arena *a, const cost_graph *g, const layer_chain *l,
		      const split *s, int nstages)
{
	int *place = ARENA_ARRAY(a, int, g->nops);
	for (int i = 0; i < nstages; i++)
		for (int v = s->first[i]; v < s->first[i + 1]; v++)
			place[l->op[v]] = i;
	for (int v = 0; v < g->nops; v++)
		if (g->ops[v].backward && g->ops[v].mirror >= 0)
			place[v] = place[g->ops[v].mirror];
	return place;
}

/* Sums from the end: the cost of layer i alone, and what later layers add to
 * earlier ones. */
static void predict(int n, const double *of, double *to)
{
	for (int j = 1; j <= n; j++) {
		double added = 0;
		for (int i = j - 1; i >= 0; i--) {
			to[interval_at(i, j)] = of[interval_at(i, i + 1)] +
				added;
			if (i > 0)
				added += of[interval_at(i - 1, i + 1)] -
					of[interval_at(i - 1, i)];
		}
	}
}

intervals *intervals_predicted(arena *a, const intervals *t)
{
	intervals *p = intervals_new(a, t->n, false);
	p->time = t->time;
	predict(t->n, t->fixed, p->fixed);
	predict(t->n, t->kept, p->kept);
	intervals_finish(a, p);
	return p;
}

const pipeline_run *stages_simulate(arena *a, const layer_chain *l,
				    const stage_model *m, const split *s,
				    int nstages, const char **why)
{
	int64_t *f = ARENA_ARRAY(a, int64_t, nstages);
	int64_t *b = ARENA_ARRAY(a, int64_t, nstages);
	int64_t *w = ARENA_ARRAY(a, int64_t, nstages);
	int64_t *link = ARENA_ARRAY(a, int64_t, nstages);
	double *bytes = ARENA_ARRAY(a, double, l->n);
	for (int q = 0; q < nstages; q++) {
		for (int v = s->first[q]; v < s->first[q + 1]; v++) {
			f[q] += (int64_t)l->forward[v];
			b[q] += (int64_t)l->backward[v];
		}
		w[q] = b[q] / 2;
		b[q] += (m->recompute ? f[q] : 0) - w[q];
		outgoing(l, s->first[q + 1], bytes);
		link[q] = (int64_t)fmin(transfer_ns(bytes[0], m->bandwidth),
					0x1p62);
	}
	pipeline p = { m->schedule, nstages / m->chunks, m->chunks,
		       m->micro_batches, f, b, w, link };
	*why = pipeline_refused(a, &p);
	return *why ? NULL : pipeline_simulate(a, &p);
}
