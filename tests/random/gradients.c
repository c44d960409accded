/* Derived gradients of the library's operators and of random ones.
 *
 *	gradients [--seed S] [--from K] [--count N] [--verify M] [--first]
 *
 * Each is built as a tree.  Its text, parsed, has to be that tree again, with
 * the same text, and the checker has to accept both, the text without a warning
 * about names that hide others.  Every Mth random operator (by default every
 * fifth; with 0 none) goes through what tdlc verify --gradients does, too.  An
 * operator that fails is made as small as it gets and printed, with a first
 * line that names the seed of its data: so it is a file of tests/random/known,
 * all of which are tried first, with differences.  Operator K of a seed is that
 * of `operators`.  --first ends at the first that fails, and leaves it whole.
 * The exit status is 1 where something fails. */
#include "config.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "compiler/analysis/bounds.h"
#include "compiler/gradient/gradient.h"
#include "compiler/verify/verify.h"
#include "tests/random/same_tree.h"
#include "tests/random/shrink.h"

typedef struct request {
	int64_t seed, from, count, verify;
	bool first;
} request;

typedef struct totals {
	int64_t operators, refused, gradients, none, slopes, faults;
} totals;

/* ---- one gradient -------------------------------------------------------- */

static const char *first_error(const diag_sink *s)
{
	return diag_errors(s) ? diag_message(s, 0) : NULL;
}

/* The message of a warning that a name hides another; NULL for none. */
static const char *hiding(const diag_sink *s)
{
	for (int i = 0; i < diag_count(s); i++) {
		diag_view d = diag_at(s, i);
		if (!strcmp(d.name, diag_name(DIAG_HIDES_NAME)))
			return d.message;
	}
	return NULL;
}

/* Why the text of an operator is not that of its tree; NULL. */
static const char *round_trip(arena *a, tdl_modules *m, const ast_op *op)
{
	const char *text = dsl_op_text(a, op);
	diag_sink *own = m->sink;
	m->sink = diag_sink_new(a);
	const ast_module *parsed = dsl_parse(m, "text", text, strlen(text));
	const char *error = first_error(m->sink);
	m->sink = own;
	if (!parsed || error || parsed->ndefs != 1)
		return arena_printf(a, "it does not parse: %s\n%s",
				    error ? error : "", text);
	const char *what = tree_difference(op, parsed->defs[0].op);
	if (what)
		return arena_printf(a, "%s is another when it is parsed\n%s",
				    what, text);
	if (strcmp(dsl_format(a, parsed), text))
		return arena_printf(a, "its text is another when it is parsed"
				    "\n%s", text);
	return NULL;
}

/* Whether one of the gradients has been given a text before. */
static bool is_among(const gradient *g, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(g[i].name, name))
			return true;
	return false;
}

/* The texts of a gradient and of those that it calls, the latter first. */
static char *text_with_needs(arena *a, const gradient *g)
{
	char *text = arena_strdup(a, "");
	if (!g->op || g->own)
		return text;
	for (int i = 0; i < g->nneeds; i++)
		if (!is_among(g->needs, i, g->needs[i].name))
			text = arena_printf(a, "%s%s", text,
					    text_with_needs(a, &g->needs[i]));
	return arena_printf(a, "%s%s", text, dsl_op_text(a, g->op));
}

/* The same text read into a set that has the operator, as a user would. */
static const char *read_back(arena *a, tdl_modules *m, const gradient *g)
{
	int errors = diag_errors(m->sink);
	char *text = text_with_needs(a, g);
	if (!dsl_load_text(m, "gradient", text, strlen(text)) ||
	    diag_errors(m->sink) > errors)
		return arena_printf(a, "its text is refused: %s\n%s",
				    diag_message(m->sink, errors), text);
	const char *hides = hiding(m->sink);
	return hides ? arena_printf(a, "%s\n%s", hides, text) : NULL;
}

/* ---- one operator -------------------------------------------------------- */

static tdl_modules *load(arena *a, const char *text)
{
	tdl_modules *m = dsl_new(a, diag_sink_new(a), NULL, 0);
	return dsl_load_text(m, "random.tdl", text, strlen(text)) ? m : NULL;
}

/* Why a gradient is wrong as a tree or text; NULL. */
static const char *tree_fault(arena *a, tdl_modules *m, const gradient *g)
{
	if (!g->op)
		return strstr(g->because, "cannot be written") ? g->because
							       : NULL;
	if (g->own)
		return NULL;
	const char *why = round_trip(a, m, g->op);
	if (!why && !gradient_load(m, g))
		why = arena_printf(a, "it is refused: %s\n%s",
				   first_error(m->sink),
				   dsl_op_text(a, g->op));
	return why ? arena_printf(a, "%s: %s", g->name, why) : NULL;
}

/* Whether the operator may read outside of a tensor, which is not asked of
 * reads that depend on attributes.  It is refused for the
 * shapes for which it does, unless what depends on the read falls away; its
 * gradient may need it all the same, and is refused there, too. */
static bool may_read_outside(arena *a, const tdl_modules *m, const ast_op *op)
{
	int64_t effort = 1 << 20;
	return op->nattrs > 0 ||
	       !analysis_check_op(m, diag_sink_new(a), op, &effort);
}

/* Whether a gradient is refused because it reads, or may read, outside. */
static bool is_about_outside(const char *what)
{
	return strstr(what, "its gradient cannot be expanded (dim") ||
	       strstr(what, "its gradient cannot be expanded (it cannot be "
			    "shown that dim");
}

static const char *finding(arena *a, const verify_result *r, bool may)
{
	for (int i = 0; i < r->nfindings; i++)
		if (r->findings[i].kind == VERIFY_WRONG &&
		    strstr(r->findings[i].what, "gradient") &&
		    !(may && is_about_outside(r->findings[i].what)))
			return arena_printf(a, "by %s: %s",
					    r->findings[i].about,
					    r->findings[i].what);
	return NULL;
}

/* A fault of the gradients of one operator; NULL. */
static const char *fault_of(arena *a, const random_operator *o, bool verify,
			    totals *t)
{
	tdl_modules *m = load(a, o->text);
	const ast_op *op = m ? dsl_op(m, "f") : NULL;
	gradient *g;
	t->operators++;
	if (!op) {
		t->refused++;
		return NULL;
	}
	int n = gradient_derive(a, m, op, &g);
	for (int i = 0; i < n; i++) {
		const char *why = tree_fault(a, m, &g[i]);
		tdl_modules *other = load(a, o->text);
		if (!why && g[i].op && !g[i].own)
			why = read_back(a, other, &g[i]);
		if (why)
			return why;
		t->gradients += g[i].op != NULL;
		t->none += !g[i].op && !g[i].zero;
	}
	if (!verify)
		return NULL;
	verify_options options = {.seed = o->seed, .trials = 6,
				  .gradients = true};
	verify_result r = verify_op(a, m, op, &options);
	t->slopes += r.slopes;
	return finding(a, &r, may_read_outside(a, m, op));
}

/* ---- random operators ---------------------------------------------------- */

static uint64_t seed_of(const request *r, int64_t number)
{
	rng x = { (uint64_t)r->seed * 0x9e3779b97f4a7c15u + (uint64_t)number };
	return rng_next(&x);
}

static bool still_fails(const random_operator *o, const void *verify)
{
	arena *a = arena_new();
	totals t = { 0 };
	bool fails = fault_of(a, o, *(const bool *)verify, &t);
	arena_free(a);
	return fails;
}

static void report(arena *a, const request *r, int64_t number,
		   const random_operator *o, bool verify, const char *why)
{
	totals t = { 0 };
	printf("operator %" PRId64 " of seed %" PRId64 ": %s\n", number,
	       r->seed, why);
	if (r->first) {
		printf("%s\n", o->text);
		return;
	}
	random_operator small = shrink(a, o, still_fails, &verify);
	why = fault_of(a, &small, verify, &t);
	printf("smaller: %s\n// seed %" PRIu64 "\n%s\n", why ? why : "",
	       small.seed, small.text);
	fflush(stdout);
}

static void run_random(const request *r, totals *t)
{
	for (int64_t i = r->from; i < r->from + r->count &&
				  !(r->first && t->faults); i++) {
		arena *a = arena_new();
		random_operator o = random_operator_new(a, seed_of(r, i));
		bool verify = r->verify > 0 && i % r->verify == 0;
		const char *why = fault_of(a, &o, verify, t);
		if (why) {
			t->faults++;
			report(a, r, i, &o, verify, why);
		}
		arena_free(a);
	}
}

/* ---- the library --------------------------------------------------------- */

static void run_operator(arena *a, tdl_modules *m, const ast_op *op, totals *t)
{
	gradient *g;
	int n = op->faulty || op->grad_of ? 0 : gradient_derive(a, m, op, &g);
	t->operators++;
	for (int i = 0; i < n; i++) {
		const char *why = tree_fault(a, m, &g[i]);
		t->gradients += g[i].op != NULL;
		t->none += !g[i].op && !g[i].zero;
		if (!why)
			continue;
		t->faults++;
		printf("%s\n", why);
	}
}

/* Each file of the folder with what it imports. */
static void run_library(const char *folder, totals *t)
{
	DIR *d = opendir(folder);
	for (struct dirent *e; d && (e = readdir(d));) {
		size_t len = strlen(e->d_name);
		if (len < 5 || strcmp(e->d_name + len - 4, ".tdl"))
			continue;
		arena *a = arena_new();
		tdl_modules *m = dsl_new(a, diag_sink_new(a), &folder, 1);
		const char *path = arena_printf(a, "%s/%s", folder, e->d_name);
		t->faults += !dsl_load(m, path);
		const ast_module *file = dsl_module(m, path);
		for (int i = 0; file && i < file->ndefs; i++)
			if (file->defs[i].kind == DEF_OP)
				run_operator(a, m, file->defs[i].op, t);
		arena_free(a);
	}
	if (d)
		closedir(d);
}

/* ---- operators that have failed ------------------------------------------ */

static void run_known_one(arena *a, const char *path, totals *t)
{
	size_t len;
	random_operator o = { .text = file_read(a, diag_sink_new(a), path,
						1 << 16, &len) };
	const char *why = "cannot be read";
	if (o.text && sscanf(o.text, "// seed %" SCNu64, &o.seed) == 1)
		why = fault_of(a, &o, true, t);
	if (why) {
		t->faults++;
		printf("%s: %s\n", path, why);
	}
}

static void run_known(const char *folder, totals *t)
{
	DIR *d = opendir(folder);
	for (struct dirent *e; d && (e = readdir(d));) {
		size_t len = strlen(e->d_name);
		if (len < 5 || strcmp(e->d_name + len - 4, ".tdl"))
			continue;
		arena *a = arena_new();
		run_known_one(a, arena_printf(a, "%s/%s", folder, e->d_name),
			      t);
		arena_free(a);
	}
	if (d)
		closedir(d);
}

/* ---- the command --------------------------------------------------------- */

static void print(const char *what, const totals *t)
{
	printf("%s: %" PRId64 " operators, %" PRId64 " refused, %" PRId64
	       " gradients, %" PRId64 " have none, %" PRId64 " slopes; %" PRId64
	       " faults\n", what, t->operators, t->refused, t->gradients,
	       t->none, t->slopes, t->faults);
}

int main(int argc, char **argv)
{
	request r = { .seed = 1, .count = 3000, .verify = 5 };
	const struct {
		const char *name;
		int64_t *to;
	} options[] = {
		{ "--seed", &r.seed },	 { "--from", &r.from },
		{ "--count", &r.count }, { "--verify", &r.verify },
	};
	const int noptions = sizeof(options) / sizeof(*options);
	for (int i = 1; i < argc; i++) {
		int k = 0;
		if (!strcmp(argv[i], "--first")) {
			r.first = true;
			continue;
		}
		while (k < noptions && strcmp(argv[i], options[k].name))
			k++;
		if (k == noptions || i + 1 == argc) {
			fprintf(stderr, "gradients: '%s' is no option\n",
				argv[i]);
			return 2;
		}
		*options[k].to = strtoll(argv[++i], NULL, 10);
	}
	totals library = { 0 }, known = { 0 }, drawn = { 0 };
	const char *folder = getenv("TDL_OPDEFS");
	if (folder) {
		run_library(folder, &library);
		print("library", &library);
	}
	const char *srcdir = getenv("srcdir");
	if (folder && srcdir) {
		arena *a = arena_new();
		run_known(arena_printf(a, "%s/tests/random/known", srcdir),
			  &known);
		arena_free(a);
		print("known", &known);
	}
	run_random(&r, &drawn);
	print("random", &drawn);
	bool idle = (folder && library.gradients < 100) ||
		    (folder && srcdir && known.gradients == 0) ||
		    (r.count >= 100 && drawn.gradients < r.count / 4);
	if (idle)
		puts("too few have gradients");
	bool faults = library.faults || known.faults || drawn.faults;
	return faults || idle ? EXIT_FAILURE : EXIT_SUCCESS;
}
