/* Reports a training as text or as JSON. */
#include "config.h"

#include "runtime/run/training.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/units.h"

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
	json_t *j = figures_json(r, t->s->pipeline), *list = json_array();
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
	figures_print(r, t->s->pipeline);
	if (t->loss >= 0 && t->losses.n > 0)
		printf("  %-14s %.6g\n", "loss",
		       plain_nan(t->losses.at[t->losses.n - 1]));
	if (t->checkpoints && checkpoints_newest(t->checkpoints))
		printf("  %-14s %s\n", "checkpoint",
		       checkpoints_newest(t->checkpoints));
}

void training_report(training *t)
{
	session *s = t->s;
	figures r = session_figures(s, s->pipeline, t->m, t->losses.n);
	session_progress(s, "%s", "");
	if (s->o->json)
		report_json(t, &r);
	else if (t->losses.n > 0)
		report_text(t, &r);
	else
		printf("%s: all %" PRId64 " steps were done before\n",
		       t->p->model, t->at.step);
}
