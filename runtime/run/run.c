#include "config.h"

#include "runtime/run/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "base/vec.h"
#include "kernel/eval.h"
#include "runtime/exec/profiling.h"
#include "runtime/exec/verify.h"
#include "runtime/run/profile_file.h"
#include "runtime/run/trace.h"

enum { ITEM_COLUMN = 17 };

/* The arrays that a run leaves behind: outputs, and states that it changes. */
typedef struct results {
	int n;
	int *tensors;
	array *arrays;
} results;

/* A tensor with elements that are NaN, here and on one worker. */
typedef struct nans {
	const char *name;
	int64_t nelem, got, want;
} nans;

/* A run on one worker to compare with: with as many micro-batches, or with the
 * whole batch as one. */
typedef struct witness {
	const plan *one;
	const bool *divided; /* nodes, see verify_tensors() */
	comparison compared;
} witness;

typedef struct run {
	session *s;
	const plan *p;
	feed *feed;
	results got;
	results start; /* the states before the first step, in place of the
			  same in got, with --verify */
	sway *sways; /* by tensor of the results */
	figures figures;
	profiling *profiling; /* NULL: not asked for */
	VEC(double) loss;
	int nwitnesses;
	witness witnesses[2];
	VEC(nans) nans;
	bool verified;
} run;

/* ---- running ----------------------------------------------------------- */

static results results_of(run *r)
{
	const plan *p = r->p;
	arena *a = r->s->a;
	VEC(int) tensors = { 0 };
	for (int i = 0; i < p->noutputs; i++)
		vec_push(a, &tensors, p->outputs[i]);
	for (int t = 0; r->s->o->verify && t < p->ntensors; t++)
		if (p->tensors[t].role == PLAN_STATE && p->tensors[t].next >= 0)
			vec_push(a, &tensors, t);
	return (results){ tensors.n, tensors.at,
			  arrays_of(a, p, tensors.at, tensors.n, &r->s->f) };
}

static void free_results(results *x)
{
	arrays_free(x->arrays, x->n);
}

static void note_loss(run *r, const array *outputs)
{
	int i = session_loss(r->p);
	if (i >= 0)
		vec_push(r->s->a, &r->loss,
			 elem_get_f64(outputs[i].type, outputs[i].data, 0));
}

static int64_t steps_of(const session *s)
{
	int64_t usual = s->o->profile ? PROFILING_STEPS : 1;
	return s->o->steps > 0 ? s->o->steps : usual;
}

/* Reads the states. */
static bool get_states(run *r, executor *m, const results *to)
{
	bool good = true;
	for (int i = r->p->noutputs; good && i < to->n; i++)
		good = executor_state_get(m, &to->arrays[i], &r->s->f);
	return good;
}

/* The outputs, reduced to the loss. */
static const array *loss_alone(const run *r, const results *to)
{
	int n = r->p->noutputs, loss = session_loss(r->p);
	array *x = ARENA_COPY(r->s->a, to->arrays, n);
	for (int i = 0; i < n; i++)
		x[i].data = i == loss ? x[i].data : NULL;
	return x;
}

/* Steps of a plan that keeps nothing are all the same: one worker makes but
 * one. */
static bool step(run *r, executor *m, const results *to, bool noted)
{
	session *s = r->s;
	bool all = noted || session_changes_states(r->p);
	int64_t n = all ? steps_of(s) : 1;
	const array *usual = loss_alone(r, to);
	const array *last = s->o->outputs || s->o->verify ? to->arrays : usual;
	for (int64_t i = 0; i < n; i++) {
		session_progress(s, "%sstep %" PRId64 " of %" PRId64,
				 noted ? "" : "one worker: ", i + 1, n);
		if (!executor_step(m, r->feed->inputs, i + 1 < n ? usual : last,
				   &s->f))
			return false;
		if (noted)
			note_loss(r, to->arrays);
		if (noted && r->profiling)
			profiling_note(r->profiling);
	}
	return get_states(r, m, to);
}

/* Stores the states before the first step. */
static bool note_start(run *r, executor *m)
{
	for (int i = r->p->noutputs; i < r->start.n; i++) {
		r->sways[i].start = &r->start.arrays[i];
		r->sways[i].steps = steps_of(r->s);
	}
	return get_states(r, m, &r->start);
}

static bool run_plan(run *r)
{
	session *s = r->s;
	executor *m = session_machine(s, s->pipeline, s->o->plan);
	if (m && s->o->trace)
		executor_record(m);
	profile *to = m && s->o->profile ? profile_file_open(s) : NULL;
	if (to)
		r->profiling = profiling_new(s->a, s->pipeline, m,
					     steps_of(s));
	bool good = m && (!s->o->profile || to) &&
		    session_states(s, m, r->p, r->feed) &&
		    (!s->o->verify || note_start(r, m)) &&
		    step(r, m, &r->got, true);
	if (good)
		r->figures = session_figures(s, s->pipeline, m, steps_of(s));
	if (good && s->o->outputs)
		good = session_outputs(s, m, r->got.arrays);
	if (good && s->o->trace)
		good = trace_write(s, m, s->o->trace);
	if (good && to) {
		profiling_end(r->profiling, to);
		good = profile_file_write(s, to);
	}
	if (m)
		session_close(s, m);
	return good;
}

/* ---- one worker -------------------------------------------------------- */

/* A run of one worker, rounded otherwise. */
typedef struct noise {
	const array *fed; /* inputs, not moved */
	const bool *nodes; /* their results are moved, too */
	double size;
	uint64_t seed;
	bool states; /* those that change are moved, too */
} noise;

static bool is_device(const run *r)
{
	return backend_row(r->s->o->backend)->put != NULL;
}

/* Changes all initial values in their last bits. */
static bool move_start(run *r, executor *m, const noise *by)
{
	for (int i = 0; i < r->p->ninputs; i++) {
		const array *x = &r->feed->inputs[i];
		memcpy(x->data, by->fed[i].data, (size_t)array_nbytes(x));
		verify_move(x, by->size, by->seed);
	}
	bool good = true;
	for (int i = 0; good && i < r->feed->nstates; i++) {
		int tensor = r->feed->tensors[i];
		failure *f = &r->s->f;
		if (!by->states && r->p->tensors[tensor].next >= 0)
			continue;
		array *x = arrays_of(r->s->a, r->p, &tensor, 1, f);
		good = x && executor_state_get(m, x, f);
		if (good)
			verify_move(x, by->size, by->seed);
		good = good && executor_state_set(m, x, f);
		arrays_free(x, 1);
	}
	return good;
}

/* Takes from the states by how much they were moved at the start, so that they
 * have changed as much as they have. */
static void move_back(const run *r, const results *to, const results *began)
{
	for (int i = r->p->noutputs; i < to->n; i++) {
		const array *x = &to->arrays[i], *b = &began->arrays[i];
		const array *start = &r->start.arrays[i];
		int64_t n = dtype_is_float(x->type) ? array_nelem(x) : 0;
		for (int64_t k = 0; k < n; k++) {
			double by = elem_get_f64(b->type, b->data, k) -
				    elem_get_f64(b->type, start->data, k);
			double v = elem_get_f64(x->type, x->data, k);
			if (by != 0)
				elem_set_f64(x->type, x->data, k, v - by);
		}
	}
}

/* Moves what one worker starts with, and makes its steps. */
static bool step_moved(run *r, executor *m, const results *to, const noise *x)
{
	results began = results_of(r);
	bool good = began.arrays && move_start(r, m, x) &&
		    get_states(r, m, &began) && step(r, m, to, false);
	if (good)
		move_back(r, to, &began);
	free_results(&began);
	return good;
}

/* Runs the plan's program on one worker; where there is noise, from numbers
 * that are moved. */
static bool run_one(run *r, const witness *w, const results *to, const noise *x)
{
	session *s = r->s;
	executor *m = to->arrays ? session_alone(s, w->one, s->o->plan) :
				     NULL;
	if (m && x)
		machine_disturb(m, x->nodes, x->size, x->seed << 32);
	bool good = m && session_states(s, m, r->p, r->feed) &&
		    (x ? step_moved(r, m, to, x) : step(r, m, to, false));
	if (m)
		session_close(s, m);
	return good;
}

static void compare_results(run *r, witness *w, const results *want)
{
	const results *got = &r->got;
	w->compared = verify_tensors(r->p, w->divided, got->n, got->tensors,
				     got->arrays, want->arrays, r->sways);
}

/* Looks for what hangs on rounding: moves numbers again and again, by the last
 * bit, by two, four .. sixteen times as much, until that explains all
 * differences: a sum of n terms that cancel rounds partial sums, which are
 * about as many times larger than a term as the root of n.  Of many signs that
 * fall one way or the other, each has to be seen to do so: after so many tries
 * one in 2^32 was not.  The first tries do not move the states that change: how
 * many elements fall to the next number shows there; on a device nothing but
 * inputs and states can be moved. */
static bool compare_moved(run *r, witness *w, const results *want)
{
	enum { STILL = 2, TRIES = STILL + 32 };
	arena *a = r->s->a;
	const plan *p = r->p;
	results moved = results_of(r);
	array *fed = arrays_of(a, p, p->inputs, p->ninputs, &r->s->f);
	noise x = { fed, verify_rounded(a, p, w->divided) };
	double bit = verify_noise(p, w->divided);
	bool good = fed != NULL;
	for (int i = 0; good && i < p->ninputs; i++)
		memcpy(fed[i].data, r->feed->inputs[i].data,
		       (size_t)array_nbytes(&fed[i]));
	for (; good && x.seed < TRIES && !w->compared.equal; x.seed++) {
		x.size = bit * (double)(1 << x.seed % 5);
		x.states = is_device(r) || x.seed >= STILL;
		good = run_one(r, w, &moved, &x);
		if (!good)
			break;
		verify_sway(a, moved.n, moved.arrays, want->arrays, r->sways,
			    is_device(r) || !x.states);
		compare_results(r, w, want);
	}
	if (fed)
		arrays_free(fed, p->ninputs);
	free_results(&moved);
	return good;
}

/* Lists tensors with elements that are NaN. */
static void note_nans(run *r, const results *want)
{
	for (int i = 0; i < r->got.n; i++) {
		const array *x = &r->got.arrays[i];
		nans v = { x->name, array_nelem(x), verify_nans(x),
			   verify_nans(&want->arrays[i]) };
		if (v.got || v.want)
			vec_push(r->s->a, &r->nans, v);
	}
}

/* One worker with all turns does what the workers do, but for what they divide;
 * one with the whole batch may round what the turns add up otherwise. */
static void find_witnesses(run *r)
{
	const session *s = r->s;
	const plan_loop *o = &r->p->loop;
	bool library = session_uses_library(s);
	r->witnesses[r->nwitnesses++] = (witness){
		.one = plan_one_device(s->a, r->p),
		.divided = verify_divided_in_stages(s->a, s->pipeline, s->whole,
						    library, false),
	};
	if (o->turns > 1 && !o->statistics)
		r->witnesses[r->nwitnesses++] = (witness){
			.one = plan_one_turn(s->a, r->p),
			.divided = verify_divided_in_stages(
				s->a, s->pipeline, s->whole, library, true),
		};
}

static void forget_sways(run *r)
{
	for (int i = 0; i < r->got.n; i++) {
		r->sways[i].least = r->sways[i].most = NULL;
		r->sways[i].flips = 0;
	}
}

/* Most runs need only one comparison. */
static bool compare_with(run *r, witness *w)
{
	results want = results_of(r);
	bool good = run_one(r, w, &want, NULL);
	forget_sways(r);
	if (good && w == r->witnesses)
		note_nans(r, &want);
	if (good)
		compare_results(r, w, &want);
	if (good && !w->compared.equal)
		good = compare_moved(r, w, &want);
	free_results(&want);
	return good;
}

static bool compare(run *r)
{
	const plan_pipeline *p = r->s->pipeline;
	bool good = true;
	find_witnesses(r);
	r->verified = r->figures.received == p->communication_bytes &&
		      figures_fit(&r->figures, p);
	for (int i = 0; good && i < r->nwitnesses; i++) {
		good = compare_with(r, &r->witnesses[i]);
		r->verified = r->verified && r->witnesses[i].compared.equal;
	}
	return good;
}

/* ---- the report -------------------------------------------------------- */

static const char *const rules[] = {
	[VERIFY_EXACT] = "exact",
	[VERIFY_BY_TYPE] = "type",
	[VERIFY_BY_CHANGE] = "change",
};

/* The tensor that is the nearest to what is allowed, or the furthest beyond;
 * null where all are the same. */
static json_t *worst_json(const comparison *c)
{
	if (!c->worst)
		return json_null();
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "tensor", c->worst,
			 "rule", rules[c->rule], "error",
			 json_number(c->error.norm), "allowed",
			 json_number(c->allowed.norm), "element_error",
			 json_number(c->error.element), "element_allowed",
			 json_number(c->allowed.element));
}

static json_t *nans_json(const run *r)
{
	json_t *list = json_array();
	for (int i = 0; i < r->nans.n; i++) {
		const nans *x = &r->nans.at[i];
		json_array_append_new(
			list, json_pack("{s:s, s:I, s:I, s:I}", "tensor",
					x->name, "elements",
					(json_int_t)x->nelem, "nan",
					(json_int_t)x->got, "nan_on_one_worker",
					(json_int_t)x->want));
	}
	return list;
}

/* Without --verify, c NULL, its results are null. */
static void add_comparison(json_t *j, const comparison *c)
{
	json_object_set_new(j, "max_abs_error", c ?
			    json_number(c->max_abs_error) : json_null());
	json_object_set_new(j, "max_rel_error", c ?
			    json_number(c->max_rel_error) : json_null());
	json_object_set_new(j, "worst", c ? worst_json(c) : json_null());
	json_object_set_new(j, "doubtful", c ?
			    json_integer((json_int_t)c->doubtful) :
			    json_null());
}

/* The comparison with the whole batch, and, where that is another, the one with
 * as many micro-batches. */
static void report_json(const run *r)
{
	json_t *j = figures_json(&r->figures, r->s->pipeline);
	bool known = r->s->o->verify && r->nwitnesses > 0;
	const witness *last = &r->witnesses[known ? r->nwitnesses - 1 : 0];
	add_comparison(j, known ? &last->compared : NULL);
	if (known && r->nwitnesses > 1) {
		json_t *turns = json_object();
		add_comparison(turns, &r->witnesses[0].compared);
		json_object_set_new(j, "micro_batches", turns);
	}
	json_object_set_new(j, "nan", known ? nans_json(r) : json_null());
	json_object_set_new(j, "verified", known ?
			    json_boolean(r->verified) : json_null());
	json_object_set_new(j, "loss", json_numbers(r->loss.at, r->loss.n));
	print_json(j);
}

static void print_item(const char *name, const char *text)
{
	printf("  %-14s ", name);
	text_wrap(stdout, text, ITEM_COLUMN, ITEM_COLUMN);
}

/* The worst tensor, the error that is the most of what is allowed, and the rule
 * that it was held against. */
static void print_worst(arena *a, const comparison *c)
{
	bool element = c->error.element * c->allowed.norm >
		       c->error.norm * c->allowed.element;
	double error = element ? c->error.element : c->error.norm;
	double allowed = element ? c->allowed.element : c->allowed.norm;
	const char *rule = c->rule == VERIFY_EXACT ?
		"no divided sum leads to it, so it must be equal" :
		arena_printf(a, "%.2g is allowed for rounding in its types",
			     allowed);
	bool change = c->rule == VERIFY_BY_CHANGE;
	print_item("worst", arena_printf(
		a, "'%s', %s by %.2g of %s; %s", c->worst,
		element ? "an element" : "as a whole", plain_nan(error),
		change ? "its change" : element ? "its size" : "its norm",
		rule));
}

static void print_doubtful(arena *a, const comparison *c)
{
	if (c->doubtful)
		print_item("in doubt", arena_printf(
			a, "%" PRId64 " of %" PRId64 " elements: rounding "
			"alone decides them", c->doubtful, c->nelem));
}

static void print_nans(const run *r)
{
	for (int i = 0; i < r->nans.n; i++) {
		const nans *x = &r->nans.at[i];
		const char *text = arena_printf(
			r->s->a, "'%s': %" PRId64 " of %" PRId64 " elements",
			x->name, x->got, x->nelem);
		if (x->got != x->want)
			text = arena_printf(r->s->a, "%s, %" PRId64 " on one "
					    "worker", text, x->want);
		print_item(i ? "" : "NaN", text);
	}
}

/* Of two such workers the first has as many micro-batches. */
static const char *witness_text(const run *r, const witness *w)
{
	if (r->nwitnesses == 1)
		return "one worker's";
	if (w == r->witnesses)
		return arena_printf(r->s->a, "those of one worker with %d "
				    "micro-batches", r->p->loop.turns);
	return "those of one worker with the whole batch";
}

static void print_comparison(const run *r, const witness *w)
{
	const comparison *c = &w->compared;
	arena *a = r->s->a;
	bool states = r->got.n > r->p->noutputs;
	if (!c->equal)
		print_item("different", arena_printf(
			a, "'%s' differs from %s", c->worst,
			r->nwitnesses == 1 ? "one worker's" :
			w == r->witnesses ? "one worker's with as many "
					    "micro-batches" :
					    "one worker's with the whole "
					    "batch"));
	else
		print_item(r->verified ? "verified" : "not verified",
			   arena_printf(a, "the outputs%s are, %s, %s",
					states ? " and states" : "",
					c->exact ? "bit for bit" :
						   "within rounding",
					witness_text(r, w)));
	if (!c->exact)
		print_worst(a, c);
	print_doubtful(a, c);
}

static void print_comparisons(const run *r)
{
	for (int i = 0; i < r->nwitnesses; i++)
		print_comparison(r, &r->witnesses[i]);
	print_nans(r);
}

/* The loss of a step, with its number if there are several. */
static void print_loss(const run *r, int i)
{
	double loss = plain_nan(r->loss.at[i]);
	print_item("loss", r->loss.n == 1 ?
		   arena_printf(r->s->a, "%.6g", loss) :
		   arena_printf(r->s->a, "%-9.6g step %d", loss, i + 1));
}

static void report_text(const run *r)
{
	const figures *x = &r->figures;
	printf("%s: %d worker%s, %" PRId64 " step%s of %s\n", r->p->model,
	       x->devices, x->devices == 1 ? "" : "s", x->steps,
	       x->steps == 1 ? "" : "s",
	       units_seconds(x->seconds_per_step).text);
	figures_print(x, r->s->pipeline);
	for (int i = 0; i < r->loss.n; i++)
		print_loss(r, i);
	if (r->s->o->verify)
		print_comparisons(r);
}

/* ---- the command ------------------------------------------------------- */

static bool prepare(run *r)
{
	session *s = r->s;
	const options *o = s->o;
	r->feed = feed_new(s->a, r->p, !o->inputs, &s->f);
	if (!r->feed || (o->inputs && !feed_read(r->feed, o->inputs, &s->f)))
		return false;
	if (o->learning_rate >= 0 &&
	    !feed_set_learning_rate(r->feed, o->learning_rate, &s->f))
		return false;
	if (o->inputs && !feed_is_complete(r->feed, o->inputs, &s->f))
		return false;
	r->got = results_of(r);
	if (o->verify) {
		r->start = results_of(r);
		r->sways = ARENA_ARRAY(s->a, sway, r->got.n);
	}
	return r->got.arrays && (!o->verify || r->start.arrays);
}

bool run_command(session *s, cli_status *status)
{
	run r = { .s = s, .p = s->p };
	bool good = prepare(&r) && run_plan(&r) &&
		    (!s->o->verify || !s->leads || compare(&r));
	session_progress(s, "%s", "");
	if (good && s->o->json)
		report_json(&r);
	else if (good)
		report_text(&r);
	free_results(&r.got);
	free_results(&r.start);
	feed_free(r.feed);
	*status = s->o->verify && s->leads && !r.verified ? CLI_DIFFERENCE
							  : CLI_OK;
	return good;
}
