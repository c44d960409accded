#include "config.h"

#include "compiler/portfolio/program_maker.h"

#include <math.h>

#include "plan/peak.h"

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
	if (m->how->objective == OBJECTIVE_MEMORY)
		p->in_use = plan_peak_bytes(made,
					    lowering_classes(m->lowering));
}

bool program_is_barred(const plan_program *p, const program_bar *bar)
{
	return p->least_kept > bar->least_kept || p->in_use >= bar->in_use;
}

/* Looks at what does not depend on places, as far as the bar asks for it. */
static bool is_barred(program_maker *m, const plan *made,
		      const program_bar *bar, plan_program *p)
{
	p->held = -1;
	p->least_kept = 0;
	p->in_use = -1;
	if (m->how->objective == OBJECTIVE_MEMORY)
		p->in_use = plan_peak_bytes(made,
					    lowering_classes(m->lowering));
	if (!isinf(bar->least_kept))
		p->least_kept = lower_least_kept(m->times, made);
	return program_is_barred(p, bar);
}

bool program_measure(program_maker *m, plan_program *p, const program_bar *bar,
		     void (*see)(void *to, const plan *p), void *to)
{
	const lower_choice which = { p->room, p->schedule };
	bool ok = begin(m);
	if (!ok)
		return false;
	arena *tmp = arena_new();
	plan *made = lowering_draft(tmp, m->lowering, which, &p->rooms);
	if (!is_barred(m, made, bar, p)) {
		made = lowering_place(tmp, m->lowering, which, made,
				      &p->rooms);
		ok = lowering_check(made, m->how->sink);
		if (ok)
			set_figures(m, made, p);
		if (ok && see)
			see(to, made);
	}
	arena_free(tmp);
	return ok;
}
