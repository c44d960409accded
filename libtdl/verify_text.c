/* The result of a verification as text. */
#include "config.h"

#include "libtdl/verify_job.h"

#include "base/text.h"

static const char *plural(int n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

static void print_finding(FILE *to, arena *a, const verify_finding *f)
{
	const char *times = f->times > 1 ?
			    arena_printf(a, "; %d times", f->times) : "";
	fputs("  ", to);
	text_wrap(to, arena_printf(
		a, "%s: %s%s%s%s%s%s%s%s%s", verify_kind_names[f->kind],
		*f->stage ? "stage " : "", f->stage, *f->stage ? ", " : "",
		f->about, *f->about ? ": " : "", f->what,
		*f->example ? "; " : "", f->example, times), 2, 4);
}

static const char *gradients_text(arena *a, const verify_result *r)
{
	int n = r->gradients - r->unchecked;
	const char *infinite = "";
	if (!r->gradients)
		return "";
	if (r->infinite)
		infinite = arena_printf(a, ", %lld not finite",
					(long long)r->infinite);
	return arena_printf(a, ", %d %s at %lld points%s, %lld rounded%s", n,
			    plural(n, "gradient", "gradients"),
			    (long long)r->slopes, infinite,
			    (long long)r->rounded, r->unchecked ?
			    arena_printf(a, ", %d unchecked", r->unchecked) :
			    "");
}

void verify_result_text(FILE *to, arena *a, const verify_result *r)
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
	text_wrap(to, text, 0, 4);
	for (int i = 0; i < r->nfindings; i++)
		print_finding(to, a, &r->findings[i]);
}

void verify_text(FILE *to, arena *a, const verify_totals *t)
{
	const char *unchecked = t->unchecked
		? arena_printf(a, "; %d %s checked nowhere", t->unchecked,
			       plural(t->unchecked, "gradient", "gradients"))
		: "";
	text_wrap(to, arena_printf(
		a, "%d %s, %d %s, %lld %s as defined, %d %s passed; %d wrong, "
		"%d missed, %d wide%s", t->operators,
		plural(t->operators, "operator", "operators"), t->shapes,
		plural(t->shapes, "shape", "shapes"), (long long)t->elements,
		t->elements == 1 ? "element" : "elements", t->strategies,
		plural(t->strategies, "strategy", "strategies"),
		t->found[VERIFY_WRONG], t->found[VERIFY_MISSED],
		t->found[VERIFY_WIDE], unchecked), 0, 4);
}
