#include "config.h"

#include "compiler/portfolio/program_maker.h"

#include "compiler/lower/bucket.h"
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

/* The seconds that buckets might save in the plan's first program, whose
 * reductions are those of all its programs. */
static double might_save(program_maker *m, const plan *made)
{
	const bucket_options o = { .bytes = m->how->bucket,
				   .machine = m->how->topology };
	if (!m->is_counted && o.bytes != 0)
		m->saved = bucket_might_save(m->times, made, &o);
	m->is_counted = true;
	return m->saved;
}

/* Sets the figures that do not depend on places. */
static void set_bounds(program_maker *m, const plan *made, plan_program *p)
{
	lower_times x = lower_bounds(m->times, made);
	bool keeps_most = p->room <= 1 || p->rooms.all >= 0;
	p->least = x.least;
	p->least_moved = x.least_moved;
	p->least_kept = keeps_most ? x.least_kept : 0;
	p->moved = made->communication_bytes;
	p->saved = might_save(m, made);
}

bool program_is_barred(const plan_program *p, const program_bar *bar)
{
	return p->least_kept > bar->least_kept || p->in_use >= bar->in_use;
}

/* Whether a bar refuses a program without places.  Sets its figures. */
static bool is_barred(program_maker *m, const plan *made,
		      const program_bar *bar, plan_program *p)
{
	p->held = -1;
	p->least_kept = 0;
	p->in_use = -1;
	if (m->how->objective == OBJECTIVE_MEMORY)
		p->in_use = plan_peak_bytes(made,
					    lowering_classes(m->lowering));
	if (p->in_use >= bar->in_use)
		return true;
	set_bounds(m, made, p);
	return program_is_barred(p, bar);
}

/* Gives a program places and sets all its figures.  The result may be another
 * program that has fewer copies. */
static const plan *place(arena *a, program_maker *m, plan *draft,
			 plan_program *p)
{
	const lower_choice which = { p->room, p->schedule };
	const plan *made = lowering_place(a, m->lowering, which, draft,
					  &p->rooms);
	p->replaced = made != draft;
	if (p->replaced)
		set_bounds(m, made, p);
	p->seconds = lower_run(m->times, made);
	p->held = made->arena_bytes;
	if (m->how->objective == OBJECTIVE_MEMORY)
		p->in_use = plan_peak_bytes(made,
					    lowering_classes(m->lowering));
	return made;
}

bool program_same_order(program_maker *m, lower_schedule x, lower_schedule y)
{
	return begin(m) && lowering_same_order(m->lowering, x, y);
}

bool program_measured(const plan_program *before, const program_bar *bar,
		      plan_program *p)
{
	bool barred = program_is_barred(before, bar);
	if (before->replaced || before->in_use >= 0 ||
	    (before->held < 0 && !barred))
		return false;
	*p = *before;
	p->held = barred ? -1 : p->held;
	p->seconds = barred ? 0 : p->seconds;
	return true;
}

void program_counted(program_maker *m, const plan_program *p)
{
	m->saved = m->is_counted ? m->saved : p->saved;
	m->is_counted = true;
}

bool program_measure(program_maker *m, plan_program *p, const program_bar *bar,
		     void (*see)(void *to, const plan *p), void *to)
{
	const lower_choice which = { p->room, p->schedule };
	bool ok = begin(m);
	if (!ok)
		return false;
	arena *tmp = arena_new();
	plan *draft = lowering_draft(tmp, m->lowering, which, &p->rooms);
	if (!is_barred(m, draft, bar, p)) {
		const plan *made = place(tmp, m, draft, p);
		ok = lowering_check_model(made, m->how->sink);
		if (ok && see)
			see(to, made);
	}
	arena_free(tmp);
	return ok;
}
