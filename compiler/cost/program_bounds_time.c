/* Lower bounds of the time of a program. */
#include "config.h"

#include "compiler/cost/program_bounds_build.h"

/* A copy that several nodes read may be fetched once; each pays a share. */
static double share_of(const bound_maker *m, const time_model_pair *p,
		       double seconds)
{
	return seconds / __builtin_popcountll(m->readers[p->tensor]);
}

static double all_seconds(const bound_maker *m, const time_model_pair *p,
			  const time_model_cost *c, int64_t stored)
{
	(void)stored;
	return bound_is_shared(m, p) ? share_of(m, p, c->least) : c->seconds;
}

static double remote_seconds(const bound_maker *m, const time_model_pair *p,
			     const time_model_cost *c, int64_t stored)
{
	(void)stored;
	return bound_is_shared(m, p) ? share_of(m, p, c->least) : c->remote;
}

static double local_seconds(const bound_maker *m, const time_model_pair *p,
			    const time_model_cost *c, int64_t stored)
{
	(void)stored;
	return bound_is_shared(m, p) ? 0 : c->seconds - c->remote;
}

/* Seconds that a node waits for: also a copy that others read too, but not in
 * shares. */
static double awaited_seconds(const bound_maker *m, const time_model_pair *p,
			      const time_model_cost *c, int64_t stored)
{
	(void)stored;
	return bound_is_shared(m, p) ? c->least : c->seconds;
}

/* Seconds that the very first node waits for: its fetches follow each other. */
static double first_seconds(const bound_maker *m, const time_model_pair *p,
			    const time_model_cost *c, int64_t stored)
{
	(void)stored;
	return bound_is_shared(m, p) ? c->least : c->remote;
}

static int count_parts(const bound_maker *m, node_id n)
{
	const node *x = &m->g->nodes[n];
	int parts = 0;
	for (int i = 0; i < x->kernel->ninputs; i++)
		parts += bound_may_vanish(m, x->inputs[i]);
	return parts;
}

static const double *run_of(const bound_maker *m, node_id n)
{
	return bound_may_grow(m, n) ? m->x->work[n] : m->x->run[n];
}

/* Seconds lost if a node is not merged into its reader, which then has to read
 * its result. */
static double lost_seconds(const bound_maker *m, tensor_id t, int made,
			   int held, int used)
{
	node_id by = m->g->tensors[t].producer, to = m->merges[t].reader;
	double lost = run_of(m, by)[made];
	(void)held;
	if (used >= 0 && !bound_may_go(m, to) && count_parts(m, to) == 1)
		lost += m->x->run[to][used] - m->x->work[to][used];
	return lost;
}

/* A node with others merged into it takes at least the time of its own
 * arithmetic; a node that is merged takes no time of its own. */
static void add_run(bound_maker *m, program_bound *f, node_id n)
{
	if (bound_may_go(m, n))
		bound_add_loss(m, f, m->g->nodes[n].output, lost_seconds);
	else
		bound_add_term(m, f, m->node_var[n], -1, run_of(m, n));
}

/* Adds the sum over all nodes of their runs, if `runs' is set, and of what is
 * counted of transfers. */
static void add_total(bound_maker *m, bool runs, counting count)
{
	program_bound f = { 0 };
	for (node_id n = 0; runs && n < m->g->nnodes; n++)
		add_run(m, &f, n);
	for (int i = 0; i < m->x->pairs.n; i++)
		bound_add_pair(m, &f, &m->x->pairs.at[i], count);
	vec_push(m->to->arena, &m->to->seconds, f);
}

static double usual_seconds(const bound_maker *m, const time_model_pair *p,
			    const int *usual)
{
	const candidate_set *w = m->x->candidates;
	int i = usual[m->g->ntensors + p->node], j = usual[w->tied[p->tensor]];
	return awaited_seconds(m, p, &p->cost[i * w->tensors[p->tensor]->n + j],
			       0);
}

/* Adds the longest chain of nodes, each of which reads the result of the one
 * before: no two of them can overlap. */
static void add_chain(bound_maker *m, const int *usual)
{
	const time_model *x = m->x;
	int nnodes = m->g->nnodes;
	arena *a = m->to->arena;
	double *longest = ARENA_ARRAY(a, double, nnodes);
	int *from = ARENA_ARRAY(a, int, nnodes), last = 0; /* pairs, or -1 */
	for (node_id n = 0; n < nnodes; n++) {
		from[n] = -1;
		for (int i = x->first[n]; i < x->first[n + 1]; i++) {
			const time_model_pair *p = &x->pairs.at[i];
			node_id by = m->g->tensors[p->tensor].producer;
			double s = usual_seconds(m, p, usual);
			if (!p->inputs || by == NONE ||
			    longest[by] + s <= longest[n])
				continue;
			longest[n] = longest[by] + s;
			from[n] = i;
		}
		longest[n] += x->run[n][usual[m->g->ntensors + n]] +
			      usual_seconds(m, &x->pairs.at[x->first[n]],
					    usual);
		last = longest[n] > longest[last] ? n : last;
	}
	program_bound f = { 0 };
	for (node_id n = last; n >= 0 && nnodes > 0;) {
		add_run(m, &f, n);
		bound_add_pair(m, &f, &x->pairs.at[x->first[n]],
			       awaited_seconds);
		if (from[n] < 0) {
			for (int i = x->first[n] + 1; i < x->first[n + 1]; i++)
				bound_add_pair(m, &f, &x->pairs.at[i],
					       first_seconds);
			break;
		}
		bound_add_pair(m, &f, &x->pairs.at[from[n]], awaited_seconds);
		n = m->g->tensors[x->pairs.at[from[n]].tensor].producer;
	}
	vec_push(a, &m->to->seconds, f);
}

void bound_add_times(bound_maker *m, bool overlap, const int *usual)
{
	if (overlap) {
		add_total(m, true, local_seconds);
		add_total(m, false, remote_seconds);
		add_chain(m, usual);
	} else {
		add_total(m, true, all_seconds);
	}
}
