#include "config.h"

#include "compiler/portfolio/pipeline_sums.h"

#include <math.h>
#include <string.h>

/* ---- devices ----------------------------------------------------------- */

/* Whether any of devices [begin, end) is of kind i, whose first device is
 * number `at'. */
static bool has_kind(const topology *t, int i, int at, int begin, int end)
{
	return at < end && at + t->kinds[i].count > begin;
}

static double slowest_of(const topology *t, int begin, int end)
{
	double speed = INFINITY;
	int at = 0;
	for (int i = 0; i < t->nkinds; at += t->kinds[i++].count)
		if (has_kind(t, i, at, begin, end))
			speed = fmin(speed, t->kinds[i].speed);
	return t->nkinds > 0 ? speed : 1;
}

double pipeline_limit(const plan_request *how, int begin, int end)
{
	const topology *t = how->topology;
	int64_t all = how->memory > 0 ? how->memory : t->memory;
	double limit = all > 0 ? (double)all : INFINITY;
	int at = 0;
	for (int i = 0; i < t->nkinds; at += t->kinds[i++].count)
		if (has_kind(t, i, at, begin, end) && t->kinds[i].memory > 0)
			limit = fmin(limit, (double)t->kinds[i].memory);
	return limit;
}

/* ---- sums -------------------------------------------------------------- */

/* By interval: the bytes in use for a while. */
static double *most_passing(pipeline_sums *x, const way_costs *w, int parts)
{
	arena *tmp = arena_new();
	int n = x->costs->layers->n;
	double *to = ARENA_ARRAY(x->a, double,
				 (size_t)(n + 1) * (size_t)(n + 1));
	const passing_corners **of = ARENA_ARRAY(tmp, const passing_corners *,
						 n);
	for (int i = 0; i < n; i++)
		of[i] = &w->of[x->costs->class[i]].passing[parts];
	passing_of_stages(of, n, to);
	arena_free(tmp);
	return to;
}

void pipeline_sums_add(pipeline_sums *x, const way_costs *w)
{
	int n = x->costs->layers->n;
	way_sums s = { .way = w->way, .hidden = w->hidden,
		       .shared = w->shared };
	double **to[] = { &s.computing, &s.moving, &s.fixed, &s.once,
			  &s.kept[0], &s.kept[1], &s.kept[2] };
	enum { NSUMS = sizeof(to) / sizeof(*to) };
	for (int k = 0; k < NSUMS; k++)
		*to[k] = ARENA_ARRAY(x->a, double, n + 1);
	s.given = ARENA_ARRAY(x->a, double, n + 1);
	for (int i = 0; i < n; i++) {
		const layer_cost *c = &w->of[x->costs->class[i]];
		double again = x->recompute ? 1 : 0;
		const double of[] = {
			c->computing + again * c->forward_computing,
			c->moving + again * c->forward_moving,
			c->fixed, c->once, c->kept[0], c->kept[1], c->kept[2]
		};
		s.given[i] = c->given;
		for (int k = 0; k < NSUMS; k++)
			(*to[k])[i + 1] = (*to[k])[i] + of[k];
	}
	for (int parts = 0; parts < 2; parts++)
		s.passing[parts] = most_passing(x, w, parts);
	vec_push(x->a, &x->ways, s);
}

/* ---- a stage ----------------------------------------------------------- */

static int kind_of_place(const pipeline_sums *x, const stage_place *at)
{
	return (at->i > 0) + 2 * (at->j < x->costs->layers->n);
}

/* The known error of this way in that place, or otherwise in another one. */
static const stage_error *error_of(const pipeline_sums *x, const way_sums *w,
				   const stage_place *at)
{
	static const stage_error none = { .part = 1 };
	const stage_error *own = &w->errors[kind_of_place(x, at)];
	for (int i = 0; i < 4 && !own->known; i++)
		own = &w->errors[i];
	return own->known ? own : &none;
}

/* The bytes of layers [i, j) that a micro-batch keeps between two passes. */
static double pair_bytes(const way_sums *w, const stage_place *at,
			 cost_pair pair)
{
	return w->kept[pair][at->j] - w->kept[pair][at->i];
}

/* The same for what the stage is given and an earlier layer counts; the stage
 * keeps it, too. */
static double kept_again(const pipeline_sums *x, const way_sums *w,
			 const stage_place *at)
{
	int all = at->i * (x->costs->layers->n + 1) + at->j;
	return w->given[at->i] * x->costs->crossings->again[all];
}

/* The bytes that micro-batches in flight keep.  If a stage recomputes its
 * forward pass, each of them keeps what the stage is given, and the one being
 * computed also keeps the rest. */
static double all_kept(const pipeline_sums *x, const way_sums *w,
		       const stage_place *at)
{
	int n = at->in_flight, waiting = at->waiting ? at->waiting : n;
	double first = pair_bytes(w, at, COST_FORWARD_BACKWARD);
	double both = pair_bytes(w, at, COST_FORWARD_WEIGHT) +
		      kept_again(x, w, at);
	double second = at->waiting > 0
				? pair_bytes(w, at, COST_BACKWARD_WEIGHT) : 0;
	int all = at->i * (x->costs->layers->n + 1) + at->j;
	if (!x->recompute)
		return waiting * first + n * both +
		       (n - waiting + 1) * second;
	return n * w->given[at->i] * x->costs->crossings->given[all] + first +
	       (n - waiting + 1) * (both + second);
}

static double messages_of(const pipeline_sums *x, const way_sums *w,
			  const stage_place *at)
{
	int all = at->i * (x->costs->layers->n + 1) + at->j;
	return w->given[at->i] * x->costs->crossings->before[all] +
	       w->given[at->j - 1] * x->costs->crossings->behind[all];
}

static double sum_of_bytes(const pipeline_sums *x, const way_sums *w,
			   const stage_place *at)
{
	int all = at->i * (x->costs->layers->n + 1) + at->j;
	return w->fixed[at->j] - w->fixed[at->i] +
	       w->shared * x->costs->crossings->shared[all] +
	       w->passing[at->waiting > 0][all] + all_kept(x, w, at) +
	       messages_of(x, w, at);
}

static double bytes_of(const pipeline_sums *x, const way_sums *w,
		       const stage_place *at)
{
	const stage_error *e = error_of(x, w, at);
	return sum_of_bytes(x, w, at) * e->part + e->more;
}

/* The seconds of messages once per step: what layers share, and back its
 * gradient. */
static double exchange_of(const pipeline_sums *x, const stage_place *at)
{
	const pipeline_crossings *c = x->costs->crossings;
	int all = at->i * (x->costs->layers->n + 1) + at->j;
	if (c->nreceived[all] <= 0)
		return 0;
	const topology_level *l = pipeline_level_before(x->how->topology,
							at->begin);
	int messages = x->costs->layers->g->training ? 2 : 1;
	return messages * (c->nreceived[all] * l->latency +
			   c->received[all] / l->bandwidth);
}

static double seconds_of(const pipeline_sums *x, const way_sums *w,
			 const stage_place *at, double speed)
{
	double computing = (w->computing[at->j] - w->computing[at->i]) / speed;
	double moving = w->moving[at->j] - w->moving[at->i];
	int turns = x->costs->layers->g->turns->turns;
	return computing + moving - w->hidden * fmin(computing, moving) +
	       (w->once[at->j] - w->once[at->i] + exchange_of(x, at)) / turns;
}

const way_sums *pipeline_sums_best(const pipeline_sums *x,
				   const stage_place *at, double share,
				   double *seconds)
{
	const way_sums *best = NULL;
	double speed = slowest_of(x->how->topology, at->begin, at->end);
	double memory = isinf(share) ? INFINITY
				     : share * pipeline_limit(x->how, at->begin,
							      at->end);
	*seconds = INFINITY;
	for (int k = 0; k < x->ways.n; k++) {
		const way_sums *w = &x->ways.at[k];
		if (w->way.devices != at->end - at->begin)
			continue;
		/* Seconds first: bytes take longer to add up. */
		double s = seconds_of(x, w, at, speed);
		if (s >= *seconds || bytes_of(x, w, at) > memory)
			continue;
		*seconds = s;
		best = w;
	}
	return best;
}

const way_sums *pipeline_sums_least(const pipeline_sums *x,
				    const stage_place *at, double *share)
{
	const way_sums *best = NULL;
	double limit = pipeline_limit(x->how, at->begin, at->end);
	*share = INFINITY;
	for (int k = 0; k < x->ways.n; k++) {
		const way_sums *w = &x->ways.at[k];
		if (w->way.devices != at->end - at->begin)
			continue;
		double own = bytes_of(x, w, at) / limit;
		if (own >= *share)
			continue;
		*share = own;
		best = w;
	}
	return best;
}

bool pipeline_sums_of(const pipeline_sums *x, const pipeline_way *way,
		      const stage_place *at, double *bytes, double *seconds)
{
	double speed = slowest_of(x->how->topology, at->begin, at->end);
	for (int k = 0; k < x->ways.n; k++) {
		const way_sums *w = &x->ways.at[k];
		if (!pipeline_way_equal(&w->way, way))
			continue;
		*bytes = bytes_of(x, w, at);
		*seconds = seconds_of(x, w, at, speed);
		return true;
	}
	return false;
}

/* ---- errors ------------------------------------------------------------ */

int pipeline_sums_waiting(pipeline_schedule kind, int s, int nstages,
			  int turns)
{
	return kind == SCHEDULE_ZB ? schedule_in_flight(SCHEDULE_1F1B, s,
							nstages, 1, turns)
				   : 0;
}

stage_place pipeline_sums_place(const pipeline_cut *cut, int s, int turns)
{
	int begin = 0;
	for (int q = 0; q < s; q++)
		begin += cut->ways[q].devices;
	return (stage_place){ cut->first[s], cut->first[s + 1], begin,
			      begin + cut->ways[s].devices,
			      schedule_in_flight(cut->kind, s, cut->nstages, 1,
						 turns),
			      pipeline_sums_waiting(cut->kind, s, cut->nstages,
						    turns) };
}

static stage_error error_in_stage(const pipeline_sums *x, const way_sums *w,
				  const stage_place *at, const plan *p)
{
	double bytes = (double)p->arena_bytes, all = sum_of_bytes(x, w, at);
	return (stage_error){ .known = true,
			      .part = all > 0 ? fmin(bytes / all, 1) : 1,
			      .more = fmax(bytes - all, 0) };
}

/* Combines the errors of stages in one place: the worst counts. */
static void add_error(stage_error *to, const stage_error *e)
{
	if (!to->known)
		*to = *e;
	to->part = fmax(to->part, e->part);
	to->more = fmax(to->more, e->more);
}

/* Replaces the known errors of a way by those of this plan in the same
 * places. */
static void learn_way(pipeline_sums *x, way_sums *w, const pipeline_cut *cut,
		      const pipeline_result *r)
{
	int turns = x->costs->layers->g->turns->turns;
	stage_error found[4] = { { 0 } };
	for (int s = 0; s < cut->nstages; s++) {
		if (!pipeline_way_equal(&w->way, &cut->ways[s]))
			continue;
		stage_place at = pipeline_sums_place(cut, s, turns);
		stage_error e = error_in_stage(x, w, &at, &r->plan->stages[s]);
		add_error(&found[kind_of_place(x, &at)], &e);
	}
	for (int i = 0; i < 4; i++)
		if (found[i].known)
			w->errors[i] = found[i];
}

void pipeline_sums_forget(pipeline_sums *x)
{
	for (int k = 0; k < x->ways.n; k++)
		memset(x->ways.at[k].errors, 0, sizeof(x->ways.at[k].errors));
}

void pipeline_sums_learn(pipeline_sums *x, const pipeline_cut *cut,
			 const pipeline_result *r)
{
	for (int k = 0; k < x->ways.n; k++)
		learn_way(x, &x->ways.at[k], cut, r);
}
