#include "config.h"

#include "compiler/lower/lower.h"
#include "plan/transfer.h"

enum { MOST_LOOKED_AT = 64 };

const lower_machine lower_cpu = {
	.name = "cpu",
	.flops = 20e9,
	.memory = 10e9,
	.latency = 5e-6,
	.bandwidth = 5e9,
};

static double region_bytes(const plan *p, int buffer, int worker)
{
	const plan_buffer *b = &p->buffers[buffer];
	region r = plan_region(p, buffer, worker);
	return (double)r.count *
	       (double)dtype_size(p->tensors[b->tensor].type);
}

/* Points of the loops: a derived variable is none. */
static double points(const kernel *k, const box *space)
{
	double n = 1;
	for (int v = 0; v < k->nvars; v++)
		if (k->vars[v].kind != KVAR_DERIVED)
			n *= (double)(space->hi[v] - space->lo[v]);
	return n;
}

static double run_seconds(const plan *p, const plan_instr *in, int worker,
			  const lower_machine *m)
{
	const plan_node *n = &p->nodes[in->node];
	const kernel *k = p->kernels[n->kernel].kernel;
	box space = plan_space(p, in->node, worker);
	double compute = points(k, &space) *
			 (double)kernel_flops_per_point(k) / m->flops;
	double bytes = region_bytes(p, in->to, worker);
	for (int i = 0; i < k->ninputs; i++) {
		box need = kernel_need(k, &space, i);
		bytes += (double)box_volume(&need) *
			 (double)dtype_size(k->inputs[i].type);
	}
	double move = bytes / m->memory;
	return compute > move ? compute : move;
}

static double instr_seconds(const plan *p, const plan_instr *in, int worker,
			    const lower_machine *m)
{
	if (in->op == PLAN_RUN)
		return run_seconds(p, in, worker, m);
	double bytes = (double)transfer_bytes(p, in, worker);
	double local = region_bytes(p, in->to, worker) / m->memory;
	return local + (bytes > 0 ? m->latency + bytes / m->bandwidth : 0);
}

double lower_seconds(const plan *p, const lower_machine *m)
{
	int n = mesh_workers(&p->mesh);
	int looked_at = n < MOST_LOOKED_AT ? n : MOST_LOOKED_AT;
	double total = 0;
	for (int i = 0; i < p->ninstrs; i++) {
		double slowest = 0;
		for (int j = 0; j < looked_at; j++) {
			int w = (int)((int64_t)j * n / looked_at);
			double t = instr_seconds(p, &p->program[i], w, m);
			slowest = t > slowest ? t : slowest;
		}
		total += slowest;
	}
	return total;
}
