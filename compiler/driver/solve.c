/* tdlc solve: a strategy problem in the WCSP format. */
#include "config.h"

#include <inttypes.h>

#include "base/clock.h"
#include "compiler/driver/driver.h"
#include "compiler/solver/solve.h"
#include "compiler/solver/wcsp.h"

/* For a problem on its own: tables of 1 GiB, and as long as it takes. */
static solve_limits limits_for(double seconds)
{
	return (solve_limits){ .cells = (int64_t)1 << 27,
			       .work = (int64_t)1 << 36,
			       .steps = INT64_MAX,
			       .seconds = seconds };
}

static json_t *result_json(const problem *p, const solution *s, double seconds)
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

static void print_text(const problem *p, const solution *s, double seconds)
{
	if (s->cost < p->top && s->optimal)
		printf("optimum %" PRId64 "\n", s->cost);
	else if (s->cost < p->top)
		printf("best found %" PRId64 ", not less than %" PRId64 "\n",
		       s->cost, s->lower_bound);
	else if (s->lower_bound >= p->top)
		printf("nothing is below the upper bound %" PRId64 "\n",
		       p->top);
	else
		printf("nothing found, not less than %" PRId64 "\n",
		       s->lower_bound);
	for (int v = 0; s->cost < p->top && v < p->vars.n; v++)
		printf("%d%c", s->value[v], v + 1 < p->vars.n ? ' ' : '\n');
	printf("%.6f seconds\n", seconds);
}

cli_status command_solve(driver *d, int argc, char **argv)
{
	double limit = 0;
	bool json = false;
	const cli_option options[] = {
		{ CLI_REAL, 0, "time-limit", "S",
		  "stop after S seconds with the best solution found", &limit,
		  .min = 1e-6, .max = 1e9 },
		DRIVER_OPTION_JSON(&json),
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	cli_status status;
	int first = cli_parse(d->arena, &d->program, options, argc, argv,
			      &status);
	if (first < 0)
		return status;
	if (argc - first != 1)
		return cli_usage(&d->program, "one file is expected");
	problem *p = wcsp_read(d->arena, d->sink, argv[first]);
	if (!p)
		return CLI_OK;
	const solve_limits limits = limits_for(limit);
	double begin = clock_seconds();
	solution s = solve(d->arena, p, &limits);
	double seconds = clock_seconds() - begin;
	if (json)
		status = driver_print_json(d, result_json(p, &s, seconds));
	else
		print_text(p, &s, seconds);
	return status == CLI_OK && s.cost >= p->top ? CLI_NO_PLAN : status;
}
