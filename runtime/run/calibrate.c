#include "config.h"

#include "runtime/run/calibrate.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jobs.h"
#include "base/units.h"
#include "runtime/run/machine_levels.h"

/* Steps of each plan: at least LEAST and at most MOST, until enough seconds are
 * over.  The first WARM of them are not counted. */
enum { WARM = 1 };
typedef struct effort {
	double seconds;
	int least, most;
} effort;

static const effort thorough = { 25, 8, 60 }, quick = { 2, 4, 8 };

/* ---- the plans --------------------------------------------------------- */

/* The folder of the running program; NULL if the system does not tell. */
static const char *own_folder(arena *a)
{
	char at[4096];
	ssize_t n = readlink("/proc/self/exe", at, sizeof(at) - 1);
	if (n <= 0)
		return NULL;
	at[n] = 0;
	return path_folder(a, arena_strdup(a, at));
}

/* The folder of the plans for calibration: given by the environment, in the
 * tree where the program was built, or installed. */
static const char *plans_folder(arena *a, const char *installed)
{
	static const char *const beside[] = {
		"runtime/calibration", "../runtime/calibration",
		"../share/tdlc/calibration"
	};
	const char *given = getenv("TDL_CALIBRATION"), *here = own_folder(a);
	if (given && *given)
		return given;
	for (int i = 0; here && i < 3; i++) {
		const char *dir = path_join(a, here, beside[i]);
		if (file_exists(path_join(a, dir, "kernels.plan")))
			return dir;
	}
	return installed;
}

static const plan *read_plan(session *s, const char *name, const char **path)
{
	diag_sink *sink = diag_sink_new(s->a);
	*path = path_join(s->a, plans_folder(s->a, s->o->installed), name);
	if (!file_exists(*path)) {
		fail_with(&s->f, CLI_INPUT, "%s is missing: tdlc makes it when "
			  "it is built and installed with tdlrun; "
			  "TDL_CALIBRATION names another folder", *path);
		return NULL;
	}
	const plan *p = plan_read(s->a, sink, *path);
	if (!p)
		fail_of(&s->f, sink);
	return p;
}

/* The plan on n workers in place of one, each of which does all of it; or in
 * place of two, with transfers between the n as between the two.  There are
 * several groups of n, and worker i of one group is followed by worker i of the
 * next. */
static plan *on_groups(arena *a, const plan *p, int n, int groups)
{
	plan *own = ARENA_COPY(a, p, 1);
	own->mesh.naxes = (n > 1) + (groups > 1);
	own->mesh.size[0] = n;
	own->mesh.size[1] = groups;
	return own;
}

/* ---- measuring --------------------------------------------------------- */

/* By step: the seconds of an instruction on the workers that are here. */
typedef struct record {
	VEC(double) wall, busy;
} record;

static void note_step(arena *a, const executor *m, record *all)
{
	int first, end;
	executor_here(m, &first, &end);
	int n = executor_plan(m, first)->ninstrs;
	for (int i = 0; i < n; i++) {
		double wall = 0, busy = 0;
		for (int w = first; w < end; w++) {
			const instr_seconds *t = executor_measured(m, w);
			wall = fmax(wall, t[i].wall);
			busy = fmax(busy, t[i].busy);
		}
		vec_push(a, &all[i].wall, wall);
		vec_push(a, &all[i].busy, busy);
	}
}

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return (a > b) - (a < b);
}

/* The least of the times, which is the least disturbed one.  For a kernel this
 * is the processor time if other programs took much of the rest.  The spread is
 * of the same times. */
static void conclude(record *r, calibrated *to)
{
	const double disturbed = 1.25, lasts = 1e-4;
	int n = r->wall.n;
	qsort(r->wall.at, (size_t)n, sizeof(double), by_value);
	qsort(r->busy.at, (size_t)n, sizeof(double), by_value);
	bool other = !to->moves && r->busy.at[0] > lasts &&
		     r->wall.at[0] > disturbed * r->busy.at[0];
	const double *at = other ? r->busy.at : r->wall.at;
	to->seconds = fmax(at[0], 1e-9);
	to->spread = at[n / 2] / to->seconds - 1;
}

/* Runs the steps of a plan. */
static bool run_steps(session *s, executor *m, const plan *p, const char *what,
		      record *all)
{
	const effort *e = s->o->quick ? &quick : &thorough;
	feed *x = feed_new(s->a, p, true, &s->f);
	array *outputs = ARENA_ARRAY(s->a, array, p->noutputs);
	double start = clock_seconds();
	bool good = x != NULL, more = good;
	for (int i = 0; more && good; i++) {
		double passed = clock_seconds() - start;
		session_progress(s, "%s: step %d, %.0f of at most %.0f s",
				 what, i + 1, passed,
				 fmax(e->seconds, passed));
		good = executor_step(m, x->inputs, outputs, &s->f);
		if (good && i >= WARM)
			note_step(s->a, m, all);
		/* All processes have to use the same time. */
		passed = executor_greatest(m, clock_seconds() - start);
		more = i + 1 < e->most &&
		       (i + 1 < e->least || passed < e->seconds);
	}
	feed_free(x);
	return good;
}

static bool is_measured(const plan *p, const plan_instr *in)
{
	return plan_moves(in) || (in->op == PLAN_RUN && !plan_is_idle(p, in));
}

/* Measures the instructions of a plan.  alone: by one worker that has the
 * machine to itself. */
static bool measure(session *s, const plan *p, const char *path, bool alone,
		    const char *what, calibration *to)
{
	const plan_pipeline *all = pipeline_of_plan(s->a, p);
	executor *m = alone ? session_alone(s, p, path)
			    : session_machine(s, all, path);
	record *r = ARENA_ARRAY(s->a, record, p->ninstrs);
	if (!m)
		return false;
	executor_measure(m);
	bool good = run_steps(s, m, p, what, r);
	for (int i = 0; good && i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		calibrated x = calibrated_of(p, in, 0);
		if (!is_measured(p, in))
			continue;
		conclude(&r[i], &x);
		x.seconds = executor_greatest(m, x.seconds);
		x.spread = executor_greatest(m, x.spread);
		vec_push(s->a, to, x);
	}
	session_close(s, m);
	return good;
}

/* ---- the machine ------------------------------------------------------- */

typedef struct calibrator {
	session *s;
	const plan *kernels, *links;
	const char *kernels_path, *links_path;
	int nworkers; /* processes or processors */
	int ndevices;
	fitted_device devices[2];
	machine_levels machine; /* empty: one level with all workers */
	fitted_level levels[MACHINE_LEVELS];
	int nlevels;
	int nmeasured;
	double spread; /* median over all */
} calibrator;

static int find_workers(session *s)
{
	const communicator *c = comm_row(s->o->comm, true);
	int n = 1;
	if (!c->gather || !c->gather(s->run, s->a, 0, &n))
		n = processors(NULL);
	return n;
}

static void note_spread(calibrator *c, const calibration *all)
{
	VEC(double) each = { 0 };
	for (int i = 0; i < all->n; i++)
		vec_push(c->s->a, &each, all->at[i].spread);
	if (each.n > 0)
		qsort(each.at, (size_t)each.n, sizeof(double), by_value);
	c->nmeasured += all->n;
	if (each.n > 0)
		c->spread = fmax(c->spread, each.at[each.n / 2]);
}

static bool measure_device(calibrator *c, int n, bool alone)
{
	calibration all = { 0 };
	session *s = c->s;
	const char *what = arena_printf(s->a, "kernels on %d worker%s", n,
					n == 1 ? "" : "s");
	const plan *p = on_groups(s->a, c->kernels, n, 1);
	if (!measure(s, p, c->kernels_path, alone, what, &all))
		return false;
	c->devices[c->ndevices++] = fit_device(s->a, &all, n);
	note_spread(c, &all);
	return true;
}

/* Measures links between n workers, in several groups at once. */
static bool measure_groups(calibrator *c, const char *what, int n, int groups,
			   fitted_links *to)
{
	calibration all = { 0 };
	session *s = c->s;
	const plan *p = on_groups(s->a, c->links, n, groups);
	if (!measure(s, p, c->links_path, false, what, &all))
		return false;
	*to = fit_links(s->a, &all, &c->devices[c->ndevices - 1], n);
	note_spread(c, &all);
	return true;
}

/* Measures a level: between one device of each of its parts, then between all
 * devices if parts have several. */
static bool measure_level(calibrator *c, int l)
{
	const machine_level *m = &c->machine.at[l];
	fitted_level *to = &c->levels[l];
	fitted_links all;
	const char *what = arena_printf(c->s->a, "links of a %s", m->name);
	machine_levels_bind(&c->machine, l, 1);
	bool good = measure_groups(c, what, m->size, 1, &to->links);
	if (good && m->part > 1) {
		what = arena_printf(c->s->a, "%s, %d at once", what, m->part);
		machine_levels_bind(&c->machine, l, m->part);
		good = measure_groups(c, what, m->size, m->part, &all);
		to->shared = good ? m->part * fitted_bandwidth(&all) : 0;
	}
	machine_levels_free(&c->machine);
	return good;
}

/* The outermost level has no size: there may be more workers than were found in
 * it. */
static bool measure_links(calibrator *c)
{
	const machine_levels *m = &c->machine;
	bool good = true;
	if (m->n == 0)
		return measure_groups(c, "links", c->nworkers, 1,
				      &c->levels[0].links);
	for (int l = m->n; good && l-- > 0;) {
		c->levels[l].name = m->at[l].name;
		c->levels[l].size = l > 0 ? m->at[l].size : 0;
		good = measure_level(c, l);
	}
	return good;
}

/* Finds the levels between the workers.  Processes may be bound to processors
 * at any level. */
static void find_levels(calibrator *c)
{
	if (c->s->o->comm == COMM_THREADS && c->nworkers > 1)
		c->machine = machine_levels_find(c->s->a);
	if (c->machine.n > 0)
		c->nworkers = c->machine.nprocessors;
	c->nlevels = c->machine.n > 0 ? c->machine.n : 1;
	c->levels[0].name = comm_row(c->s->o->comm, true)->name;
	for (int i = 0; i < c->nlevels; i++)
		c->levels[i].measured = c->nworkers > 1;
}

/* Measures everything.  A worker that is a process always has only its own
 * processors; a worker that is a thread has all if it is the only one. */
static bool measure_all(calibrator *c)
{
	bool threads = c->s->o->comm == COMM_THREADS;
	if ((threads || c->nworkers == 1) && !measure_device(c, 1, threads))
		return false;
	if (c->nworkers == 1)
		return true;
	return measure_device(c, c->nworkers, false) && measure_links(c);
}

static char *host_name(arena *a)
{
	char name[256] = "";
	gethostname(name, sizeof(name) - 1);
	return arena_printf(a, "%s", *name ? name : "this machine");
}

static json_t *machine_json(const calibrator *c)
{
	arena *a = c->s->a;
	const char *comm = comm_row(c->s->o->comm, true)->name;
	int64_t bytes = (int64_t)sysconf(_SC_PHYS_PAGES) *
			(int64_t)sysconf(_SC_PAGESIZE);
	const fitted_machine m = {
		.name = arena_printf(a, "%s (%s)", host_name(a), comm),
		.device = "processors of the machine",
		.maker = "tdlrun " PACKAGE_VERSION,
		.processors = processors(NULL) > c->nworkers
				      ? processors(NULL) : c->nworkers,
		.memory = bytes > 0 ? bytes / c->nworkers : 0,
		.ndevices = c->ndevices,
		.devices = c->devices,
		.nlevels = c->nlevels,
		.levels = c->levels,
	};
	return fitted_json(&m);
}

static bool write_machine(calibrator *c)
{
	session *s = c->s;
	json_t *j = machine_json(c);
	char *text = j ? json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(6))
		       : NULL;
	bool good = text != NULL;
	json_decref(j);
	if (!good)
		return fail_with(&s->f, CLI_MACHINE, "out of memory");
	const char *line = arena_printf(s->a, "%s\n", text);
	free(text);
	if (!s->o->output)
		fputs(line, stdout);
	else if (!file_write(s->o->output, line, strlen(line)))
		return fail_with(&s->f, CLI_MACHINE, "%s: %s", s->o->output,
				 strerror(errno));
	return true;
}

static void report(const calibrator *c, double seconds)
{
	session_note(c->s, "%d kernels and transfers measured on up to %d "
		     "workers in %s; the median of their measurements is "
		     "%.0f %% above the least", c->nmeasured, c->nworkers,
		     units_seconds(seconds).text, 100 * c->spread);
}

bool calibrate_command(session *s, cli_status *status)
{
	double start = clock_seconds();
	calibrator c = { .s = s };
	*status = CLI_OK;
	c.kernels = read_plan(s, "kernels.plan", &c.kernels_path);
	c.links = c.kernels ? read_plan(s, "links.plan", &c.links_path) : NULL;
	if (!c.links)
		return false;
	c.nworkers = find_workers(s);
	find_levels(&c);
	if (!measure_all(&c))
		return false;
	session_progress(s, "%s", "");
	if (s->leads && !write_machine(&c))
		return false;
	report(&c, clock_seconds() - start);
	return true;
}
