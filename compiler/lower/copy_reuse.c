/* Chooses fetched copies to keep for later readers.
 *
 * A program that fetches the inputs of a node right before it runs, and again
 * for the next node, moves the most bytes and needs the least memory.  A fetch
 * covered by an earlier one can be removed if the earlier copy is kept.  The
 * bytes in use at each instant decide whether there is room; the cheapest
 * copies are kept first.  In a training step this saves a third of the bytes
 * moved: weights and activations that the backward pass needs again. */
#include "config.h"

#include "compiler/lower/program.h"

#include <stdlib.h>

#include "base/checked.h"

enum {
	MOST_COPIES = 64, /* copies of a tensor compared with a fetch */
	/* allowed growth in memory if none is given: a tenth */
	USUAL_SHARE = 10,
};

/* A fetch that an earlier fetch of the same tensor covers. */
typedef struct saving {
	int fetch, before; /* buffers */
	double price;	   /* bytes kept for a byte saved */
	int gap;	   /* instants */
} saving;

/* Bytes in use at each instant, as a segment tree of maxima.  What is added to
 * all leaves below a node is stored at the node. */
typedef struct profile {
	int nleaves; /* a power of two */
	int64_t *most, *added;
} profile;

static void add_below(profile *f, int i, int lo, int hi, int from, int to,
		      int64_t bytes)
{
	if (to <= lo || hi <= from)
		return;
	if (from <= lo && hi <= to) {
		f->most[i] += bytes;
		f->added[i] += bytes;
		return;
	}
	int mid = (lo + hi) / 2;
	add_below(f, 2 * i, lo, mid, from, to, bytes);
	add_below(f, 2 * i + 1, mid, hi, from, to, bytes);
	int64_t l = f->most[2 * i], r = f->most[2 * i + 1];
	f->most[i] = f->added[i] + (l > r ? l : r);
}

/* Adds bytes at instants [from, to), which may be empty. */
static void profile_add(profile *f, int from, int to, int64_t bytes)
{
	if (from < to)
		add_below(f, 1, 0, f->nleaves, from, to, bytes);
}

static int64_t most_below(const profile *f, int i, int lo, int hi, int from,
			  int to)
{
	if (to <= lo || hi <= from)
		return INT64_MIN;
	if (from <= lo && hi <= to)
		return f->most[i];
	int mid = (lo + hi) / 2;
	int64_t l = most_below(f, 2 * i, lo, mid, from, to);
	int64_t r = most_below(f, 2 * i + 1, mid, hi, from, to);
	l = l > r ? l : r;
	return l == INT64_MIN ? l : l + f->added[i];
}

/* The maximum over instants [from, to); INT64_MIN if empty. */
static int64_t profile_most(const profile *f, int from, int to)
{
	return from < to ? most_below(f, 1, 0, f->nleaves, from, to)
			 : INT64_MIN;
}

typedef struct keeper {
	draft *d;
	lifetime *lives;
	plan_places places;
	profile in_use;
	int *fetch;   /* by buffer: the MOVE that fills it for a node; -1 */
	int *kept;    /* by buffer: the copy that is read in its place */
	int *until;   /* by buffer: last instant at which it is read */
	int *last_of; /* by tensor: last fetch so far */
	int *before;  /* by buffer: previous fetch of the same tensor */
} keeper;

static int64_t rounded(const draft *d, int buffer)
{
	return round_up(d->p->buffers[buffer].nbytes, PLAN_ALIGN);
}

/* Instants count from -1 in lifetimes, from 0 here. */
static void fill_profile(keeper *k)
{
	const plan *p = k->d->p;
	profile *f = &k->in_use;
	f->nleaves = power_of_two(p->ninstrs + 2);
	f->most = ARENA_ARRAY(k->d->tmp, int64_t, 2 * (size_t)f->nleaves);
	f->added = ARENA_ARRAY(k->d->tmp, int64_t, 2 * (size_t)f->nleaves);
	for (int b = 0; b < p->nbuffers; b++) {
		const arena_item *m = &k->places.items[b];
		int64_t n = round_up(m->nbytes, PLAN_ALIGN);
		if (n > 0)
			profile_add(f, m->first + 1, m->last + 2, n);
	}
}

/* Whether no other buffer shares the place of b, so that b's lifetime alone
 * decides how long the place is in use. */
static bool is_alone(const keeper *k, int b)
{
	const arena_item *m = &k->places.items[b];
	return k->places.group[b] == b && m->first == k->lives[b].first &&
	       m->last == k->lives[b].last;
}

/* Whether both copies are fetched before a loop, both in it, or both after
 * it. */
static bool are_in_one_section(const keeper *k, int x, int y)
{
	const plan_loop *o = &k->d->p->loop;
	int s = k->fetch[x], t = k->fetch[y];
	return (s < o->begin) == (t < o->begin) && (s < o->end) == (t < o->end);
}

/* The last fetch before b that covers it; -1 if there is none. */
static int find_before(const keeper *k, int b)
{
	int x = k->before[b];
	for (int i = 0; x >= 0 && i < MOST_COPIES; x = k->before[x], i++)
		if (is_alone(k, x) && are_in_one_section(k, x, b) &&
		    program_covers(k->d->classes, k->d->p, &k->d->p->buffers[x],
				   &k->d->p->buffers[b]))
			return x;
	return -1;
}

static int by_price(const void *x, const void *y)
{
	const saving *a = x, *b = y;
	if (a->price != b->price)
		return a->price < b->price ? -1 : 1;
	return a->gap != b->gap ? a->gap - b->gap : a->fetch - b->fetch;
}

static int find_savings(keeper *k, saving *savings)
{
	const plan *p = k->d->p;
	int n = 0;
	for (int t = 0; t < p->ninstrs; t++) {
		const plan_instr *in = &p->program[t];
		if (in->op != PLAN_MOVE ||
		    p->buffers[in->to].region != LAYOUT_NEEDS)
			continue;
		int b = in->to, x = p->buffers[b].tensor;
		k->fetch[b] = t;
		k->before[b] = k->last_of[x];
		k->last_of[x] = b;
		int found = is_alone(k, b) ? find_before(k, b) : -1;
		if (found < 0)
			continue;
		int pair = plan_instr_class(k->d->classes, p, in);
		double moved = 1 + (double)layout_pair_received(k->d->classes,
								pair);
		savings[n++] = (saving){
			b, found, (double)rounded(k->d, found) / moved,
			t - k->lives[found].last,
		};
	}
	qsort(savings, (size_t)n, sizeof(*savings), by_price);
	return n;
}

static int kept_for(const keeper *k, int b)
{
	while (k->kept[b] != b)
		b = k->kept[b] = k->kept[k->kept[b]];
	return b;
}

/* Keeps the copy that replaces s->before until the last reader of the one that
 * replaces s->fetch, if there is room. */
static void try_saving(keeper *k, const saving *s, int64_t most,
		       lower_rooms *rooms)
{
	profile *f = &k->in_use;
	int x = kept_for(k, s->before), y = s->fetch;
	int from = k->until[x] + 2, at = k->fetch[y] + 1, to = k->until[y] + 2;
	/* x lives longer; y is no longer needed */
	int both = from > at ? from : at;
	int64_t more = rounded(k->d, x), less = rounded(k->d, y);
	int64_t before = profile_most(f, from, at) + more;
	int64_t after = profile_most(f, both, to) + more - less;
	int64_t needed = before > after ? before : after;
	if (needed > most)
		rooms->all = -1;
	else if (rooms->all >= 0 && needed > rooms->all)
		rooms->all = needed;
	if (needed > most)
		return;
	profile_add(f, from, to, more);
	profile_add(f, at, to, -less);
	k->kept[y] = x;
	if (k->until[x] < k->until[y])
		k->until[x] = k->until[y];
}

/* Removes fetches that are not needed, and buffers that are then unused. */
static void apply(keeper *k)
{
	plan *p = k->d->p;
	int *number = ARENA_ARRAY(k->d->tmp, int, p->nbuffers), n = 0, at = 0;
	for (int b = 0; b < p->nbuffers; b++) {
		if (k->kept[b] == b)
			p->buffers[n] = p->buffers[b];
		number[b] = k->kept[b] == b ? n++ : -1;
	}
	const plan_loop whole = p->loop;
	for (int t = 0; t < p->ninstrs; t++) {
		plan_instr in = p->program[t];
		if (number[in.to] < 0) {
			p->loop.begin -= t < whole.begin;
			p->loop.end -= t < whole.end;
			continue;
		}
		in.to = number[in.to];
		if (plan_moves(&in))
			in.from = number[in.from];
		p->program[at++] = in;
	}
	for (int i = 0; i < p->nnodes; i++) {
		node_buffers *b = &k->d->nodes[i];
		int ninputs = p->kernels[p->nodes[i].kernel].kernel->ninputs;
		for (int j = 0; j < ninputs; j++)
			b->sources[j] = number[kept_for(k, b->sources[j])];
	}
	for (int t = 0; t < p->ntensors; t++)
		if (p->tensors[t].buffer >= 0)
			p->tensors[t].buffer = number[p->tensors[t].buffer];
	p->nbuffers = n;
	p->ninstrs = at;
}

lower_rooms program_keep_copies(draft *d, int64_t memory)
{
	const plan *p = d->p;
	arena *a = d->tmp;
	keeper k = { .d = d, .lives = plan_lifetimes(a, p) };
	k.places = plan_find_places(a, p, d->classes);
	k.fetch = ARENA_ARRAY(a, int, p->nbuffers);
	k.kept = ARENA_ARRAY(a, int, p->nbuffers);
	k.until = ARENA_ARRAY(a, int, p->nbuffers);
	k.before = ARENA_ARRAY(a, int, p->nbuffers);
	k.last_of = ARENA_ARRAY(a, int, p->ntensors);
	for (int b = 0; b < p->nbuffers; b++) {
		k.kept[b] = b;
		k.until[b] = k.lives[b].last;
	}
	for (int t = 0; t < p->ntensors; t++)
		k.last_of[t] = -1;
	fill_profile(&k);
	saving *savings = ARENA_ARRAY(a, saving, p->ninstrs);
	int n = find_savings(&k, savings);
	int64_t least = k.in_use.most[1];
	lower_rooms rooms = { least, least + least / USUAL_SHARE, 0 };
	int64_t most = memory == 0	? rooms.usual
		       : least > memory ? least
					: memory;
	for (int i = 0; i < n; i++)
		try_saving(&k, &savings[i], most, &rooms);
	apply(&k);
	return rooms;
}
