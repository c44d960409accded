#include "config.h"

#include "compiler/simulate/stage_units.h"

#include <math.h>
#include <stdlib.h>

#include "plan/lifetimes.h"

/* A place from which a channel sends, or into which it receives. */
typedef struct channel_end {
	int place, channel;
	bool sends;
	int64_t from, to; /* bytes of the arena */
	int message;	  /* the last one; -1 */
} channel_end;

/* A buffer's bytes in one turn. */
typedef struct place {
	cell_span cells;
	int64_t from, to;
	int first_end, nends; /* in meets[]: the ends that overlap with it */
} place;

typedef struct builder {
	arena *a, *work, *tmp;
	const plan *q; /* the stage */
	const simulated_seconds *seconds;
	int stage;
	bool overlap;
	const int *first_message;
	int *first_place; /* by buffer */
	int nplaces;
	place *places;
	int ncells;
	int64_t *cells; /* lower ends of cells, ascending */
	VEC(channel_end) ends;
	int64_t *reach; /* by end: greatest `to' up to this end */
	VEC(int) meets;
	marks written, used;
	int counts[SIMULATED_STREAMS];
	/* The current copy of the body; -1 before the body, loop.turns after
	 * it. */
	int copy;
	stage_wait *wait; /* of the current unit or message */
	VEC(simulated_unit) units;
	VEC(stage_unit) more;
	VEC(simulated_task) tasks;
	VEC(int) list;
	VEC(stage_post) sends, receives;
} builder;

/* ---- places ------------------------------------------------------------ */

static int slots_of(const plan *q, int buffer)
{
	int slots = q->buffers[buffer].slots;
	if (slots > q->loop.turns)
		slots = q->loop.turns;
	return slots > 1 ? slots : 1;
}

static int by_value(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
	return (a > b) - (a < b);
}

static void find_places(builder *b)
{
	const plan *q = b->q;
	b->first_place = ARENA_ARRAY(b->tmp, int, q->nbuffers);
	for (int i = 0; i < q->nbuffers; i++) {
		b->first_place[i] = b->nplaces;
		b->nplaces += slots_of(q, i);
	}
	b->places = ARENA_ARRAY(b->tmp, place, b->nplaces);
	for (int i = 0; i < q->nbuffers; i++)
		for (int k = 0; k < slots_of(q, i); k++) {
			const plan_buffer *x = &q->buffers[i];
			place *to = &b->places[b->first_place[i] + k];
			to->from = x->offset + k * plan_buffer_stride(x);
			to->to = to->from + x->nbytes;
		}
}

static void find_cells(builder *b)
{
	int n = 0;
	b->cells = ARENA_ARRAY(b->tmp, int64_t, 2 * (size_t)b->nplaces);
	for (int i = 0; i < b->nplaces; i++) {
		b->cells[n++] = b->places[i].from;
		b->cells[n++] = b->places[i].to;
	}
	qsort(b->cells, (size_t)n, sizeof(*b->cells), by_value);
	for (int i = 0; i < n; i++)
		if (b->ncells == 0 || b->cells[b->ncells - 1] < b->cells[i])
			b->cells[b->ncells++] = b->cells[i];
}

static int cell_at(const builder *b, int64_t offset)
{
	int lo = 0, hi = b->ncells;
	while (lo + 1 < hi) {
		int mid = (lo + hi) / 2;
		if (b->cells[mid] <= offset)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* The place of a buffer in the current copy.  A sum's value in the turn before
 * is that turn's sum. */
static int place_of(const builder *b, int buffer)
{
	const plan *q = b->q;
	int copy = b->copy, last = q->loop.turns - 1;
	const plan_tensor *t = &q->tensors[q->buffers[buffer].tensor];
	if (t->then >= 0 && t->buffer == buffer && copy > 0) {
		buffer = q->tensors[t->then].buffer;
		copy--;
	}
	int turn = copy < 0 || copy > last ? last : copy;
	int slots = slots_of(q, buffer);
	return b->first_place[buffer] + (slots > 1 ? turn % slots : 0);
}

/* ---- ends of channels -------------------------------------------------- */

static int by_offset(const void *x, const void *y)
{
	const channel_end *a = x, *b = y;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->place != b->place ? a->place - b->place
				    : a->channel - b->channel;
}

static void add_ends(builder *b, int buffer, const plan_instr *in)
{
	for (int k = 0; k < slots_of(b->q, buffer); k++) {
		int at = b->first_place[buffer] + k;
		const place *x = &b->places[at];
		vec_push(b->tmp, &b->ends,
			 ((channel_end){ at, in->channel, in->op == PLAN_SEND,
					 x->from, x->to, -1 }));
	}
}

static void find_ends(builder *b)
{
	const plan *q = b->q;
	for (int i = 0; i < q->ninstrs; i++) {
		const plan_instr *in = &q->program[i];
		if (in->op == PLAN_SEND) {
			const plan_tensor *t =
				&q->tensors[q->buffers[in->from].tensor];
			add_ends(b, in->from, in);
			if (t->then >= 0 && t->buffer == in->from)
				add_ends(b, q->tensors[t->then].buffer, in);
		} else if (in->op == PLAN_RECEIVE && b->overlap) {
			add_ends(b, in->to, in);
		}
	}
	if (b->ends.n > 0)
		qsort(b->ends.at, (size_t)b->ends.n, sizeof(*b->ends.at),
		      by_offset);
	b->reach = ARENA_ARRAY(b->tmp, int64_t, b->ends.n);
	for (int i = 0; i < b->ends.n; i++) {
		int64_t before = i > 0 ? b->reach[i - 1] : 0;
		int64_t to = b->ends.at[i].to;
		b->reach[i] = to > before ? to : before;
	}
}

/* The number of ends that begin before an offset. */
static int ends_before(const builder *b, int64_t offset)
{
	int lo = 0, hi = b->ends.n;
	while (lo < hi) {
		int mid = (lo + hi) / 2;
		if (b->ends.at[mid].from < offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void find_meets(builder *b)
{
	for (int i = 0; i < b->nplaces; i++) {
		place *x = &b->places[i];
		x->cells = (cell_span){ cell_at(b, x->from),
					cell_at(b, x->to) };
		x->first_end = b->meets.n;
		for (int e = ends_before(b, x->to) - 1;
		     e >= 0 && b->reach[e] > x->from; e--)
			if (b->ends.at[e].to > x->from && x->from < x->to)
				vec_push(b->tmp, &b->meets, e);
		x->nends = b->meets.n - x->first_end;
	}
}

/* The end of a channel at a place; NULL if the place has no bytes. */
static channel_end *end_at(builder *b, int at, int channel)
{
	const place *x = &b->places[at];
	for (int i = 0; i < x->nends; i++) {
		channel_end *e = &b->ends.at[b->meets.at[x->first_end + i]];
		if (e->place == at && e->channel == channel)
			return e;
	}
	return NULL;
}

/* ---- waits ------------------------------------------------------------- */

/* Waits for the messages received into a place.  To write there, also waits for
 * those sent from it. */
static void await_messages(builder *b, const place *x, bool writes)
{
	for (int i = 0; i < x->nends; i++) {
		const channel_end *e =
			&b->ends.at[b->meets.at[x->first_end + i]];
		if (e->message < 0 || (e->sends && !writes))
			continue;
		vec_push(b->work, &b->list, e->message);
		b->wait->nmessages++;
	}
}

static void await_written(void *to, int buffer)
{
	builder *b = to;
	const place *x = &b->places[place_of(b, buffer)];
	marks_latest(&b->written, x->cells, &b->wait->after);
	await_messages(b, x, false);
}

static void await_unused(builder *b, int buffer)
{
	const place *x = &b->places[place_of(b, buffer)];
	marks_latest(&b->used, x->cells, &b->wait->after);
	await_messages(b, x, true);
}

static void begin_wait(builder *b, stage_wait *w)
{
	*w = (stage_wait){ .first = b->list.n };
	b->wait = w;
}

typedef struct toucher {
	builder *b;
	int stream;
} toucher;

static void note_read(void *to, int buffer)
{
	const toucher *x = to;
	builder *b = x->b;
	marks_raise(&b->used, b->places[place_of(b, buffer)].cells, x->stream,
		    b->counts[x->stream]);
}

static void note_write(toucher *x, int buffer)
{
	builder *b = x->b;
	note_read(x, buffer);
	marks_raise(&b->written, b->places[place_of(b, buffer)].cells,
		    x->stream, b->counts[x->stream]);
}

/* ---- instructions ------------------------------------------------------ */

/* The turn of the current copy; -1 outside the body. */
static int turn_of(const builder *b)
{
	return b->copy < b->q->loop.turns ? b->copy : -1;
}

static int message_of(const builder *b, const plan_instr *in)
{
	int turn = turn_of(b);
	return b->first_message[in->channel] + (turn > 0 ? turn : 0);
}

static turn_length length_of(const builder *b)
{
	return simulated_length(&b->q->loop, turn_of(b));
}

static void put_send(builder *b, const plan_instr *in)
{
	stage_post x = { .message = message_of(b, in) };
	channel_end *e = end_at(b, place_of(b, in->from), in->channel);
	begin_wait(b, &x.wait);
	if (b->overlap)
		await_written(b, in->from);
	else
		x.wait.after.n[0] = b->counts[0];
	if (e)
		e->message = x.message;
	vec_push(b->work, &b->sends, x);
}

static void put_receive(builder *b, const plan_instr *in)
{
	stage_post x = { .message = message_of(b, in) };
	channel_end *e = end_at(b, place_of(b, in->to), in->channel);
	begin_wait(b, &x.wait);
	await_unused(b, in->to);
	if (e)
		e->message = x.message;
	vec_push(b->work, &b->receives, x);
}

/* The seconds of the unit's instructions, or of the message. */
static const double *seconds_of(const builder *b, int begin)
{
	const plan_instr *in = &b->q->program[begin];
	turn_length l = length_of(b);
	return in->op == PLAN_RECEIVE
		       ? &b->seconds->messages[l][in->channel]
		       : &b->seconds->instrs[l][b->stage][begin];
}

static void add_load(simulated_links *to, simulated_load *at,
		     simulated_load x)
{
	int i = 0;
	while (i < to->n && at[i].link != x.link)
		i++;
	if (i == to->n)
		at[to->n++] = (simulated_load){ .link = x.link };
	at[i].seconds += x.seconds;
}

/* The links of instructions [begin, end), which are executed as one, or of a
 * message. */
static simulated_links links_of(builder *b, int begin, int end)
{
	const plan_instr *in = &b->q->program[begin];
	const simulated_links *all = NULL;
	turn_length l = length_of(b);
	int n = 0;
	if (in->op == PLAN_RECEIVE && b->seconds->message_links[l])
		return b->seconds->message_links[l][in->channel];
	if (in->op == PLAN_RECEIVE || !b->seconds->instr_links[l])
		return (simulated_links){ 0 };
	all = b->seconds->instr_links[l][b->stage];
	if (end == begin + 1)
		return all[begin];
	for (int i = begin; i < end; i++)
		n += all[i].n;
	simulated_load *at = ARENA_ARRAY(b->work, simulated_load, n);
	simulated_links sum = { .at = at };
	for (int i = begin; i < end; i++) {
		for (int k = 0; k < all[i].n; k++)
			add_load(&sum, at, all[i].at[k]);
		sum.rate = fmax(sum.rate, all[i].rate);
	}
	return sum;
}

static void put_unit(builder *b, int begin, int end)
{
	const plan_instr *in = &b->q->program[begin];
	bool moves = plan_moves(in) && in->collective != COLL_LOCAL;
	bool receives = in->op == PLAN_RECEIVE;
	int stream = b->overlap && moves;
	stage_unit x = { .message = receives ? message_of(b, in) : -1,
			 .seconds = seconds_of(b, begin),
			 .links = links_of(b, begin, end) };
	toucher touch = { b, stream };
	begin_wait(b, &x.wait);
	for (int i = begin; i < end; i++) {
		plan_reads(b->q, &b->q->program[i], await_written, b);
		await_unused(b, b->q->program[i].to);
	}
	b->counts[stream]++;
	for (int i = begin; i < end; i++) {
		plan_reads(b->q, &b->q->program[i], note_read, &touch);
		note_write(&touch, b->q->program[i].to);
	}
	vec_push(b->work, &b->more, x);
	vec_push(b->a, &b->units,
		 ((simulated_unit){ .instr = begin, .end = end,
				    .turn = turn_of(b), .task = b->tasks.n,
				    .stream = stream }));
}

static void put_task(builder *b, int segment, int begin, int end)
{
	simulated_task x = { .segment = segment, .turn = turn_of(b),
			     .first = b->units.n };
	for (int i = begin, next; i < end; i = next) {
		const plan_instr *in = &b->q->program[i];
		next = plan_bucket_end(b->q, i);
		next = next < end ? next : end;
		if (in->op == PLAN_SEND)
			put_send(b, in);
		else if (in->op == PLAN_RECEIVE && b->overlap)
			put_receive(b, in);
		else
			put_unit(b, i, next);
	}
	x.nunits = b->units.n - x.first;
	if (x.nunits > 0)
		vec_push(b->a, &b->tasks, x);
}

static void put_schedule(builder *b)
{
	const plan_stage *s = b->q->stage;
	int *turns = ARENA_ARRAY(b->tmp, int, s->nsegments);
	for (int r = 0; r < s->nruns; r++)
		for (int i = 0; i < s->runs[r].times; i++)
			for (int j = 0; j < s->runs[r].ntasks; j++) {
				int g = s->runs[r].tasks[j];
				b->copy = turns[g]++;
				put_task(b, g, s->segments[g].begin,
					 s->segments[g].end);
			}
}

static void put_all(builder *b)
{
	const plan_loop *o = &b->q->loop;
	int nsegments = b->q->stage ? b->q->stage->nsegments : o->turns > 0;
	b->copy = -1;
	put_task(b, -1, 0, o->begin);
	if (b->q->stage)
		put_schedule(b);
	else
		for (b->copy = 0; b->copy < o->turns; b->copy++)
			put_task(b, 0, o->begin, o->end);
	b->copy = o->turns;
	put_task(b, nsegments, o->end, b->q->ninstrs);
}

stage_units stage_units_of(arena *a, arena *work,
			   const plan_pipeline *p, int stage,
			   const simulated_seconds *seconds, bool overlap,
			   const int *first_message)
{
	builder b = { .a = a, .work = work, .tmp = arena_new(),
		      .q = &p->stages[stage], .seconds = seconds,
		      .stage = stage, .overlap = overlap,
		      .first_message = first_message };
	find_places(&b);
	find_cells(&b);
	find_ends(&b);
	find_meets(&b);
	b.written = marks_new(b.tmp, b.ncells);
	b.used = marks_new(b.tmp, b.ncells);
	put_all(&b);
	arena_free(b.tmp);
	return (stage_units){
		.n = b.units.n,
		.units = b.units.at,
		.more = b.more.at,
		.ntasks = b.tasks.n,
		.tasks = b.tasks.at,
		.nlist = b.list.n,
		.list = b.list.at,
		.nsends = b.sends.n,
		.sends = b.sends.at,
		.nreceives = b.receives.n,
		.receives = b.receives.at,
	};
}
