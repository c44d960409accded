#include "config.h"

#include "compiler/lower/bucket_maker.h"

#include <assert.h>

#include "plan/lifetimes.h"

/* Marks the arena size of a plan whose buffers have no places yet. */
enum { NO_PLACES = -1 };

/* ---- which reductions -------------------------------------------------- */

bool bucket_has_spread(const bucket_maker *m, int i, int end)
{
	const plan_instr *in = &m->from[i];
	return i + 1 < end && in[1].op == PLAN_MOVE &&
	       in[1].collective == COLL_ALL_GATHER && in[1].from == in->to;
}

/* The axes on which a buffer's region depends. */
static uint32_t axes_of(const plan *p, int buffer)
{
	const layout l = plan_layout(p, &p->buffers[buffer]);
	return layout_axes(&l, &p->mesh);
}

static kind kind_of(const bucket_maker *m, int i, int end)
{
	const plan *p = m->p;
	const plan_instr *in = &m->from[i];
	const plan_node *n = &p->nodes[in->node];
	const plan_tensor *t = &p->tensors[n->output];
	const kernel *k = p->kernels[n->kernel].kernel;
	kind x = { .reducer = plan_partial(p, in->node),
		   .type = t->type,
		   .spreads = bucket_has_spread(m, i, end) };
	x.axes = layout_combined_axes(&p->mesh, k, &n->cuts, &t->cuts);
	if (x.spreads)
		x.over = axes_of(p, in->to) & ~axes_of(p, in[1].to);
	return x;
}

static bool is_kind(const kind *x, const kind *y)
{
	return x->reducer == y->reducer && x->type == y->type &&
	       x->axes == y->axes && x->spreads == y->spreads &&
	       x->over == y->over;
}

/* The size up to which a bucket for these axes grows.  A ring of n workers with
 * latency a and b bytes per second moves z bytes in (n - 1)(a + z / (n b))
 * seconds.  Latency is a tenth of that if z is 9 n a b. */
static int64_t most_bytes(const bucket_maker *m, uint32_t axes)
{
	enum { SHARE = 9 };
	const topology *t = m->o->machine;
	double latency = 0, bandwidth = 0, n = 1;
	if (m->o->bytes > 0)
		return m->o->bytes / m->share;
	for (int i = 0; i < m->p->mesh.naxes; i++) {
		if (!(axes >> i & 1))
			continue;
		const topology_level *l = &t->levels[m->levels[i]];
		n *= m->p->mesh.size[i];
		latency = l->latency > latency ? l->latency : latency;
		double own = topology_level_bandwidth(l);
		bandwidth = bandwidth == 0 || own < bandwidth ? own
							      : bandwidth;
	}
	double bytes = SHARE * n * latency * bandwidth / (double)m->share;
	return bytes < (double)PLAN_MAX_BYTES ? (int64_t)bytes
					      : PLAN_MAX_BYTES;
}

/* The bucket for a kind of reduction; NULL if there are too many kinds. */
static filling *filling_of(bucket_maker *m, const kind *k)
{
	for (int i = 0; i < m->nkinds; i++)
		if (is_kind(&m->open[i].kind, k))
			return &m->open[i];
	if (m->nkinds == MOST_KINDS)
		return NULL;
	m->open[m->nkinds] = (filling){ .kind = *k,
					.most = most_bytes(m, k->axes) };
	return &m->open[m->nkinds++];
}

static void depend(bucket_maker *m, int buffer, uint64_t on)
{
	for (uint64_t left = on & ~m->depends[buffer]; left; left &= left - 1)
		vec_push(m->tmp, &m->open[__builtin_ctzll(left)].below, buffer);
	m->depends[buffer] |= on;
}

static void close_bucket(bucket_maker *m, filling *f)
{
	for (int i = 0; i < f->below.n; i++)
		m->depends[f->below.at[i]] &= ~(UINT64_C(1) << (f - m->open));
	f->below.n = 0;
	f->bucket = 0;
	f->bytes = 0;
}

typedef struct dependence {
	const bucket_maker *m;
	uint64_t on;
	bool pending;
} dependence;

static void read_from(void *to, int buffer)
{
	dependence *d = to;
	d->on |= d->m->depends[buffer];
	d->pending |= d->m->pending[buffer];
}

static dependence dependence_of(const bucket_maker *m, const plan_instr *in)
{
	dependence d = { .m = m };
	plan_reads(m->p, in, read_from, &d);
	return d;
}

/* Adds a reduction to the bucket of its kind.  Buckets on which it depends are
 * closed first.  So a member depends only on buckets whose members all come
 * before it, and buckets never wait for each other. */
static void join(bucket_maker *m, filling *f, int i)
{
	int64_t bytes = m->p->buffers[m->from[i].from].nbytes;
	if (f->bytes + bytes > f->most)
		close_bucket(m, f);
	if (f->bucket == 0) {
		f->bucket = m->members.n;
		vec_push(m->tmp, &m->members, (ints){ 0 });
	}
	f->bytes += bytes;
	vec_push(m->tmp, &m->members.at[f->bucket], i);
	m->bucket[i] = f->bucket;
	depend(m, m->from[i].to, UINT64_C(1) << (f - m->open));
}

static void close_all(bucket_maker *m)
{
	for (int i = 0; i < m->nkinds; i++)
		close_bucket(m, &m->open[i]);
}

/* Whether an instruction of a stage writes to a state's place or to the place
 * of its next value.  Readers of the old value come before it. */
static bool writes_state(const bucket_maker *m, const plan_instr *in)
{
	return m->is_state && m->is_state[in->to];
}

/* The buckets open now, as a mask.  A write of a state waits for everything
 * that waits for them. */
static uint64_t open_buckets(const bucket_maker *m)
{
	uint64_t all = 0;
	for (int i = 0; i < m->nkinds; i++)
		all |= (uint64_t)(m->open[i].bucket != 0) << i;
	return all;
}

void bucket_choose(bucket_maker *m, int begin, int end)
{
	for (int i = begin; i < end; i++) {
		const plan_instr *in = &m->from[i];
		dependence d = dependence_of(m, in);
		filling *f = NULL;
		if (plan_is_message(in))
			close_all(m);
		if (writes_state(m, in))
			d.on |= open_buckets(m);
		if (in->op == PLAN_COMBINE &&
		    in->collective == COLL_REDUCE_SCATTER &&
		    !writes_state(m, in) &&
		    !(bucket_has_spread(m, i, end) &&
		      writes_state(m, in + 1))) {
			kind k = kind_of(m, i, end);
			f = filling_of(m, &k);
		}
		if (f && m->p->buffers[in->from].nbytes <= f->most) {
			for (; d.on; d.on &= d.on - 1)
				close_bucket(m,
					     &m->open[__builtin_ctzll(d.on)]);
			join(m, f, i);
		} else {
			depend(m, in->to, d.on);
		}
	}
	close_all(m);
}

/* ---- the order --------------------------------------------------------- */

/* The members of the bucket of instruction i; NULL if it is the only one. */
static const ints *company(const bucket_maker *m, int i)
{
	const ints *all = &m->members.at[m->bucket[i]];
	return all->n > 1 ? all : NULL;
}

static void put(bucket_maker *m, int i, int bucket)
{
	plan_instr in = m->from[i];
	in.bucket = bucket;
	vec_push(m->tmp, &m->program, in);
	m->pending[in.to] = false;
}

/* Whether an instruction has to wait, given that nwaiting earlier ones do. */
static bool has_to_wait(const bucket_maker *m, const plan_instr *in,
			int nwaiting)
{
	return dependence_of(m, in).pending ||
	       (nwaiting > 0 && writes_state(m, in));
}

/* Puts the instructions that waited for finished buckets into the program, in
 * their order. */
static void put_waiting(bucket_maker *m)
{
	int kept = 0;
	for (int j = 0; j < m->waiting.n; j++) {
		int i = m->waiting.at[j];
		if (has_to_wait(m, &m->from[i], kept))
			m->waiting.at[kept++] = i;
		else
			put(m, i, 0);
	}
	m->waiting.n = kept;
}

static void put_bucket(bucket_maker *m, const ints *all, bool spreads)
{
	int number = m->bucket[all->at[0]];
	for (int j = 0; j < all->n; j++)
		put(m, all->at[j], number);
	for (int j = 0; j < all->n && spreads; j++)
		put(m, all->at[j] + 1, number);
	put_waiting(m);
}

/* Puts instruction i into the program, or lets it wait. */
static void put_or_wait(bucket_maker *m, int i)
{
	const plan_instr *in = &m->from[i];
	if (!has_to_wait(m, in, m->waiting.n)) {
		put(m, i, 0);
		return;
	}
	vec_push(m->tmp, &m->waiting, i);
	m->pending[in->to] = true;
}

static void put_all(bucket_maker *m, int begin, int end)
{
	for (int i = begin; i < end; i++) {
		const ints *all = company(m, i);
		if (!all) {
			put_or_wait(m, i);
			continue;
		}
		bool spreads = bucket_has_spread(m, i, end);
		assert(!dependence_of(m, &m->from[i]).pending);
		m->pending[m->from[i].to] = true;
		if (spreads)
			m->pending[m->from[i + 1].to] = true;
		if (i == all->at[all->n - 1])
			put_bucket(m, all, spreads);
		i += spreads;
	}
	assert(m->waiting.n == 0);
}

/* ---- a plan ------------------------------------------------------------ */

/* Whether an instruction copies the next value of a state. */
static bool is_update(const plan *p, const plan_instr *in)
{
	return in->op == PLAN_MOVE && p->buffers[in->from].tensor !=
					      p->buffers[in->to].tensor;
}

plan *bucket_without_updates(arena *a, const plan *p)
{
	plan *q = ARENA_COPY(a, p, 1);
	int n = 0;
	q->program = ARENA_ARRAY(a, plan_instr, p->ninstrs);
	for (int i = 0; i < p->ninstrs; i++) {
		bool gone = is_update(p, &p->program[i]);
		q->loop.begin -= gone && i < p->loop.begin;
		q->loop.end -= gone && i < p->loop.end;
		if (!gone)
			q->program[n++] = p->program[i];
	}
	q->ninstrs = n;
	q->buffers = ARENA_COPY(a, p->buffers, p->nbuffers);
	return q;
}

/* Numbers the buckets from 1 in the order of the program. */
static void number_buckets(plan *p)
{
	int n = 0, last = 0;
	for (int i = 0; i < p->ninstrs; i++) {
		int *bucket = &p->program[i].bucket, was = *bucket;
		n += was != 0 && was != last;
		*bucket = was != 0 ? n : 0;
		last = was;
	}
}

/* The ends of the parts that are ordered separately: the part before the turns,
 * each turn or each segment of one, and the rest. */
static ints ends_of(const bucket_maker *m)
{
	const plan *p = m->p;
	ints all = { 0 };
	vec_push(m->tmp, &all, 0);
	vec_push(m->tmp, &all, p->loop.begin);
	for (int i = 0; p->stage && i < p->stage->nsegments; i++)
		vec_push(m->tmp, &all, p->stage->segments[i].end);
	vec_push(m->tmp, &all, p->loop.end);
	vec_push(m->tmp, &all, p->ninstrs);
	return all;
}

static void order(bucket_maker *m)
{
	const ints ends = ends_of(m);
	for (int s = 1; s < ends.n; s++)
		bucket_choose(m, ends.at[s - 1], ends.at[s]);
	for (int s = 1; s < ends.n; s++)
		put_all(m, ends.at[s - 1], ends.at[s]);
}

bucket_maker bucket_maker_new(plan *p, const bucket_options *o, int64_t share)
{
	bucket_maker m = { .tmp = arena_new(), .p = p, .o = o, .share = share };
	m.from = p->program;
	m.depends = ARENA_ARRAY(m.tmp, uint64_t, p->nbuffers);
	m.pending = ARENA_ARRAY(m.tmp, bool, p->nbuffers);
	m.bucket = ARENA_ARRAY(m.tmp, int, p->ninstrs);
	vec_push(m.tmp, &m.members, (ints){ 0 });
	topology_levels(o->machine, &p->mesh, m.levels);
	return m;
}

/* A copy of p with its reductions in buckets, allocated in a, without places.
 * A bucket is limited to one in `share' of the usual bytes.  NULL if no bucket
 * has more than one member. */
static plan *bucketed(arena *a, const plan *p, const bucket_options *o,
		      int64_t share)
{
	bucket_maker m = bucket_maker_new(bucket_without_updates(a, p), o,
					  share);
	order(&m);
	assert(m.program.n == m.p->ninstrs);
	m.p->program = ARENA_COPY(a, m.program.at, m.program.n);
	arena_free(m.tmp);
	int reductions;
	if (plan_buckets(m.p, &reductions) == 0)
		return NULL;
	number_buckets(m.p);
	plan_update_states(a, m.p);
	m.p->arena_bytes = NO_PLACES;
	return m.p;
}

/* ---- a stage ----------------------------------------------------------- */

/* Finds the states of a stage.  Updates of these states have fixed places among
 * the stage's segments and messages; these, and the places of next values, do
 * not change. */
static void find_states(bucket_maker *m)
{
	const plan *p = m->p;
	m->is_state = ARENA_ARRAY(m->tmp, bool, p->nbuffers);
	for (int t = 0; t < p->ntensors; t++) {
		const plan_tensor *of = &p->tensors[t];
		if (of->role != PLAN_STATE || of->next < 0)
			continue;
		if (of->buffer >= 0)
			m->is_state[of->buffer] = true;
		if (p->tensors[of->next].buffer >= 0)
			m->is_state[p->tensors[of->next].buffer] = true;
	}
}

plan *bucket_stage(arena *a, const plan *p, const bucket_options *o,
		   int64_t share)
{
	plan *q = ARENA_COPY(a, p, 1);
	int reductions;
	q->buffers = ARENA_COPY(a, p->buffers, p->nbuffers);
	bucket_maker m = bucket_maker_new(q, o, share);
	find_states(&m);
	order(&m);
	assert(m.program.n == q->ninstrs);
	q->program = ARENA_COPY(a, m.program.at, m.program.n);
	arena_free(m.tmp);
	if (plan_buckets(q, &reductions) == 0)
		return NULL;
	number_buckets(q);
	plan_place(q);
	return q;
}

/* ---- the best of some -------------------------------------------------- */

/* Whether a plan fits in the memory.  Gives it places if it has none. */
static bool fits(plan *p, layout_classes *f, int64_t room)
{
	if (p->arena_bytes == NO_PLACES)
		plan_place_with(p, f);
	return p->arena_bytes <= room;
}

/* The plan with the largest buckets that fits in the memory; p if none does. */
static plan *of_bytes(arena *a, plan *p, layout_classes *f,
			    const bucket_options *o, int64_t room)
{
	for (int64_t share = 1; share <= o->bytes; share *= 2) {
		plan *q = bucketed(a, p, o, share);
		if (!q || fits(q, f, room))
			return q ? q : p;
	}
	return p;
}

/* Whether two plans made from one plan have the same program. */
static bool is_same(const plan *p, const plan *q)
{
	bool same = p->ninstrs == q->ninstrs;
	for (int i = 0; same && i < p->ninstrs; i++) {
		const plan_instr *x = &p->program[i], *y = &q->program[i];
		same = x->op == y->op && x->node == y->node &&
		       x->from == y->from && x->to == y->to &&
		       x->bucket == y->bucket;
	}
	return same;
}

/* The fastest of the first MOST_WITHIN plans that fit in the memory.  Computing
 * places takes most of the time.  So a plan that cannot be the fastest gets
 * places only when a later one may be, to find out whether it counts as one of
 * the first. */
static plan *of_machine(arena *a, plan *p, layout_classes *f,
			const bucket_options *o, int64_t room)
{
	enum { MOST_TRIES = 32, MOST_WITHIN = 4 };
	plan *best = p, *slow[MOST_TRIES], *last = NULL;
	instr_times *t = instr_times_new(a, f, o->machine);
	double least = lower_run(t, p);
	for (int i = 0, within = 0, nslow = 0; i < MOST_TRIES; i++) {
		plan *q = bucketed(a, p, o, INT64_C(1) << i);
		if (!q)
			break;
		bool again = last && is_same(q, last);
		slow[nslow++] = last = again ? last : q;
		if (again || lower_bounds(t, q).least_kept >= least)
			continue;
		for (int j = 0; j < nslow - 1; j++)
			within += fits(slow[j], f, room);
		nslow = 0;
		if (within >= MOST_WITHIN)
			break;
		if (!fits(q, f, room))
			continue;
		double s = lower_run(t, q);
		best = s < least ? q : best;
		least = s < least ? s : least;
		within++;
	}
	return best;
}

/* The bytes available for the arena. */
static int64_t room_of(const plan *p, const bucket_options *o)
{
	enum { USUAL_SHARE = 10 };
	int64_t most = p->arena_bytes + p->arena_bytes / USUAL_SHARE;
	int64_t machine = o->machine->memory;
	if (machine > 0 && machine < most)
		most = machine;
	if (o->memory > 0)
		most = o->memory;
	return most > p->arena_bytes ? most : p->arena_bytes;
}

plan *bucket_plan(arena *a, plan *p, layout_classes *f,
			const bucket_options *o)
{
	int64_t room = room_of(p, o);
	return o->bytes > 0 ? of_bytes(a, p, f, o, room)
			    : of_machine(a, p, f, o, room);
}
