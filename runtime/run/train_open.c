/* Begins a training: data, schedules, states, a checkpoint. */
#include "config.h"

#include "runtime/run/training.h"

#include <inttypes.h>

#include "kernel/eval.h"

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

/* Sets the rate from which schedules start: --learning-rate, or the input's own
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
					   "learning rate to set");
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

/* Sets the end: that of --epochs or --steps, whichever comes first; one epoch
 * if neither is given. */
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

/* Checks the number of workers.  As threads they are as many as the plan's, as
 * processes as many as there are. */
static bool has_as_many(training *t, const plan_pipeline *p)
{
	const session *s = t->s;
	int n = pipeline_first(p, p->nstages);
	int all = pipeline_first(s->pipeline, s->pipeline->nstages);
	if (s->o->comm == COMM_THREADS || n == all)
		return true;
	return fail_with(&t->s->f, CLI_INPUT, "%s is for %d worker%s, %s for "
			 "%d: workers are processes, so both plans have to be "
			 "for the same number",
			 s->o->evaluate, n, n == 1 ? "" : "s",
			 s->o->plan, all);
}

static bool open_evaluation(training *t)
{
	session *s = t->s;
	diag_sink *sink = diag_sink_new(s->a);
	if (!s->o->evaluate)
		return true;
	const plan_pipeline *p = pipeline_read(s->a, sink, s->o->evaluate);
	if (!p)
		return fail_of(&s->f, sink);
	if (p->stages[0].training)
		return fail_with(&s->f, CLI_INPUT, "%s trains, too; a plan "
				 "that evaluates is made without --train",
				 s->o->evaluate);
	if (!has_as_many(t, p))
		return false;
	p = session_pipeline(s, p);
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

/* Checks that the data are those in the middle of which the checkpoint was
 * made. */
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

/* Resuming without a checkpoint begins a new run: a script that restarts a run
 * until it has ended need not distinguish. */
static bool open_checkpoints(training *t)
{
	session *s = t->s;
	const options *o = s->o;
	if (!o->checkpoint)
		return true;
	if (!s->leads)
		executor_agree(t->m, 0); /* the folder exists now */
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

bool training_read_scale(training *t)
{
	int tensor = t->p->loss_scale;
	arena *work = arena_new();
	array *x = NULL;
	bool good = tensor < 0 ||
		    ((x = arrays_of(work, t->p, &tensor, 1, &t->s->f)) &&
		     executor_state_get(t->m, x, &t->s->f));
	if (x && good)
		t->scale = elem_get_f64(x->type, x->data, 0);
	if (x)
		arrays_free(x, 1);
	arena_free(work);
	return good;
}

bool training_open(training *t)
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
	t->m = session_machine(s, s->pipeline, s->o->plan);
	if (!t->m || !session_states(s, t->m, t->p, t->feed) ||
	    !open_checkpoints(t) || !open_evaluation(t) || !open_log(t))
		return false;
	t->resumed = t->at.step;
	if (!training_read_scale(t))
		return false;
	if (s->o->shuffle)
		t->order = ARENA_ARRAY(s->a, int64_t, t->data->samples);
	return true;
}

void training_close(training *t)
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
