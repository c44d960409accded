#include "config.h"

#include "libtdl/plan_speed.h"

#include <math.h>

#include "base/units.h"
#include "compiler/portfolio/pipeline_plan.h"
#include "plan/pipeline.h"

/* The extent of the batch if all inputs that have one agree; 0 otherwise. */
static int64_t batch_of(const graph *g)
{
	int64_t batch = 0;
	for (int i = 0; i < g->ninputs; i++) {
		const tensor *t = &g->tensors[g->inputs[i]];
		if (t->batch == 0)
			continue;
		int64_t n = t->type.dims[t->batch - 1];
		if (batch > 0 && batch != n)
			return 0;
		batch = n;
	}
	return batch;
}

/* The seconds that the model's operations take on one device, at the peak speed
 * for their types. */
static double peak_seconds(const graph *g, const topology *t)
{
	double sum = 0;
	for (node_id n = 0; n < g->nnodes; n++) {
		const kernel *k = g->nodes[n].kernel;
		double points = (double)kernel_points(k);
		sum += points * (double)kernel_flops_per_point(k) /
		       t->flops[k->type];
	}
	return sum;
}

static const plan *first_plan(const plan_result *r)
{
	return r->pipeline ? &r->pipeline->plan->stages[0] : r->plan;
}

static int devices_of(const plan_result *r)
{
	const plan_pipeline *p = r->pipeline ? r->pipeline->plan : NULL;
	return p ? pipeline_first(p, p->nstages)
		 : mesh_workers(&r->plan->mesh);
}

profiles_share plan_speed_share(const plan_result *r)
{
	const plan_pipeline *p = r->pipeline ? r->pipeline->plan : NULL;
	return profiles_share_of(first_plan(r), p ? p->nstages : 1,
				 r->topology);
}

const char *plan_speed_share_text(arena *a, const plan_result *r)
{
	const profiles_share s = plan_speed_share(r);
	return profiles_share_text(a, &s);
}

bool plan_speed_is_default(const topology *t)
{
	return t->path == NULL && t->nmeasured == 0 &&
	       t->name == topology_preset(0)->name;
}

plan_speed plan_speed_of(const plan_result *r)
{
	plan_speed s = { NAN, NAN, NAN, NAN, first_plan(r)->loop.batch };
	int k = devices_of(r);
	if (s.batch == 0)
		s.batch = batch_of(r->graph);
	if (!(r->seconds > 0))
		return s;
	if (r->one_device_seconds > 0) {
		s.speedup = r->one_device_seconds / r->seconds;
		s.efficiency = s.speedup / k;
	}
	s.mfu = peak_seconds(r->graph, r->topology) / (r->seconds * k);
	if (s.batch > 0)
		s.samples = (double)s.batch / r->seconds;
	return s;
}

static json_t *known(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

void plan_speed_json(json_t *to, const plan_result *r)
{
	const plan_speed s = plan_speed_of(r);
	json_object_set_new(to, "speedup", known(s.speedup));
	json_object_set_new(to, "parallel_efficiency", known(s.efficiency));
	json_object_set_new(to, "mfu", known(s.mfu));
	json_object_set_new(to, "batch", s.batch > 0 ?
		json_integer((json_int_t)s.batch) : json_null());
	json_object_set_new(to, "samples_per_second", known(s.samples));
	if (r->topology->profiled) {
		const profiles_share x = plan_speed_share(r);
		json_object_set_new(to, "predicted_by",
				    profiles_share_json(&x));
	}
}

static const char *and(arena *a, const char *text, const char *more)
{
	return *text ? arena_printf(a, "%s; %s", text, more) : more;
}

const char *plan_speed_text(arena *a, const plan_result *r)
{
	const plan_speed s = plan_speed_of(r);
	const char *text = "";
	int k = devices_of(r);
	if (plan_speed_is_default(r->topology))
		return text;
	if (isfinite(s.speedup) && k > 1)
		text = arena_printf(a, "%.3g times one device alone, %.3g %% "
				    "of %d", s.speedup, 100 * s.efficiency, k);
	if (isfinite(s.mfu) && s.mfu > 0)
		text = and(a, text, arena_printf(a, "%.3g %% of the peak",
						 100 * s.mfu));
	if (isfinite(s.samples))
		text = and(a, text, arena_printf(
			a, "%s samples per second",
			units_scaled(s.samples, "").text));
	return text;
}
