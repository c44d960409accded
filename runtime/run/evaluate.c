#include "config.h"

#include "runtime/run/evaluate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/units.h"
#include "kernel/eval.h"

/* The way in which outputs of batches become one of all samples. */
typedef enum result_kind {
	RESULT_BATCH,	/* they do not: that of the last batch is kept */
	RESULT_SCALAR,	/* one element */
	RESULT_SAMPLES, /* samples along the first dimension */
} result_kind;

typedef struct result {
	result_kind kind;
	int metric; /* -1: none */
	double sum;
	int64_t count;
	array all; /* collects RESULT_SAMPLES */
} result;

struct evaluation {
	session *s;
	const plan_pipeline *pipeline;
	const plan *p;	  /* all stages as one */
	const char *path; /* file of the plan */
	dataset *data;
	feed *feed;
	executor *m;
	array *outputs;
	result *results; /* by output */
	int nmetrics;
	metric *metrics;
	int64_t steps; /* over all runs so far */
};

/* ---- opening ----------------------------------------------------------- */

static result_kind kind_of(const evaluation *e, const array *x)
{
	bool batches = false;
	for (int i = 0; i < e->p->ninputs; i++)
		batches |= e->data->divided[i] &&
			   e->data->arrays[i].ndim == e->feed->inputs[i].ndim;
	if (batches && x->ndim > 0 && x->dims[0] == e->data->batch)
		return RESULT_SAMPLES;
	return array_nelem(x) == 1 ? RESULT_SCALAR : RESULT_BATCH;
}

static bool open_result(evaluation *e, int i, bool collect)
{
	const array *x = &e->outputs[i];
	result *r = &e->results[i];
	r->kind = kind_of(e, x);
	r->metric = -1;
	if (r->kind == RESULT_SCALAR ||
	    (r->kind == RESULT_SAMPLES && x->ndim == 1)) {
		r->metric = e->nmetrics++;
		e->metrics[r->metric] = (metric){ x->name, NAN };
	}
	if (!collect || r->kind != RESULT_SAMPLES)
		return true;
	r->all = *x;
	r->all.data = NULL;
	r->all.dims[0] = e->data->samples;
	int64_t sample = array_nbytes(x) / e->data->batch;
	if (sample <= PLAN_MAX_BYTES / e->data->samples)
		r->all.data = calloc((size_t)(sample * e->data->samples) + 1,
				     1);
	return r->all.data ||
	       fail_with(&e->s->f, CLI_MACHINE, "no memory for '%s' of all %"
			 PRId64 " samples", x->name, e->data->samples);
}

static bool open_results(evaluation *e, bool collect)
{
	const plan *p = e->p;
	e->results = ARENA_ARRAY(e->s->a, result, p->noutputs);
	e->metrics = ARENA_ARRAY(e->s->a, metric, p->noutputs);
	for (int i = 0; i < p->noutputs; i++)
		if (!open_result(e, i, collect))
			return false;
	return true;
}

static bool open_feed(evaluation *e, const char *data, bool fed)
{
	session *s = e->s;
	e->feed = feed_new(s->a, e->p, false, &s->f);
	if (!e->feed || (fed && s->o->inputs &&
			 !feed_read(e->feed, s->o->inputs, &s->f)))
		return false;
	for (int i = 0; i < e->p->ninputs; i++)
		e->feed->fed[i] |= e->data->arrays[i].data != NULL;
	return feed_is_complete(e->feed, data, &s->f);
}

evaluation *evaluation_open(session *s, const plan_pipeline *p,
			    const char *path, const char *data, bool fed,
			    bool collect)
{
	evaluation *e = ARENA_NEW(s->a, evaluation);
	const plan *one = pipeline_merge(s->a, p)->plan;
	*e = (evaluation){ .s = s, .pipeline = p, .p = one, .path = path };
	e->data = session_data(s, one, data);
	bool good = e->data && open_feed(e, data, fed);
	if (good)
		e->outputs = arrays_of(s->a, one, one->outputs, one->noutputs,
				       &s->f);
	good = e->outputs && open_results(e, collect);
	if (good)
		e->m = session_machine(s, p, path);
	if (e->m)
		return e;
	evaluation_close(e);
	return NULL;
}

void evaluation_close(evaluation *e)
{
	if (e->m)
		session_close(e->s, e->m);
	for (int i = 0; e->results && i < e->p->noutputs; i++)
		free(e->results[i].all.data);
	arrays_free(e->outputs, e->p->noutputs);
	feed_free(e->feed);
	dataset_free(e->data);
}

static bool same_tensor(const plan_tensor *x, const plan_tensor *y)
{
	return x->type == y->type && x->ndim == y->ndim &&
	       !memcmp(x->dims, y->dims, (size_t)x->ndim * sizeof(*x->dims));
}

/* Reports states that training changes and that are constants of the evaluated
 * plan. */
static bool check_fixed(evaluation *e, const strmap *trained)
{
	for (int i = 0; i < e->p->nfixed; i++)
		if (strmap_get(trained, e->p->fixed[i]))
			return fail_with(&e->s->f, CLI_INPUT, "%s: the weight "
					 "'%s', which is trained, is a "
					 "constant in this plan; 'tdlc plan "
					 "--evaluate', with --loss, --freeze "
					 "and --train-only as for training, "
					 "makes one that takes its value",
					 e->path, e->p->fixed[i]);
	return true;
}

/* Gives state `tensor' the value that it has in the training plan. */
static bool take(evaluation *e, int tensor, const executor *m)
{
	arena *work = arena_new();
	failure *f = &e->s->f;
	array *x = arrays_of(work, e->p, &tensor, 1, f);
	bool good = x && executor_state_get(m, x, f) &&
		    executor_state_set(e->m, x, f);
	arrays_free(x, 1);
	arena_free(work);
	return good;
}

/* Sets all states.  A state that the training plan does not have keeps its
 * value if it is a weight that is not trained, or changes by itself. */
static bool take_all(evaluation *e, const executor *m, const plan *trained,
		     const strmap *names, const strmap *fixed)
{
	bool good = true;
	for (int i = 0; good && i < e->feed->nstates; i++) {
		int tensor = e->feed->tensors[i];
		const plan_tensor *t = &e->p->tensors[tensor];
		const int *at = strmap_get(names, t->name);
		if (!at && (t->next >= 0 || strmap_get(fixed, t->name)))
			continue;
		if (at && same_tensor(&trained->tensors[*at], t))
			good = take(e, tensor, m);
		else
			good = fail_with(&e->s->f, CLI_INPUT, "the plan that "
					 "evaluates has a state '%s', which "
					 "the one that trains does not have",
					 t->name);
	}
	return good;
}

bool evaluation_take(evaluation *e, const executor *m, const plan *trained)
{
	arena *work = arena_new();
	int n, *from = plan_states(work, trained, &n);
	strmap *names = strmap_new(work), *fixed = strmap_new(work);
	for (int i = 0; i < n; i++)
		strmap_put(names, trained->tensors[from[i]].name, &from[i]);
	for (int i = 0; i < trained->nfixed; i++)
		strmap_put(fixed, trained->fixed[i], fixed);
	bool good = check_fixed(e, names) &&
		    take_all(e, m, trained, names, fixed);
	arena_free(work);
	return good;
}

/* ---- running ----------------------------------------------------------- */

/* Adds a batch, of which the first n samples count. */
static void note(evaluation *e, int i, int64_t step, int64_t n)
{
	result *r = &e->results[i];
	const array *x = &e->outputs[i];
	int64_t batch = e->data->batch;
	if (r->all.data) {
		size_t sample = (size_t)(array_nbytes(x) / batch);
		memcpy((char *)r->all.data + (size_t)(step * batch) * sample,
		       x->data, (size_t)n * sample);
	}
	if (r->metric < 0 || (r->kind == RESULT_SCALAR && n < batch))
		return;
	int64_t count = r->kind == RESULT_SCALAR ? 1 : n;
	for (int64_t j = 0; j < count; j++)
		r->sum += elem_get_f64(x->type, x->data, j);
	r->count += count;
}

static void finish(evaluation *e)
{
	for (int i = 0; i < e->p->noutputs; i++) {
		const result *r = &e->results[i];
		if (r->metric >= 0 && r->count > 0)
			e->metrics[r->metric].value =
				r->sum / (double)r->count;
	}
}

bool evaluation_run(evaluation *e)
{
	int64_t nsteps = dataset_steps(e->data, true);
	for (int i = 0; i < e->p->noutputs; i++) {
		e->results[i].sum = 0;
		e->results[i].count = 0;
	}
	for (int64_t step = 0; step < nsteps; step++) {
		int64_t n = dataset_fill(e->data, NULL, step, e->feed->inputs);
		session_progress(e->s, "evaluation: step %" PRId64 " of %"
				 PRId64, step + 1, nsteps);
		if (!executor_step(e->m, e->feed->inputs, e->outputs,
				   &e->s->f))
			return false;
		for (int i = 0; i < e->p->noutputs; i++)
			note(e, i, step, n);
		e->steps++;
	}
	finish(e);
	return true;
}

const metric *evaluation_metrics(const evaluation *e, int *n)
{
	*n = e->nmetrics;
	return e->metrics;
}

/* ---- the command ------------------------------------------------------- */

static void report_json(const evaluation *e, const figures *r)
{
	json_t *j = figures_json(r, e->pipeline), *means = json_object();
	json_object_set_new(j, "samples",
			    json_integer((json_int_t)e->data->samples));
	for (int i = 0; i < e->nmetrics; i++)
		json_object_set_new(means, e->metrics[i].name,
				    json_number(e->metrics[i].value));
	json_object_set_new(j, "evaluation", means);
	print_json(j);
}

static void report_text(const evaluation *e, const figures *r)
{
	printf("%s: %d worker%s, %" PRId64 " samples in %" PRId64 " step%s of "
	       "%s\n", e->p->model, r->devices, r->devices == 1 ? "" : "s",
	       e->data->samples, r->steps, r->steps == 1 ? "" : "s",
	       units_seconds(r->seconds_per_step).text);
	figures_print(r, e->pipeline);
	for (int i = 0; i < e->nmetrics; i++)
		printf("  %-14s %.6g\n", e->metrics[i].name,
		       plain_nan(e->metrics[i].value));
}

static bool write_outputs(evaluation *e)
{
	int n = e->p->noutputs;
	array *x = ARENA_COPY(e->s->a, e->outputs, n);
	for (int i = 0; i < n; i++)
		if (e->results[i].all.data)
			x[i] = e->results[i].all;
	return session_outputs(e->s, e->m, x);
}

bool evaluate_command(session *s, cli_status *status)
{
	const options *o = s->o;
	evaluation *e = evaluation_open(s, s->pipeline, o->plan, o->data, true,
					o->outputs != NULL);
	bool good = e && session_states(s, e->m, e->p, e->feed) &&
		    evaluation_run(e) && (!o->outputs || write_outputs(e));
	session_progress(s, "%s", "");
	if (good) {
		figures r = session_figures(s, e->pipeline, e->m, e->steps);
		if (o->json)
			report_json(e, &r);
		else
			report_text(e, &r);
	}
	if (e)
		evaluation_close(e);
	*status = CLI_OK;
	return good;
}
