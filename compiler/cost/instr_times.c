#include "config.h"

#include "compiler/cost/instr_times.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "compiler/cost/instr_time.h"

enum { MOST_LOOKED_AT = 64 };

/* An instruction, identified by its buffers: equal ones have one class in the
 * programs of an assignment, which share their nodes. */
typedef struct action {
	const plan_node *nodes;
	int op, node, turn;
	struct {
		int tensor, region, node, turn;
	} from, to;
	int unused; /* 0: no padding, so that actions are compared as bytes */
} action;

typedef struct known_action {
	action key;
	int class; /* from plan_instr_class() */
} known_action;

/* Indexed by plan_instr_class(). */
typedef struct known_class {
	double seconds, latency; /* -1: not yet known */
	/* for a member of a bucket; NULL: not yet known */
	const transfer_work *work;
} known_class;

struct instr_times {
	arena *a;
	layout_classes *classes;
	const topology *machine;
	double speed; /* of the devices, relative to the machine's */
	VEC(known_action) actions;
	/* the action that was first met after the one looked up last */
	int next;
	hash_table by_action;
	VEC(known_class) known;
};

instr_times *instr_times_at(arena *a, layout_classes *f, const topology *t,
			    double speed)
{
	instr_times *x = ARENA_NEW(a, instr_times);
	*x = (instr_times){ .a = a, .classes = f, .machine = t,
			    .speed = speed };
	return x;
}

instr_times *instr_times_new(arena *a, layout_classes *f, const topology *t)
{
	return instr_times_at(a, f, t, 1);
}

const topology *instr_times_machine(const instr_times *x)
{
	return x->machine;
}

static action action_of(const plan *p, const plan_instr *in)
{
	action k = { .nodes = p->nodes, .op = (int)in->op,
		     .node = in->node, .turn = in->turn };
	const plan_buffer *to = &p->buffers[in->to];
	if (in->op == PLAN_MOVE || in->op == PLAN_COMBINE) {
		const plan_buffer *b = &p->buffers[in->from];
		k.from.tensor = b->tensor;
		k.from.region = (int)b->region;
		k.from.node = b->node;
		k.from.turn = b->turn;
	}
	k.to.tensor = to->tensor;
	k.to.region = (int)to->region;
	k.to.node = to->node;
	k.to.turn = to->turn;
	return k;
}

static uint64_t hash_action(const action *k)
{
	uint64_t words[sizeof(*k) / sizeof(uint64_t)];
	static_assert(sizeof(words) == sizeof(*k), "whole words");
	memcpy(words, k, sizeof(words));
	return hash_words(HASH_SEED, words, sizeof(words) / sizeof(*words));
}

/* The number of an action; -1 if it is new. */
static int find_action(const instr_times *x, const action *k)
{
	uint64_t hash = hash_action(k);
	uint32_t at = 0;
	for (int i; (i = hash_table_next(&x->by_action, hash, &at)) >= 0;)
		if (!memcmp(&x->actions.at[i].key, k, sizeof(*k)))
			return i;
	return -1;
}

/* Programs are examined from the beginning, and consecutive ones are similar:
 * usually the action is the one after the last. */
static bool is_next(const instr_times *x, const action *k)
{
	return x->next < x->actions.n &&
	       !memcmp(&x->actions.at[x->next].key, k, sizeof(*k));
}

static int class_of(instr_times *x, const plan *p, const plan_instr *in)
{
	const action k = action_of(p, in);
	int i = is_next(x, &k) ? x->next : find_action(x, &k);
	if (i < 0) {
		const known_action new = {
			k, plan_instr_class(x->classes, p, in) };
		i = x->actions.n;
		hash_table_add(x->a, &x->by_action, hash_action(&k), i);
		vec_push(x->a, &x->actions, new);
	}
	x->next = i + 1;
	return x->actions.at[i].class;
}

static known_class *known_of(instr_times *x, const plan *p,
			     const plan_instr *in)
{
	int what = class_of(x, p, in);
	while (x->known.n <= what)
		vec_push(x->a, &x->known, ((known_class){ -1, -1, NULL }));
	return &x->known.at[what];
}

double instr_times_one(instr_times *x, const plan *p, const plan_instr *in)
{
	if (plan_is_message(in))
		return 0;
	known_class *known = known_of(x, p, in);
	if (known->seconds < 0)
		known->seconds = instr_time(p, x->machine, in, MOST_LOOKED_AT,
					    NULL) /
				 (in->op == PLAN_RUN ? x->speed : 1);
	return known->seconds;
}

static const transfer_work *work_of(instr_times *x, const plan *p,
				    const plan_instr *in)
{
	known_class *known = known_of(x, p, in);
	if (!known->work) {
		const layout_transfer move = plan_transfer(p, in);
		known->work = transfer_work_of(x->a, x->machine, &move,
					       MOST_LOOKED_AT);
	}
	return known->work;
}

double instr_times_phase(instr_times *x, const plan *p, int begin, int end)
{
	if (end == begin + 1)
		return instr_times_one(x, p, &p->program[begin]);
	arena *tmp = arena_new();
	const transfer_work **works =
		ARENA_ARRAY(tmp, const transfer_work *, end - begin);
	for (int i = begin; i < end; i++)
		works[i - begin] = work_of(x, p, &p->program[i]);
	double s = transfers_time(x->machine, &p->mesh, works, end - begin,
				  p->program[begin].collective,
				  MOST_LOOKED_AT);
	arena_free(tmp);
	return s;
}

void instr_times_bytes(instr_times *x, const plan *p, int begin, int end,
		       double *bytes)
{
	arena *tmp = arena_new();
	const transfer_work **works =
		ARENA_ARRAY(tmp, const transfer_work *, end - begin);
	for (int i = begin; i < end; i++)
		works[i - begin] = work_of(x, p, &p->program[i]);
	transfers_bytes(x->machine, &p->mesh, works, end - begin,
			p->program[begin].collective, MOST_LOOKED_AT, bytes);
	arena_free(tmp);
}

/* Seconds on the machine if its messages took only the time for their bytes. */
static double without_latency(const instr_times *x, const plan *p,
			      const plan_instr *in)
{
	topology t = *x->machine;
	t.profiled = NULL;
	for (int i = 0; i < t.nlevels; i++) {
		topology_level *l = &t.levels[i];
		*l = (topology_level){ .size = l->size,
				       .bandwidth = l->bandwidth,
				       .shared = l->shared,
				       .sharers = l->sharers };
	}
	return instr_time(p, &t, in, MOST_LOOKED_AT, NULL);
}

double instr_times_latency(instr_times *x, const plan *p, const plan_instr *in)
{
	double seconds = instr_times_one(x, p, in);
	known_class *known = known_of(x, p, in);
	if (known->latency < 0)
		known->latency = fmax(seconds - without_latency(x, p, in), 0);
	return known->latency;
}

int64_t instr_times_received(instr_times *x, const plan *p,
			     const plan_instr *in)
{
	return layout_pair_received(x->classes, class_of(x, p, in));
}

void instr_times_each(instr_times *x, const plan *p, double *seconds)
{
	for (int i = 0, next; i < p->ninstrs; i = next) {
		next = plan_phase_end(p, i);
		seconds[i] = instr_times_phase(x, p, i, next);
		for (int j = i + 1; j < next; j++)
			seconds[j] = 0;
	}
}
