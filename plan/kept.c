#include "config.h"

#include "plan/kept.h"

#include <string.h>

#include "base/checked.h"
#include "base/vec.h"
#include "plan/plan.h"

/* A factor that is packed again in each step is used at least so often each
 * time. */
enum { LEAST_USES = 2 };

/* A use of a factor, and the tensors that it is made of. */
typedef struct use {
	int kernel, side, nbuffers;
	int buffers[MAX_NINPUTS];
	box at; /* of the run */
	int nuses, slot;
} use;

typedef struct finder {
	arena *a;
	const plan *p;
	const kept_factor *factors;
	bool *fixed; /* by buffer: it follows from constants and states */
	VEC(use) uses;
	int *of; /* as kept_plan.of, with numbers of uses */
} finder;

/* ---- sizes ------------------------------------------------------------- */

/* The number of points of some variables; false if there are too many. */
static bool points(const box *b, uint32_t vars, int64_t *n)
{
	bool good = true;
	*n = 1;
	for (int v = 0; good && v < b->n; v++)
		if (vars >> v & 1)
			good = ck_mul(*n, b->hi[v] - b->lo[v], n);
	return good;
}

static bool size_of(const kept_factor *f, int side, const box *b, int64_t *n)
{
	int64_t outer, own, depth;
	int64_t tile = side == KEPT_ROWS ? KEPT_TILE_ROWS
					 : KEPT_TILE_BYTES / f->size;
	return points(b, f->outer, &outer) && points(b, f->own, &own) &&
	       points(b, f->depth, &depth) && ck_add(own, tile - 1, &own) &&
	       ck_mul(own / tile * tile, depth, n) && ck_mul(*n, outer, n) &&
	       ck_mul(*n, f->size, n) && *n <= PLAN_MAX_BYTES;
}

/* ---- uses -------------------------------------------------------------- */

/* Whether a buffer keeps its content from one step to the next: the stored
 * block of a constant, or of a state. */
static bool stays(const plan *p, int buffer)
{
	const plan_tensor *t = &p->tensors[p->buffers[buffer].tensor];
	return (t->role == PLAN_CONSTANT || t->role == PLAN_STATE) &&
	       t->buffer == buffer;
}

/* Whether all that a run reads follows from constants and states. */
static bool reads_fixed(const finder *x, const plan_instr *in)
{
	const plan *p = x->p;
	int k = p->nodes[in->node].kernel;
	for (int i = 0; i < p->kernels[k].kernel->ninputs; i++)
		if (!x->fixed[in->inputs[i]])
			return false;
	return true;
}

/* Finds the buffers that stay, and the results of what reads these alone, such
 * as a weight with its gates in another order: each is written once a step. */
static void find_fixed(finder *x)
{
	const plan *p = x->p;
	int *nwrites = ARENA_ARRAY(x->a, int, p->nbuffers);
	x->fixed = ARENA_ARRAY(x->a, bool, p->nbuffers);
	for (int b = 0; b < p->nbuffers; b++)
		x->fixed[b] = stays(p, b);
	for (int i = 0; i < p->ninstrs; i++)
		nwrites[p->program[i].to] += p->program[i].op != PLAN_SEND;
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		if (in->op == PLAN_RUN && in->chain == 0 &&
		    nwrites[in->to] == 1 && p->buffers[in->to].slots == 0 &&
		    reads_fixed(x, in))
			x->fixed[in->to] = true;
	}
}

static bool same_part(const kept_factor *f, const box *x, const box *y)
{
	uint32_t vars = f->outer | f->own | f->depth;
	for (int v = 0; v < x->n; v++)
		if (vars >> v & 1 &&
		    (x->lo[v] != y->lo[v] || x->hi[v] != y->hi[v]))
			return false;
	return true;
}

static bool same_use(const finder *x, const use *u, const use *v)
{
	const kept_factor *f = &x->factors[u->kernel * KEPT_SIDES + u->side];
	return u->kernel == v->kernel && u->side == v->side &&
	       !memcmp(u->buffers, v->buffers,
		       (size_t)u->nbuffers * sizeof(*u->buffers)) &&
	       same_part(f, &u->at, &v->at);
}

/* The number of a use; adds it if it is new. */
static int number_of(finder *x, const use *u)
{
	int i = 0;
	while (i < x->uses.n && !same_use(x, u, &x->uses.at[i]))
		i++;
	if (i == x->uses.n)
		vec_push(x->a, &x->uses, *u);
	x->uses.at[i].nuses++;
	return i;
}

static void find_use(finder *x, int instr, int side, int worker)
{
	const plan *p = x->p;
	const plan_instr *in = &p->program[instr];
	use u = { .kernel = p->nodes[in->node].kernel, .side = side,
		  .slot = -1 };
	const kept_factor *f = &x->factors[u.kernel * KEPT_SIDES + side];
	const kernel *k = p->kernels[u.kernel].kernel;
	int64_t size;
	if (!f->inputs || in->chain > 0 || plan_is_idle(p, in))
		return;
	for (int i = 0; i < k->ninputs; i++)
		if (f->inputs >> i & 1) {
			if (!x->fixed[in->inputs[i]])
				return;
			u.buffers[u.nbuffers++] = in->inputs[i];
		}
	u.at = plan_space(p, in, worker);
	if (size_of(f, side, &u.at, &size) && size >= KEPT_LEAST_BYTES)
		x->of[instr * KEPT_SIDES + side] = number_of(x, &u);
}

static void find_uses(finder *x, int worker)
{
	const plan *p = x->p;
	find_fixed(x);
	for (int i = 0; i < p->ninstrs; i++)
		for (int side = 0; side < KEPT_SIDES; side++) {
			x->of[i * KEPT_SIDES + side] = -1;
			if (p->program[i].op == PLAN_RUN)
				find_use(x, i, side, worker);
		}
}

/* ---- slots ------------------------------------------------------------- */

/* Whether an instruction writes a tensor of which a factor is made. */
static bool spoils(const plan *p, const plan_instr *in, const use *u)
{
	const plan_buffer *to = &p->buffers[in->to];
	for (int i = 0; i < u->nbuffers && in->op != PLAN_SEND; i++) {
		const plan_buffer *b = &p->buffers[u->buffers[i]];
		if (to->offset < b->offset + b->nbytes &&
		    b->offset < to->offset + to->nbytes)
			return true;
	}
	return false;
}

static bool is_spoilt(const plan *p, const use *u)
{
	for (int i = 0; i < p->ninstrs; i++)
		if (spoils(p, &p->program[i], u))
			return true;
	return false;
}

static bool uses(const finder *x, int instr, int number)
{
	bool found = false;
	for (int side = 0; side < KEPT_SIDES; side++)
		found |= x->of[instr * KEPT_SIDES + side] == number;
	return found;
}

/* The uses of a factor in a step that find it spoilt, from the second step
 * on. */
static int count_fills(const finder *x, int number)
{
	bool packed = true;
	int n = 0;
	for (int step = 0; step < 2; step++) {
		n = 0;
		for (int i = 0; i < x->p->ninstrs; i++) {
			bool used = uses(x, i, number);
			n += used && !packed;
			packed |= used;
			if (spoils(x->p, &x->p->program[i],
				   &x->uses.at[number]))
				packed = false;
		}
	}
	return n;
}

/* Whether a factor is used often enough for each time that it is packed. */
static bool is_worth(const finder *x, int number)
{
	int nuses = x->uses.at[number].nuses;
	return nuses < LEAST_USES
		       ? !is_spoilt(x->p, &x->uses.at[number])
		       : nuses >= LEAST_USES * count_fills(x, number);
}

static void place_slots(finder *x, kept_plan *k, int64_t room)
{
	k->slots = ARENA_ARRAY(x->a, kept_slot, x->uses.n);
	for (int i = 0; i < x->uses.n; i++) {
		use *u = &x->uses.at[i];
		const kept_factor *f =
			&x->factors[u->kernel * KEPT_SIDES + u->side];
		int64_t n, end;
		if (!size_of(f, u->side, &u->at, &n))
			continue;
		n = round_up(n, PLAN_ALIGN);
		if (!ck_add(k->nbytes, n, &end) || end > room ||
		    !is_worth(x, i))
			continue;
		u->slot = k->nslots;
		k->slots[k->nslots++] = (kept_slot){ k->nbytes, n };
		k->nbytes = end;
	}
}

static void note_spoils(finder *x, kept_plan *k, int instr)
{
	VEC(int) all = { 0 };
	for (int i = 0; i < x->uses.n; i++) {
		const use *u = &x->uses.at[i];
		if (u->slot >= 0 && spoils(x->p, &x->p->program[instr], u))
			vec_push(x->a, &all, u->slot);
	}
	k->nspoils[instr] = all.n;
	k->spoils[instr] = all.at;
}

/* Chooses the factors to keep, and their slots. */
static kept_plan find_slots(finder *x, int worker, int64_t room)
{
	kept_plan k = { 0 };
	k.of = x->of = ARENA_ARRAY(x->a, int, x->p->ninstrs * KEPT_SIDES);
	find_uses(x, worker);
	place_slots(x, &k, room);
	return k;
}

kept_plan *kept_of(arena *a, const plan *p, int worker,
		   const kept_factor *factors, int64_t room)
{
	kept_plan *k = ARENA_NEW(a, kept_plan);
	finder x = { .a = a, .p = p, .factors = factors };
	*k = find_slots(&x, worker, room);
	k->nspoils = ARENA_ARRAY(a, int, p->ninstrs);
	k->spoils = ARENA_ARRAY(a, int *, p->ninstrs);
	for (int i = 0; i < p->ninstrs * KEPT_SIDES; i++)
		if (k->of[i] >= 0)
			k->of[i] = x.uses.at[k->of[i]].slot;
	for (int i = 0; k->nslots > 0 && i < p->ninstrs; i++)
		note_spoils(&x, k, i);
	return k;
}

int64_t kept_plan_bytes(const plan *p, const kept_factor *factors,
			int64_t room)
{
	enum { MOST_WORKERS = 64, MOST_TURNS = 2 };
	arena *a = arena_new();
	const plan *u = plan_unroll(a, p, MOST_TURNS);
	int64_t most = 0;
	int n = mesh_workers(&p->mesh);
	int step = (n + MOST_WORKERS - 1) / MOST_WORKERS;
	bool any = false;
	for (int i = 0; i < p->nkernels * KEPT_SIDES; i++)
		any |= factors[i].inputs != 0;
	for (int w = 0; any && w < n; w += step) {
		arena *own = arena_new();
		finder x = { .a = own, .p = u, .factors = factors };
		int64_t one = find_slots(&x, w, room).nbytes;
		most = one > most ? one : most;
		arena_free(own);
	}
	arena_free(a);
	return most;
}
