#include "config.h"

#include "compiler/simulate/flows.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/heap.h"
#include "base/vec.h"

/* Something that runs.  If it was alone all the time, it ends exactly at
 * `end'. */
typedef struct flow {
	const simulated_links *links;
	double moving;	    /* seconds on its links when alone */
	double left, as_of; /* seconds left, as of this instant */
	/* relative to running alone, at most 1; 0: not known yet */
	double speed;
	double next;	    /* speed while speeds are computed; 0: not yet */
	double end;
	bool joined; /* it is on its links */
	bool seen;
	int version; /* of its event; events of other versions are void */
} flow;

typedef struct link {
	VEC(int) on; /* flows on the link */
	/* while speeds are computed: share taken by flows that have a speed;
	 * share that the others take at one byte per second each */
	double taken, asked;
	bool seen;
} link;

struct flows {
	arena *a;
	flow *all;
	link *links;
	/* ends of flows, and instants at which they join their links */
	heap events;
	VEC(int) changed; /* links that changed */
	VEC(int) some, between; /* flows that share links, and these links */
	double now;
};

/* Instants are >= 0, so their bits have the same order. */
static int64_t key_of(double seconds)
{
	int64_t key;
	static_assert(sizeof(key) == sizeof(seconds), "64 bits");
	memcpy(&key, &seconds, sizeof(key));
	return key;
}

static double instant_of(int64_t key)
{
	double seconds;
	memcpy(&seconds, &key, sizeof(seconds));
	return seconds;
}

flows *flows_new(arena *a, int most, int nlinks)
{
	flows *f = ARENA_NEW(a, flows);
	f->a = a;
	f->all = ARENA_ARRAY(a, flow, most);
	f->links = ARENA_ARRAY(a, link, nlinks);
	return f;
}

static void await(flows *f, int which, double instant)
{
	heap_push(f->a, &f->events,
		  (heap_entry){ key_of(instant), ++f->all[which].version,
				which });
}

/* ---- links ------------------------------------------------------------- */

static void note_changed(flows *f, const flow *x)
{
	for (int i = 0; i < x->links->n; i++)
		vec_push(f->a, &f->changed, x->links->at[i].link);
}

static void join(flows *f, int which)
{
	flow *x = &f->all[which];
	x->joined = true;
	x->left = x->moving;
	x->as_of = f->now;
	x->speed = 0;
	for (int i = 0; i < x->links->n; i++)
		vec_push(f->a, &f->links[x->links->at[i].link].on, which);
	note_changed(f, x);
}

static void leave(flows *f, int which)
{
	flow *x = &f->all[which];
	for (int i = 0; i < x->links->n; i++) {
		link *l = &f->links[x->links->at[i].link];
		int k = 0;
		while (l->on.at[k] != which)
			k++;
		l->on.at[k] = l->on.at[--l->on.n];
	}
	x->joined = false;
	note_changed(f, x);
}

void flows_begin(flows *f, int which, const simulated_links *links,
		 double begin, double end)
{
	flow *x = &f->all[which];
	double moving = 0;
	for (int i = 0; links && i < links->n; i++)
		moving = fmax(moving, links->at[i].seconds);
	*x = (flow){ .links = links, .moving = fmin(moving, end - begin),
		     .end = end, .version = x->version };
	if (moving <= 0)
		await(f, which, end);
	else if (moving < end - begin)
		await(f, which, end - moving);
	else
		join(f, which);
}

/* ---- sharing ----------------------------------------------------------- */

static void see_link(flows *f, int i)
{
	if (f->links[i].seen)
		return;
	f->links[i].seen = true;
	vec_push(f->a, &f->between, i);
}

/* Finds all flows connected with the changed links, and all links of these
 * flows. */
static void find_connected(flows *f)
{
	f->some.n = f->between.n = 0;
	for (int i = 0; i < f->changed.n; i++)
		see_link(f, f->changed.at[i]);
	f->changed.n = 0;
	for (int i = 0; i < f->between.n; i++) {
		const link *l = &f->links[f->between.at[i]];
		for (int k = 0; k < l->on.n; k++) {
			flow *x = &f->all[l->on.at[k]];
			if (x->seen)
				continue;
			x->seen = true;
			x->next = 0;
			vec_push(f->a, &f->some, l->on.at[k]);
			for (int j = 0; j < x->links->n; j++)
				see_link(f, x->links->at[j].link);
		}
	}
}

/* The fraction of a link that a flow takes when alone. */
static double part_of(const flow *x, int i)
{
	return fmin(x->links->at[i].seconds / x->moving, 1);
}

static void count_links(flows *f)
{
	for (int i = 0; i < f->between.n; i++) {
		link *l = &f->links[f->between.at[i]];
		l->taken = l->asked = 0;
	}
	for (int k = 0; k < f->some.n; k++) {
		const flow *x = &f->all[f->some.at[k]];
		for (int i = 0; i < x->links->n; i++) {
			link *l = &f->links[x->links->at[i].link];
			if (x->next > 0)
				l->taken += part_of(x, i) * x->next;
			else
				l->asked += part_of(x, i) / x->links->rate;
		}
	}
}

/* The rate at which a link becomes full. */
static double fills_at(const link *l)
{
	return l->asked > 0 ? fmax(1 - l->taken, 0) / l->asked : INFINITY;
}

/* Whether a flow is on a link that is full at this rate. */
static bool is_held(const flows *f, const flow *x, double rate)
{
	enum { ULPS = 64 };
	for (int i = 0; i < x->links->n; i++)
		if (x->links->at[i].seconds > 0 &&
		    fills_at(&f->links[x->links->at[i].link]) <=
			    rate * (1 + ULPS * 0x1p-53))
			return true;
	return false;
}

/* Raises the rates of all flows without a speed equally, until a link is full
 * or a flow reaches the speed it has alone.  Sets the speeds of flows that are
 * stopped by this.  Returns their number. */
static int raise_rates(flows *f)
{
	double rate = INFINITY, full = INFINITY;
	int n = 0;
	count_links(f);
	for (int k = 0; k < f->some.n; k++)
		if (f->all[f->some.at[k]].next <= 0)
			rate = fmin(rate, f->all[f->some.at[k]].links->rate);
	for (int i = 0; i < f->between.n; i++)
		full = fmin(full, fills_at(&f->links[f->between.at[i]]));
	bool alone = rate <= full * (1 + 0x1p-40);
	for (int k = 0; k < f->some.n; k++) {
		flow *x = &f->all[f->some.at[k]];
		if (x->next > 0 || (alone ? x->links->rate > rate
					  : !is_held(f, x, full)))
			continue;
		x->next = alone ? 1 : fmax(full / x->links->rate, 0x1p-40);
		n++;
	}
	return n;
}

static void set_speed(flows *f, int which)
{
	flow *x = &f->all[which];
	double before = x->speed;
	x->seen = false;
	if (x->next == before)
		return;
	x->left = fmax(x->left - (f->now - x->as_of) * before, 0);
	x->as_of = f->now;
	x->speed = x->next;
	if (before > 0 || x->speed < 1)
		x->end = f->now + x->left / x->speed;
	await(f, which, x->end);
}

static void share(flows *f)
{
	int found = 0;
	find_connected(f);
	while (found < f->some.n)
		found += raise_rates(f);
	for (int k = 0; k < f->some.n; k++)
		set_speed(f, f->some.at[k]);
	for (int i = 0; i < f->between.n; i++)
		f->links[f->between.at[i]].seen = false;
}

/* ---- instants ---------------------------------------------------------- */

/* The next event that is not void; NULL if there is none. */
static const heap_entry *next_event(flows *f)
{
	while (f->events.entries.n > 0) {
		const heap_entry *e = &f->events.entries.at[0];
		if (e->second == f->all[e->item].version)
			return e;
		heap_pop(&f->events);
	}
	return NULL;
}

double flows_next(flows *f)
{
	share(f);
	const heap_entry *e = next_event(f);
	f->now = e ? instant_of(e->key) : -1;
	return f->now;
}

int flows_ended(flows *f)
{
	const heap_entry *e;
	while ((e = next_event(f)) && instant_of(e->key) == f->now) {
		int which = heap_pop(&f->events).item;
		flow *x = &f->all[which];
		if (!x->joined && x->moving > 0) {
			join(f, which);
			continue;
		}
		if (x->joined)
			leave(f, which);
		return which;
	}
	return -1;
}
