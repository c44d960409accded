#include "config.h"

#include "compiler/portfolio/program_maker.h"

#include <math.h>

static bool begin(program_maker *m)
{
	const lower_options o = { .algorithm = m->how->algorithm,
				  .separate = m->how->separate };
	if (m->arena)
		return m->lowering != NULL;
	m->arena = arena_new();
	m->lowering = lowering_new(m->arena, m->how->graph, m->as, &o,
				   m->how->sink);
	if (!m->lowering)
		return false;
	m->times = instr_times_new(m->arena, lowering_classes(m->lowering),
				   m->how->topology);
	return true;
}

void program_maker_free(program_maker *m)
{
	arena_free(m->arena);
	m->arena = NULL;
}

static void set_figures(program_maker *m, const plan *made, plan_program *p)
{
	lower_times x = lower_time_with(m->times, made);
	p->seconds = x.run;
	p->least = x.least;
	p->least_moved = x.least_moved;
	p->least_kept = x.least_kept;
	p->moved = made->communication_bytes;
	p->held = made->arena_bytes;
}

static bool is_late(program_maker *m, const plan *made, double late,
		    plan_program *p)
{
	if (isinf(late))
		return false;
	p->least_kept = lower_least_kept(m->times, made);
	p->held = -1;
	return p->least_kept > late;
}

bool program_measure(program_maker *m, plan_program *p, double late,
		     void (*see)(void *to, const program_maker *m,
				 const plan *p),
		     void *to)
{
	const lower_choice which = { p->room, p->schedule };
	bool ok = begin(m);
	if (!ok)
		return false;
	arena *tmp = arena_new();
	plan *made = lowering_draft(tmp, m->lowering, which, &p->rooms);
	if (!is_late(m, made, late, p)) {
		made = lowering_place(tmp, m->lowering, which, made,
				      &p->rooms);
		ok = lowering_check(made, m->how->sink);
		if (ok)
			set_figures(m, made, p);
		if (ok && see)
			see(to, m, made);
	}
	arena_free(tmp);
	return ok;
}
