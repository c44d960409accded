/* Strategy problems alone: tdl_solve() of tdl.h. */
#include "config.h"

#include <inttypes.h>

#include "base/clock.h"
#include "compiler/solver/solve.h"
#include "compiler/solver/wcsp.h"
#include "libtdl/api.h"

typedef struct solving {
	const char *path;
	const tdl_option *options;
	char *answer;
} solving;

/* Limits for a problem on its own: tables of 1 GiB, and no time limit by
 * default. */
static solve_limits limits_for(double seconds)
{
	return (solve_limits){ .cells = (int64_t)1 << 27,
			       .work = (int64_t)1 << 36,
			       .steps = INT64_MAX,
			       .seconds = seconds };
}

static json_t *solution_json(const problem *p, const solution *s,
			     double seconds)
{
	bool found = s->cost < p->top;
	json_t *values = found ? json_array() : json_null();
	for (int v = 0; found && v < p->vars.n; v++)
		json_array_append_new(values, json_integer(s->value[v]));
	return json_pack("{s:o,s:I,s:b,s:o,s:f}", "optimum",
			 found ? json_integer(s->cost) : json_null(),
			 "lower_bound", (json_int_t)s->lower_bound, "optimal",
			 found && s->optimal, "assignment", values, "seconds",
			 seconds);
}

static void solution_text(FILE *to, const problem *p, const solution *s,
			  double seconds)
{
	if (s->cost < p->top && s->optimal)
		fprintf(to, "optimum %" PRId64 "\n", s->cost);
	else if (s->cost < p->top)
		fprintf(to, "best found %" PRId64 ", not less than %" PRId64
			"\n", s->cost, s->lower_bound);
	else if (s->lower_bound >= p->top)
		fprintf(to, "nothing is below the upper bound %" PRId64 "\n",
			p->top);
	else
		fprintf(to, "nothing found, not less than %" PRId64 "\n",
			s->lower_bound);
	for (int v = 0; s->cost < p->top && v < p->vars.n; v++)
		fprintf(to, "%d%c", s->value[v],
			v + 1 < p->vars.n ? ' ' : '\n');
	fprintf(to, "%.6f seconds\n", seconds);
}

static void solve_file(api_call *c, void *arg)
{
	solving *q = arg;
	job *d = &c->job;
	double limit = 0;
	const cli_option table[] = {
		{ CLI_REAL, 0, "time-limit", "S",
		  "stop after S seconds with the best solution found", &limit,
		  .min = 1e-6, .max = 1e9 },
		{ CLI_END },
	};
	if (!api_options(c, table, q->options))
		return;
	const problem *p = wcsp_read(d->arena, d->sink, q->path);
	if (!p)
		return;
	const solve_limits limits = limits_for(limit);
	double begin = clock_seconds();
	const solution s = solve(d->arena, p, &limits);
	double seconds = clock_seconds() - begin;
	text_stream to;
	if (api_as_text(c)) {
		solution_text(text_stream_open(&to), p, &s, seconds);
		q->answer = api_printed(c, &to);
	} else {
		q->answer = api_text(solution_json(p, &s, seconds));
	}
	if (s.cost >= p->top)
		c->status = TDL_NO_PLAN;
}

char *tdl_solve(tdl_context *c, const char *path, const tdl_option *options)
{
	solving q = { api_path(c, path), options, NULL };
	return api_ask(c, solve_file, &q, &q.answer);
}

const api_function api_of_problems[] = {
	{ "tdl_solve", solve_file, &(const solving){ 0 }, sizeof(solving) },
	{ 0 }
};
