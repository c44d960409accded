#include "config.h"

#include "runtime/run/train.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "base/vec.h"
#include "kernel/eval.h"
#include "runtime/run/checkpoint.h"
#include "runtime/run/data.h"
#include "runtime/run/learning_rate.h"
#include "runtime/run/log.h"
#include "runtime/run/progress_bar.h"
#include "runtime/run/stop.h"

/* An evaluation and when it was. */
typedef struct judgement {
	position at;
	metric *metrics;
} judgement;

typedef struct training {
	session *s;
	const plan *p;
	feed *feed;
	dataset *data;
	executor *m;
	array *outputs;
	array *kept;	/* the outputs, without data but the loss's */
	int loss, rate; /* outputs[loss], inputs[rate]; -1 for none */
	lr_schedule schedule;
	evaluation *evaluation;
	checkpoints *checkpoints;
	train_log *log;
	position at;
	int64_t resumed; /* the step that this process began with */
	int64_t per_epoch;
	int64_t *order; /* of the samples in this epoch */
	int64_t count;	/* of steps in this epoch, .. */
	double sum;	/* .. of the losses of those .. */
	int64_t summed; /* .. so many, whose loss is a number */
	double scale;	/* of the loss, in short floats */
	int skipped;	/* steps in a row that left all but that as it was */
	double begun;	/* when the epoch, or its part, began */
	double shown;	/* when the bar was shown last */
	VEC(double) losses;
	VEC(judgement) judgements;
	int signal;
} training;

/* ---- beginning --------------------------------------------------------- */

static bool read_data(training *t)
{
	session *s = t->s;
	const options *o = s->o;
	t->feed = feed_new(s->a, t->p, false, &s->f);
	t->data = t->feed ? session_data(s, t->p, o->data) : NULL;
	if (!t->data || (o->inputs && !feed_read(t->feed, o->inputs, &s->f)))
		return false;
	if (t->data->samples < t->data->batch)
		return fail_with(&s->f, CLI_INPUT, "%s: %" PRId64 " samples "
				 "are fewer than the %" PRId64 " of a step",
				 o->data, t->data->samples, t->data->batch);
	for (int i = 0; i < t->p->ninputs; i++)
		t->feed->fed[i] |= t->data->arrays[i].data != NULL;
	return true;
}

/* The rate that schedules start from is --learning-rate, or the input's own
 * value. */
static bool set_schedule(training *t)
{
	session *s = t->s;
	const options *o = s->o;
	bool asked = o->learning_rate >= 0 || o->schedule >= 0 ||
		     o->warmup >= 0;
	t->rate = feed_learning_rate(t->feed);
	if (t->rate < 0)
		return !asked || fail_with(&s->f, CLI_INPUT, "the plan has no "
					   "learning rate that could be set");
	if (t->data->arrays[t->rate].data)
		return !asked || fail_with(&s->f, CLI_INPUT, "%s has the "
					   "learning rate '%s' already",
					   o->data,
					   t->feed->inputs[t->rate].name);
	const array *x = &t->feed->inputs[t->rate];
	if (o->learning_rate >= 0 &&
	    !feed_set_learning_rate(t->feed, o->learning_rate, &s->f))
		return false;
	t->schedule.base = elem_get_f64(x->type, x->data, 0);
	t->schedule.kind =
		(lr_schedule_kind)(o->schedule >= 0 ? o->schedule : 0);
	t->schedule.warmup = o->warmup >= 0 ? o->warmup : 0;
	return true;
}

/* Of --epochs and --steps the one that ends first counts; without either it is
 * one epoch. */
static void set_end(training *t)
{
	const options *o = t->s->o;
	int64_t epochs = o->epochs > 0 ? o->epochs : 1;
	t->per_epoch = dataset_steps(t->data, false);
	int64_t steps = epochs > INT64_MAX / t->per_epoch ?
				INT64_MAX : epochs * t->per_epoch;
	if (o->steps > 0 && (o->epochs <= 0 || o->steps < steps))
		steps = o->steps;
	t->schedule.steps = steps;
}

static bool open_outputs(training *t)
{
	session *s = t->s;
	int n = t->p->noutputs;
	t->outputs = arrays_of(s->a, t->p, t->p->outputs, n, &s->f);
	if (!t->outputs)
		return false;
	t->loss = session_loss(t->p);
	t->kept = ARENA_COPY(s->a, t->outputs, n);
	for (int i = 0; i < n; i++)
		if (i != t->loss)
			t->kept[i].data = NULL;
	return true;
}

/* Threads are as many as a plan has workers, processes as many as there are. */
static bool has_as_many(training *t, const plan *p)
{
	const session *s = t->s;
	int n = mesh_workers(&p->mesh), all = mesh_workers(&t->p->mesh);
	if (s->o->comm == COMM_THREADS || n == all)
		return true;
	return fail_with(&t->s->f, CLI_INPUT, "%s is for %d worker%s, %s for "
			 "%d: where workers are processes, both plans are for "
			 "as many", s->o->evaluate, n, n == 1 ? "" : "s",
			 s->o->plan, all);
}

static bool open_evaluation(training *t)
{
	session *s = t->s;
	diag_sink *sink = diag_sink_new(s->a);
	if (!s->o->evaluate)
		return true;
	const plan *p = plan_read(s->a, sink, s->o->evaluate);
	if (!p)
		return fail_of(&s->f, sink);
	if (p->training)
		return fail_with(&s->f, CLI_INPUT, "%s trains, too: what "
				 "evaluates is planned without --train",
				 s->o->evaluate);
	if (!has_as_many(t, p))
		return false;
	t->evaluation = evaluation_open(s, p, s->o->evaluate,
					s->o->evaluate_data, false, false);
	return t->evaluation && evaluation_take(t->evaluation, t->m, t->p);
}

static bool open_log(training *t)
{
	session *s = t->s;
	int n = 0;
	const metric *metrics = NULL;
	if (!s->o->log || !s->leads)
		return true;
	if (t->evaluation)
		metrics = evaluation_metrics(t->evaluation, &n);
	t->log = log_open(s->a, s->o->log, t->at.step, n, metrics, &s->f);
	return t->log != NULL;
}

/* ---- resuming ---------------------------------------------------------- */

/* The data must be those that the checkpoint stands in the middle of. */
static bool check_position(training *t, const position *was)
{
	failure *f = &t->s->f;
	const position *is = &t->at;
	const char *path = checkpoints_newest(t->checkpoints);
	if (was->samples != is->samples || was->batch != is->batch)
		return fail_with(f, CLI_INPUT, "%s: it was made with %" PRId64
				 " samples in batches of %" PRId64 ", these "
				 "are %" PRId64 " in batches of %" PRId64,
				 path, was->samples, was->batch, is->samples,
				 is->batch);
	if (was->shuffle != is->shuffle)
		return fail_with(f, CLI_INPUT, "%s: it was made %s --shuffle",
				 path, was->shuffle ? "with" : "without");
	if (was->seed != is->seed)
		return fail_with(f, CLI_INPUT, "%s: it was made with --seed %"
				 PRId64 ", not %" PRId64, path, was->seed,
				 is->seed);
	if (was->in_epoch >= t->per_epoch ||
	    was->step / t->per_epoch != was->epoch ||
	    was->step % t->per_epoch != was->in_epoch)
		return fail_with(f, CLI_INPUT, "%s: step %" PRId64 " is not "
				 "step %" PRId64 " of epoch %" PRId64, path,
				 was->step, was->in_epoch, was->epoch);
	return true;
}

static bool resume(training *t)
{
	session *s = t->s;
	position was;
	if (!checkpoints_restore(t->checkpoints, t->m, t->p, &was, &s->f) ||
	    !check_position(t, &was))
		return false;
	t->at = was;
	return true;
}

/* A run that is resumed where none was begun begins: whoever starts a run
 * again and again until it has ended need not know. */
static bool open_checkpoints(training *t)
{
	session *s = t->s;
	const options *o = s->o;
	if (!o->checkpoint)
		return true;
	if (!s->leads)
		executor_agree(t->m, 0); /* the folder is there */
	t->checkpoints = checkpoints_open(s->a, o->checkpoint, s->leads,
					  o->keep >= 0 ? o->keep : 3, &s->f);
	if (!t->checkpoints)
		return false;
	if (s->leads)
		executor_agree(t->m, 0);
	const char *newest = checkpoints_newest(t->checkpoints);
	if (newest && !o->resume)
		return fail_with(&s->f, CLI_INPUT, "%s is there already: "
				 "--resume goes on from it, another folder "
				 "begins anew", newest);
	return !newest || resume(t);
}

/* Reads the scale of the loss in the next step. */
static bool read_scale(training *t)
{
	int tensor = t->p->loss_scale;
	arena *work = arena_new();
	array *x = NULL;
	bool good = tensor < 0 ||
		    ((x = arrays_of(work, t->p, &tensor, 1, &t->s->f)) &&
		     executor_state_get(t->m, tensor, x, &t->s->f));
	if (x && good)
		t->scale = elem_get_f64(x->type, x->data, 0);
	if (x)
		arrays_free(x, 1);
	arena_free(work);
	return good;
}

static bool begin(training *t)
{
	session *s = t->s;
	if (!read_data(t) || !set_schedule(t) ||
	    !feed_is_complete(t->feed, s->o->data, &s->f) || !open_outputs(t))
		return false;
	set_end(t);
	t->at = (position){ .samples = t->data->samples,
			    .batch = t->data->batch,
			    .shuffle = s->o->shuffle,
			    .seed = s->o->seed >= 0 ? s->o->seed : 0 };
	t->m = session_machine(s, t->p, s->o->plan);
	if (!t->m || !session_states(s, t->m, t->p, t->feed) ||
	    !open_checkpoints(t) || !open_evaluation(t) || !open_log(t))
		return false;
	t->resumed = t->at.step;
	if (!read_scale(t))
		return false;
	if (s->o->shuffle)
		t->order = ARENA_ARRAY(s->a, int64_t, t->data->samples);
	return true;
}

/* ---- one step ---------------------------------------------------------- */

static double rate_of(const training *t)
{
	const array *x = &t->feed->inputs[t->rate];
	return elem_get_f64(x->type, x->data, 0);
}

/* Whether the step left all but the scale of the loss as it was, as one does in
 * which something overflows, and may: by the last of so many in a row the scale
 * is less than 1e-14 times what it was. */
static bool may_be_skipped(training *t, bool fell)
{
	enum { IN_A_ROW = 48 };
	t->skipped = fell ? t->skipped + 1 : 0;
	return fell && t->skipped < IN_A_ROW;
}

static bool loss_is_number(training *t)
{
	session *s = t->s;
	double loss = t->losses.at[t->losses.n - 1], before = t->scale;
	const char *last = t->checkpoints ? checkpoints_newest(t->checkpoints) :
					    NULL;
	if (!read_scale(t))
		return false;
	if (may_be_skipped(t, t->scale < before) || isfinite(loss))
		return true;
	return fail_with(&s->f, CLI_MACHINE, "the loss of step %" PRId64
			 " is %s; %s%s", t->at.step + 1,
			 isnan(loss) ? "no number" : "infinite",
			 last ? "the last checkpoint is " :
				"there is no checkpoint",
			 last ? last : "");
}

/* Notes the loss, of which the log and the bar tell. */
static bool note_loss(training *t)
{
	double loss = NAN;
	if (t->loss >= 0) {
		const array *x = &t->outputs[t->loss];
		loss = elem_get_f64(x->type, x->data, 0);
	}
	vec_push(t->s->a, &t->losses, loss);
	t->count++;
	if (isfinite(loss)) {
		t->sum += loss;
		t->summed++;
	}
	return t->loss < 0 || loss_is_number(t);
}

static bool step(training *t)
{
	session *s = t->s;
	bool last = t->at.step + 1 == t->schedule.steps;
	dataset_fill(t->data, t->order, t->at.in_epoch, t->feed->inputs);
	if (t->rate >= 0 && !t->data->arrays[t->rate].data &&
	    !feed_set_learning_rate(t->feed, schedule_rate(&t->schedule,
							   t->at.step),
				    &s->f))
		return false;
	if (!executor_step(t->m, t->feed->inputs, last ? t->outputs : t->kept,
			   &s->f) ||
	    !note_loss(t))
		return false;
	t->at.step++;
	if (++t->at.in_epoch == t->per_epoch) {
		t->at.in_epoch = 0;
		t->at.epoch++;
		t->at.loss = 0;
		t->at.losses = 0;
	}
	return true;
}

/* ---- between steps ----------------------------------------------------- */

static double samples_per_second(const training *t)
{
	double seconds = clock_seconds() - t->begun;
	return seconds > 0 ?
	       (double)(t->count * t->data->batch) / seconds : 0;
}

static bool ends(const training *t)
{
	return t->at.step >= t->schedule.steps;
}

static bool evaluate(training *t)
{
	int n;
	if (!t->evaluation)
		return true;
	if (!evaluation_take(t->evaluation, t->m, t->p) ||
	    !evaluation_run(t->evaluation))
		return false;
	const metric *x = evaluation_metrics(t->evaluation, &n);
	judgement j = { t->at, ARENA_COPY(t->s->a, x, n) };
	vec_push(t->s->a, &t->judgements, j);
	return true;
}

static void print_epoch(training *t)
{
	session *s = t->s;
	int n;
	if (s->o->json)
		return;
	session_progress(s, "%s", "");
	printf("epoch %" PRId64 ", step %" PRId64 ":",
	       (t->at.step - 1) / t->per_epoch + 1, t->at.step);
	if (t->loss >= 0)
		printf(" loss %.6g,", t->summed ? t->sum / (double)t->summed :
						 NAN);
	printf(" %.4g samples/s", samples_per_second(t));
	if (t->evaluation) {
		const metric *x = evaluation_metrics(t->evaluation, &n);
		for (int i = 0; i < n; i++)
			printf("%s %s %.6g", i ? "," : "; evaluation:",
			       x[i].name, plain_nan(x[i].value));
	}
	putchar('\n');
	fflush(stdout);
}

static bool write_log(training *t, double rate, bool evaluated)
{
	int n = 0;
	log_line line = {
		.step = t->at.step,
		.epoch = (t->at.step - 1) / t->per_epoch + 1,
		.loss = t->losses.at[t->losses.n - 1],
		.learning_rate = rate,
		.samples_per_second = samples_per_second(t),
	};
	if (!t->log)
		return true;
	if (evaluated && t->evaluation) {
		line.metrics = evaluation_metrics(t->evaluation, &n);
		line.nmetrics = n;
	}
	return log_write(t->log, &line, &t->s->f);
}

/* Notes the values that a resumed run needs to print the epoch's mean. */
static void note_epoch(training *t)
{
	bool within = t->at.in_epoch > 0 && isfinite(t->sum);
	t->at.loss = within ? t->sum : 0;
	t->at.losses = within ? t->summed : 0;
}

static bool write_checkpoint(training *t)
{
	note_epoch(t);
	return !t->checkpoints ||
	       checkpoints_write(t->checkpoints, t->m, t->p, &t->at, &t->s->f);
}

static bool write_outputs(training *t)
{
	return !t->s->o->outputs ||
	       session_outputs(t->s, t->m, t->outputs);
}

/* Ten times a second are enough. */
static void show_bar(training *t)
{
	progress_bar_line line = {.epoch = (t->at.step - 1) / t->per_epoch + 1,
				  .step = t->at.step,
				  .steps = t->schedule.steps,
				  .loss = t->losses.at[t->losses.n - 1],
				  .samples_per_second = samples_per_second(t),
				  .batch = t->data->batch};
	if (clock_seconds() - t->shown < 0.1)
		return;
	t->shown = clock_seconds();
	progress_bar_show(t->s, &line);
}

/* The work due after a step: the log, an evaluation, a checkpoint.  The outputs
 * of the last one are written before its checkpoint, so that a run which is
 * resumed after that has nothing to do. */
static bool after_step(training *t)
{
	int64_t every = t->s->o->every;
	bool epoch = t->at.in_epoch == 0, end = ends(t);
	bool due = every > 0 ? t->at.step % every == 0 : epoch;
	double rate = t->rate >= 0 ? rate_of(t) : NAN;
	if ((epoch || end) && !evaluate(t))
		return false;
	if (!write_log(t, rate, epoch || end))
		return false;
	if (epoch || end)
		print_epoch(t);
	else
		show_bar(t);
	if (end && !write_outputs(t))
		return false;
	t->signal = executor_agree(t->m, stop_asked());
	return (!due && !end && !t->signal) || write_checkpoint(t);
}

static void begin_epoch(training *t)
{
	t->sum = t->at.loss;
	t->summed = t->at.losses;
	t->count = 0;
	t->begun = clock_seconds();
	if (t->order)
		dataset_shuffle((uint64_t)t->at.seed, t->at.epoch,
				t->data->samples, t->order);
}

static bool train(training *t)
{
	t->signal = executor_agree(t->m, stop_asked());
	for (bool fresh = true; !ends(t) && !t->signal;
	     fresh = t->at.in_epoch == 0) {
		if (fresh)
			begin_epoch(t);
		if (!step(t) || !after_step(t))
			return false;
	}
	return true;
}

/* ---- the report -------------------------------------------------------- */

static json_t *judgement_json(const training *t, const judgement *j)
{
	int n;
	evaluation_metrics(t->evaluation, &n);
	json_t *x = json_pack("{s:I, s:I}", "step", (json_int_t)j->at.step,
			      "epoch", (json_int_t)j->at.epoch);
	json_t *means = json_object();
	for (int i = 0; i < n; i++)
		json_object_set_new(means, j->metrics[i].name,
				    json_number(j->metrics[i].value));
	json_object_set_new(x, "means", means);
	return x;
}

static void report_json(const training *t, const figures *r)
{
	json_t *j = figures_json(r, t->p), *list = json_array();
	const char *path = t->checkpoints ? checkpoints_newest(t->checkpoints) :
					    NULL;
	for (int i = 0; i < t->judgements.n; i++)
		json_array_append_new(list,
				      judgement_json(t, &t->judgements.at[i]));
	json_object_set_new(j, "first_step",
			    json_integer((json_int_t)t->resumed + 1));
	json_object_set_new(j, "last_step",
			    json_integer((json_int_t)t->at.step));
	json_object_set_new(j, "samples",
			    json_integer((json_int_t)t->data->samples));
	json_object_set_new(j, "batch",
			    json_integer((json_int_t)t->data->batch));
	json_object_set_new(j, "left_out",
			    json_integer((json_int_t)(t->data->samples %
						      t->data->batch)));
	json_object_set_new(j, "loss", t->loss >= 0 ?
			    json_numbers(t->losses.at, t->losses.n) :
			    json_array());
	json_object_set_new(j, "evaluations", list);
	json_object_set_new(j, "checkpoint", path ? json_string(path) :
						    json_null());
	print_json(j);
}

static void report_text(const training *t, const figures *r)
{
	int64_t rest = t->data->samples % t->data->batch;
	printf("%s: %d worker%s, steps %" PRId64 " to %" PRId64 " of %s\n",
	       t->p->model, r->devices, r->devices == 1 ? "" : "s",
	       t->resumed + 1, t->at.step,
	       units_seconds(r->seconds_per_step).text);
	printf("  %-14s %" PRId64 " samples, %" PRId64 " a step", "data",
	       t->data->samples, t->data->batch);
	if (rest)
		printf("; the last %" PRId64 " of an epoch are left out", rest);
	putchar('\n');
	figures_print(r, t->p);
	if (t->loss >= 0 && t->losses.n > 0)
		printf("  %-14s %.6g\n", "loss",
		       plain_nan(t->losses.at[t->losses.n - 1]));
	if (t->checkpoints && checkpoints_newest(t->checkpoints))
		printf("  %-14s %s\n", "checkpoint",
		       checkpoints_newest(t->checkpoints));
}

static void report(training *t)
{
	session *s = t->s;
	figures r = session_figures(s, t->m, t->losses.n);
	session_progress(s, "%s", "");
	if (s->o->json)
		report_json(t, &r);
	else if (t->losses.n > 0)
		report_text(t, &r);
	else
		printf("%s: all %" PRId64 " steps were done before\n",
		       t->p->model, t->at.step);
}

/* ---- the command ------------------------------------------------------- */

static void close_all(training *t)
{
	if (t->m)
		session_close(t->s, t->m);
	if (t->evaluation)
		evaluation_close(t->evaluation);
	if (t->checkpoints)
		checkpoints_close(t->checkpoints);
	log_close(t->log);
	arrays_free(t->outputs, t->p->noutputs);
	dataset_free(t->data);
	feed_free(t->feed);
}

bool train_command(session *s, cli_status *status)
{
	training t = { .s = s, .p = s->p, .loss = -1, .rate = -1 };
	sigset_t before;
	stop_hold(&before);
	bool good = begin(&t) && train(&t);
	if (good)
		report(&t);
	session_progress(s, "%s", "");
	close_all(&t);
	if (good && t.signal) {
		fflush(stdout);
		stop_now(t.signal);
	}
	stop_release(&before);
	*status = CLI_OK;
	return good;
}
