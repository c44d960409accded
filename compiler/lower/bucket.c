#include "config.h"

#include "compiler/lower/bucket.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "compiler/lower/timeline.h"
#include "plan/lifetimes.h"

/* Kinds of reductions of which buckets are filled at a time. */
enum { MOST_KINDS = 64 };

/* The arena of a plan whose buffers have no places yet. */
enum { NO_PLACES = -1 };

/* The common part of the reductions of a bucket, which are reduce-scatters;
 * axes of the mesh, a bit each. */
typedef struct kind {
	reducer reducer;
	dtype type;
	uint32_t axes; /* along which they go */
	bool spreads;  /* an all-gather follows each, .. */
	uint32_t over; /* .. along these axes */
} kind;

typedef VEC(int) ints;

/* A bucket that is being filled. */
typedef struct filling {
	kind kind;
	int bucket; /* its number; 0: there is none */
	int64_t bytes, most;
	ints below; /* buffers with results that depend on it */
} filling;

typedef struct maker {
	arena *tmp;
	plan *p; /* without updates of states; as it becomes */
	const plan_instr *from; /* the program as it was */
	const bucket_options *o;
	int64_t share; /* of a bucket's bytes: one of so many */
	int levels[MAX_AXES];
	int nkinds;
	filling open[MOST_KINDS];
	uint64_t *depends; /* by buffer: on open[i], a bit each */
	int *bucket;	   /* by instruction: its bucket, 0 for none */
	VEC(ints) members; /* by bucket; the first is none */
	bool *pending;	   /* by buffer: its writer waits for a bucket */
	bool *is_state;	   /* by buffer, of a stage: a state's, or of its next
			      value */
	ints waiting;	   /* the instructions that do */
	VEC(plan_instr) program;
} maker;

/* ---- which reductions -------------------------------------------------- */

/* Whether instruction i + 1 spreads what i, which combines, makes. */
static bool has_spread(const maker *m, int i, int end)
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

static kind kind_of(const maker *m, int i, int end)
{
	const plan *p = m->p;
	const plan_instr *in = &m->from[i];
	const plan_node *n = &p->nodes[in->node];
	const plan_tensor *t = &p->tensors[n->output];
	const kernel *k = p->kernels[n->kernel].kernel;
	kind x = { .reducer = plan_partial(p, in->node),
		   .type = t->type,
		   .spreads = has_spread(m, i, end) };
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

/* Around a ring of n workers with latency a and b bytes per second, z bytes
 * take (n - 1)(a + z / (n b)) seconds: a tenth of that is latency if z is
 * 9 n a b. */
static int64_t most_bytes(const maker *m, uint32_t axes)
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

/* The bucket for a kind; NULL where there are too many. */
static filling *filling_of(maker *m, const kind *k)
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

static void depend(maker *m, int buffer, uint64_t on)
{
	for (uint64_t left = on & ~m->depends[buffer]; left; left &= left - 1)
		vec_push(m->tmp, &m->open[__builtin_ctzll(left)].below, buffer);
	m->depends[buffer] |= on;
}

static void close_bucket(maker *m, filling *f)
{
	for (int i = 0; i < f->below.n; i++)
		m->depends[f->below.at[i]] &= ~(UINT64_C(1) << (f - m->open));
	f->below.n = 0;
	f->bucket = 0;
	f->bytes = 0;
}

typedef struct dependence {
	const maker *m;
	uint64_t on;
	bool pending;
} dependence;

static void read_from(void *to, int buffer)
{
	dependence *d = to;
	d->on |= d->m->depends[buffer];
	d->pending |= d->m->pending[buffer];
}

static dependence dependence_of(const maker *m, const plan_instr *in)
{
	dependence d = { .m = m };
	plan_reads(m->p, in, read_from, &d);
	return d;
}

/* A reduction joins the bucket of its kind.  Those on which it depends are
 * closed before that: so a member depends on buckets alone whose members all
 * come before it, and buckets never wait for each other. */
static void join(maker *m, filling *f, int i)
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

static void close_all(maker *m)
{
	for (int i = 0; i < m->nkinds; i++)
		close_bucket(m, &m->open[i]);
}

/* Whether an instruction of a stage writes a state's place, or where its next
 * value is: what reads the old one comes before. */
static bool writes_state(const maker *m, const plan_instr *in)
{
	return m->is_state && m->is_state[in->to];
}

/* Nothing is put together beyond a message: stages might wait for each
 * other. */
static void choose(maker *m, int begin, int end)
{
	for (int i = begin; i < end; i++) {
		const plan_instr *in = &m->from[i];
		dependence d = dependence_of(m, in);
		filling *f = NULL;
		if (plan_is_message(in))
			close_all(m);
		if (in->op == PLAN_COMBINE &&
		    in->collective == COLL_REDUCE_SCATTER &&
		    !writes_state(m, in) &&
		    !(has_spread(m, i, end) && writes_state(m, in + 1))) {
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

/* The members of the bucket of instruction i; NULL where it has no company. */
static const ints *company(const maker *m, int i)
{
	const ints *all = &m->members.at[m->bucket[i]];
	return all->n > 1 ? all : NULL;
}

static void put(maker *m, int i, int bucket)
{
	plan_instr in = m->from[i];
	in.bucket = bucket;
	vec_push(m->tmp, &m->program, in);
	m->pending[in.to] = false;
}

/* Whether an instruction has to wait, so many of those before it do. */
static bool has_to_wait(const maker *m, const plan_instr *in, int nwaiting)
{
	return dependence_of(m, in).pending ||
	       (nwaiting > 0 && writes_state(m, in));
}

/* The instructions that waited for buckets that are done, in their order. */
static void put_waiting(maker *m)
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

static void put_bucket(maker *m, const ints *all, bool spreads)
{
	int number = m->bucket[all->at[0]];
	for (int j = 0; j < all->n; j++)
		put(m, all->at[j], number);
	for (int j = 0; j < all->n && spreads; j++)
		put(m, all->at[j] + 1, number);
	put_waiting(m);
}

/* Puts instruction i, or lets it wait. */
static void put_or_wait(maker *m, int i)
{
	const plan_instr *in = &m->from[i];
	if (!has_to_wait(m, in, m->waiting.n)) {
		put(m, i, 0);
		return;
	}
	vec_push(m->tmp, &m->waiting, i);
	m->pending[in->to] = true;
}

static void put_all(maker *m, int begin, int end)
{
	for (int i = begin; i < end; i++) {
		const ints *all = company(m, i);
		if (!all) {
			put_or_wait(m, i);
			continue;
		}
		bool spreads = has_spread(m, i, end);
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

/* The plan without updates: these follow from the order. */
static plan *without_updates(arena *a, const plan *p)
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

/* Gives buckets numbers from 1 on, in the order of the program. */
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

/* The ends of the parts that are put in order one by one: those of what is
 * before the turns, of a turn or each segment of it, and of the rest. */
static ints ends_of(const maker *m)
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

static void order(maker *m)
{
	const ints ends = ends_of(m);
	for (int s = 1; s < ends.n; s++)
		choose(m, ends.at[s - 1], ends.at[s]);
	for (int s = 1; s < ends.n; s++)
		put_all(m, ends.at[s - 1], ends.at[s]);
}

/* For p, which has no updates of states. */
static maker maker_new(plan *p, const bucket_options *o, int64_t share)
{
	maker m = { .tmp = arena_new(), .p = p, .o = o, .share = share };
	m.from = p->program;
	m.depends = ARENA_ARRAY(m.tmp, uint64_t, p->nbuffers);
	m.pending = ARENA_ARRAY(m.tmp, bool, p->nbuffers);
	m.bucket = ARENA_ARRAY(m.tmp, int, p->ninstrs);
	vec_push(m.tmp, &m.members, (ints){ 0 });
	topology_levels(o->machine, &p->mesh, m.levels);
	return m;
}

/* p with buckets of one in `share' of the bytes, in a, without places; NULL
 * where none has more than one member. */
static plan *bucketed(arena *a, const plan *p, const bucket_options *o,
		      int64_t share)
{
	maker m = maker_new(without_updates(a, p), o, share);
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

/* Updates of a stage's states have their places among its segments and
 * messages: they stay, and so does where next values lie. */
static void find_states(maker *m)
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
	maker m = maker_new(q, o, share);
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

/* Whether a plan, which gets places if it has none, is within the memory. */
static bool fits(plan *p, layout_classes *f, int64_t room)
{
	if (p->arena_bytes == NO_PLACES)
		plan_place_with(p, f);
	return p->arena_bytes <= room;
}

/* The first that is within the memory. */
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

/* Whether two plans that came from one have the same program. */
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

/* The fastest of the first that are within the memory.  Places take the most
 * time: a plan that cannot be the fastest gets them when a later one may be,
 * for it is one of the first or not. */
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

/* The bytes that an arena may have. */
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

/* ---- what they might save ---------------------------------------------- */

/* Takes the latency of instruction i away from its time; returns it. */
static double take_latency(const maker *m, instr_times *x, int i,
			   double *seconds)
{
	double latency = instr_times_latency(x, m->p, &m->from[i]);
	seconds[i] -= latency;
	return latency;
}

/* Leaves of the latencies of a bucket's members, and of those of what spreads
 * them, one of each: the longest. */
static void take_latencies(const maker *m, instr_times *x, const ints *all,
			   double *seconds)
{
	double longest[2] = { 0, 0 };
	int first = all->at[0];
	bool spreads = has_spread(m, first, m->p->ninstrs);
	for (int j = 0; j < all->n; j++)
		for (int k = 0; k <= spreads; k++)
			longest[k] = fmax(longest[k],
					  take_latency(m, x, all->at[j] + k,
						       seconds));
	for (int k = 0; k <= spreads; k++)
		seconds[first + k] += longest[k];
}

/* Of a program that leaves out `more' turns, each of them as its first; -1: it
 * is not known. */
static double least_run(const maker *m, const double *seconds, int more)
{
	const plan *p = m->p;
	double sum = 0;
	if (m->o->machine->overlap)
		return timeline_least(p, seconds, more);
	int turns = p->loop.turns - more;
	int each = (p->body_end - p->body_begin) / (turns > 0 ? turns : 1);
	for (int i = 0; i < p->ninstrs; i++) {
		bool first = i >= p->body_begin && i < p->body_begin + each;
		sum += (first ? 1 + more : 1) * seconds[i];
	}
	return sum;
}

/* Chooses members in each turn of a program that was unrolled, so many of
 * them. */
static void choose_in_turns(maker *m, int turns)
{
	const plan *p = m->p;
	int each = (p->body_end - p->body_begin) / (turns > 0 ? turns : 1);
	choose(m, 0, p->body_begin);
	for (int i = p->body_begin; i < p->body_end; i += each)
		choose(m, i, i + each);
	choose(m, p->body_end, p->ninstrs);
}

/* By at most so many turns, if these do; else -1. */
static double saved_in(instr_times *x, const plan *p, const bucket_options *o,
		       int most)
{
	arena *tmp = arena_new();
	const plan *q = plan_unroll(tmp, p, most);
	int more = p->loop.turns > most ? p->loop.turns - most : 0;
	maker m = maker_new(ARENA_COPY(tmp, q, 1), o, 1);
	double *seconds = ARENA_ARRAY(tmp, double, q->ninstrs);
	instr_times_each(x, q, seconds);
	double before = least_run(&m, seconds, more);
	choose_in_turns(&m, p->loop.turns - more);
	for (int i = 1; i < m.members.n; i++)
		if (m.members.at[i].n > 1)
			take_latencies(&m, x, &m.members.at[i], seconds);
	double after = least_run(&m, seconds, more);
	arena_free(m.tmp);
	arena_free(tmp);
	return before < 0 || after < 0 ? -1 : before - after;
}

double bucket_might_save(instr_times *x, const plan *p,
			 const bucket_options *o)
{
	arena *tmp = arena_new();
	const plan *q = without_updates(tmp, p);
	double saved = -1;
	for (int n = lower_few_turns(x, q); saved < 0 && n < p->loop.turns;
	     n *= 2)
		saved = saved_in(x, q, o, n);
	if (saved < 0)
		saved = saved_in(x, q, o, PLAN_MAX_TURNS);
	arena_free(tmp);
	return saved;
}
