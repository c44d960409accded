/* tdlc verify: operators run whole and cut along each strategy. */
#include "config.h"

#include "compiler/driver/driver.h"

#include <stdio.h>

#include "base/file.h"
#include "base/text.h"
#include "libtdl/verify_job.h"

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
		a, "%s: %s%s%s%s%s%s%s%s%s", verify_kind_names[f->kind],
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
		if (verify_count(r, (verify_kind)k))
			text = arena_printf(a, "%s, %d %s", text,
					    verify_count(r, (verify_kind)k),
					    verify_kind_names[k]);
	if (r->shapes == 0)
		text = arena_printf(a, "%s: no shapes were found that suit it",
				    text);
	text_wrap(stdout, text, 0, 4);
	for (int i = 0; i < r->nfindings; i++)
		print_finding(a, &r->findings[i]);
}

/* ---- all of it ---------------------------------------------------------- */

/* The list of results, or NULL where they are printed. */
static void take_result(void *list, arena *a, const verify_result *r)
{
	if (list)
		json_array_append_new(list, verify_result_json(r));
	else
		print_result(a, r);
}

static void print_totals(arena *a, const verify_totals *t)
{
	const char *unchecked = t->unchecked
		? arena_printf(a, "; %d %s checked nowhere", t->unchecked,
			       plural(t->unchecked, "gradient", "gradients"))
		: "";
	text_wrap(stdout, arena_printf(
		a, "%d %s, %d %s, %lld %s as defined, %d %s passed; %d wrong, "
		"%d missed, %d wide%s", t->operators,
		plural(t->operators, "operator", "operators"), t->shapes,
		plural(t->shapes, "shape", "shapes"), (long long)t->elements,
		t->elements == 1 ? "element" : "elements", t->strategies,
		plural(t->strategies, "strategy", "strategies"),
		t->found[VERIFY_WRONG], t->found[VERIFY_MISSED],
		t->found[VERIFY_WIDE], unchecked), 0, 4);
}

static cli_status verify(driver *d, const verify_request *r, bool json,
			 char **operands, int n)
{
	bool has_file = n && path_ends_in(operands[n - 1], ".tdl");
	const char *file = has_file ? operands[n - 1] : NULL;
	tdl_modules *m = file ? job_modules(d) : job_load_library(d);
	op_list ops = { 0 };
	if (!m || (file && !dsl_load(m, file)))
		return CLI_INPUT;
	cli_status status = verify_list(d, m, file,
					(const char *const *)operands,
					n - (file != NULL), &ops);
	if (status != CLI_OK)
		return status;
	json_t *all = json ? json_array() : NULL;
	verify_totals t = verify_ops(m, &ops, r, take_result, all);
	if (json)
		status = driver_print_json(d, verify_json(r, &t, all));
	else
		print_totals(d->arena, &t);
	return status != CLI_OK ? status : t.bad ? CLI_DIFFERENCE : CLI_OK;
}

cli_status command_verify(driver *d, int argc, char **argv)
{
	verify_request r = VERIFY_REQUEST;
	bool json = false;
	const cli_option options[] = {
		VERIFY_OPTIONS(&r),
		DRIVER_OPTION_JSON(&json),
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	cli_status status;
	int first = cli_parse(d->arena, &d->program, options, argc, argv,
			      &status);
	if (first < 0)
		return status;
	return verify(d, &r, json, argv + first, argc - first);
}
