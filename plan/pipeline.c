#include "config.h"

#include "plan/pipeline.h"

#include <string.h>

int pipeline_first(const plan_pipeline *p, int stage)
{
	int first = 0;
	for (int s = 0; s < stage; s++)
		first += mesh_workers(&p->stages[s].mesh);
	return first;
}

int pipeline_tensor(const plan *stage, const char *name)
{
	for (int t = 0; t < stage->ntensors; t++)
		if (!strcmp(stage->tensors[t].name, name))
			return t;
	return -1;
}

int pipeline_stage_of(const plan_pipeline *p, int worker, int *local)
{
	int stage = 0, n;
	for (*local = worker; *local >= (n = mesh_workers(
					&p->stages[stage].mesh)); stage++)
		*local -= n;
	return stage;
}

bool pipeline_in_turns(const plan_pipeline *p, int channel)
{
	const plan *from = &p->stages[p->channels[channel].from];
	for (int i = from->loop.begin; i < from->loop.end; i++)
		if (from->program[i].op == PLAN_SEND &&
		    from->program[i].channel == channel)
			return true;
	return false;
}

/* ---- pieces ------------------------------------------------------------ */

/* Both meshes as one, the senders' axes first: a worker of it is a pair of a
 * sender and a receiver.  Each side's layout is replicated along the axes of
 * the other side. */
typedef struct pairs {
	mesh mesh;
	cuts from, to;
} pairs;

static pairs pairs_of(const plan *from, const plan_tensor *source,
		      const plan *to, const plan_tensor *target)
{
	pairs x = { .mesh = from->mesh,
		    .from = cuts_none(),
		    .to = cuts_none() };
	int n = from->mesh.naxes;
	for (int i = 0; i < n; i++)
		x.from.dim[i] = source->cuts.dim[i];
	for (int i = 0; i < to->mesh.naxes; i++) {
		x.mesh.size[x.mesh.naxes++] = to->mesh.size[i];
		x.to.dim[n + i] = target->cuts.dim[i];
	}
	return x;
}

int pipeline_pieces(arena *a, const plan_pipeline *p, int channel, int turn,
		    int worker, piece **pieces)
{
	const plan_channel *c = &p->channels[channel];
	const plan *from = &p->stages[c->from], *to = &p->stages[c->to];
	const plan_tensor *source = &from->tensors[c->source];
	const plan_tensor *target = &to->tensors[c->target];
	pairs x = pairs_of(from, source, to, target);
	int senders = mesh_workers(&from->mesh);
	int receivers = mesh_workers(&to->mesh);
	plan_buffer b = from->buffers[source->buffer];
	plan_buffer d = to->buffers[target->buffer];
	b.turn = d.turn = turn;
	layout_transfer t = { .mesh = &x.mesh,
			      .from = plan_layout(from, &b),
			      .to = plan_layout(to, &d) };
	t.from.cuts = &x.from;
	t.to.cuts = &x.to;
	int n = transfer_pieces(a, &t, worker % senders * receivers + worker,
				pieces);
	for (int i = 0; i < n; i++)
		(*pieces)[i].peer /= receivers;
	return n;
}

/* ---- partners ---------------------------------------------------------- */

/* A channel's messages are taken in the order in which they are sent: each is
 * matched with the next wait. */
typedef struct messages {
	int *instrs; /* of the channel's side, in order */
	int n;
} messages;

static void note_messages(arena *tmp, const plan_pipeline *p, plan_op side,
			  int turns, messages *by)
{
	for (int s = 0; s < p->nstages; s++)
		for (int i = 0; i < p->stages[s].ninstrs; i++) {
			const plan_instr *in = &p->stages[s].program[i];
			if (in->op != side)
				continue;
			messages *m = &by[in->channel];
			if (!m->instrs)
				m->instrs = ARENA_ARRAY(tmp, int, turns);
			m->instrs[m->n++] = i;
		}
}

int **pipeline_partners(arena *a, const plan_pipeline *p)
{
	arena *tmp = arena_new();
	messages *sent = ARENA_ARRAY(tmp, messages, p->nchannels);
	messages *taken = ARENA_ARRAY(tmp, messages, p->nchannels);
	int **by = ARENA_ARRAY(a, int *, p->nstages);
	int turns = p->stages[0].loop.turns;
	note_messages(tmp, p, PLAN_SEND, turns, sent);
	note_messages(tmp, p, PLAN_RECEIVE, turns, taken);
	for (int s = 0; s < p->nstages; s++) {
		by[s] = ARENA_ARRAY(a, int, p->stages[s].ninstrs);
		for (int i = 0; i < p->stages[s].ninstrs; i++)
			by[s][i] = -1;
	}
	for (int c = 0; c < p->nchannels; c++) {
		const plan_channel *of = &p->channels[c];
		for (int i = 0; i < sent[c].n; i++) {
			by[of->from][sent[c].instrs[i]] = taken[c].instrs[i];
			by[of->to][taken[c].instrs[i]] = sent[c].instrs[i];
		}
	}
	arena_free(tmp);
	return by;
}

/* ---- bytes ------------------------------------------------------------- */

static int64_t turn_bytes(const plan_pipeline *p, int channel, int turn)
{
	const plan_channel *c = &p->channels[channel];
	const plan *to = &p->stages[c->to];
	int64_t size = (int64_t)dtype_size(to->tensors[c->target].type), n = 0;
	arena *tmp = arena_new();
	for (int w = mesh_workers(&to->mesh) - 1; w >= 0; w--) {
		piece *pieces;
		int k = pipeline_pieces(tmp, p, channel, turn, w, &pieces);
		for (int i = 0; i < k; i++)
			n += box_volume(&pieces[i].at) * size;
	}
	arena_free(tmp);
	return n;
}

/* Turns with equally many samples take equally many bytes. */
int64_t pipeline_channel_bytes(const plan_pipeline *p, int channel)
{
	const plan_loop *o = &p->stages[p->channels[channel].from].loop;
	if (!pipeline_in_turns(p, channel))
		return turn_bytes(p, channel, o->turns - 1);
	int64_t all = 0, short_turn = -1, long_turn = -1;
	for (int i = 0; i < o->turns; i++) {
		layout_turn t = layout_turn_of(o->batch, o->turns, i);
		bool is_short = t.end - t.begin == o->batch / o->turns;
		int64_t *n = is_short ? &short_turn : &long_turn;
		if (*n < 0)
			*n = turn_bytes(p, channel, i);
		all += *n;
	}
	return all;
}

int64_t pipeline_communication(const plan_pipeline *p)
{
	int64_t n = 0;
	for (int s = 0; s < p->nstages; s++)
		n += plan_communication(&p->stages[s]);
	for (int c = 0; c < p->nchannels; c++)
		n += pipeline_channel_bytes(p, c);
	return n;
}
