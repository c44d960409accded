/* The bytes that move in a run: by collective, by level of the machine, and
 * between each two workers. */
#include "config.h"

#include "base/vec.h"
#include "libtdl/report_build.h"

typedef struct traffic {
	int n; /* workers */
	int levels[MAX_AXES];
	int64_t *received; /* bytes at [receiver * n + sender] */
	int64_t by_level[MAX_AXES];
} traffic;

json_t *report_collectives(const report *r)
{
	int count[COLL_COUNT] = { 0 };
	int64_t bytes[COLL_COUNT] = { 0 };
	double seconds[COLL_COUNT] = { 0 };
	json_t *list = json_array();
	for (int i = 0; i < r->flat->ninstrs; i++) {
		const plan_instr *in = &r->flat->program[i];
		if (!plan_moves(in))
			continue;
		count[in->collective]++;
		bytes[in->collective] += r->received[i];
		seconds[in->collective] += r->seconds[i];
	}
	for (int c = 0; c < COLL_COUNT; c++)
		if (count[c] > 0)
			json_array_append_new(
				list, json_pack("{s:s,s:i,s:I,s:f}", "name",
						collective_name((collective)c),
						"transfers", count[c], "bytes",
						(json_int_t)bytes[c], "seconds",
						seconds[c]));
	return list;
}

/* Adds what worker w receives by a transfer, times `times'. */
static void add_worker(traffic *x, const plan *p, const plan_instr *in, int w,
		       int64_t times)
{
	arena *tmp = arena_new();
	dtype type = p->tensors[p->buffers[in->to].tensor].type;
	piece *q;
	int n = plan_pieces(tmp, p, in, w, &q);
	for (int i = 0; i < n; i++) {
		uint32_t between = mesh_axes_between(&p->mesh, w, q[i].peer);
		int64_t bytes = box_volume(&q[i].at) * times *
				(int64_t)dtype_size(type);
		if (!between)
			continue;
		x->received[w * x->n + q[i].peer] += bytes;
		x->by_level[x->levels[__builtin_ctz(between)]] += bytes;
	}
	arena_free(tmp);
}

/* Transfers of one class move the same bytes, so the first one stands for
 * all. */
static void add_up(const report *r, traffic *x)
{
	const plan *p = r->flat;
	VEC(int64_t) times = { 0 };
	int *class = ARENA_ARRAY(r->a, int, p->ninstrs);
	for (int i = 0; i < p->ninstrs; i++) {
		if (r->received[i] == 0)
			continue;
		class[i] = plan_instr_class(r->classes, p, &p->program[i]);
		while (times.n <= class[i])
			vec_push(r->a, &times, 0);
		times.at[class[i]]++;
	}
	for (int i = 0; i < p->ninstrs; i++) {
		if (r->received[i] == 0 || times.at[class[i]] == 0)
			continue;
		for (int w = 0; w < x->n; w++)
			add_worker(x, p, &p->program[i], w,
				   times.at[class[i]]);
		times.at[class[i]] = 0;
	}
}

static json_t *received_json(const traffic *x)
{
	json_t *rows = json_array();
	for (int w = 0; w < x->n; w++) {
		json_t *row = json_array();
		for (int v = 0; v < x->n; v++)
			json_array_append_new(
				row, json_integer(x->received[w * x->n + v]));
		json_array_append_new(rows, row);
	}
	return rows;
}

void report_set_traffic(const report *r, json_t *to)
{
	traffic x = { .n = mesh_workers(&r->p->mesh) };
	if (x.n > REPORT_MOST_WORKERS) {
		json_object_set_new(to, "links", json_null());
		json_object_set_new(to, "received", json_null());
		return;
	}
	x.received = ARENA_ARRAY(r->a, int64_t, (size_t)x.n * (size_t)x.n);
	topology_levels(r->machine, &r->p->mesh, x.levels);
	add_up(r, &x);
	json_t *links = json_array();
	for (int i = 0; i < r->machine->nlevels; i++)
		json_array_append_new(
			links, json_pack("{s:s,s:I}", "name",
					 r->machine->levels[i].name, "bytes",
					 (json_int_t)x.by_level[i]));
	json_object_set_new(to, "links", links);
	json_object_set_new(to, "received", received_json(&x));
}

/* ---- of several stages -------------------------------------------------- */

/* Adds what a channel carries in a turn, times `times'. */
static void add_message(traffic *x, const plan_pipeline *p, int channel,
			int turn, int64_t times)
{
	const plan_channel *c = &p->channels[channel];
	const plan *to = &p->stages[c->to];
	int from = pipeline_first(p, c->from), at = pipeline_first(p, c->to);
	int64_t size = (int64_t)dtype_size(to->tensors[c->target].type);
	arena *tmp = arena_new();
	for (int w = mesh_workers(&to->mesh) - 1; w >= 0; w--) {
		piece *q;
		int n = pipeline_pieces(tmp, p, channel, turn, w, &q);
		for (int i = 0; i < n; i++)
			x->received[(at + w) * x->n + from + q[i].peer] +=
				box_volume(&q[i].at) * size * times;
	}
	arena_free(tmp);
}

/* Turns with equally many samples move the same bytes, so the first one stands
 * for all. */
static void add_channel(traffic *x, const plan_pipeline *p, int channel)
{
	const plan_loop *o = &p->stages[p->channels[channel].from].loop;
	int first[2] = { -1, -1 };
	int64_t times[2] = { 0, 0 };
	if (!pipeline_in_turns(p, channel)) {
		add_message(x, p, channel, o->turns - 1, 1);
		return;
	}
	for (int i = 0; i < o->turns; i++) {
		layout_turn t = layout_turn_of(o->batch, o->turns, i);
		bool is_long = t.end - t.begin > o->batch / o->turns;
		if (times[is_long]++ == 0)
			first[is_long] = i;
	}
	for (int i = 0; i < 2; i++)
		if (times[i] > 0)
			add_message(x, p, channel, first[i], times[i]);
}

/* Adds what the devices of a stage receive from each other. */
static void add_stage(traffic *x, const json_t *of, int first)
{
	size_t i, j;
	json_t *row, *bytes;
	json_array_foreach(json_object_get(of, "received"), i, row)
		json_array_foreach(row, j, bytes)
			x->received[((size_t)first + i) * (size_t)x->n +
				    (size_t)first + j] =
				json_integer_value(bytes);
}

void report_set_stages_traffic(const plan_pipeline *p, json_t *to)
{
	const json_t *stages = json_object_get(to, "stages");
	traffic x = { .n = pipeline_first(p, p->nstages) };
	if (x.n > REPORT_MOST_WORKERS) {
		json_object_set_new(to, "received", json_null());
		return;
	}
	arena *tmp = arena_new();
	x.received = ARENA_ARRAY(tmp, int64_t, (size_t)x.n * (size_t)x.n);
	for (int s = 0; s < p->nstages; s++)
		add_stage(&x, json_object_get(json_array_get(stages, (size_t)s),
					      "report"),
			  pipeline_first(p, s));
	for (int c = 0; c < p->nchannels; c++)
		add_channel(&x, p, c);
	json_object_set_new(to, "received", received_json(&x));
	arena_free(tmp);
}
