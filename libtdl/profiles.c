#include "config.h"

#include "libtdl/profiles.h"

#include "compiler/cost/instr_time.h"
#include "compiler/cost/profiled.h"

const topology *profiles_machine(job *d, const topology *t, int64_t k)
{
	profile *p = profile_new(d->arena);
	for (int i = 0; i < d->profiles.n; i++)
		if (!profile_read(p, d->sink, d->profiles.at[i]))
			return NULL;
	if (d->profiles.n > 0)
		t = topology_profiled(d->arena, t, p);
	return topology_of(d->arena, t, (int)k);
}

profiles_share profiles_share_of(const plan *stages, int n, const topology *t)
{
	profiles_share s = { { 0 } };
	for (int i = 0; i < n; i++)
		instr_time_sources(&stages[i], t,
				   mesh_workers(&stages[i].mesh), s.seconds);
	return s;
}

static double sum_of(const profiles_share *s)
{
	double sum = 0;
	for (int i = 0; i < TIME_SOURCES; i++)
		sum += s->seconds[i];
	return sum;
}

const char *profiles_share_text(arena *a, const profiles_share *s)
{
	double sum = sum_of(s);
	const char *text = "";
	for (int i = TIME_SOURCES; i-- > 0;) {
		double part = sum > 0 ? 100 * s->seconds[i] / sum : 0;
		text = arena_printf(a, "%s%s%.1f %%%s %s", text,
				    *text ? ", " : "", part,
				    *text ? "" : " of the instructions' time",
				    time_source_name((time_source)i));
	}
	return text;
}

json_t *profiles_share_json(const profiles_share *s)
{
	json_t *j = json_object();
	for (int i = TIME_SOURCES; i-- > 0;)
		json_object_set_new(j, time_source_name((time_source)i),
				    json_real(s->seconds[i]));
	return j;
}
