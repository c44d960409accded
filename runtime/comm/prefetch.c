#include "config.h"

#include "runtime/comm/prefetch.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* Staging memory in use at a time, unless the largest transfer needs more. */
#define ROOM (INT64_C(64) << 20)

typedef struct maker {
	arena *a;
	const plan *p;
	const int64_t *nbytes;
	int64_t room;
	int *leader; /* by instruction: first of its phase of a bucket */
	/* by transfer: the first instruction before which its source is ready;
	 * itself: it waits for its turn */
	int *source;
	bool *begun;
	VEC(int) going; /* begun and not ended, oldest first */
	VEC(int) early; /* not begun yet, but may begin before their turn */
	bool freed;	/* memory was freed since the early ones were tried */
	VEC(prefetch_event) events;
	prefetch to;
} maker;

/* ---- conflicts --------------------------------------------------------- */

static bool overlap(const plan *p, int x, int y)
{
	const plan_buffer *a = &p->buffers[x], *b = &p->buffers[y];
	return a->offset < b->offset + b->nbytes &&
	       b->offset < a->offset + a->nbytes && a->nbytes > 0 &&
	       b->nbytes > 0;
}

static bool reads(const plan *p, const plan_instr *in, int buffer)
{
	if (in->op != PLAN_RUN)
		return (plan_moves(in) || in->op == PLAN_SEND) &&
		       overlap(p, in->from, buffer);
	const plan_node *n = &p->nodes[in->node];
	for (int i = 0; i < p->kernels[n->kernel].kernel->ninputs; i++)
		if (overlap(p, in->inputs[i], buffer))
			return true;
	return false;
}

/* Whether a transfer has to end before instruction i. */
static bool conflict(const plan *p, int transfer, int i)
{
	const plan_instr *t = &p->program[transfer], *in = &p->program[i];
	return overlap(p, in->to, t->to) ||
	       (t->op != PLAN_RECEIVE && overlap(p, in->to, t->from)) ||
	       reads(p, in, t->to) || plan_hands_out(p, transfer);
}

/* The same for everything that a transfer stands for, and for everything that i
 * stands for. */
static bool ends_before(const maker *m, int transfer, int i)
{
	int ends = plan_phase_end(m->p, transfer);
	int last = plan_phase_end(m->p, i);
	for (; m->leader[i] != transfer && transfer < ends; transfer++)
		for (int j = i; j < last; j++)
			if (conflict(m->p, transfer, j))
				return true;
	return false;
}

/* ---- staging memory ---------------------------------------------------- */

static bool is_free(const maker *m, int64_t at, int64_t n)
{
	for (int i = 0; i < m->going.n; i++) {
		int t = m->going.at[i];
		if (at < m->to.at[t] + m->nbytes[t] && m->to.at[t] < at + n)
			return false;
	}
	return true;
}

/* The lowest free place for n bytes. */
static int64_t find_room(const maker *m, int64_t n)
{
	int64_t best = is_free(m, 0, n) ? 0 : -1;
	for (int i = 0; i < m->going.n; i++) {
		int t = m->going.at[i];
		int64_t at = m->to.at[t] + m->nbytes[t];
		if (is_free(m, at, n) && (best < 0 || at < best))
			best = at;
	}
	return best;
}

/* ---- events ------------------------------------------------------------ */

static void note(maker *m, int instr, bool begins)
{
	prefetch_event e = { instr, begins };
	vec_push(m->a, &m->events, e);
}

static void end(maker *m, int k)
{
	note(m, m->going.at[k], false);
	m->freed = true;
	m->going.n--;
	memmove(m->going.at + k, m->going.at + k + 1,
		(size_t)(m->going.n - k) * sizeof(int));
}

/* Begins a transfer within the given staging memory.  Returns false if there is
 * no room. */
static bool begin(maker *m, int instr, int64_t room)
{
	int64_t at = find_room(m, m->nbytes[instr]);
	if (at + m->nbytes[instr] > room)
		return false;
	m->to.at[instr] = at;
	if (at + m->nbytes[instr] > m->to.nbytes)
		m->to.nbytes = at + m->nbytes[instr];
	m->begun[instr] = true;
	vec_push(m->a, &m->going, instr);
	note(m, instr, true);
	return true;
}

/* Begins the transfers whose source is ready, in the order of their turns. */
static void begin_early(maker *m, int i)
{
	int kept = 0;
	for (int k = 0; m->freed && k < m->early.n; k++) {
		int t = m->early.at[k];
		if (t > i && !begin(m, t, m->room))
			m->early.at[kept++] = t;
	}
	if (m->freed)
		m->early.n = kept;
	m->freed = false;
}

/* Begins transfer i in its turn.  The oldest ones that may end are ended to
 * make room.  Transfers that began before their turn may not end yet, because
 * others still use their targets. */
static void begin_in_turn(maker *m, int i)
{
	for (int k = 0; k < m->going.n && !begin(m, i, m->room);)
		if (m->going.at[k] < i)
			end(m, k);
		else
			k++;
	if (!m->begun[i])
		begin(m, i, INT64_MAX);
}

static void step(maker *m, int i)
{
	begin_early(m, i);
	for (int k = 0; k < m->going.n;)
		if (m->going.at[k] < i && ends_before(m, m->going.at[k], i))
			end(m, k);
		else
			k++;
	if (m->nbytes[i] >= 0 && !m->begun[i])
		begin_in_turn(m, i);
}

/* ---- sources ----------------------------------------------------------- */

/* The last writer of each byte of the arena, in a tree of segments between the
 * ends of buffers.  Node i has children 2i and 2i + 1.  `all' is the
 * instruction that wrote the whole segment, `some' the one that last wrote any
 * part of it; -1 if there is none. */
typedef struct writers {
	int nsegments, nleaves; /* a power of two */
	int64_t *ends;		/* limits of segments, ascending */
	int *all, *some;
} writers;

static int by_size(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
	return (a > b) - (a < b);
}

static writers writers_of(arena *a, const plan *p)
{
	writers w = { .nleaves = 1 };
	w.ends = ARENA_ARRAY(a, int64_t, 2 * p->nbuffers + 1);
	int n = 0;
	for (int b = 0; b < p->nbuffers; b++) {
		w.ends[n++] = p->buffers[b].offset;
		w.ends[n++] = p->buffers[b].offset + p->buffers[b].nbytes;
	}
	qsort(w.ends, (size_t)n, sizeof(*w.ends), by_size);
	for (int i = 0; i < n; i++)
		if (i == 0 || w.ends[i] != w.ends[w.nsegments - 1])
			w.ends[w.nsegments++] = w.ends[i];
	while (w.nleaves < w.nsegments)
		w.nleaves *= 2;
	w.all = ARENA_ARRAY(a, int, 2 * w.nleaves);
	w.some = ARENA_ARRAY(a, int, 2 * w.nleaves);
	for (int i = 0; i < 2 * w.nleaves; i++)
		w.all[i] = w.some[i] = -1;
	return w;
}

static int segment_at(const writers *w, int64_t at)
{
	const int64_t *found = bsearch(&at, w->ends, (size_t)w->nsegments,
				       sizeof(at), by_size);
	return (int)(found - w->ends);
}

/* Returns the last write to segments [lo, hi) below node i, which has n
 * segments from `first' on.  Then notes `by' as their writer, unless it is
 * -1. */
static int visit(writers *w, int i, int first, int n, int lo, int hi, int by)
{
	if (hi <= first || first + n <= lo)
		return -1;
	int last = w->all[i];
	if (lo <= first && first + n <= hi) {
		last = w->some[i];
		w->all[i] = by >= 0 ? by : w->all[i];
	} else {
		int left = visit(w, 2 * i, first, n / 2, lo, hi, by);
		int right = visit(w, 2 * i + 1, first + n / 2, n / 2, lo, hi,
				  by);
		last = last > left ? last : left;
		last = last > right ? last : right;
	}
	w->some[i] = by >= 0 ? by : w->some[i];
	return last;
}

static int last_write(writers *w, const plan *p, int buffer, int by)
{
	const plan_buffer *b = &p->buffers[buffer];
	if (b->nbytes == 0)
		return -1;
	return visit(w, 1, 0, w->nleaves, segment_at(w, b->offset),
		     segment_at(w, b->offset + b->nbytes), by);
}

/* The earliest instruction before which a transfer can begin.  If its source is
 * the result of a transfer, it waits for its turn: the source is not ready
 * before that has ended, so beginning early gains nothing. */
static int source_of(const maker *m, writers *w, int i, int end)
{
	const plan *p = m->p;
	int source = 0;
	for (int j = i; j < end; j++) {
		int by = last_write(w, p, p->program[j].from, -1);
		int at = by >= 0 && m->nbytes[by] >= 0 ? i : by + 1;
		source = at > source ? at : source;
	}
	return source;
}

/* By channel: 1 + the last message received on it so far. */
static int *channels_of(arena *tmp, const plan *p)
{
	int n = 0;
	for (int i = 0; i < p->ninstrs; i++)
		if (p->program[i].op == PLAN_RECEIVE &&
		    p->program[i].channel >= n)
			n = p->program[i].channel + 1;
	return ARENA_ARRAY(tmp, int, n);
}

/* Finds the source of each transfer.  A message may be awaited as soon as the
 * previous one on its channel has had its turn: in order, and one ahead. */
static void find_sources(maker *m, arena *tmp)
{
	const plan *p = m->p;
	writers w = writers_of(tmp, p);
	int *before = channels_of(tmp, p);
	for (int i = 0, end; i < p->ninstrs; i = end) {
		const plan_instr *in = &p->program[i];
		end = plan_phase_end(p, i);
		if (m->nbytes[i] < 0) {
			m->source[i] = i;
		} else if (in->op == PLAN_RECEIVE) {
			m->source[i] = before[in->channel];
			before[in->channel] = i + 1;
		} else {
			m->source[i] = source_of(m, &w, i, end);
		}
		for (int j = i; j < end; j++) {
			m->leader[j] = i;
			if (p->program[j].op != PLAN_SEND)
				last_write(&w, p, p->program[j].to, i);
		}
	}
}

/* Lists transfers by source.  first[i] is the first one with source i, next[t]
 * the one after t with the same source; -1 ends a list. */
static void list_by_source(const maker *m, int n, int *first, int *next)
{
	for (int i = 0; i < n; i++)
		first[i] = -1;
	for (int t = n - 1; t >= 0; t--) {
		if (m->nbytes[t] < 0 || m->source[t] == t)
			continue;
		next[t] = first[m->source[t]];
		first[m->source[t]] = t;
	}
}

prefetch prefetch_of(arena *a, const plan *p, const int64_t *nbytes)
{
	int n = p->ninstrs;
	maker m = { .a = a, .p = p, .nbytes = nbytes, .room = ROOM };
	m.source = ARENA_ARRAY(a, int, n);
	m.leader = ARENA_ARRAY(a, int, n);
	m.begun = ARENA_ARRAY(a, bool, n);
	m.to.at = ARENA_ARRAY(a, int64_t, n);
	m.to.first = ARENA_ARRAY(a, int, n + 2);
	arena *tmp = arena_new();
	int *first = ARENA_ARRAY(tmp, int, n), *next = ARENA_ARRAY(tmp, int, n);
	find_sources(&m, tmp);
	list_by_source(&m, n, first, next);
	for (int i = 0; i < n; i++)
		m.room = nbytes[i] > m.room ? nbytes[i] : m.room;
	for (int i = 0; i < n; i++) {
		m.to.first[i] = m.events.n;
		for (int t = first[i]; t >= 0; t = next[t]) {
			vec_push(a, &m.early, t);
			m.freed = true;
		}
		step(&m, i);
	}
	m.to.first[n] = m.events.n;
	while (m.going.n > 0)
		end(&m, 0);
	m.to.first[n + 1] = m.events.n;
	m.to.events = m.events.at;
	arena_free(tmp);
	return m.to;
}
