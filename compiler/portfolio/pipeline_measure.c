#include "config.h"

#include "compiler/portfolio/pipeline_measure.h"

#include "base/jobs.h"

/* Work that a thread does alone: layouts, or the costs of a way. */
typedef struct part {
	const pipeline_way *way;
	/* given with the way, or found by layouts */
	const search_result *inside;
	way_costs costs;
	const char *refused;
	arena *arena; /* for its results */
	bool ok;
} part;

typedef void action(const plan_request *how, const pipeline_costs *c, part *x);

typedef struct parts {
	const plan_request *how;
	const pipeline_costs *costs;
	action *does;
	part *all;
} parts;

static void find_layouts(const plan_request *how, const pipeline_costs *c,
			 part *x)
{
	x->inside = pipeline_way_inside(how, c->sample, x->way);
	x->ok = x->inside != NULL;
}

static void find_costs(const plan_request *how, const pipeline_costs *c,
		       part *x)
{
	x->ok = pipeline_costs_with(how, c, x->way, x->inside, &x->costs,
				    &x->refused);
}

/* Does a part.  It uses only its own data, apart from the graph and the
 * machine, which nobody changes. */
static void run_part(void *arg, int i)
{
	const parts *p = arg;
	part *x = &p->all[i];
	plan_request own = *p->how;
	x->arena = own.arena = arena_new();
	own.sink = diag_sink_beside(own.arena, p->how->sink);
	own.observer = NULL;
	own.threads = 1;
	p->does(&own, p->costs, x);
}

/* Does n parts, and moves their results to the call's arena.  A part that adds
 * errors is repeated with the call's sink, and false is returned. */
static bool run_parts(const pipeline_measurer *m, part *all, int n,
		      action *does)
{
	const plan_request *how = m->how;
	parts p = { how, m->sums->costs, does, all };
	const job_set jobs = { n, run_part, NULL, &p };
	bool ok = true;
	if (n == 1) {
		does(how, p.costs, &all[0]);
		return all[0].ok;
	}
	jobs_run(&jobs, how->threads);
	for (int i = 0; i < n; i++)
		arena_join(how->arena, all[i].arena);
	for (int i = 0; i < n && ok; i++) {
		if (!all[i].ok)
			does(how, p.costs, &all[i]);
		ok = all[i].ok;
	}
	return ok;
}

/* ---- layouts ----------------------------------------------------------- */

static pipeline_way one_replica(const pipeline_way *way)
{
	pipeline_way one = *way;
	one.devices /= way->replicas;
	one.replicas = 1;
	one.sharded = false;
	return one;
}

static replica_layouts *known_of(pipeline_measurer *m, const pipeline_way *way)
{
	const pipeline_way one = one_replica(way);
	for (int i = 0; i < m->known.n; i++)
		if (pipeline_way_equal(&m->known.at[i].of, &one))
			return &m->known.at[i];
	return NULL;
}

/* Finds the layouts of all ways for which they are not known yet. */
static bool find_all_layouts(pipeline_measurer *m, const pipeline_way *ways,
			     int n)
{
	arena *tmp = arena_new();
	part *all = ARENA_ARRAY(tmp, part, n);
	int begin = m->known.n;
	for (int i = 0; i < n; i++)
		if (!known_of(m, &ways[i]))
			vec_push(m->how->arena, &m->known,
				 ((replica_layouts){ one_replica(&ways[i]),
						     NULL }));
	for (int i = begin; i < m->known.n; i++)
		all[i - begin].way = &m->known.at[i].of;
	bool ok = run_parts(m, all, m->known.n - begin, find_layouts);
	for (int i = begin; i < m->known.n; i++)
		m->known.at[i].found = all[i - begin].inside;
	arena_free(tmp);
	return ok;
}

/* ---- costs ------------------------------------------------------------- */

static void take_costs(pipeline_measurer *m, const part *x)
{
	if (!x->refused) {
		pipeline_sums_add(m->sums, &x->costs);
		return;
	}
	m->refused->ways++;
	m->refused->way = x->refused;
}

bool pipeline_measure(pipeline_measurer *m, const pipeline_way *ways, int n)
{
	if (n == 0)
		return true;
	if (!find_all_layouts(m, ways, n))
		return false;
	arena *tmp = arena_new();
	part *all = ARENA_ARRAY(tmp, part, n);
	for (int i = 0; i < n; i++) {
		all[i].way = &ways[i];
		all[i].inside = known_of(m, &ways[i])->found;
	}
	bool ok = run_parts(m, all, n, find_costs);
	for (int i = 0; i < n && ok; i++)
		take_costs(m, &all[i]);
	arena_free(tmp);
	return ok;
}
