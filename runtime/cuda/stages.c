/* The stages of a pipeline with workers on this process's GPUs. */
#include "config.h"

#include "runtime/cuda/cuda.h"
#include "runtime/cuda/link.h"

bool cuda_has_queues(const cuda *c)
{
	return c->link != &link_local || c->ngpus > 1;
}

int cuda_part_of(const cuda *c, int stage)
{
	for (int i = 0; i < c->nparts; i++)
		if (c->parts[i].stage == stage)
			return i;
	return -1;
}

bool cuda_is_on(const cuda *c, const cuda_stage *s, int gpu)
{
	for (int w = s->first; w < s->first + s->nworkers; w++)
		if (cuda_gpu_of(c, w) == gpu)
			return true;
	return false;
}

static void add_part(cuda *c, int stage, int first, int end)
{
	int begin = pipeline_first(c->p, stage) - c->first;
	cuda_stage *s = &c->parts[c->nparts];
	*s = (cuda_stage){ .p = &c->p->stages[stage], .stage = stage,
			   .first = first, .number = first - begin,
			   .nworkers = end - first };
	stream_order o = messages_in_stage(c->a, c->p, &c->order, stage,
					   &s->links);
	s->schedule = plan_streams_in(c->a, s->p, &o);
	for (int w = first; w < end; w++)
		c->part_of[w] = c->nparts;
	c->nparts++;
}

void cuda_parts_open(cuda *c)
{
	c->parts = ARENA_ARRAY(c->a, cuda_stage, c->p->nstages);
	c->part_of = ARENA_ARRAY(c->a, int, c->nworkers);
	c->order = messages_in_order(c->a, c->p);
	for (int s = 0; s < c->p->nstages; s++) {
		int first = pipeline_first(c->p, s) - c->first;
		int end = pipeline_first(c->p, s + 1) - c->first;
		first = first > 0 ? first : 0;
		end = end < c->nworkers ? end : c->nworkers;
		if (first < end)
			add_part(c, s, first, end);
	}
}

/* ---- messages ---------------------------------------------------------- */

/* Whether a GPU takes part in a link.  In a single process only the receivers'
 * GPUs do, as they fetch; with several processes those of both sides do. */
static bool has_link(const cuda *c, int gpu, int link)
{
	const stage_link *l = &c->order.links[link];
	for (int i = 0; i < c->nparts; i++) {
		const cuda_stage *s = &c->parts[i];
		if ((s->stage == l->to || (s->stage == l->from &&
					   c->link != &link_local)) &&
		    cuda_is_on(c, s, gpu))
			return true;
	}
	return false;
}

bool cuda_messages_open(cuda *c, failure *f)
{
	int n = cuda_has_queues(c) ? c->order.nlinks : 0;
	for (int g = 0; g < c->ngpus; g++) {
		int least = 0, greatest = 0;
		c->gpus[g].messages = ARENA_ARRAY(c->a, CUstream,
						  c->order.nlinks);
		if (!cuda_enter(c, g, f) ||
		    !CUDA_CALL(&c->api, f, cuCtxGetStreamPriorityRange, &least,
			       &greatest))
			return false;
		for (int l = 0; l < n; l++)
			if (has_link(c, g, l) &&
			    !CUDA_CALL(&c->api, f, cuStreamCreateWithPriority,
				       &c->gpus[g].messages[l],
				       CU_STREAM_NON_BLOCKING, greatest))
				return false;
	}
	return true;
}
