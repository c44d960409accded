/* tdlrun: runs a plan. */
#include "config.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/vec.h"
#include "runtime/inputs.h"
#include "runtime/machine.h"
#include "runtime/verify.h"

static const char name[] = "tdlrun";

static const cli_program tdlrun = {
	name,
	"PLAN [OPTION]...",
	"Runs a plan that 'tdlc plan' made.  Without --inputs it feeds "
	"arange(n)/n, and\nintegers that count up below what they index.",
};

typedef struct options {
	const char *plan, *inputs, *outputs, *library;
	int backend, comm, kernels;
	int64_t steps;
	bool verify, json, version;
} options;

/* What a run has shown. */
typedef struct result {
	int devices;
	double seconds_per_step;
	int64_t received, arena_used; /* bytes; received in one step */
	VEC(double) loss;
	comparison compared;
	bool verified;
} result;

typedef struct session {
	arena *a;
	const options *o;
	const plan *p;
	array *inputs, *outputs;
	result r;
	failure f;
} session;

/* ---- progress ---------------------------------------------------------- */

/* One line on a terminal, written over by the next; "" wipes it. */
__attribute__((format(printf, 2, 3)))
static void progress(const session *s, const char *fmt, ...)
{
	va_list ap;
	if (s->o->json || !isatty(STDERR_FILENO))
		return;
	fputs("\r\033[K", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fflush(stderr);
}

/* ---- running ----------------------------------------------------------- */

static machine *open_machine(session *s, const plan *p)
{
	backend_options o = { .kernels = (kernels_from)s->o->kernels,
			      .library = s->o->library };
	progress(s, "compiling %d kernels, loading weights", p->nkernels);
	return machine_open(p, s->o->plan, backend_row(s->o->backend),
			    comm_row(s->o->comm), &o, &s->f);
}

/* The value of an output called loss, where it is one number. */
static void note_loss(session *s)
{
	for (int i = 0; i < s->p->noutputs; i++) {
		const array *x = &s->outputs[i];
		if (!strcmp(x->name, "loss") && array_nelem(x) == 1)
			vec_push(s->a, &s->r.loss,
				 elem_get_f64(x->type, x->data, 0));
	}
}

static bool run_steps(session *s)
{
	machine *m = open_machine(s, s->p);
	bool good = m != NULL;
	for (int64_t i = 0; good && i < s->o->steps; i++) {
		progress(s, "step %" PRId64 " of %" PRId64, i + 1,
			 s->o->steps);
		good = machine_step(m, s->inputs, s->outputs, &s->f);
		if (good)
			note_loss(s);
	}
	if (good) {
		s->r.devices = mesh_workers(&s->p->mesh);
		s->r.seconds_per_step =
			machine_seconds(m) / (double)s->o->steps;
		s->r.received = machine_received(m) / s->o->steps;
		s->r.arena_used = machine_arena_used(m);
	}
	if (m)
		machine_close(m);
	return good;
}

/* Runs the plan's program on one worker, and compares. */
static bool run_one(session *s)
{
	plan *one = plan_one_device(s->a, s->p);
	array *want = arrays_of(s->a, s->p, s->p->outputs, s->p->noutputs,
				&s->f);
	machine *m = want ? open_machine(s, one) : NULL;
	progress(s, "one worker");
	bool good = m && machine_step(m, s->inputs, want, &s->f);
	if (good) {
		s->r.compared = verify_outputs(s->p, s->outputs, want);
		s->r.verified =
			s->r.compared.equal &&
			s->r.received == s->p->communication_bytes &&
			s->r.arena_used == s->p->arena_bytes;
	}
	if (m)
		machine_close(m);
	arrays_free(want, s->p->noutputs);
	return good;
}

/* ---- the report -------------------------------------------------------- */

/* JSON has no infinity.  Without --verify its three results are null. */
static json_t *real(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static void print_json(const session *s)
{
	const result *r = &s->r;
	json_t *loss = json_array();
	for (int i = 0; i < r->loss.n; i++)
		json_array_append_new(loss, real(r->loss.at[i]));
	json_t *j = json_pack(
		"{s:i, s:I, s:o, s:I, s:I, s:I, s:I}", "devices", r->devices,
		"steps", (json_int_t)s->o->steps, "seconds_per_step",
		real(r->seconds_per_step), "communication_bytes",
		(json_int_t)r->received, "predicted_communication_bytes",
		(json_int_t)s->p->communication_bytes, "arena_bytes",
		(json_int_t)r->arena_used, "predicted_arena_bytes",
		(json_int_t)s->p->arena_bytes);
	bool known = s->o->verify;
	json_object_set_new(j, "max_abs_error", known ?
			    real(r->compared.max_abs_error) : json_null());
	json_object_set_new(j, "max_rel_error", known ?
			    real(r->compared.max_rel_error) : json_null());
	json_object_set_new(j, "verified", known ?
			    json_boolean(r->verified) : json_null());
	json_object_set_new(j, "loss", loss);
	json_dumpf(j, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(j);
}

/* "12.3 MB" */
static const char *print_bytes(const session *s, int64_t n)
{
	static const char *const units[] = { "kB", "MB", "GB", "TB" };
	double v = (double)n / 1000;
	int u = 0;
	if (n < 1000)
		return arena_printf(s->a, "%" PRId64 " bytes", n);
	for (; v >= 999.95 && u < 3; u++)
		v /= 1000;
	return arena_printf(s->a, "%.1f %s", v, units[u]);
}

/* What was measured, beside what was planned. */
static void print_figure(const session *s, const char *what, int64_t measured,
			 int64_t planned, const char *per)
{
	printf("  %-14s %s %s, ", what, print_bytes(s, measured), per);
	if (measured == planned)
		puts("as planned");
	else
		printf("%" PRId64 " bytes; planned were %" PRId64 "\n",
		       measured, planned);
}

static void print_comparison(const session *s)
{
	const comparison *c = &s->r.compared;
	if (!c->equal)
		printf("  %-14s '%s' differs from one worker's", "different",
		       c->worst);
	else
		printf("  %-14s %s one worker's",
		       s->r.verified ? "verified" : "not verified",
		       c->exact ? "the outputs are, bit for bit," :
				  "the outputs are, within rounding,");
	if (!c->exact)
		printf(" (relative error %.2g, at most %.2g in an element)",
		       c->max_rel_error, c->max_abs_error);
	putchar('\n');
}

static void print_text(const session *s)
{
	const result *r = &s->r;
	printf("%s: %d worker%s, %" PRId64 " step%s of %.4g s\n", s->p->model,
	       r->devices, r->devices == 1 ? "" : "s", s->o->steps,
	       s->o->steps == 1 ? "" : "s", r->seconds_per_step);
	print_figure(s, "communication", r->received,
		     s->p->communication_bytes, "a step");
	print_figure(s, "memory", r->arena_used, s->p->arena_bytes,
		     "a worker");
	for (int i = 0; i < r->loss.n; i++)
		printf("  loss           %.6g\n", r->loss.at[i]);
	if (s->o->verify)
		print_comparison(s);
}

/* ---- the command ------------------------------------------------------- */

static bool run(session *s)
{
	const plan *p = s->p;
	s->inputs = arrays_of(s->a, p, p->inputs, p->ninputs, &s->f);
	s->outputs = arrays_of(s->a, p, p->outputs, p->noutputs, &s->f);
	bool good = s->inputs && s->outputs;
	if (good && s->o->inputs)
		good = inputs_read(s->a, s->inputs, p->ninputs, s->o->inputs,
				   &s->f);
	else if (good)
		inputs_invent(p, s->inputs);
	good = good && run_steps(s) && (!s->o->verify || run_one(s));
	if (good && s->o->outputs)
		good = npz_write(s->o->outputs, p->noutputs, s->outputs,
				 &s->f);
	arrays_free(s->inputs, p->ninputs);
	arrays_free(s->outputs, p->noutputs);
	progress(s, "%s", "");
	return good;
}

static cli_status run_plan(arena *a, const options *o)
{
	diag_sink *sink = diag_sink_new(a);
	session s = { .a = a, .o = o };
	s.p = plan_read(a, sink, o->plan);
	if (!s.p) {
		diag_print(sink, stderr, cli_colour());
		return CLI_INPUT;
	}
	if (!run(&s)) {
		cli_failed(&tdlrun, "%s", s.f.text);
		return s.f.status;
	}
	if (o->json)
		print_json(&s);
	else
		print_text(&s);
	return o->verify && !s.r.verified ? CLI_DIFFERENCE : CLI_OK;
}

static bool is_there(const char *missing, cli_status *status)
{
	if (missing)
		*status = cli_failed(&tdlrun, "%s", missing);
	return !missing;
}

static cli_status begin(arena *a, int argc, char **argv)
{
	static const char *const backends[] = { "cpu", "cuda", NULL };
	static const char *const comms[] = { "threads", "mpi", "nccl", NULL };
	static const char *const kernels[] = { "generated", "interpreter",
					       "library", NULL };
	options o = { .steps = 1 };
	const cli_option table[] = {
		{ CLI_CHOICE, 0, "backend", "NAME",
		  "what computes: cpu (the default) or cuda", &o.backend, 0, 0,
		  backends },
		{ CLI_CHOICE, 0, "comm", "NAME",
		  "what connects the workers: threads (the default), mpi or "
		  "nccl", &o.comm, 0, 0, comms },
		{ CLI_TEXT, 0, "inputs", "FILE.npz",
		  "the inputs, by their names in the model", &o.inputs },
		{ CLI_TEXT, 0, "outputs", "FILE.npz",
		  "where the outputs of the last step go", &o.outputs },
		{ CLI_INT, 0, "steps", "N", "run N times; 1 if not given",
		  &o.steps, 1, 1e9 },
		{ CLI_CHOICE, 0, "kernels", "NAME",
		  "generated C (the default), the interpreter, or a vendor's "
		  "library", &o.kernels, 0, 0, kernels },
		{ CLI_TEXT, 0, "kernels-from", "LIB",
		  "a shared library with the kernels of opaque functions",
		  &o.library },
		{ CLI_FLAG, 0, "verify", NULL,
		  "run on one worker too, and compare", &o.verify },
		{ CLI_FLAG, 0, "json", NULL, "print the result as JSON",
		  &o.json },
		{ CLI_FLAG, 'V', "version", NULL, "print the version",
		  &o.version },
		{ CLI_END },
	};
	cli_status status = CLI_OK;
	int first = cli_parse(a, &tdlrun, table, argc, argv, &status);
	if (first < 0)
		return status;
	if (o.version) {
		cli_version(name);
		return CLI_OK;
	}
	if (argc - first != 1)
		return cli_usage(&tdlrun, argc == first ?
				 "a plan is missing" : "one plan at a time");
	o.plan = argv[first];
	if (!is_there(backend_row(o.backend)->missing, &status) ||
	    !is_there(comm_row(o.comm)->missing, &status))
		return status;
	return run_plan(a, &o);
}

int main(int argc, char **argv)
{
	arena *a = arena_new();
	cli_status status = begin(a, argc, argv);
	arena_free(a);
	return cli_finish(name, status);
}
