/* tdlc verify: operators run whole and cut along each strategy. */
#include "config.h"

#include "compiler/driver/driver.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "compiler/analysis/bounds.h"
#include "compiler/verify/verify.h"

typedef struct request {
	int64_t seed, trials;
	bool json, strict, gradients;
} request;

static const char *const kinds[] = {
	[VERIFY_WRONG] = "wrong", [VERIFY_MISSED] = "missed",
	[VERIFY_WIDE] = "wide",
};

/* ---- which operators ---------------------------------------------------- */

typedef VEC(const ast_op *) op_list;

/* Those that are named; all of a file, without what it imports; or all of the
 * library. */
static cli_status list_ops(driver *d, const tdl_modules *m, const char *file,
			   char **names, int n, op_list *ops)
{
	for (int i = 0; i < n; i++) {
		const ast_op *op = dsl_op(m, names[i]);
		if (!op)
			return driver_no_operator(d, m, names[i], file ? file
						  : driver_opdefs(d));
		vec_push(d->arena, ops, op);
	}
	const ast_module *last = m->modules[m->nmodules - 1];
	for (int i = 0; n == 0 && i < strmap_count(m->ops); i++) {
		const ast_op *op = strmap_value(m->ops, i);
		const char *path = diag_path(d->sink, op->at);
		if (!op->faulty && (!file || !strcmp(path, last->path)))
			vec_push(d->arena, ops, op);
	}
	return CLI_OK;
}

/* ---- results ------------------------------------------------------------ */

static int count(const verify_result *r, verify_kind kind)
{
	int n = 0;
	for (int i = 0; i < r->nfindings; i++)
		n += r->findings[i].kind == kind;
	return n;
}

static const char *plural(int n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

static void print_finding(arena *a, const verify_finding *f)
{
	const char *times = f->times > 1 ?
			    arena_printf(a, "; %d times", f->times) : "";
	fputs("  ", stdout);
	text_wrap(stdout, arena_printf(
		a, "%s: %s%s%s%s%s%s%s%s%s", kinds[f->kind],
		*f->stage ? "stage " : "", f->stage, *f->stage ? ", " : "",
		f->about, *f->about ? ": " : "", f->what,
		*f->example ? "; " : "", f->example, times), 2, 4);
}

static const char *gradients_text(arena *a, const verify_result *r)
{
	int n = r->gradients - r->unchecked;
	if (!r->gradients)
		return "";
	return arena_printf(a, ", %d %s at %lld points, %lld rounded%s", n,
			    plural(n, "gradient", "gradients"),
			    (long long)r->slopes, (long long)r->rounded,
			    r->unchecked ? arena_printf(a, ", %d unchecked",
							r->unchecked) : "");
}

static void print_result(arena *a, const verify_result *r)
{
	const char *text = arena_printf(
		a, "%s: %d %s, %lld %s as defined, %d %s passed, %d whole, "
		"%d partial%s", r->name, r->shapes,
		plural(r->shapes, "shape", "shapes"), (long long)r->elements,
		r->elements == 1 ? "element" : "elements", r->strategies,
		plural(r->strategies, "strategy", "strategies"), r->whole,
		r->partials, gradients_text(a, r));
	for (int k = 0; k < VERIFY_KINDS; k++)
		if (count(r, (verify_kind)k))
			text = arena_printf(a, "%s, %d %s", text,
					    count(r, (verify_kind)k), kinds[k]);
	if (r->shapes == 0)
		text = arena_printf(a, "%s: no shapes were found that suit it",
				    text);
	text_wrap(stdout, text, 0, 4);
	for (int i = 0; i < r->nfindings; i++)
		print_finding(a, &r->findings[i]);
}

static json_t *json_finding(const verify_finding *f)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i}", "kind",
			 kinds[f->kind], "stage", f->stage, "about", f->about,
			 "message", f->what, "example", f->example, "times",
			 f->times);
}

static json_t *json_result(const verify_result *r)
{
	json_t *all = json_array();
	for (int i = 0; i < r->nfindings; i++)
		json_array_append_new(all, json_finding(&r->findings[i]));
	return json_pack("{s:s, s:i, s:i, s:I, s:I, s:i, s:i, s:i, s:i, s:i, "
			 "s:i, s:I, s:I, s:I, s:I, s:I, s:i, s:i, s:i, s:o}",
			 "name", r->name, "shapes", r->shapes,
			 "defined_shapes", r->defined, "elements",
			 (json_int_t)r->elements, "doubtful",
			 (json_int_t)r->doubtful,
			 "descriptor_shapes", r->symbolic, "strategies",
			 r->strategies, "whole", r->whole, "partials",
			 r->partials, "gradients", r->gradients,
			 "unchecked_gradients", r->unchecked, "slopes",
			 (json_int_t)r->slopes, "rounded_slopes",
			 (json_int_t)r->rounded, "parts",
			 (json_int_t)r->parts, "regions",
			 (json_int_t)r->regions, "loose_regions",
			 (json_int_t)r->loose, "wrong",
			 count(r, VERIFY_WRONG), "missed",
			 count(r, VERIFY_MISSED), "wide",
			 count(r, VERIFY_WIDE), "findings", all);
}

/* ---- all of it ---------------------------------------------------------- */

typedef struct totals {
	int operators, shapes, strategies, untried, unchecked;
	int64_t elements;
	int found[VERIFY_KINDS];
} totals;

static void add(totals *t, const verify_result *r)
{
	t->operators++;
	t->shapes += r->shapes;
	t->elements += r->elements;
	t->strategies += r->strategies;
	t->untried += r->shapes == 0;
	t->unchecked += r->unchecked;
	for (int k = 0; k < VERIFY_KINDS; k++)
		t->found[k] += count(r, (verify_kind)k);
}

static cli_status verify_all(driver *d, const request *r, tdl_modules *m,
			     const op_list *ops)
{
	verify_options options = { (uint64_t)r->seed, (int)r->trials,
				   r->gradients };
	totals t = { 0 };
	json_t *all = json_array();
	for (int i = 0; i < ops->n; i++) {
		arena *a = arena_new();
		verify_result one = verify_op(a, m, ops->at[i], &options);
		add(&t, &one);
		if (r->json)
			json_array_append_new(all, json_result(&one));
		else
			print_result(a, &one);
		arena_free(a);
	}
	bool bad = t.found[VERIFY_WRONG] || t.untried ||
		   (r->strict && (t.found[VERIFY_MISSED] ||
				  t.found[VERIFY_WIDE] || t.unchecked));
	cli_status printed = CLI_OK;
	const char *unchecked = t.unchecked
		? arena_printf(d->arena, "; %d %s checked nowhere",
			       t.unchecked, plural(t.unchecked, "gradient",
						   "gradients"))
		: "";
	if (r->json)
		printed = driver_print_json(
			d, json_pack("{s:I, s:o, s:i, s:i, s:i, s:b}", "seed",
				     (json_int_t)r->seed, "operators", all,
				     "wrong", t.found[VERIFY_WRONG], "missed",
				     t.found[VERIFY_MISSED], "wide",
				     t.found[VERIFY_WIDE], "verified", !bad));
	else
		text_wrap(stdout, arena_printf(
		       d->arena, "%d %s, %d %s, %lld %s as defined, %d %s "
		       "passed; %d wrong, %d missed, %d wide%s", t.operators,
		       plural(t.operators, "operator", "operators"), t.shapes,
		       plural(t.shapes, "shape", "shapes"),
		       (long long)t.elements,
		       t.elements == 1 ? "element" : "elements", t.strategies,
		       plural(t.strategies, "strategy", "strategies"),
		       t.found[VERIFY_WRONG],
		       t.found[VERIFY_MISSED], t.found[VERIFY_WIDE],
		       unchecked), 0, 4);
	if (!r->json)
		json_decref(all);
	return printed != CLI_OK ? printed : bad ? CLI_DIFFERENCE : CLI_OK;
}

static cli_status verify(driver *d, const request *r, char **operands, int n)
{
	bool has_file = n && path_ends_in(operands[n - 1], ".tdl");
	const char *file = has_file ? operands[n - 1] : NULL;
	tdl_modules *m = file ? driver_modules(d) : driver_load_opdefs(d);
	op_list ops = { 0 };
	int64_t effort = 200000;
	if (!m || (file && !dsl_load(m, file)))
		return CLI_INPUT;
	cli_status status = list_ops(d, m, file, operands, n - (file != NULL),
				     &ops);
	if (status != CLI_OK)
		return status;
	for (int i = 0; i < ops.n; i++, effort = 200000)
		if (!analysis_check_op(m, d->sink, ops.at[i], &effort))
			return CLI_INPUT;
	return verify_all(d, r, m, &ops);
}

cli_status command_verify(driver *d, int argc, char **argv)
{
	request r = { .seed = 1, .trials = 25 };
	const cli_option options[] = {
		{ CLI_INT, 0, "seed", "N",
		  "the seed of the random numbers (1)", &r.seed,
		  .min = 0, .max = INT32_MAX },
		{ CLI_INT, 0, "trials", "N",
		  "the number of shapes for each operator (25)", &r.trials,
		  .min = 1, .max = 100000 },
		{ CLI_FLAG, 0, "strict", NULL,
		  "end with status 5 also if a strategy is missed, a region is "
		  "too large, or a gradient is compared nowhere",
		  &r.strict },
		{ CLI_FLAG, 0, "gradients", NULL,
		  "also compare the derived gradients with differences, and "
		  "those in f32, bf16 and f16 with those in f64",
		  &r.gradients },
		DRIVER_OPTION_JSON(&r.json),
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	cli_status status;
	int first = cli_parse(d->arena, &d->program, options, argc, argv,
			      &status);
	if (first < 0)
		return status;
	return verify(d, &r, argv + first, argc - first);
}
