/* Tests: kernel compiler/expand compiler/codegen compiler/analysis */
/* Random operators: the reference against the interpreter and compiled kernels.
 *
 *	operators [--seed S] [--from K] [--count N] [--compile M]
 *		  [--analysis M] [--print K] [--whole] [--first]
 *
 * Operator K of a seed is always the same, so that a run that was stopped goes
 * on with --from.  Every Mth is compiled (by default every 20th), and every Mth
 * goes through what tdlc verify does (by default none).  An operator that
 * differs is made as small as it gets, unless --whole, and printed.  --first
 * ends at the first that differs, and leaves it whole.  --print shows operator
 * K alone.  The exit status is 1 where something differs. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random/judge.h"
#include "tests/random/shrink.h"

enum { BATCH = 32 }; /* operators that are compiled together */

typedef struct request {
	int64_t seed, from, count, compile, analysis, print;
	bool whole, first;
} request;

typedef struct totals {
	int64_t by[VERDICTS], elements, doubtful, compiled;
} totals;

/* Compiled at the end of a batch. */
typedef struct pending {
	arena *arena;
	int64_t number;
	random_operator o;
	judgement j;
} pending;

static uint64_t seed_of(const request *r, int64_t number)
{
	rng x = { (uint64_t)r->seed * 0x9e3779b97f4a7c15u + (uint64_t)number };
	return rng_next(&x);
}

/* ---- differences -------------------------------------------------------- */

typedef struct sought {
	bool compiled, analysis;
} sought;

static bool still_differs(const random_operator *o, const void *context)
{
	const sought *what = context;
	arena *a = arena_new();
	judgement j = judge(a, o, what->analysis), *one = &j;
	bool differs = j.verdict == DIFFERS;
	if (what->compiled && !differs && j.verdict == AGREES) {
		judge_compiled(&one, 1);
		differs = j.verdict == DIFFERS;
	} else if (what->compiled) {
		differs = false;
	}
	arena_free(a);
	return differs;
}

static void print_shapes(const random_operator *o)
{
	for (int i = 0; i < o->nparams; i++) {
		const random_param *p = &o->params[i];
		printf(" %s=", p->name);
		for (int d = 0; d < p->ndim; d++)
			printf("%s%" PRId64, d ? "x" : "", p->dims[d]);
		printf(":%s", dtype_name(p->type));
	}
	putchar('\n');
}

static void report(const request *r, int64_t number, const random_operator *o,
		   const sought *what, const char *why)
{
	arena *a = arena_new();
	printf("operator %" PRId64 " of seed %" PRId64 ": %s\n", number,
	       r->seed, why);
	random_operator small = r->whole ? *o : shrink(a, o, still_differs,
						       what);
	judgement j = judge(a, &small, what->analysis);
	if (!r->whole && j.verdict == DIFFERS)
		printf("reduced: %s\n", j.why);
	printf("%s with", small.text);
	print_shapes(&small);
	putchar('\n');
	fflush(stdout);
	arena_free(a);
}

/* ---- batches ------------------------------------------------------------ */

static void compile(const request *r, totals *t, pending *all, int n)
{
	judgement *judgements[BATCH] = { NULL };
	for (int i = 0; i < n; i++)
		judgements[i] = &all[i].j;
	if (n > 0)
		judge_compiled(judgements, n);
	for (int i = 0; i < n; i++) {
		sought what = { .compiled = true };
		t->compiled++;
		if (all[i].j.verdict == DIFFERS) {
			t->by[AGREES]--;
			t->by[DIFFERS]++;
			report(r, all[i].number, &all[i].o, &what,
			       all[i].j.why);
		}
		arena_free(all[i].arena);
	}
}

static bool every(int64_t m, int64_t number)
{
	return m > 0 && number % m == 0;
}

static totals run(const request *r)
{
	totals t = { 0 };
	pending batch[BATCH];
	int n = 0;
	for (int64_t i = r->from; i < r->from + r->count &&
				  !(r->first && t.by[DIFFERS]); i++) {
		arena *a = arena_new();
		random_operator o = random_operator_new(a, seed_of(r, i));
		sought what = { .analysis = every(r->analysis, i) };
		judgement j = judge(a, &o, what.analysis);
		t.by[j.verdict]++;
		t.elements += j.count.elements;
		t.doubtful += j.count.doubtful;
		if (j.verdict == DIFFERS)
			report(r, i, &o, &what, j.why);
		if (j.verdict != AGREES || !every(r->compile, i)) {
			arena_free(a);
			continue;
		}
		batch[n++] = (pending){ a, i, o, j };
		if (n == BATCH) {
			compile(r, &t, batch, n);
			n = 0;
		}
	}
	compile(r, &t, batch, n);
	return t;
}

/* ---- the command -------------------------------------------------------- */

static void print(const request *r)
{
	arena *a = arena_new();
	random_operator o = random_operator_new(a, seed_of(r, r->print));
	judgement j = judge(a, &o, false);
	printf("%s with", o.text);
	print_shapes(&o);
	printf("verdict %d: %s\n", (int)j.verdict, j.why ? j.why : "");
	arena_free(a);
}

static int finish(const request *r, const totals *t)
{
	static const char *const names[] = {
		[AGREES] = "agree", [REFUSED] = "refused by the checker",
		[UNSUITED] = "refused by expansion",
		[TOO_LARGE] = "too large", [OUTSIDE] = "with an index outside",
		[DIFFERS] = "differ",
	};
	printf("%" PRId64 " operators:", r->count);
	for (int v = 0; v < VERDICTS; v++)
		printf("%s %" PRId64 " %s", v ? "," : "", t->by[v], names[v]);
	printf("; %" PRId64 " elements, %" PRId64 " in doubt; %" PRId64
	       " compiled\n", t->elements, t->doubtful, t->compiled);
	/* Most have to be worth while. */
	bool idle = r->count >= 100 && !t->by[DIFFERS] &&
		    t->by[AGREES] < r->count * 3 / 4;
	if (idle)
		puts("fewer than three in four can be compared");
	return t->by[DIFFERS] || idle ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	request r = { .seed = 1, .count = 3000, .compile = 20, .print = -1 };
	const struct {
		const char *name;
		int64_t *to;
	} options[] = {
		{ "--seed", &r.seed },	     { "--from", &r.from },
		{ "--count", &r.count },     { "--compile", &r.compile },
		{ "--analysis", &r.analysis }, { "--print", &r.print },
	};
	const int noptions = sizeof(options) / sizeof(*options);
	for (int i = 1; i < argc; i++) {
		int k = 0;
		while (k < noptions && strcmp(argv[i], options[k].name))
			k++;
		if (k < noptions && i + 1 < argc) {
			*options[k].to = strtoll(argv[++i], NULL, 10);
		} else if (!strcmp(argv[i], "--whole")) {
			r.whole = true;
		} else if (!strcmp(argv[i], "--first")) {
			r.first = r.whole = true;
		} else {
			fprintf(stderr, "operators: '%s' is no option\n",
				argv[i]);
			return 2;
		}
	}
	if (r.print >= 0) {
		print(&r);
		return EXIT_SUCCESS;
	}
	totals t = run(&r);
	return finish(&r, &t);
}
