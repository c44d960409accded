/* The program in a report: its instructions, when they run, and the memory in
 * use. */
#include "config.h"

#include "libtdl/report_build.h"
#include "plan/peak.h"

enum { MOST_DRAWN = 200000 }; /* instructions drawn in a timeline */

static int tensor_of(const plan *p, const plan_instr *in)
{
	int buffer = plan_moves(in) ? in->from : in->to;
	return p->buffers[buffer].tensor;
}

json_t *report_program(const report *r)
{
	static const char *const words[] = {
		[PLAN_RUN] = "run", [PLAN_MOVE] = "move",
		[PLAN_COMBINE] = "combine", [PLAN_FEED] = "feed",
		[PLAN_SEND] = "send", [PLAN_RECEIVE] = "receive",
	};
	const plan *p = r->p;
	int64_t *bytes = ARENA_ARRAY(r->a, int64_t, p->ninstrs);
	json_t *list = json_array();
	for (int i = 0; i < r->flat->ninstrs; i++)
		bytes[r->row[i]] += r->received[i];
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		int of = report_node_of(p, in);
		if (plan_is_message(in))
			bytes[i] = pipeline_channel_bytes(r->stages->p,
							  in->channel);
		json_array_append_new(
			list, json_pack("{s:s,s:o,s:i,s:o,s:I}", "does",
					words[in->op], "operator",
					of < 0 ? json_null()
						 : json_integer(of),
					"tensor", tensor_of(p, in),
					"collective",
					plan_moves(in) ? json_string(
						collective_name(in->collective))
						: json_null(),
					"bytes", (json_int_t)bytes[i]));
	}
	return list;
}

json_t *report_timeline(const report *r)
{
	if (r->flat->ninstrs > MOST_DRAWN)
		return json_null();
	json_t *rows = json_array();
	for (int i = 0; i < r->flat->ninstrs; i++)
		json_array_append_new(
			rows, json_pack("[i,f,f]", r->row[i],
					r->end[i] - r->seconds[i],
					r->seconds[i]));
	return rows;
}

/* ---- of a stage -------------------------------------------------------- */

/* Visits the instructions of a step in the order of the schedule. */
typedef struct walk {
	report *r;
	const simulation *step;
	const simulated_unit *unit; /* current unit */
	const int *messages;	    /* first message of each channel */
	int at;			    /* next instruction of flat */
} walk;

/* Sets the instants of a unit, which are shown with its first instruction
 * only. */
static void set_instant(walk *w, int row)
{
	report *r = w->r;
	const plan_instr *in = &r->flat->program[w->at];
	bool talks = plan_is_message(in);
	double begin, end;
	if (talks) {
		const simulated_message *m =
			&w->step->messages[w->messages[in->channel]];
		m += m->turn < 0 ? 0 : in->turn;
		begin = m->begin_seconds;
		end = m->end_seconds;
	} else {
		begin = end = w->unit->end_seconds;
		if (row == w->unit->instr)
			begin = w->unit->begin_seconds;
	}
	bool of_unit = !talks || (in->op == PLAN_RECEIVE &&
				  !r->machine->overlap);
	if (of_unit && row + 1 == w->unit->end)
		w->unit++;
	r->row[w->at] = row;
	r->seconds[w->at] = end - begin;
	r->end[w->at++] = end;
}

static void set_range(walk *w, int begin, int end)
{
	for (int row = begin; row < end; row++)
		set_instant(w, row);
}

void report_set_instants(report *r, const stages_view *v, int s)
{
	const plan *q = r->p;
	int *first = ARENA_ARRAY(r->a, int, v->p->nchannels);
	walk w = { r, v->step, v->step->stages[s].units, first, 0 };
	for (int m = v->step->nmessages - 1; m >= 0; m--)
		first[v->step->messages[m].channel] = m;
	set_range(&w, 0, q->loop.begin);
	for (int i = 0; i < q->stage->nruns; i++) {
		const plan_tasks *run = &q->stage->runs[i];
		for (int k = 0; k < run->times * run->ntasks; k++) {
			int g = run->tasks[k % run->ntasks];
			set_range(&w, q->stage->segments[g].begin,
				  q->stage->segments[g].end);
		}
	}
	set_range(&w, q->loop.end, q->ninstrs);
}

/* ---- memory ------------------------------------------------------------ */

enum { KEPT, VALUES, TRANSFERS, KINDS };
static const char *const kinds[] = {
	[KEPT] = "kept", [VALUES] = "values", [TRANSFERS] = "transfers",
};

/* The kind of a buffer: stored blocks of what is loaded once, stored blocks of
 * everything else, and what is received or yet to be combined and sent. */
static int kind_of(const plan *p, const plan_buffer *b)
{
	plan_role role = p->tensors[b->tensor].role;
	if (b->region != LAYOUT_STORED)
		return TRANSFERS;
	return role == PLAN_CONSTANT || role == PLAN_STATE ? KEPT : VALUES;
}

static json_t *use_json(const report *r)
{
	const plan *p = r->p;
	int *kind = ARENA_ARRAY(r->a, int, p->nbuffers);
	int64_t *used[KINDS];
	json_t *all = json_object();
	for (int b = 0; b < p->nbuffers; b++)
		kind[b] = kind_of(p, &p->buffers[b]);
	plan_use_in_time(r->a, p, kind, KINDS, used);
	for (int k = 0; k < KINDS; k++) {
		json_t *list = json_array();
		for (int t = 0; t < p->ninstrs + 2; t++)
			json_array_append_new(list, json_integer(used[k][t]));
		json_object_set_new(all, kinds[k], list);
	}
	return all;
}

json_t *report_memory(const report *r)
{
	plan_peak peak = plan_find_peak(r->a, r->p);
	json_t *uses = json_array();
	for (int i = 0; i < peak.n; i++) {
		const plan_buffer *b = &r->p->buffers[peak.uses[i].buffer];
		json_array_append_new(
			uses, json_pack("{s:i,s:s,s:I}", "tensor", b->tensor,
					"kind", kinds[kind_of(r->p, b)],
					"bytes",
					(json_int_t)peak.uses[i].nbytes));
	}
	return json_pack("{s:o,s:{s:i,s:I,s:o}}", "in_use", use_json(r), "peak",
			 "instruction", peak.instr, "bytes",
			 (json_int_t)peak.nbytes, "alive", uses);
}
