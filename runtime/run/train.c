#include "config.h"

#include "runtime/run/train.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "kernel/eval.h"
#include "runtime/run/progress_bar.h"
#include "runtime/run/stop.h"
#include "runtime/run/training.h"

/* ---- one step ---------------------------------------------------------- */

static double rate_of(const training *t)
{
	const array *x = &t->feed->inputs[t->rate];
	return elem_get_f64(x->type, x->data, 0);
}

/* Whether a step may have been skipped because of an overflow: it left
 * everything unchanged except the scale of the loss.  After so many such steps
 * in a row the scale would be less than 1e-14 times its first value. */
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
	if (!training_read_scale(t))
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

/* Notes the loss for the log and the bar. */
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

/* Shows the bar at most ten times a second. */
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

/* Does the work due after a step: log, evaluation, checkpoint.  The outputs of
 * the last step are written before its checkpoint, so a run resumed after that
 * has nothing left to do. */
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

/* ---- the command ------------------------------------------------------- */

bool train_command(session *s, cli_status *status)
{
	training t = { .s = s, .p = s->p, .loss = -1, .rate = -1 };
	sigset_t before;
	stop_hold(&before);
	bool good = training_open(&t) && train(&t);
	if (good)
		training_report(&t);
	session_progress(s, "%s", "");
	training_close(&t);
	if (good && t.signal) {
		fflush(stdout);
		stop_now(t.signal);
	}
	stop_release(&before);
	*status = CLI_OK;
	return good;
}
