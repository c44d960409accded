#include "config.h"

#include "compiler/cost/profiled.h"

#include <math.h>

/* By row of the profile: the logarithm of measured by modelled time. */
struct profiled {
	const profile *from;
	double *kernels, *transfers;
	hash_table by_structure;
};

/* ---- what the model says of what was measured --------------------------- */

static double modelled_kernel(arena *tmp, const topology *t,
			      const profile_kernel *x)
{
	const topology *own = topology_of(tmp, t, x->devices);
	const kernel_form form = {
		.class = x->class,
		.type = x->type,
		.side[SIDE_DEPTH] = kernel_class_has_sides(x->class),
	};
	return topology_load_seconds(own, x->type, &form, &x->load, &x->work);
}

/* For devices of the innermost levels. */
static double modelled_transfer(arena *tmp, const topology *t,
				const profile_transfer *x)
{
	const topology *own = topology_of(tmp, t, x->devices);
	topology_move m = topology_move_of(x->collective);
	m.peers[t->nlevels - 1] = x->devices;
	m.bytes[t->nlevels - 1] = (double)x->received;
	return topology_copy_seconds(own, (double)x->written) +
	       topology_move_seconds(own, &m);
}

/* Nothing follows from a modelled time of 0. */
static double times_longer(double measured, double modelled)
{
	return modelled > 0 ? log(measured / modelled) : NAN;
}

const topology *topology_profiled(arena *a, const topology *t,
				  const profile *p)
{
	arena *tmp = arena_new();
	topology *own = ARENA_COPY(a, t, 1);
	profiled *x = ARENA_NEW(a, profiled);
	*x = (profiled){
		.from = p,
		.kernels = ARENA_ARRAY(a, double, p->kernels.n),
		.transfers = ARENA_ARRAY(a, double, p->transfers.n),
	};
	for (int i = 0; i < p->kernels.n; i++) {
		const profile_kernel *k = &p->kernels.at[i];
		x->kernels[i] = times_longer(k->time.seconds,
					     modelled_kernel(tmp, t, k));
		hash_table_add(a, &x->by_structure, k->structure, i);
	}
	for (int i = 0; i < p->transfers.n; i++) {
		const profile_transfer *y = &p->transfers.at[i];
		x->transfers[i] = times_longer(y->time.seconds,
					       modelled_transfer(tmp, t, y));
	}
	arena_free(tmp);
	own->profiled = x;
	return own;
}

/* ---- what is like it --------------------------------------------------- */

/* A mean of logarithms, weighted by nearness. */
typedef struct mean {
	double sum, weight;
} mean;

static void take(mean *m, double value, double distance2)
{
	if (!isfinite(value))
		return;
	m->sum += value / distance2;
	m->weight += 1 / distance2;
}

static double mean_of(const mean *m)
{
	return m->weight > 0 ? exp(m->sum / m->weight) : 0;
}

static double apart2(double x, double y)
{
	double d = log(fmax(x, 1) / fmax(y, 1));
	return d * d;
}

/* 0 only if they are equal. */
static double kernel_distance2(const profile_kernel *x, const box *part,
			       int nvars, int devices)
{
	double sum = apart2(x->devices, devices);
	for (int v = 0; v < nvars; v++) {
		int64_t n = part->hi[v] - part->lo[v];
		if (n != x->extents[v])
			sum += fmax(apart2((double)x->extents[v], (double)n),
				    1e-12);
	}
	return sum;
}

double profiled_kernel(const profiled *x, uint64_t structure, const box *part,
		       int nvars, int devices, double *exact)
{
	mean m = { 0 };
	uint32_t at = 0;
	*exact = 0;
	for (int i; (i = hash_table_next(&x->by_structure, structure,
					 &at)) >= 0;) {
		const profile_kernel *k = &x->from->kernels.at[i];
		if (k->structure != structure || k->nextents != nvars)
			continue;
		double d = kernel_distance2(k, part, nvars, devices);
		if (d == 0) {
			*exact = k->time.seconds;
			return exp(x->kernels[i]);
		}
		take(&m, x->kernels[i], d);
	}
	return mean_of(&m);
}

double profiled_transfer(const profiled *x, collective c, int devices,
			 double received, double written, double *exact)
{
	mean m = { 0 };
	*exact = 0;
	for (int i = 0; i < x->from->transfers.n; i++) {
		const profile_transfer *y = &x->from->transfers.at[i];
		if (y->collective != c || y->devices != devices)
			continue;
		double d = apart2((double)y->received, received) +
			   apart2((double)y->written, written);
		if (d == 0) {
			*exact = y->time.seconds;
			return exp(x->transfers[i]);
		}
		take(&m, x->transfers[i], d);
	}
	return mean_of(&m);
}
