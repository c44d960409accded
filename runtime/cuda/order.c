/* The order in which this process issues the steps of all its stages.  Each
 * stage keeps its own order; a message is one item for both sides if both are
 * here. */
#include "config.h"

#include "runtime/cuda/parts.h"

static void add_step(program *x, int part, int step)
{
	program_item *t = &x->items[x->nitems++];
	*t = (program_item){ .n = 1 };
	t->of[0].part = part;
	t->of[0].step = step;
}

/* Adds a stage's steps up to a message. */
static void add_to(program *x, int part, int *next, int instr)
{
	const stream_schedule *s = &x->c->parts[part].schedule;
	while (s->steps[*next].instrs[0] != instr)
		add_step(x, part, (*next)++);
}

static void add_message(program *x, const link_message *m, int *next)
{
	const plan_channel *c = &x->c->p->channels[m->channel];
	int from = cuda_part_of(x->c, c->from);
	int to = cuda_part_of(x->c, c->to);
	program_item t = { 0 };
	if (from >= 0) {
		add_to(x, from, &next[from], m->send);
		t.of[t.n].part = from;
		t.of[t.n++].step = next[from]++;
	}
	if (to >= 0) {
		add_to(x, to, &next[to], m->receive);
		t.of[t.n].part = to;
		t.of[t.n++].step = next[to]++;
	}
	if (t.n > 0)
		x->items[x->nitems++] = t;
}

void program_order(program *x)
{
	const cuda *c = x->c;
	int *next = ARENA_ARRAY(x->a, int, c->nparts), n = 0;
	for (int i = 0; i < c->nparts; i++)
		n += c->parts[i].schedule.nsteps;
	x->items = ARENA_ARRAY(x->a, program_item, n);
	for (int i = 0; i < c->order.nmessages; i++)
		add_message(x, &c->order.messages[i], next);
	for (int i = 0; i < c->nparts; i++)
		while (next[i] < c->parts[i].schedule.nsteps)
			add_step(x, i, next[i]++);
}
