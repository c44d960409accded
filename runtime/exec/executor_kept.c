/* Keeps factors of products in packed form, plan/kept.h. */
#include "config.h"

#include <inttypes.h>

#include "runtime/exec/executor_parts.h"

/* The kept factors of a worker. */
typedef struct kept_here {
	const kept_plan *plan;
	unsigned char *memory;
	bool *packed; /* by slot: packed, and up to date */
	const void **packed_for; /* the backend's */
	int64_t used; /* bytes of packed slots */
	bool *touched;
} kept_here;

/* The factors that the kernels can keep; all stages have the same kernels. */
static kept_factor *factors_of(const executor *m, arena *a)
{
	int n = m->p->stages[0].nkernels;
	kept_factor *all = ARENA_ARRAY(a, kept_factor, n * KEPT_SIDES);
	for (int i = 0; i < n; i++)
		m->backend->keeps(m->device, i, all + i * KEPT_SIDES);
	return all;
}

static bool keep_worker(executor *m, int worker, const kept_factor *factors,
			failure *f)
{
	const plan *p = part_plan(m, worker);
	kept_here *k = ARENA_NEW(m->a, kept_here);
	k->plan = kept_of(m->a, p, m->number[worker], factors, p->kept_bytes);
	if (k->plan->nslots == 0)
		return true;
	k->packed = ARENA_ARRAY(m->a, bool, k->plan->nslots);
	k->packed_for = ARENA_ARRAY(m->a, const void *, k->plan->nslots);
	k->touched = ARENA_ARRAY(m->a, bool, k->plan->nslots);
	k->memory = m->backend->alloc(m->device, worker - m->first,
				      k->plan->nbytes);
	if (!k->memory)
		return fail_with(f, CLI_MACHINE, "no memory for the %" PRId64
				 " bytes of packed factors of worker %d",
				 k->plan->nbytes, worker);
	m->kept[worker] = k;
	return true;
}

bool executor_keep(executor *m, failure *f)
{
	bool good = true;
	m->kept = ARENA_ARRAY(m->a, kept_here *, m->nworkers);
	if (!m->backend->keeps)
		return true;
	arena *work = arena_new();
	const kept_factor *factors = factors_of(m, work);
	for (int w = m->first; good && w < m->end; w++)
		good = part_plan(m, w)->kept_bytes == 0 ||
		       keep_worker(m, w, factors, f);
	arena_free(work);
	return good;
}

void executor_keep_no_more(executor *m)
{
	for (int w = m->first; m->kept && w < m->end; w++)
		if (m->kept[w])
			m->backend->free(m->device, w - m->first,
					 m->kept[w]->memory,
					 m->kept[w]->plan->nbytes);
}

void kept_find(const executor *m, int worker, int instr, kernel_run *r)
{
	const kept_here *k = m->kept[worker];
	for (int i = 0; k && i < KEPT_SIDES; i++) {
		int slot = k->plan->of[instr * KEPT_SIDES + i];
		if (slot < 0)
			continue;
		r->kept[i] = k->memory + k->plan->slots[slot].offset;
		r->kept_bytes[i] = k->plan->slots[slot].nbytes;
		r->kept_as[i] = &k->packed_for[slot];
		r->fill |= k->packed[slot] ? 0 : 1u << i;
	}
}

void kept_filled(executor *m, int worker, int instr)
{
	kept_here *k = m->kept[worker];
	for (int i = 0; k && i < KEPT_SIDES; i++) {
		int slot = k->plan->of[instr * KEPT_SIDES + i];
		if (slot < 0)
			continue;
		if (!k->touched[slot])
			k->used += k->plan->slots[slot].nbytes;
		k->packed[slot] = k->touched[slot] = true;
	}
}

void kept_spoil(executor *m, int worker, int instr)
{
	const kept_here *k = m->kept[worker];
	for (int i = 0; k && i < k->plan->nspoils[instr]; i++)
		k->packed[k->plan->spoils[instr][i]] = false;
}

void kept_spoil_all(executor *m)
{
	for (int w = m->first; w < m->end; w++)
		for (int i = 0; m->kept[w] && i < m->kept[w]->plan->nslots; i++)
			m->kept[w]->packed[i] = false;
}

int64_t kept_used(const executor *m, int worker)
{
	return m->kept[worker] ? m->kept[worker]->used : 0;
}

int64_t kept_planned(const executor *m, int worker)
{
	return m->kept[worker] ? part_plan(m, worker)->kept_bytes : 0;
}
