#include "config.h"

#include "runtime/comm/prefetch.h"

#include <string.h>

#include "base/vec.h"

/* Staging memory that may be in use at a time, where the largest transfer does
 * not need more. */
#define ROOM (INT64_C(64) << 20)

typedef struct maker {
	arena *a;
	const plan *p;
	const int64_t *nbytes;
	int64_t room;
	int *source; /* by transfer: the first instruction before which its
			source is there; itself: it waits for its turn */
	bool *begun;
	VEC(int) going; /* begun and not ended, the oldest first */
	VEC(int) early; /* not begun yet, but may be before their turn */
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
		return plan_moves(in) && overlap(p, in->from, buffer);
	const plan_node *n = &p->nodes[in->node];
	for (int i = 0; i < p->kernels[n->kernel].kernel->ninputs; i++)
		if (overlap(p, in->inputs[i], buffer))
			return true;
	return false;
}

/* Whether a transfer has to end before instruction i, which comes after it. */
static bool ends_before(const plan *p, int transfer, int i)
{
	const plan_instr *t = &p->program[transfer], *in = &p->program[i];
	return overlap(p, in->to, t->to) || overlap(p, in->to, t->from) ||
	       reads(p, in, t->to) || plan_hands_out(p, transfer);
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

/* The lowest place for n bytes. */
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
	m->going.n--;
	memmove(m->going.at + k, m->going.at + k + 1,
		(size_t)(m->going.n - k) * sizeof(int));
}

/* Begins a transfer within so much staging memory; false where there is no
 * room. */
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

/* Begins the transfers whose source is there, in the order of their turns. */
static void begin_early(maker *m, int i)
{
	int kept = 0;
	for (int k = 0; k < m->early.n; k++) {
		int t = m->early.at[k];
		if (t > i && !begin(m, t, m->room))
			m->early.at[kept++] = t;
	}
	m->early.n = kept;
}

/* Begins transfer i; the oldest that may end make room.  Those that have begun
 * before their turn may not: their targets are still used by others. */
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
		if (m->going.at[k] < i && ends_before(m->p, m->going.at[k], i))
			end(m, k);
		else
			k++;
	if (m->nbytes[i] >= 0 && !m->begun[i])
		begin_in_turn(m, i);
}

/* ---- sources ----------------------------------------------------------- */

/* The result of a transfer is not there before that has ended, so that nothing
 * is gained by beginning with it early. */
static int source_of(const maker *m, int instr)
{
	const plan *p = m->p;
	for (int i = instr - 1; i >= 0; i--)
		if (overlap(p, p->program[i].to, p->program[instr].from))
			return m->nbytes[i] >= 0 ? instr : i + 1;
	return 0;
}

prefetch prefetch_of(arena *a, const plan *p, const int64_t *nbytes)
{
	int n = p->ninstrs;
	maker m = { .a = a, .p = p, .nbytes = nbytes, .room = ROOM };
	m.source = ARENA_ARRAY(a, int, n);
	m.begun = ARENA_ARRAY(a, bool, n);
	m.to.at = ARENA_ARRAY(a, int64_t, n);
	m.to.first = ARENA_ARRAY(a, int, n + 2);
	for (int i = 0; i < n; i++) {
		m.source[i] = nbytes[i] < 0 ? i : source_of(&m, i);
		m.room = nbytes[i] > m.room ? nbytes[i] : m.room;
	}
	for (int i = 0; i < n; i++) {
		m.to.first[i] = m.events.n;
		for (int t = i + 1; t < n; t++)
			if (m.source[t] == i && nbytes[t] >= 0)
				vec_push(a, &m.early, t);
		step(&m, i);
	}
	m.to.first[n] = m.events.n;
	while (m.going.n > 0)
		end(&m, 0);
	m.to.first[n + 1] = m.events.n;
	m.to.events = m.events.at;
	return m.to;
}
