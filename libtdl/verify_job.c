#include "config.h"

#include "libtdl/verify_job.h"

#include <string.h>

#include "base/memory.h"

const char *const verify_kind_names[] = {
	[VERIFY_WRONG] = "wrong", [VERIFY_MISSED] = "missed",
	[VERIFY_WIDE] = "wide",
};

int verify_count(const verify_result *r, verify_kind kind)
{
	int n = 0;
	for (int i = 0; i < r->nfindings; i++)
		n += r->findings[i].kind == kind;
	return n;
}

static void add(verify_totals *t, const verify_result *r)
{
	t->operators++;
	t->shapes += r->shapes;
	t->elements += r->elements;
	t->strategies += r->strategies;
	t->untried += r->shapes == 0;
	t->unchecked += r->unchecked;
	for (int k = 0; k < VERIFY_KINDS; k++)
		t->found[k] += verify_count(r, (verify_kind)k);
}

verify_totals verify_ops(tdl_modules *m, const op_list *ops,
			 const verify_request *r,
			 void (*see)(void *to, arena *a,
				     const verify_result *one), void *to)
{
	verify_options options = { (uint64_t)r->seed, (int)r->trials,
				   r->gradients };
	verify_totals t = { 0 };
	for (int i = 0; i < ops->n; i++) {
		memory_poll();
		arena *a = arena_new();
		verify_result one = verify_op(a, m, ops->at[i], &options);
		add(&t, &one);
		see(to, a, &one);
		arena_free(a);
	}
	t.bad = t.found[VERIFY_WRONG] || t.untried ||
		(r->strict && (t.found[VERIFY_MISSED] ||
			       t.found[VERIFY_WIDE] || t.unchecked));
	return t;
}

/* ---- JSON --------------------------------------------------------------- */

static json_t *json_finding(const verify_finding *f)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i}", "kind",
			 verify_kind_names[f->kind], "stage", f->stage,
			 "about", f->about, "message", f->what, "example",
			 f->example, "times", f->times);
}

json_t *verify_result_json(const verify_result *r)
{
	json_t *all = json_array();
	for (int i = 0; i < r->nfindings; i++)
		json_array_append_new(all, json_finding(&r->findings[i]));
	return json_pack("{s:s, s:i, s:i, s:I, s:I, s:i, s:i, s:i, s:i, s:I, "
			 "s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:i, s:i, "
			 "s:i, s:o}",
			 "name", r->name, "shapes", r->shapes,
			 "defined_shapes", r->defined, "elements",
			 (json_int_t)r->elements, "doubtful",
			 (json_int_t)r->doubtful,
			 "descriptor_shapes", r->symbolic, "strategies",
			 r->strategies, "whole", r->whole, "partials",
			 r->partials, "partial_elements",
			 (json_int_t)r->passed, "gradients", r->gradients,
			 "unchecked_gradients", r->unchecked, "slopes",
			 (json_int_t)r->slopes, "infinite_slopes",
			 (json_int_t)r->infinite, "rounded_slopes",
			 (json_int_t)r->rounded, "parts",
			 (json_int_t)r->parts, "regions",
			 (json_int_t)r->regions, "loose_regions",
			 (json_int_t)r->loose, "wrong",
			 verify_count(r, VERIFY_WRONG), "missed",
			 verify_count(r, VERIFY_MISSED), "wide",
			 verify_count(r, VERIFY_WIDE), "findings", all);
}

json_t *verify_json(const verify_request *r, const verify_totals *t,
		    json_t *all)
{
	return json_pack("{s:I, s:o, s:i, s:i, s:i, s:b}", "seed",
			 (json_int_t)r->seed, "operators", all, "wrong",
			 t->found[VERIFY_WRONG], "missed",
			 t->found[VERIFY_MISSED], "wide",
			 t->found[VERIFY_WIDE], "verified", !t->bad);
}
