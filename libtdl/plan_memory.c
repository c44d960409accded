#include "config.h"

#include "libtdl/plan_memory.h"

#include "compiler/portfolio/limits.h"
#include "libtdl/plan_report.h"
#include "libtdl/plan_speed.h"
#include "plan/chain.h"
#include "plan/peak.h"

enum { MOST_SHOWN = 8 };

/* Whether all workers along some axis have terms for the whole tensor. */
static bool stays_partial(const plan *p, const plan_tensor *t)
{
	bool any = false;
	for (int i = 0; i < p->mesh.naxes; i++)
		any |= cut_reducer(t->cuts.dim[i]) != RED_NONE;
	return any;
}

/* The contents of a buffer, in words. */
static const char *contents(arena *a, const plan *p, const plan_buffer *b)
{
	const char *name = p->tensors[b->tensor].name;
	switch (b->region) {
	case LAYOUT_STORED:
		return stays_partial(p, &p->tensors[b->tensor])
			       ? arena_printf(a, "%s, partial", name) : name;
	case LAYOUT_NEEDS:
		return arena_printf(a, "%s, fetched for %s", name,
				    p->nodes[b->node].name);
	case LAYOUT_PRODUCES:
		if (!plan_combines(p, b->node))
			break;
		return arena_printf(a, "%s, a partial result", name);
	case LAYOUT_REDUCED_SHARD:
		break;
	}
	return arena_printf(a, "%s, before it is moved", name);
}

/* The instant at which most memory is in use. */
static const char *instant(arena *a, const plan *p, int instr)
{
	const plan_instr *in = &p->program[instr];
	if (instr < 0)
		return "at the beginning";
	if (instr >= p->ninstrs)
		return "in the end";
	if (in->op == PLAN_RUN || in->op == PLAN_COMBINE)
		return arena_printf(a, "for %s", p->nodes[in->node].name);
	const plan_buffer *b = &p->buffers[in->to];
	return arena_printf(a, "when %s is moved", p->tensors[b->tensor].name);
}

void plan_say_excess(job *d, const plan_request *how, const plan *p)
{
	arena *a = d->arena;
	plan_peak x = plan_find_peak(a, p);
	const char *what = "";
	for (int i = 0; i < x.n && i < MOST_SHOWN; i++)
		what = arena_printf(a, "%s\n  %-9s %s", what,
				    plan_bytes_text(a, x.uses[i].nbytes),
				    contents(a, p,
					     &p->buffers[x.uses[i].buffer]));
	if (x.n > MOST_SHOWN)
		what = arena_printf(a, "%s\n  and %d more", what,
				    x.n - MOST_SHOWN);
	int k = plan_enough_devices(how);
	const char *enough = k ? arena_printf(a, "%d devices, or ", k) : "";
	int64_t more = p->arena_bytes - how->memory;
	const char *memory = job_option(d, "memory");
	cli_failed(&d->program, "a device needs %s, %s more than %s allows; "
		   "the most are in use %s:%s\n"
		   "enough would be %s%s %lld",
		   plan_bytes_text(a, p->arena_bytes), plan_bytes_text(a, more),
		   memory, instant(a, p, x.instr), what, enough, memory,
		   (long long)p->arena_bytes);
}

plan *plan_with_chains(arena *a, const plan *p, const topology *t)
{
	plan *own = ARENA_COPY(a, p, 1);
	if (plan_speed_is_default(t) || t->processors > 0)
		plan_make_chains(a, own);
	return own;
}

bool plan_fits(const plan_request *how, const plan *p)
{
	return how->memory == 0 || p->arena_bytes <= how->memory;
}
