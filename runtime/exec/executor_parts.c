#include "config.h"

#include "runtime/exec/executor_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "layout/runs.h"

/* ---- buffers ----------------------------------------------------------- */

const plan *part_plan(const executor *m, int worker)
{
	return &m->p->stages[m->stage[worker]];
}

region part_region(const executor *m, int worker, int buffer)
{
	return plan_region(part_plan(m, worker), buffer, m->number[worker]);
}

unsigned char *part_place(const executor *m, int worker, int buffer)
{
	unsigned char *lent = executor_lent(m, worker, buffer);
	const plan_buffer *b = &part_plan(m, worker)->buffers[buffer];
	return lent ? lent : m->arenas[worker] + b->offset;
}

void part_touch(executor *m, int worker, int buffer, const region *r)
{
	const plan *p = part_plan(m, worker);
	const plan_buffer *b = &p->buffers[buffer];
	int64_t size = (int64_t)dtype_size(p->tensors[b->tensor].type);
	int64_t end = b->offset + r->count * size;
	end = round_up(end, PLAN_ALIGN);
	end = end < p->arena_bytes ? end : p->arena_bytes;
	int64_t before = atomic_load_explicit(&m->used[worker],
					      memory_order_relaxed);
	while (r->count > 0 && end > before &&
	       !atomic_compare_exchange_weak(&m->used[worker], &before, end))
		continue;
}

static region whole_region(const plan_tensor *t)
{
	region r = { .at = box_whole(t->dims, t->ndim) };
	r.count = box_volume(&r.at);
	return r;
}

/* Copies what does not lie there already. */
static void copy_runs(runs *r, size_t size, char *dst, const char *src)
{
	while (runs_next(r)) {
		char *to = dst + (size_t)r->dst * size;
		const char *from = src + (size_t)r->src * size;
		if (to != from)
			memcpy(to, from, (size_t)r->n * size);
	}
}

bool executor_is_host(const executor *m)
{
	return !m->backend->put;
}

void *part_stage(int64_t nbytes, failure *f)
{
	void *x = malloc(nbytes > 0 ? (size_t)nbytes : 1);
	if (!x)
		fail_with(f, CLI_MACHINE, "no memory for %" PRId64 " bytes",
			  nbytes);
	return x;
}

bool part_put(executor *m, int worker, int buffer, const void *part,
	      int64_t nbytes, failure *f)
{
	return m->backend->put(m->device, worker - m->first,
			       part_place(m, worker, buffer), part, nbytes, f);
}

bool part_scatter(executor *m, int worker, int buffer, const void *whole,
		  failure *f)
{
	const plan *p = part_plan(m, worker);
	const plan_tensor *t = &p->tensors[p->buffers[buffer].tensor];
	region part = part_region(m, worker, buffer);
	region all = whole_region(t);
	runs r = runs_of(&part.at, &part, &all);
	size_t size = dtype_size(t->type);
	part_touch(m, worker, buffer, &part);
	if (executor_is_host(m)) {
		copy_runs(&r, size, (char *)part_place(m, worker, buffer),
			  whole);
		return true;
	}
	if (part.count == all.count)
		return part_put(m, worker, buffer, whole,
				part.count * (int64_t)size, f);
	void *staged = part_stage(part.count * (int64_t)size, f);
	if (staged)
		copy_runs(&r, size, staged, whole);
	bool good = staged && part_put(m, worker, buffer, staged,
				       part.count * (int64_t)size, f);
	free(staged);
	return good;
}

bool part_is_copy(const executor *m, int worker, const plan_tensor *t)
{
	const mesh *of = &part_plan(m, worker)->mesh;
	int coords[MAX_AXES];
	mesh_coords(of, m->number[worker], coords);
	for (int i = 0; i < of->naxes; i++)
		if (t->cuts.dim[i] == CUT_NONE && coords[i] > 0)
			return true;
	return false;
}

bool executor_is_alone(const executor *m)
{
	return m->end - m->first == m->nworkers;
}

/* A worker's part of a tensor, in the host's memory.  This may be `staged'. */
static const char *part_of(const executor *m, int worker, int buffer,
			   int64_t nbytes, char *staged, failure *f)
{
	unsigned char *at = part_place(m, worker, buffer);
	if (executor_is_host(m))
		return (const char *)at;
	return m->backend->get(m->device, worker - m->first, staged, at, nbytes,
			       f)
		       ? staged
		       : NULL;
}

/* Copies one worker's part into the whole tensor, in every process. */
static bool gather_part(const executor *m, int worker, const plan_tensor *t,
			char *staged, void *whole, failure *f)
{
	region all = whole_region(t), part = part_region(m, worker, t->buffer);
	runs r = runs_of(&part.at, &all, &part);
	int64_t size = (int64_t)dtype_size(t->type);
	const char *from = staged;
	if (m->first <= worker && worker < m->end)
		from = part_of(m, worker, t->buffer, part.count * size, staged,
			       f);
	if (!from)
		return false;
	if (!executor_is_alone(m)) {
		if (from != staged && m->first <= worker && worker < m->end)
			memcpy(staged, from, (size_t)(part.count * size));
		m->comm->share(m->link, worker, staged, part.count * size);
		from = staged;
	}
	copy_runs(&r, (size_t)size, whole, from);
	return true;
}

bool part_gather(const executor *m, stage_tensor of, void *whole, failure *f)
{
	const plan_tensor *t = &m->p->stages[of.stage].tensors[of.tensor];
	int first = m->first_of[of.stage], end = m->first_of[of.stage + 1];
	char *staged = NULL;
	bool good = true;
	if (!executor_is_alone(m) || !executor_is_host(m)) {
		staged = part_stage(plan_tensor_nbytes(t), f);
		good = staged != NULL;
	}
	for (int w = first; good && w < end; w++)
		if (!part_is_copy(m, w, t))
			good = gather_part(m, w, t, staged, whole, f);
	free(staged);
	return good;
}

/* ---- turns ------------------------------------------------------------- */

/* The address in the host's memory of what an instruction feeds or hands
 * out. */
static char *copy_of(const executor *m, int worker, int instr)
{
	if (executor_is_host(m))
		return (char *)part_place(m, worker,
					  part_plan(m, worker)->program[instr]
						  .to);
	return m->backend->copy(m->device, worker - m->first, instr);
}

/* The pipeline's array for a tensor of a stage. */
static const array *array_of(const array *arrays, const int *numbers,
			     const int *tensors, int tensor)
{
	int i = 0;
	while (tensors[i] != tensor)
		i++;
	return &arrays[numbers[i]];
}

void part_feed(executor *m, int worker, int instr)
{
	const plan *p = part_plan(m, worker);
	int to = p->program[instr].to, tensor = p->buffers[to].tensor;
	const plan_tensor *t = &p->tensors[tensor];
	const array *whole = array_of(m->inputs, m->inputs_of[m->stage[worker]],
				      p->inputs, tensor);
	region all = whole_region(t), part = part_region(m, worker, to);
	runs r = runs_of(&part.at, &part, &all);
	part_touch(m, worker, to, &part);
	copy_runs(&r, dtype_size(t->type), copy_of(m, worker, instr),
		  whole->data);
}

void part_hand_out(executor *m, int worker, int instr)
{
	const plan *p = part_plan(m, worker);
	int from = p->program[instr].to, tensor = p->buffers[from].tensor;
	const plan_tensor *t = &p->tensors[tensor];
	if (!plan_hands_out(p, instr) || part_is_copy(m, worker, t))
		return;
	const array *whole = array_of(m->outputs,
				      m->outputs_of[m->stage[worker]],
				      p->outputs, tensor);
	if (!whole->data)
		return;
	region all = whole_region(t), part = part_region(m, worker, from);
	runs r = runs_of(&part.at, &all, &part);
	copy_runs(&r, dtype_size(t->type), whole->data,
		  copy_of(m, worker, instr));
}

/* Sends the part of an output that a worker has handed out in a turn to all
 * processes. */
static void spread_part(const executor *m, int worker, const plan_tensor *t,
			int turn, char *staged, void *whole)
{
	const plan *p = part_plan(m, worker);
	plan_buffer b = p->buffers[t->buffer];
	size_t size = dtype_size(t->type);
	int coords[MAX_AXES];
	b.turn = turn;
	mesh_coords(&p->mesh, m->number[worker], coords);
	region all = whole_region(t), part = plan_region_at(p, &b, coords);
	runs to = runs_of(&part.at, &part, &all), from = to;
	if (m->first <= worker && worker < m->end)
		copy_runs(&to, size, staged, whole);
	m->comm->share(m->link, worker, staged, part.count * (int64_t)size);
	from = runs_of(&part.at, &all, &part);
	copy_runs(&from, size, whole, staged);
}

bool part_spread(const executor *m, stage_tensor of, void *whole, failure *f)
{
	const plan *p = &m->p->stages[of.stage];
	const plan_tensor *t = &p->tensors[of.tensor];
	int first = m->first_of[of.stage], end = m->first_of[of.stage + 1];
	int turns = p->loop.turns;
	if (executor_is_alone(m))
		return true;
	char *staged = part_stage(plan_tensor_nbytes(t), f);
	for (int w = first; staged && w < end; w++)
		for (int i = 0; i < turns && !part_is_copy(m, w, t); i++)
			spread_part(m, w, t, i, staged, whole);
	free(staged);
	return staged != NULL;
}
