#include "config.h"

#include "compiler/placement/placed.h"

#include <string.h>

#include "compiler/placement/figures.h"

bool placed_input(arena *a, diag_sink *s, const cost_graph *file,
		  const machine_request *r, place_input *to)
{
	const cost_graph *g = cost_graph_tie_training(a, s, file);
	*to = (place_input){ .file = file };
	to->m = g ? machine_new(a, s, g, r) : NULL;
	to->load = to->m ? to->m->loads : NULL;
	return to->m != NULL;
}

/* ---- searching ----------------------------------------------------------- */

const place_algorithm *placed_algorithm(const char *name)
{
	const place_algorithm *p = place_algorithms;
	while (p->name && strcmp(p->name, name))
		p++;
	return p->name ? p : NULL;
}

place_report placed_judged(arena *a, const place_input *in, judge *j,
			   const char *algorithm, const int *place)
{
	const machine *m = in->m;
	verdict v = judge_run(j, place, INT64_MAX);
	const int64_t *load = place_loads(a, in->load, place, m->ndevices);
	place_report r = { .algorithm = algorithm, .place = place,
			   .makespan = v.makespan,
			   .peak = ARENA_COPY(a, v.peak, m->ndevices),
			   .fits = judge_fits(m, &v) };
	for (int i = 0; i < m->ndevices; i++)
		r.max_load = load[i] > r.max_load ? load[i] : r.max_load;
	return r;
}

place_report placed_by(arena *a, const place_input *in,
		       const place_algorithm *by, bool colocation,
		       double seconds)
{
	double begun = clock_seconds();
	const place_task *t = place_task_new(a, in->m,
					     colocation || in->m->g->bound,
					     deadline_in(seconds));
	const int *place = by->run(a, t);
	double took = clock_seconds() - begun;
	place_report r = { .algorithm = by->name };
	if (place)
		r = placed_judged(a, in, t->j, by->name, place);
	r.seconds = took;
	return r;
}

/* ---- a given placement --------------------------------------------------- */

int placed_cores(const place_input *in)
{
	enum { MOST = 1024 };
	for (int v = 0; v < in->file->nops; v++)
		if (in->file->ops[v].core_ns < 0)
			return 0;
	return in->file->cores < 0    ? 0 :
	       in->file->cores > MOST ? MOST :
					(int)in->file->cores;
}

static place_report judged_on_cores(arena *a, const place_input *in,
				    const int *place, int ndevices)
{
	const machine *m = in->load;
	const int64_t *load = place_loads(a, m, place, ndevices);
	place_report r = { .algorithm = "given", .place = place,
			   .makespan = -1, .fits = true,
			   .peak = ARENA_ARRAY(a, int64_t, ndevices) };
	for (int v = 0; v < m->g->nops; v++)
		r.peak[place[v]] += m->resident[v];
	for (int d = 0; d < ndevices; d++) {
		r.max_load = load[d] > r.max_load ? load[d] : r.max_load;
		r.fits &= d >= m->ndevices || r.peak[d] <= m->limit[d];
	}
	return r;
}

place_report placed_given(arena *a, const place_input *in, const int *place,
			  int *ncores)
{
	int n = in->m->ndevices, all = n + *ncores;
	*ncores = 0;
	for (int v = 0; v < in->file->nops; v++)
		if (place[v] >= n)
			*ncores = all - n;
	return *ncores ? judged_on_cores(a, in, place, all) :
			 placed_judged(a, in, judge_new(a, in->m), "given",
				       place);
}

place_need placed_needs(const machine *m)
{
	place_need need = { 0 };
	for (int v = 0; v < m->g->nops; v++) {
		need.all += m->resident[v];
		need.most = m->resident[v] > need.most ? m->resident[v] :
							 need.most;
	}
	return need;
}
