/* Runs plans: the type tdl_run of tdl.h. */
#include "config.h"

#include <string.h>

#include "base/dtype.h"
#include "libtdl/api.h"
#include "plan/pipeline.h"
#include "runtime/exec/executor.h"

struct tdl_run {
	tdl_context *context;
	arena *arena;
	const plan *plan; /* all stages as one */
	executor *executor;
	array *inputs, *outputs; /* of the plan, except data between steps */
	bool broken;
};

/* ---- opening ----------------------------------------------------------- */

typedef struct opening {
	tdl_plan *of;
	const tdl_option *options;
	tdl_run *result;
} opening;

/* NULL when errors were added or the call has failed. */
static const plan_pipeline *stages_of(api_call *c, arena *a, tdl_plan *p)
{
	if (api_has_stages(p))
		return api_read_stages(c, p);
	const plan *one = api_whole_plan(c, p);
	return one ? pipeline_of_plan(a, one) : NULL;
}

/* A copy of the plan, so that the original may be freed during the run. */
static const plan_pipeline *copy_plan(api_call *c, tdl_plan *p)
{
	size_t n;
	arena *tmp = arena_new();
	const plan_pipeline *from = stages_of(c, tmp, p);
	const char *text = from ? pipeline_text(tmp, from, ".", &n) : NULL;
	const plan_pipeline *copy =
		text ? pipeline_parse(c->job.arena, c->job.sink, "./plan",
				      text, n) : NULL;
	arena_free(tmp);
	return copy;
}

static array *arrays_for(arena *a, const plan *p, const int *tensors, int n)
{
	array *all = ARENA_ARRAY(a, array, n + 1);
	for (int i = 0; i < n; i++)
		all[i] = executor_array(p, tensors[i]);
	return all;
}

static void fail(api_call *c, const failure *f)
{
	api_fail(c, (tdl_status)f->status, "%s", f->text);
}

static void open_run(api_call *c, void *arg)
{
	static const char *const kinds[] = { "generated", "interpreter",
					     "library", NULL };
	static const kernels_from from[] = { KERNELS_GENERATED,
					     KERNELS_INTERPRETER,
					     KERNELS_LIBRARY };
	opening *o = arg;
	arena *a = c->job.arena;
	backend_options how = { .kernels = KERNELS_GENERATED };
	int kernels = 0;
	failure f = { 0 };
	const cli_option table[] = {
		{ CLI_CHOICE, 0, "kernels", "K", "", &kernels,
		  .choices = kinds },
		{ CLI_TEXT, 0, "kernels-from", "FILE", "", &how.library },
		{ CLI_END },
	};
	if (!api_options(c, table, o->options))
		return;
	how.kernels = from[kernels];
	tdl_run *r = ARENA_NEW(a, tdl_run);
	r->context = c->context;
	r->arena = a;
	const plan_pipeline *copy = copy_plan(c, o->of);
	if (!copy)
		return;
	r->plan = pipeline_merge(a, copy)->plan;
	r->inputs = arrays_for(a, r->plan, r->plan->inputs, r->plan->ninputs);
	r->outputs = arrays_for(a, r->plan, r->plan->outputs,
				r->plan->noutputs);
	/* Opened last: nothing fails after it. */
	r->executor = executor_open(copy, "the plan", &backend_cpu,
				    &comm_threads, NULL, &how, &f);
	if (!r->executor) {
		fail(c, &f);
		return;
	}
	c->keeps = true;
	o->result = r;
}

tdl_run *tdl_run_open(tdl_plan *p, const tdl_option *options)
{
	opening o = { .of = p, .options = options };
	return api_run(p->context, open_run, &o) == TDL_OK ? o.result : NULL;
}

void tdl_run_free(tdl_run *r)
{
	if (!r)
		return;
	executor_close(r->executor);
	arena_free(r->arena);
}

/* ---- arrays ------------------------------------------------------------ */

/* Whether the caller's array has the type, shape and size in bytes of the
 * plan's.  Adds an error if not. */
static bool suits(api_call *c, const tdl_array *x, const array *want)
{
	bool same = x->type && dtype_parse(x->type) == want->type &&
		    x->ndim == want->ndim && (x->dims || x->ndim == 0);
	for (int d = 0; same && d < want->ndim; d++)
		same = x->dims[d] == want->dims[d];
	if (same && x->nbytes == (size_t)array_nbytes(want) &&
	    (x->data || x->nbytes == 0))
		return true;
	tensor_type type = { .type = want->type, .ndim = want->ndim };
	memcpy(type.dims, want->dims, sizeof(want->dims));
	api_fail(c, TDL_USAGE, "'%s' is %s, of %lld bytes; the array is "
		 "another", want->name, tensor_type_text(c->job.arena, &type),
		 (long long)array_nbytes(want));
	return false;
}

static array *find(array *all, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(all[i].name, name))
			return &all[i];
	return NULL;
}

/* Makes the plan's arrays refer to the caller's data. */
static bool take(api_call *c, array *all, int n, const tdl_array *given,
		 size_t ngiven, const char *what)
{
	static unsigned char nothing;
	for (int i = 0; i < n; i++)
		all[i].data = NULL;
	for (size_t i = 0; i < ngiven; i++) {
		array *x = find(all, n, given[i].name);
		if (!x || x->data) {
			api_fail(c, TDL_USAGE, x ? "the %s '%s' is given twice"
						 : "the plan has no %s '%s'",
				 what, given[i].name);
			return false;
		}
		if (!suits(c, &given[i], x))
			return false;
		x->data = given[i].data ? given[i].data : &nothing;
	}
	return true;
}

/* ---- steps ------------------------------------------------------------- */

typedef struct step {
	tdl_run *of;
	const tdl_array *inputs, *outputs;
	size_t ninputs, noutputs;
} step;

static bool is_whole(api_call *c, const tdl_run *r)
{
	if (r->broken)
		api_fail(c, TDL_USAGE, "the run has failed before");
	return !r->broken;
}

static void run_step(api_call *c, void *arg)
{
	step *s = arg;
	tdl_run *r = s->of;
	const plan *p = r->plan;
	failure f = { 0 };
	if (!is_whole(c, r) ||
	    !take(c, r->inputs, p->ninputs, s->inputs, s->ninputs, "input") ||
	    !take(c, r->outputs, p->noutputs, s->outputs, s->noutputs,
		  "output"))
		return;
	for (int i = 0; i < p->ninputs; i++)
		if (!r->inputs[i].data) {
			api_fail(c, TDL_USAGE, "the input '%s' is missing",
				 r->inputs[i].name);
			return;
		}
	r->broken = true;
	if (!executor_step(r->executor, r->inputs, r->outputs, &f))
		fail(c, &f);
	else
		r->broken = false;
}

tdl_status tdl_run_step(tdl_run *r, const tdl_array *inputs, size_t ninputs,
			const tdl_array *outputs, size_t noutputs)
{
	step s = { r, inputs, outputs, ninputs, noutputs };
	return api_run(r->context, run_step, &s);
}

/* ---- states ------------------------------------------------------------ */

typedef struct access_state {
	tdl_run *of;
	const tdl_array *x;
	bool writes;
} access_state;

static void reach_state(api_call *c, void *arg)
{
	access_state *s = arg;
	tdl_run *r = s->of;
	failure f = { 0 };
	int t = 0;
	if (!is_whole(c, r))
		return;
	while (t < r->plan->ntensors &&
	       (r->plan->tensors[t].role != PLAN_STATE ||
		strcmp(r->plan->tensors[t].name, s->x->name)))
		t++;
	if (t == r->plan->ntensors) {
		api_fail(c, TDL_USAGE, "the plan has no state '%s'",
			 s->x->name);
		return;
	}
	array x = executor_array(r->plan, t);
	x.data = s->x->data;
	if (!suits(c, s->x, &x))
		return;
	bool good = s->writes ? executor_state_set(r->executor, &x, &f)
			      : executor_state_get(r->executor, &x, &f);
	if (!good)
		fail(c, &f);
}

tdl_status tdl_run_get_state(tdl_run *r, const tdl_array *state)
{
	access_state s = { r, state, false };
	return api_run(r->context, reach_state, &s);
}

tdl_status tdl_run_set_state(tdl_run *r, const tdl_array *state)
{
	access_state s = { r, state, true };
	return api_run(r->context, reach_state, &s);
}

const api_function api_of_runs[] = {
	{ "tdl_run_open", open_run, &(const opening){ 0 }, sizeof(opening) },
	{ 0 }
};
