#include "config.h"

#include "runtime/run/session.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "base/vec.h"
#include "plan/chain.h"
#include "runtime/run/checkpoint.h"

/* ---- the machine ------------------------------------------------------- */

static void show_compiled(void *arg, int done, int all)
{
	session_progress(arg, "compiled %d of %d kernels", done, all);
}

static executor *open_machine(session *s, const plan_pipeline *p,
			      const char *path, const communicator *c,
			      void *run, bool again, bool apart)
{
	const build_progress progress = { show_compiled, s };
	backend_options o = { .kernels = (kernels_from)s->o->kernels,
			      .threads = (int)s->o->threads,
			      .tf32 = s->o->tf32, .again = again,
			      .apart = apart,
			      .library = s->o->library,
			      .progress = &progress };
	session_progress(s, "preparing %d kernels, loading weights",
			 p->stages[0].nkernels);
	return executor_open(p, path, backend_row(s->o->backend), c, run, &o,
			     &s->f);
}

executor *session_machine(session *s, const plan_pipeline *p, const char *path)
{
	const backend *of = backend_row(s->o->backend);
	return open_machine(s, p, path, comm_row(s->o->comm, !of->put),
			    s->run, false, s->o->calibrate);
}

executor *session_alone(session *s, const plan *p, const char *path)
{
	const backend *of = backend_row(s->o->backend);
	return open_machine(s, pipeline_of_plan(s->a, p), path,
			    comm_row(0, !of->put), NULL, true, true);
}

bool session_uses_library(const session *s)
{
	int from = s->o->kernels;
	bool device = backend_row(s->o->backend)->put != NULL;
	return from == KERNELS_LIBRARY || (device && from == KERNELS_ANY);
}

const plan_pipeline *session_pipeline(session *s, const plan_pipeline *p)
{
	bool device = backend_row(s->o->backend)->put != NULL;
	return device ? pipeline_without_chains(s->a, p) : p;
}

void session_take(session *s, const plan_pipeline *p)
{
	p = session_pipeline(s, p);
	s->pipeline = p;
	s->whole = pipeline_merge(s->a, p);
	s->p = s->whole->plan;
}

dataset *session_data(session *s, const plan *p, const char *path)
{
	dataset *d = dataset_read(s->a, p, path, &s->f);
	if (d && d->unused)
		session_note(s, "%s: not used, because the plan has no such "
			     "input: %s", path, d->unused);
	return d;
}

void session_close(session *s, executor *m)
{
	if (s->f.status == CLI_OK)
		executor_close(m);
	else
		vec_push(s->a, &s->left, m);
}

void session_end(session *s)
{
	for (int i = 0; i < s->left.n; i++) {
		executor_abandon(s->left.at[i]);
		executor_close(s->left.at[i]);
	}
	s->left.n = 0;
}

bool session_states(session *s, executor *m, const plan *p, const feed *x)
{
	if (s->o->parameters &&
	    !checkpoint_load(m, p, s->o->parameters, &s->f))
		return false;
	return feed_states(x, m, &s->f);
}

bool session_changes_states(const plan *p)
{
	for (int t = 0; t < p->ntensors; t++)
		if (p->tensors[t].role == PLAN_STATE && p->tensors[t].next >= 0)
			return true;
	return false;
}

bool session_outputs(session *s, const executor *m, const array *outputs)
{
	arena *work = arena_new();
	const plan *p = s->p;
	int n, *tensors = plan_states(work, p, &n);
	if (!session_changes_states(p))
		n = 0;
	array *states = arrays_of(work, p, tensors, n, &s->f);
	VEC(array) all = { 0 };
	for (int i = 0; i < p->noutputs; i++)
		vec_push(work, &all, outputs[i]);
	bool good = states != NULL;
	for (int i = 0; good && i < n; i++) {
		good = executor_state_get(m, &states[i], &s->f);
		if (!p->tensors[tensors[i]].output)
			vec_push(work, &all, states[i]);
	}
	good = good && (!s->leads ||
			npz_write(s->o->outputs, all.n, all.at, &s->f));
	arrays_free(states, n);
	arena_free(work);
	return good;
}

figures session_figures(const session *s, const plan_pipeline *p,
			const executor *m, int64_t steps)
{
	int64_t n = steps > 0 ? steps : 1;
	figures r = {
		.devices = pipeline_first(p, p->nstages),
		.steps = steps,
		.seconds_per_step = executor_step_seconds(m),
		.received = executor_received(m) / n,
		.arena_used = ARENA_ARRAY(s->a, int64_t, p->nstages),
	};
	for (int i = 0; i < p->nstages; i++)
		r.arena_used[i] = executor_arena_used(m, i);
	machine_copies(m, &r.copies, &r.copies_used);
	return r;
}

bool figures_fit(const figures *r, const plan_pipeline *p)
{
	for (int i = 0; i < p->nstages; i++)
		if (r->arena_used[i] != p->stages[i].arena_bytes)
			return false;
	return true;
}

int session_loss(const plan *p)
{
	for (int i = 0; i < p->noutputs; i++) {
		const plan_tensor *t = &p->tensors[p->outputs[i]];
		bool is_loss = p->loss >= 0 ? p->outputs[i] == p->loss :
					      !strcmp(t->name, "loss");
		if (is_loss && plan_tensor_nelem(t) == 1)
			return i;
	}
	return -1;
}

/* ---- what is said ------------------------------------------------------ */

bool session_has_progress(const session *s)
{
	return !s->o->json && isatty(STDERR_FILENO);
}

void session_progress(const session *s, const char *fmt, ...)
{
	va_list ap;
	if (!session_has_progress(s))
		return;
	fputs("\r\033[K", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fflush(stderr);
}

void session_note(const session *s, const char *fmt, ...)
{
	va_list ap;
	if (!s->leads)
		return;
	session_progress(s, "%s", "");
	fputs("tdlrun: note: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

double plain_nan(double v)
{
	return isnan(v) ? NAN : v;
}

json_t *json_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

json_t *json_numbers(const double *v, int n)
{
	json_t *list = json_array();
	for (int i = 0; i < n; i++)
		json_array_append_new(list, json_number(v[i]));
	return list;
}

/* The stage whose workers have the largest arenas. */
static int largest_stage(const plan_pipeline *p)
{
	int most = 0;
	for (int i = 1; i < p->nstages; i++)
		if (p->stages[i].arena_bytes > p->stages[most].arena_bytes)
			most = i;
	return most;
}

static json_t *stages_json(const figures *r, const plan_pipeline *p)
{
	json_t *list = json_array();
	for (int i = 0; i < p->nstages; i++)
		json_array_append_new(
			list, json_pack("{s:i, s:I, s:I}", "devices",
					mesh_workers(&p->stages[i].mesh),
					"arena_bytes",
					(json_int_t)r->arena_used[i],
					"predicted_arena_bytes",
					(json_int_t)p->stages[i].arena_bytes));
	return list;
}

/* null if the plan has no prediction. */
static void add_prediction(json_t *j, const figures *r,
			   const plan_prediction *p)
{
	bool known = p->machine && r->seconds_per_step > 0;
	json_object_set_new(j, "predicted_for", p->machine ?
			    json_string(p->machine) : json_null());
	json_object_set_new(j, "predicted_seconds_per_step", p->machine ?
			    json_number(p->seconds) : json_null());
	json_object_set_new(j, "samples_per_second", known && p->batch > 0 ?
			    json_number((double)p->batch /
					r->seconds_per_step) : json_null());
}

json_t *figures_json(const figures *r, const plan_pipeline *p)
{
	int most = largest_stage(p);
	json_t *j = json_pack(
		"{s:i, s:I, s:o, s:I, s:I, s:I, s:I}", "devices", r->devices,
		"steps", (json_int_t)r->steps, "seconds_per_step",
		json_number(r->seconds_per_step), "communication_bytes",
		(json_int_t)r->received, "predicted_communication_bytes",
		(json_int_t)p->communication_bytes, "arena_bytes",
		(json_int_t)r->arena_used[most], "predicted_arena_bytes",
		(json_int_t)p->stages[most].arena_bytes);
	if (!pipeline_is_plan(p))
		json_object_set_new(j, "stages", stages_json(r, p));
	add_prediction(j, r, &p->predicted);
	return j;
}

void print_json(json_t *j)
{
	json_dumpf(j, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(j);
}

/* Prints a measured figure beside the planned one. */
static void print_figure(const char *what, int64_t measured, int64_t planned,
			 const char *per)
{
	printf("  %-14s %s %s", what, units_bytes((double)measured).text, per);
	if (measured == planned)
		printf(", as planned\n");
	else
		printf(", %" PRId64 " bytes; planned were %" PRId64 "\n",
		       measured, planned);
}

/* Prints the predicted time beside the measured one. */
static void print_prediction(const figures *r, const plan_prediction *p)
{
	double ratio = r->seconds_per_step / p->seconds;
	if (!p->machine || !isfinite(ratio) || ratio <= 0)
		return;
	printf("  %-14s %s a step, for '%s'; measured is %.3g times that\n",
	       "predicted", units_seconds(p->seconds).text, p->machine, ratio);
	if (p->batch > 0)
		printf("  %-14s %s samples per second\n", "speed",
		       units_scaled((double)p->batch / r->seconds_per_step,
				    "").text);
}

void figures_print(const figures *r, const plan_pipeline *p)
{
	print_prediction(r, &p->predicted);
	print_figure("communication", r->received, p->communication_bytes,
		     "a step");
	for (int i = 0; i < p->nstages; i++) {
		char per[64] = "a worker";
		if (p->nstages > 1)
			snprintf(per, sizeof(per), "a worker of stage %d", i);
		print_figure(i ? "" : "memory", r->arena_used[i],
			     p->stages[i].arena_bytes, per);
	}
	if (r->copies > 0)
		print_figure("copies", r->copies_used, r->copies, "a device");
}
