#include "config.h"

#include "plan/overlap.h"

#include <stdlib.h>

#include "base/checked.h"
#include "plan/lifetimes.h"

/* The buffers in use in the arena, as a segment tree over the places where
 * buffers begin or end: node i has children 2i and 2i + 1.  owner is 1 + the
 * buffer that covers the whole node; inside says whether anything below it is
 * in use. */
typedef struct space {
	int nplaces, nleaves; /* leaf i is from place i to place i + 1 */
	int64_t *places;
	int *owner, *inside;
} space;

static int by_value(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
	return (a > b) - (a < b);
}

static space space_new(arena *a, const plan *p)
{
	space s = { 0 };
	s.places = ARENA_ARRAY(a, int64_t, 2 * (size_t)p->nbuffers + 1);
	int n = 0;
	for (int b = 0; b < p->nbuffers; b++) {
		const plan_buffer *x = &p->buffers[b];
		s.places[n++] = x->offset;
		s.places[n++] = x->offset + plan_buffer_span(x);
	}
	qsort(s.places, (size_t)n, sizeof(*s.places), by_value);
	for (int i = 0; i < n; i++)
		if (s.nplaces == 0 || s.places[s.nplaces - 1] != s.places[i])
			s.places[s.nplaces++] = s.places[i];
	s.nleaves = power_of_two(s.nplaces);
	s.owner = ARENA_ARRAY(a, int, 2 * (size_t)s.nleaves);
	s.inside = ARENA_ARRAY(a, int, 2 * (size_t)s.nleaves);
	return s;
}

static int place_of(const space *s, int64_t at)
{
	const int64_t *found = bsearch(&at, s->places, (size_t)s->nplaces,
				       sizeof(at), by_value);
	return (int)(found - s->places);
}

/* 1 + some buffer in use in a node, 0 for none. */
static int in_node(const space *s, int i)
{
	return s->owner[i] ? s->owner[i] : s->inside[i];
}

/* 1 + some buffer in use between two places, 0 for none. */
static int find(const space *s, int i, int lo, int hi, int from, int to)
{
	if (to <= lo || hi <= from)
		return 0;
	if (s->owner[i] || (from <= lo && hi <= to))
		return in_node(s, i);
	int mid = (lo + hi) / 2;
	int found = find(s, 2 * i, lo, mid, from, to);
	return found ? found : find(s, 2 * i + 1, mid, hi, from, to);
}

static void set(space *s, int i, int lo, int hi, int from, int to, int owner)
{
	if (to <= lo || hi <= from)
		return;
	if (from <= lo && hi <= to) {
		s->owner[i] = owner;
		return;
	}
	int mid = (lo + hi) / 2;
	set(s, 2 * i, lo, mid, from, to, owner);
	set(s, 2 * i + 1, mid, hi, from, to, owner);
	int left = in_node(s, 2 * i);
	s->inside[i] = left ? left : in_node(s, 2 * i + 1);
}

static int use(space *s, const plan_buffer *b, int owner)
{
	int from = place_of(s, b->offset);
	int to = place_of(s, b->offset + plan_buffer_span(b));
	if (from == to)
		return 0;
	int found = owner ? find(s, 1, 0, s->nleaves, from, to) : 0;
	if (!found)
		set(s, 1, 0, s->nleaves, from, to, owner);
	return found;
}

/* Frees the input that the result of instruction t may overwrite: one in
 * exactly the same place. */
static void free_in_place(space *s, const plan *p, const lifetime *l, int t,
			  int *freed)
{
	const plan_instr *in = &p->program[t];
	const plan_buffer *to = &p->buffers[in->to];
	if (in->op != PLAN_RUN)
		return;
	int ninputs = p->kernels[p->nodes[in->node].kernel].kernel->ninputs;
	for (int i = 0; i < ninputs; i++) {
		const plan_buffer *b = &p->buffers[in->inputs[i]];
		if (b->offset != to->offset || b->nbytes != to->nbytes ||
		    !plan_may_overwrite(p, l, t, in->inputs[i]))
			continue;
		use(s, b, 0);
		*freed = in->inputs[i];
		return;
	}
}

/* Lists buffers by their last instant: head[t] is the first, next[b] follows b;
 * head[-1] exists too. */
static void sort_by_end(const plan *p, const lifetime *l, int *head, int *next)
{
	for (int t = -1; t <= p->ninstrs; t++)
		head[t] = -1;
	for (int b = 0; b < p->nbuffers; b++) {
		if (l[b].first > l[b].last)
			continue;
		next[b] = head[l[b].last];
		head[l[b].last] = b;
	}
}

/* Marks the slots of a stage as used, at the beginning of its body. */
static bool use_slots(space *s, const plan *p, int *x, int *y)
{
	for (*y = 0; *y < p->nbuffers; ++*y) {
		if (p->buffers[*y].slots <= 0)
			continue;
		*x = use(s, &p->buffers[*y], *y + 1) - 1;
		if (*x >= 0)
			return true;
	}
	return false;
}

/* Marks the results of instruction t as used; those of its whole bucket or
 * chain if it is the first.  Results that do not begin there update a state, or
 * are slots.  *freed: the input that is overwritten. */
static bool use_results(space *s, const plan *p, const lifetime *l, int t,
			int *freed, int *x, int *y)
{
	bool inside = t > 0 && plan_step_end(p, t - 1) > t;
	int end = inside ? t : plan_step_end(p, t);
	for (int i = t; i < end; i++) {
		*y = p->program[i].to;
		if (l[*y].first != t || p->buffers[*y].slots != 0)
			continue;
		free_in_place(s, p, l, i, freed);
		*x = use(s, &p->buffers[*y], *y + 1) - 1;
		if (*x >= 0)
			return true;
	}
	return false;
}

static bool find_overlap(arena *tmp, const plan *p, int *x, int *y)
{
	lifetime *l = plan_lifetimes(tmp, p);
	space s = space_new(tmp, p);
	int *head = ARENA_ARRAY(tmp, int, (size_t)p->ninstrs + 2) + 1;
	int *next = ARENA_ARRAY(tmp, int, p->nbuffers);
	sort_by_end(p, l, head, next);
	for (*y = 0; *y < p->nbuffers; ++*y) {
		if (l[*y].first >= 0)
			continue;
		*x = use(&s, &p->buffers[*y], *y + 1) - 1;
		if (*x >= 0)
			return true;
	}
	for (int b = head[-1]; b >= 0; b = next[b])
		use(&s, &p->buffers[b], 0);
	for (int t = 0; t < p->ninstrs; t++) {
		int freed = -1;
		if (p->stage && t == p->body_begin &&
		    use_slots(&s, p, x, y))
			return true;
		if (use_results(&s, p, l, t, &freed, x, y))
			return true;
		for (int b = head[t]; b >= 0; b = next[b])
			if (b != freed)
				use(&s, &p->buffers[b], 0);
	}
	return false;
}

bool plan_overlap(const plan *p, int *x, int *y)
{
	arena *tmp = arena_new();
	bool found = find_overlap(tmp, p, x, y);
	arena_free(tmp);
	return found;
}
