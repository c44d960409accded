#include "config.h"

#include "runtime/exec/calibrated.h"

#include <math.h>

double calibrated_received(const plan *p, const plan_instr *in, int worker)
{
	arena *work = arena_new();
	piece *pieces;
	double n = 0;
	int npieces = plan_pieces(work, p, in, worker, &pieces);
	for (int i = 0; i < npieces; i++)
		if (pieces[i].peer != worker)
			n += (double)box_volume(&pieces[i].at);
	arena_free(work);
	return n * (double)dtype_size(
		p->tensors[p->buffers[in->to].tensor].type);
}

/* The bytes received by the worker that receives most. */
static double received_by(const plan *p, const plan_instr *in)
{
	double most = 0;
	for (int w = 0; w < mesh_workers(&p->mesh); w++)
		most = fmax(most, calibrated_received(p, in, w));
	return most;
}

static bool reads_given(const plan *p, const plan_node *n)
{
	const kernel *k = p->kernels[n->kernel].kernel;
	for (int i = 0; i < k->ninputs; i++)
		if (p->tensors[n->inputs[i]].role != PLAN_RESULT)
			return true;
	return false;
}

calibrated calibrated_of(const plan *p, const plan_instr *in, int worker)
{
	calibrated x = { .moves = plan_moves(in) };
	region to = plan_region(p, in->to, worker);
	if (x.moves) {
		const plan_tensor *t = &p->tensors[p->buffers[in->to].tensor];
		x.collective = in->collective;
		x.received = received_by(p, in);
		x.written = (double)to.count * (double)dtype_size(t->type);
		return x;
	}
	const kernel *k = p->kernels[p->nodes[in->node].kernel].kernel;
	box part = plan_space(p, in, worker);
	x.form = kernel_form_of(k);
	x.load = kernel_load_of(k, &x.form, &part);
	x.work = kernel_work_of(k, &part);
	x.cold = reads_given(p, &p->nodes[in->node]);
	return x;
}
