/* Turns plans with a loop into plans without, so that code that runs or checks
 * a plan sees each turn's instructions and buffers separately. */
#include "config.h"

#include "base/vec.h"
#include "kernel/region.h"
#include "plan/plan.h"

/* Puts `copies' of the turns: the first ones and the last.  The last uses the
 * buffers of p itself; each of the others has its own copies, after these, of
 * the buffers that the body writes. */
typedef struct unroller {
	arena *a;
	const plan *p;
	int copies;
	int *nth;  /* by buffer of p: among those that the body writes; -1 */
	int nmade; /* number of these */
	VEC(plan_buffer) buffers;
	VEC(plan_instr) program;
} unroller;

/* The number of a buffer in a copy of the body; copy -1 is what comes before,
 * `copies' what comes after. */
static int number(const unroller *u, int b, int copy)
{
	const plan_tensor *t = &u->p->tensors[u->p->buffers[b].tensor];
	if (t->then >= 0 && t->buffer == b && copy > 0) {
		b = u->p->tensors[t->then].buffer;
		copy--;
	}
	if (copy < 0 || copy >= u->copies - 1 || u->nth[b] < 0)
		return b;
	return u->p->nbuffers + copy * u->nmade + u->nth[b];
}

static int turn_of(const unroller *u, int copy)
{
	return copy < 0 || copy >= u->copies - 1 ? u->p->loop.turns - 1 : copy;
}

static void put(unroller *u, int i, int copy)
{
	plan_instr in = u->p->program[i];
	const plan *p = u->p;
	if (in.op == PLAN_RUN) {
		const plan_node *n = &p->nodes[in.node];
		int ninputs = p->kernels[n->kernel].kernel->ninputs;
		int *inputs = ARENA_ARRAY(u->a, int, ninputs);
		for (int j = 0; j < ninputs; j++)
			inputs[j] = number(u, in.inputs[j], copy);
		in.inputs = inputs;
	}
	if (plan_moves(&in) || in.op == PLAN_SEND)
		in.from = number(u, in.from, copy);
	in.to = in.op == PLAN_SEND ? in.from : number(u, in.to, copy);
	in.turn = turn_of(u, copy);
	in.row = i;
	vec_push(u->a, &u->program, in);
}

static void put_range(unroller *u, int begin, int end, int copy)
{
	for (int i = begin; i < end; i++)
		put(u, i, copy);
}

static unroller unroller_new(arena *a, const plan *p, int copies)
{
	unroller u = { .a = a, .p = p, .copies = copies };
	u.nth = ARENA_ARRAY(a, int, p->nbuffers);
	for (int b = 0; b < p->nbuffers; b++)
		u.nth[b] = -1;
	for (int i = p->loop.begin; i < p->loop.end; i++)
		if (p->program[i].op != PLAN_SEND)
			u.nth[p->program[i].to] = 0;
	for (int b = 0; b < p->nbuffers; b++)
		if (u.nth[b] == 0)
			u.nth[b] = u.nmade++;
	for (int b = 0; b < p->nbuffers; b++)
		vec_push(a, &u.buffers, p->buffers[b]);
	for (int copy = 0; copy < copies - 1; copy++)
		for (int b = 0; b < p->nbuffers; b++) {
			plan_buffer own = p->buffers[b];
			own.turn = copy;
			if (u.nth[b] >= 0)
				vec_push(a, &u.buffers, own);
		}
	return u;
}

static plan *finish(unroller *u, int begin)
{
	const plan *p = u->p;
	plan *all = ARENA_COPY(u->a, p, 1);
	all->body_begin = begin;
	all->body_end = u->program.n;
	put_range(u, p->loop.end, p->ninstrs, u->copies);
	all->buffers = u->buffers.at;
	all->nbuffers = u->buffers.n;
	all->program = u->program.at;
	all->ninstrs = u->program.n;
	all->loop.begin = all->loop.end = 0;
	return all;
}

const plan *plan_in_order(arena *a, const plan *p, int most)
{
	const plan_loop *o = &p->loop;
	if (o->turns == 0)
		return p;
	unroller u = unroller_new(a, p, o->turns < most ? o->turns : most);
	for (int b = p->nbuffers; b < u.buffers.n; b++)
		if (u.buffers.at[b].slots > 0)
			u.buffers.at[b].slots = -1;
	put_range(&u, 0, o->begin, -1);
	for (int copy = 0; copy < u.copies; copy++)
		put_range(&u, o->begin, o->end, copy);
	return finish(&u, o->begin);
}

/* ---- stages ------------------------------------------------------------ */

/* Gives the buffers of each turn their slots. */
static void set_slots(unroller *u)
{
	for (int b = 0; b < u->buffers.n; b++) {
		plan_buffer *x = &u->buffers.at[b];
		if (x->slots > 1)
			x->offset += x->turn % x->slots *
				     plan_buffer_stride(x);
		x->slots = 0;
	}
}

static plan *in_schedule(arena *a, const plan *p)
{
	const plan_stage *s = p->stage;
	unroller u = unroller_new(a, p, p->loop.turns);
	int *turns = ARENA_ARRAY(a, int, s->nsegments);
	set_slots(&u);
	put_range(&u, 0, p->loop.begin, -1);
	for (int r = 0; r < s->nruns; r++)
		for (int i = 0; i < s->runs[r].times; i++)
			for (int j = 0; j < s->runs[r].ntasks; j++) {
				int g = s->runs[r].tasks[j];
				put_range(&u, s->segments[g].begin,
					  s->segments[g].end, turns[g]++);
			}
	return finish(&u, p->loop.begin);
}

const plan *plan_unroll(arena *a, const plan *p, int most)
{
	return p->stage ? in_schedule(a, p) : plan_in_order(a, p, most);
}

/* ---- turns that are alike ----------------------------------------------- */

/* Whether what a node needs of an input depends on one of its variables. */
static bool needs_by(const kernel *k, int input, int var)
{
	uint32_t vars[MAX_NDIM], all = 0;
	kernel_need_vars(k, input, vars);
	for (int d = 0; d < k->inputs[input].ndim; d++)
		all |= vars[d];
	return all >> var & 1;
}

/* Whether a buffer's part of a tensor that time does not divide is the same in
 * each turn.  (If time divides the tensor, the part is that of the turn's
 * samples.) */
static bool is_steady(const plan *p, const plan_buffer *b)
{
	const plan_node *n = b->region == LAYOUT_NEEDS ? &p->nodes[b->node]
						       : NULL;
	if (!n || n->time == CUT_NONE ||
	    p->tensors[b->tensor].time != CUT_NONE)
		return true;
	const kernel *k = p->kernels[n->kernel].kernel;
	for (int i = 0; i < k->ninputs; i++)
		if (n->inputs[i] == b->tensor && needs_by(k, i, n->time))
			return false;
	return true;
}

bool plan_turns_differ(const plan *p, const plan_instr *in)
{
	const plan_loop *o = &p->loop;
	return o->batch % o->turns ||
	       (plan_moves(in) && !(is_steady(p, &p->buffers[in->from]) &&
				    is_steady(p, &p->buffers[in->to])));
}

plan_instr plan_instr_in_turn(plan *p, const plan_instr *in, int turn)
{
	plan_instr own = *in;
	own.turn = turn;
	p->buffers[in->to].turn = turn;
	if (plan_moves(in))
		p->buffers[in->from].turn = turn;
	return own;
}

/* ---- rows -------------------------------------------------------------- */

int plan_unrolled_row(const plan *p, const plan *u, int i)
{
	return u->program == p->program ? i : u->program[i].row;
}

int plan_rolled_instr(const plan *p, int most, int i)
{
	const plan_loop *o = &p->loop;
	int length = o->end - o->begin;
	int copies = o->turns < most ? o->turns : most;
	if (i < o->begin || length == 0)
		return i;
	int before = (i - o->begin) / length;
	return i - (before < copies ? before : copies - 1) * length;
}

int plan_rolled_buffer(const plan *p, int b)
{
	arena *tmp = arena_new();
	unroller u = unroller_new(tmp, p, 1);
	if (b >= p->nbuffers && u.nmade > 0) {
		int nth = (b - p->nbuffers) % u.nmade;
		for (b = 0; u.nth[b] != nth; b++)
			;
	}
	arena_free(tmp);
	return b;
}
