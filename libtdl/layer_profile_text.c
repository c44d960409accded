#include "config.h"

#include "libtdl/layer_profile.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"

/* A quantity for x samples, constant + each * x, from two measurements. */
typedef struct line {
	double constant, each;
} line;

static line line_of(const layer_profile *p, double whole, double half)
{
	double each = (whole - half) /
		      (double)(p->samples[0] - p->samples[1]);
	return (line){ whole - each * (double)p->samples[0], each };
}

static const char *name_of(const layer_profile *p, int layer)
{
	const pipeline_layers *l = p->costs->layers;
	return p->g->nodes[l->first[layer]].name;
}

/* The number of layers, or pairs of layers, that compute the same as this
 * run. */
static int times_of(const layer_profile *p, const layer_run *x)
{
	int n = 0, length = x->j - x->i;
	for (int i = 0; i + length <= p->costs->layers->n; i++)
		n += layer_profile_find(p, i, i + length) == x;
	return n;
}

/* ---- JSON ---------------------------------------------------------------- */

static json_t *figures_json(const layer_figures *f)
{
	return json_pack("{s:f, s:f, s:f}", "micro_batch_seconds", f->turn,
			 "once_seconds", f->once, "bytes", f->bytes);
}

static json_t *number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *line_json(line x)
{
	return json_pack("{s:f, s:f}", "constant", x.constant, "per_sample",
			 x.each);
}

static json_t *fit_json(const layer_profile *p, const layer_run *x)
{
	if (!x->known[1])
		return json_null();
	return json_pack("{s:o, s:o}", "seconds",
			 line_json(line_of(p, x->of[0].turn, x->of[1].turn)),
			 "bytes", line_json(line_of(p, x->of[0].bytes,
						    x->of[1].bytes)));
}

static json_t *run_json(const layer_profile *p, const layer_run *x)
{
	return json_pack("{s:i, s:i, s:s, s:i, s:s?, s:o, s:o, s:o}", "first",
			 x->i, "end", x->j, "name", name_of(p, x->j - 1),
			 "times", times_of(p, x), "refused", x->refused,
			 "measured", x->known[0] ? figures_json(&x->of[0]) :
						   json_null(),
			 "half", x->known[1] ? figures_json(&x->of[1]) :
					       json_null(), "fit",
			 fit_json(p, x));
}

static json_t *apart_json(const layer_profile *p)
{
	layer_apart x = layer_profile_apart(p->arena, p);
	return json_pack("{s:o, s:o}", "median", number(x.median), "most",
			 number(x.most));
}

json_t *layer_profile_json(const layer_profile *p)
{
	json_t *runs = json_array(), *classes = json_array();
	for (int i = 0; i < p->costs->layers->n; i++)
		json_array_append_new(classes,
				      json_integer(p->costs->class[i]));
	for (int r = 0; r < p->runs.n; r++)
		json_array_append_new(runs, run_json(p, &p->runs.at[r]));
	return json_pack(
		"{s:s, s:s, s:i, s:i, s:I, s:o, s:o, s:o, s:o, s:i, s:i}",
		"model", p->g->name, "algorithm", p->algorithm, "devices",
		p->devices, "micro_batches", p->turns, "samples",
		(json_int_t)p->samples[0], "classes", classes, "runs", runs,
		"step_seconds", number(layer_profile_step(p)), "apart",
		apart_json(p),
		"kernels", p->all->kernels.n, "transfers",
		p->all->transfers.n);
}

/* ---- text ---------------------------------------------------------------- */

static const char *seconds_text(arena *a, double x)
{
	return arena_printf(a, "%s%s", x < 0 ? "-" : "",
			    units_seconds(fabs(x)).text);
}

static const char *bytes_text(arena *a, double x)
{
	return arena_printf(a, "%s%s", x < 0 ? "-" : "",
			    units_bytes(fabs(x)).text);
}

/* The figures that a layer adds to those of the layer before it. */
static layer_figures added(const layer_run *both, const layer_run *before)
{
	const layer_figures *x = &both->of[0], *y = &before->of[0];
	return (layer_figures){ x->turn - y->turn, x->once - y->once,
				x->bytes - y->bytes };
}

static void add_row(const layer_profile *p, text_table *t, const layer_run *x)
{
	arena *a = p->arena;
	const layer_run *before = x->j - x->i > 1 ?
		layer_profile_find(p, x->i, x->i + 1) : NULL;
	bool known = x->known[0] && (!before || before->known[0]);
	const layer_figures f = before ? added(x, before) : x->of[0];
	table_add(t, before ? arena_printf(a, "%d behind %d", x->j - 1, x->i)
			    : arena_printf(a, "%d", x->i));
	table_add(t, arena_printf(a, "%d", times_of(p, x)));
	table_add(t, known ? seconds_text(a, f.turn) : "-");
	table_add(t, known ? seconds_text(a, f.once) : "-");
	table_add(t, known ? bytes_text(a, f.bytes) : "-");
	table_add(t, x->refused ? x->refused : name_of(p, x->j - 1));
}

static void print_row(FILE *to, const char *name, const char *text)
{
	fprintf(to, "  %-13s  ", name);
	text_wrap(to, text, 17, 17);
}

/* Prints the layers alone; nothing for a model of one layer. */
static void print_apart(FILE *to, const layer_profile *p)
{
	layer_apart x = layer_profile_apart(p->arena, p);
	if (isfinite(x.median))
		print_row(to, "apart", arena_printf(
			p->arena, "two layers together take %.1f %% more or "
			"less than both alone, at most %.1f %%",
			100 * x.median, 100 * x.most));
}

/* Prints the sums over all layers of their lines. */
static void print_fit(FILE *to, const layer_profile *p)
{
	arena *a = p->arena;
	line seconds = { 0 };
	for (int i = 0; i < p->costs->layers->n; i++) {
		const layer_run *x = layer_profile_find(p, i, i + 1);
		if (!x->known[1])
			return;
		line own = line_of(p, x->of[0].turn, x->of[1].turn);
		seconds.constant += own.constant;
		seconds.each += own.each;
	}
	print_row(to, "by samples", arena_printf(
		a, "%s + %s x samples, of %lld and %lld: all layers alone",
		seconds_text(a, seconds.constant),
		seconds_text(a, seconds.each), (long long)p->samples[1],
		(long long)p->samples[0]));
}

void layer_profile_text(FILE *to, const layer_profile *p)
{
	enum { COLUMNS = 6 };
	static const char *const head[COLUMNS] = { "layer", "times", "passes",
						   "once", "memory",
						   "begins with" };
	arena *a = p->arena;
	double step = layer_profile_step(p);
	text_table t = table_new(a, COLUMNS);
	fprintf(to, "%s on %d device%s, layer by layer, by '%s'\n", p->g->name,
		p->devices, p->devices == 1 ? "" : "s", p->algorithm);
	print_row(to, "layers", arena_printf(
		a, "%d, of %d kinds; %d runs of %lld sample%s",
		p->costs->layers->n, p->costs->nclasses, p->runs.n,
		(long long)p->samples[0], p->samples[0] == 1 ? "" : "s"));
	print_row(to, "step", isfinite(step) ?
		  arena_printf(a, "%s, of all layers added up, %d "
			       "micro-batch%s", seconds_text(a, step),
			       p->turns, p->turns == 1 ? "" : "es") :
		  "not known: not all layers were measured");
	print_apart(to, p);
	if (p->samples[1] > 0)
		print_fit(to, p);
	print_row(to, "profile", arena_printf(a, "%d kernels, %d transfers",
					      p->all->kernels.n,
					      p->all->transfers.n));
	fputc('\n', to);
	for (int i = 0; i < COLUMNS; i++)
		table_add(&t, head[i]);
	for (int r = 0; r < p->runs.n; r++)
		add_row(p, &t, &p->runs.at[r]);
	table_print(&t, to, 0);
}
