/* Tests: plan */
/* The reader of plans on files that are broken or hostile. */
#include "config.h"

#include <check.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "compiler/lower/lower.h"
#include "tests/unit/broken_text.h"
#include "tests/unit/plan_of_seed.h"
#include "tests/unit/random_graph.h"
#include "tests/unit/suite.h"

/* Loads a plan: reads it, and checks all workers.  Exactly one error, or none
 * and a plan. */
static bool load(const char *text, size_t len)
{
	arena *a = arena_new();
	diag_sink *s;
	plan *p = parse_plan(a, text, len, &s);
	bool ok = p != NULL;
	ck_assert_int_eq(diag_errors(s), ok ? 0 : 1);
	for (int w = 0; ok && w < mesh_workers(&p->mesh); w++)
		ok = plan_check_worker(p, w, s, "x.plan");
	ck_assert_int_eq(diag_errors(s), ok ? 0 : 1);
	arena_free(a);
	return ok;
}

START_TEST(mutations)
{
	int loaded = 0, broken = 0;
	for (int seed = 0; seed < 6000; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		rng r = rng_new((uint64_t)seed + 77777);
		size_t n;
		char *text = plan_text(a, plan_of_seed(a, seed % 40), "x", &n);
		char *changed = arena_alloc(a, n + 4096);
		memcpy(changed, text, n);
		for (int i = rng_below(&r, 3); i >= 0 && n > 1; i--)
			n = break_text(&r, changed, n);
		if (load(changed, n))
			loaded++;
		else
			broken++;
		arena_free(a);
	}
	ck_assert_int_gt(broken, at_least(1000));
	ck_assert_int_gt(loaded, at_least(100));
}
END_TEST

/* A small plan in words, for broken variants of it. */
static char *sample(arena *a, size_t *n)
{
	graph *g = matmul_graph(a, 8, 16, 12);
	assignment as = { .mesh = { 1, { 4 } } };
	as.tensor_cuts = ARENA_ARRAY(a, cuts, g->ntensors);
	as.node_cuts = ARENA_ARRAY(a, cuts, g->nnodes);
	for (int t = 0; t < g->ntensors; t++) {
		as.tensor_cuts[t] = cuts_none();
		as.tensor_cuts[t].dim[0] = 0;
	}
	as.tensor_cuts[2] = as.node_cuts[0] = as.node_cuts[1] = cuts_none();
	as.node_cuts[0].dim[0] = 2;
	as.node_cuts[1].dim[0] = 1;
	const lower_options o = { .algorithm = "hand",
				  .codegen = seed_sources };
	plan *p = lower_plan(a, g, &as, &o, diag_sink_new(a));
	return plan_text(a, p, "x", n);
}

/* text with the first `from` replaced. */
static char *replaced(arena *a, const char *text, const char *from,
		      const char *to)
{
	const char *at = strstr(text, from);
	ck_assert_msg(at != NULL, "no %s", from);
	return arena_printf(a, "%.*s%s%s", (int)(at - text), text, to,
			    at + strlen(from));
}

static const struct {
	const char *from, *to;
} broken_cases[] = {
	{ "tdl-plan", "tdl-plot" },
	{ "\"version\":3", "\"version\":1" },
	{ "\"version\":3", "\"version\":4" },
	{ "\"version\":3", "\"version\":3,\"version\":3" },
	{ "\"mesh\":[4]", "\"mesh\":[1]" },
	{ "\"mesh\":[4]", "\"mesh\":[-4]" },
	{ "\"mesh\":[4]", "\"mesh\":[4,65536]" },
	{ "\"mesh\":[4]", "\"mesh\":[64]" },
	{ "\"mesh\":[4]", "\"mesh\":[4.0]" },
	{ "\"mesh\":[4]", "\"mesh\":4" },
	{ "\"arena_bytes\":", "\"arena_bytes\":1000000000000000000" },
	{ "\"arena_bytes\":", "\"arena_bytes\":-" },
	{ "\"inputs\":[0]", "\"inputs\":[1]" },
	{ "\"inputs\":[0]", "\"inputs\":[0,0]" },
	{ "\"inputs\":[0]", "\"inputs\":[]" },
	{ "\"outputs\":[3]", "\"outputs\":[99]" },
	{ "\"outputs\":[3]", "\"outputs\":[3,3]" },
	{ "\"outputs\":[3]", "\"outputs\":[3],\"extra\":1" },
	{ "\"shape\":[8,16]", "\"shape\":[8,17]" },
	{ "\"shape\":[8,16]", "\"shape\":[8,-16]" },
	{ "\"shape\":[8,16]", "\"shape\":[4611686018427387904,16]" },
	{ "\"type\":\"f32\",\"shape\"", "\"type\":\"f31\",\"shape\"" },
	{ "\"role\":\"input\"", "\"role\":\"guest\"" },
	{ "\"role\":\"input\"", "\"role\":\"result\"" },
	{ "\"name\":\"t1\"", "\"name\":\"t0\"" },
	{ "\"name\":\"t1\"", "\"name\":\"\"" },
	{ "\"name\":\"t1\"", "\"name\":\"a\\u0007\"" },
	{ "\"name\":\"t1\"", "\"name\":\"a\\u0000\"" },
	{ "\"cuts\":[0]", "\"cuts\":[2]" },
	{ "\"cuts\":[0]", "\"cuts\":[0,0]" },
	{ "\"cuts\":[2]", "\"cuts\":[3]" },
	{ "\"cuts\":[0]", "\"cuts\":[\"Sum\"]" },
	{ "\"cuts\":[null]", "\"cuts\":[\"Sum\"]" },
	{ "\"cuts\":[null]", "\"cuts\":[\"Max\"]" },
	{ "\"cuts\":[null]", "\"cuts\":[\"Sam\"]" },
	{ "\"cuts\":[null]", "\"cuts\":[[\"Sum\",0]]" },
	{ "\"cuts\":[2]", "\"cuts\":[\"Sum\"]" },
	{ "\"cuts\":[2]", "\"cuts\":[[\"Sum\",0]]" },
	{ "\"cuts\":[2]", "\"cuts\":[[\"Sum\",0,1]]" },
	{ "\"cuts\":[2]", "\"cuts\":[[\"Sum\",7]]" },
	{ "\"cuts\":[2]", "\"cuts\":[[\"Sum\",\"0\"]]" },
	{ "\"cuts\":[2]", "\"cuts\":[[\"Sum\"]]" },
	{ "\"cuts\":[2]", "\"cuts\":[[]]" },
	{ "\"base64\":\"", "\"base64\":\"A" },
	{ "\"kernel\":0", "\"kernel\":2" },
	{ "\"kernel\":0", "\"kernel\":1" },
	{ "\"region\":\"produces\"", "\"region\":\"own\"" },
	{ "\"region\":\"own\"", "\"region\":\"produces\"" },
	{ "\"region\":\"stored\"", "\"region\":\"needs\"" },
	{ "\"run\":0", "\"run\":1" },
	{ "\"run\":0", "\"run\":7" },
	{ "\"combine\":0", "\"combine\":1" },
	{ "\"as\":\"reduce-scatter\"", "\"as\":\"prayer\"" },
	{ "\"offset\":0", "\"offset\":65" },
	{ "\"offset\":0", "\"offset\":-64" },
	{ "\"offset\":0", "\"offset\":9223372036854775807" },
	{ "\"bytes\":", "\"bytes\":1000" },
	{ "\"bytes\":", "\"bytes\":-" },
	{ "\"reducer\":\"Sum\"", "\"reducer\":\"Sam\"" },
	{ "\"reducer\":\"Sum\"", "\"reducer\":\"ArgMax\"" },
	{ ",\"reducer\":\"Sum\"", "" },
	{ "\"k\",\"reduce\"", "\"k\",\"output\"" },
	{ "[\"var\",0]", "[\"var\",3]" },
	{ "[\"var\",0]", "[\"var\",-1]" },
	{ "[\"var\",0]", "[\"var\"]" },
	{ "[\"var\",0]", "[\"float\",\"f32\",1.0]" },
	{ "[\"var\",0]", "[\"+\",[\"var\",0],[\"int\",\"i64\",1]]" },
	{ "[\"var\",0]", "[\"int\",\"i64\",9223372036854775807]" },
	{ "[\"var\",0]", "[\"launch\",[\"var\",0]]" },
	{ "[\"read\",0", "[\"read\",2" },
	{ "\"threads\":32", "\"threads\":0" },
	{ "\"threads\":32", "\"threads\":48" },
	{ "\"threads\":32", "\"threads\":1056" },
	{ "\"threads\":32", "\"threads\":32,\"blocks\":1" },
	{ "\"threads\":32,", "" },
	{ "\"shared\":16", "\"shared\":-1" },
	{ "\"shared\":16", "\"shared\":49153" },
	{ "\"tiles\":[[-1,7]", "\"tiles\":[[-2,7]" },
	{ "\"tiles\":[[-1,7]", "\"tiles\":[[2,7]" },
	{ "\"tiles\":[[-1,7]", "\"tiles\":[[-1,0]" },
	{ "\"tiles\":[[-1,7]", "\"tiles\":[[-1]" },
	{ "\"tiles\":[[-1,7]", "\"tiles\":[[0,7]" },
	{ "\"tiles\":[[-1,7]", "\"tiles\":[1,[-1,7]" },
	{ "\"source\":", "\"sauce\":" },
	{ "\"cuda\":{", "\"cuda\":1,\"x\":{" },
	{ "[\"*\",", "[\"and\"," },
	{ "[\"*\",", "[\"neg\"," },
	{ "[\"fmod\",", "[\"<\"," },
	{ "[\"float\",\"f32\",7.0]", "[\"float\",\"f64\",7.0]" },
	{ "[\"float\",\"f32\",7.0]", "[\"float\",\"i32\",7.0]" },
	{ "[\"float\",\"f32\",7.0]", "[\"float\",\"f32\",\"x\"]" },
	{ "\"nodes\":[", "\"nodes\":[," },
	{ "\"nodes\":[", "\"nodes\":[1," },
	{ "\"nodes\":[", "\"nodes\":[{}" },
	{ "\"nodes\":[", "\"nodes\":[\"" },
	{ "\"nodes\":[", "\"nodes\":[[" },
	{ "\"nodes\":[", "\"nodes\":{" },
	{ "\"nodes\":[", "\"nodes\":[],\"nodes\":[" },
	{ "\"nodes\":[", "\"n\\u006fdes\":[" },
	{ "\"nodes\":[", "\"nodes\" [" },
	{ ",\n\"buffers\"", ",\n\"buffers\":[],\n\"buffers\"" },
	{ "],\n\"buffers\"", ",],\n\"buffers\"" },
	{ "],\n\"buffers\"", " 1],\n\"buffers\"" },
	{ "],\n\"buffers\"", "},\n\"buffers\"" },
};

START_TEST(broken)
{
	arena *a = arena_new();
	size_t n;
	char *text = sample(a, &n);
	ck_assert(load(text, n));
	size_t ncases = sizeof(broken_cases) / sizeof(*broken_cases);
	for (size_t i = 0; i < ncases; i++) {
		const char *from = broken_cases[i].from;
		const char *to = broken_cases[i].to;
		char *x = replaced(a, text, from, to);
		ck_assert_msg(!load(x, strlen(x)), "%s -> %s", from, to);
	}
	for (size_t len = 0; len + 2 < n; len += 7)
		ck_assert(!load(text, len));
	arena_free(a);
}
END_TEST

/* The same plan with other places: buffers that are in use at one time must
 * not overlap. */
START_TEST(overlap)
{
	arena *a = arena_new();
	int found = 0;
	for (int seed = 0; seed < 200; seed++) {
		plan *p = plan_of_seed(a, seed);
		rng r = rng_new((uint64_t)seed);
		diag_sink *s = diag_sink_new(a);
		ck_assert(plan_check(p, s, "x"));
		plan_buffer *b = &p->buffers[rng_below(&r, p->nbuffers)];
		int64_t room = p->arena_bytes - b->nbytes;
		b->offset = 64 * (int64_t)rng_below(&r, (int)(room / 64 + 1));
		found += !plan_check(p, s, "x");
	}
	ck_assert_int_gt(found, 50);
	arena_free(a);
}
END_TEST

/* n times `unit` in the place of `from`. */
static char *repeated(arena *a, const char *text, const char *from,
		      const char *unit, size_t count, size_t *n)
{
	const char *at = strstr(text, from);
	size_t head = (size_t)(at - text), len = strlen(unit);
	*n = strlen(text) + count * len - strlen(from);
	char *out = arena_alloc(a, *n + 1);
	memcpy(out, text, head);
	for (size_t i = 0; i < count; i++)
		memcpy(out + head + i * len, unit, len);
	strcpy(out + head + count * len, at + strlen(from));
	return out;
}

START_TEST(hostile)
{
	arena *a = arena_new();
	size_t n, m;
	char *text = sample(a, &n);
	char *x = repeated(a, text, "{", "[", 10 << 20, &m);
	ck_assert(!load(x, m));
	x = repeated(a, text, "{", "{\"a\":", 1 << 20, &m);
	ck_assert(!load(x, m));
	x = repeated(a, text, "[\"var\",0]", "[\"neg\",", 1000, &m);
	ck_assert(!load(x, m));
	x = repeated(a, text, "\"t0\"", "x", 30 << 20, &m);
	ck_assert(!load(x, m));
	x = repeated(a, text, "\"inputs\":[0", "\"inputs\":[0,0,0", 1, &m);
	ck_assert(!load(x, m));
	x = repeated(a, text, "[0]", "0,", 8 << 20, &m);
	ck_assert(!load(x, m));
	char *deep = repeated(a, "[\"neg\",@", "@", "[\"neg\",", 500, &m);
	x = replaced(a, text, "[\"var\",0]", deep);
	ck_assert(!load(x, strlen(x)));
	x = arena_alloc(a, 4096);
	ck_assert(!load(x, 4096));
	arena_free(a);
}
END_TEST

/* Expressions as deep as is allowed are read; one deeper is an error. */
START_TEST(depth)
{
	arena *a = arena_new();
	size_t n, m;
	char *text = sample(a, &n);
	for (int extra = 0; extra < 2; extra++) {
		size_t count = MAX_KEXPR_DEPTH - 2 + (size_t)extra;
		char *open = repeated(a, "@", "@", "[\"neg\",", count, &m);
		char *close = repeated(a, "@", "@", "]", count, &m);
		const char *leaf = "[\"float\",\"f32\",7.0]";
		char *x = replaced(a, text, leaf,
				   arena_printf(a, "%s%s%s", open, leaf,
						close));
		ck_assert_int_eq(load(x, strlen(x)), !extra);
	}
	arena_free(a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("plan_broken");
	TCase *t = tcase_create("broken");
	tcase_add_test(t, mutations);
	tcase_add_test(t, broken);
	tcase_add_test(t, overlap);
	tcase_add_test(t, hostile);
	tcase_add_test(t, depth);
	suite_add_tcase(s, t);
	return s;
}
