#include "config.h"

#include "libtdl/words.h"

#include <string.h>

#include "base/vec.h"
#include "compiler/cost/schedule.h"
#include "compiler/cost/topology.h"
#include "compiler/placement/placed.h"
#include "compiler/planners/search.h"
#include "compiler/portfolio/request.h"
#include "libtdl/placement_more.h"
#include "libtdl/plan_published.h"

typedef VEC(const char *) words;

const char *const words_auto[] = { PLAN_AUTO, NULL };
const char *const words_of_stages[] = { PLAN_AUTO, "none", NULL };

static const char *const *ended(arena *a, words *w)
{
	vec_push(a, w, NULL);
	return w->at;
}

static bool has_word(const words *w, const char *word)
{
	for (int i = 0; i < w->n; i++)
		if (!strcmp(w->at[i], word))
			return true;
	return false;
}

const char *const *words_of_planners(arena *a, bool pipelines)
{
	words w = { 0 };
	const char *name;
	for (int i = 0; (name = search_algorithm(i, NULL)); i++)
		vec_push(a, &w, name);
	vec_push(a, &w, PLAN_AUTO);
	for (int i = 0; pipelines && (name = plan_published_name(i)); i++)
		vec_push(a, &w, name);
	return ended(a, &w);
}

const char *const *words_of_placers(arena *a, bool all)
{
	words w = { 0 };
	for (const place_algorithm *p = place_algorithms; p->name; p++)
		vec_push(a, &w, p->name);
	for (int i = 0; all && place_more_name(i); i++)
		vec_push(a, &w, place_more_name(i));
	return ended(a, &w);
}

const char *const *words_of_compared(arena *a)
{
	words w = { 0 };
	for (const char *const *p = words_of_planners(a, true); *p; p++)
		vec_push(a, &w, *p);
	for (const char *const *p = words_of_placers(a, false); *p; p++)
		if (!has_word(&w, *p))
			vec_push(a, &w, *p);
	return ended(a, &w);
}

const char *const *words_of_machines(arena *a)
{
	words w = { 0 };
	for (int i = 0; topology_preset(i); i++)
		vec_push(a, &w, topology_preset(i)->name);
	return ended(a, &w);
}

const char *const *words_of_schedules(arena *a, bool automatic)
{
	words w = { 0 };
	vec_push(a, &w, schedule_name(SCHEDULE_1F1B));
	vec_push(a, &w, schedule_name(SCHEDULE_GPIPE));
	vec_push(a, &w, schedule_name(SCHEDULE_ZB));
	vec_push(a, &w, arena_printf(a, "%s:2",
				     schedule_name(SCHEDULE_INTERLEAVED)));
	if (automatic)
		vec_push(a, &w, PLAN_AUTO);
	return ended(a, &w);
}
