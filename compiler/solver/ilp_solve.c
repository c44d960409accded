/* Runs a solver of 0-1 programs, and reads its result. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/solver/ilp.h"

extern char **environ;

/* A run of a solver in a folder of its own. */
typedef struct run {
	arena *arena;
	const char *program; /* path of the solver */
	const char *folder, *model, *found;
	int seconds;
} run;

/* A solver: its command line, and the format of its results.  read() stores
 * value[i] for the first ncolumns columns, and in *optimal whether it is proven
 * to be the best; returns false if there is no solution. */
typedef struct kind {
	const char *name;
	char **(*words)(const run *r);
	bool (*read)(FILE *f, double *value, int ncolumns, bool *optimal);
} kind;

static char **words_of(arena *a, const char *const *words, int n)
{
	char **all = ARENA_ARRAY(a, char *, n + 1);
	for (int i = 0; i < n; i++)
		all[i] = arena_strdup(a, words[i]);
	return all;
}

/* ---- GLPK -------------------------------------------------------------- */

static char **glpsol_words(const run *r)
{
	const char *const words[] = {
		r->program, "--freemps", r->model, "--write", r->found,
		"--tmlim", arena_printf(r->arena, "%d", r->seconds),
	};
	return words_of(r->arena, words, sizeof(words) / sizeof(words[0]));
}

/* "s mip ROWS COLUMNS o OBJECTIVE", then "j COLUMN VALUE" for each column,
 * from 1 on. */
static bool glpsol_read(FILE *f, double *value, int ncolumns, bool *optimal)
{
	char line[256], status = 'u';
	int column, n = 0;
	double x;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "s mip %*d %*d %c", &status) == 1)
			*optimal = status == 'o';
		else if (sscanf(line, "j %d %lf", &column, &x) == 2 &&
			 column >= 1 && column <= ncolumns) {
			value[column - 1] = x;
			n++;
		}
	}
	return (status == 'o' || status == 'f') && n == ncolumns;
}

/* ---- HiGHS ------------------------------------------------------------- */

static char **highs_words(const run *r)
{
	const char *const words[] = {
		r->program, "--time_limit",
		arena_printf(r->arena, "%d", r->seconds), "--solution_file",
		r->found, r->model,
	};
	return words_of(r->arena, words, sizeof(words) / sizeof(words[0]));
}

/* "Model status", the status, "# Primal solution values", "Feasible",
 * "Objective VALUE", "# Columns N", then "NAME VALUE" for each. */
static bool highs_read(FILE *f, double *value, int ncolumns, bool *optimal)
{
	char line[256], name[100];
	bool feasible = false, columns = false;
	int n = 0;
	while (n < ncolumns && fgets(line, sizeof(line), f)) {
		if (columns && sscanf(line, "%99s %lf", name, &value[n]) == 2)
			n++;
		columns |= !strncmp(line, "# Columns", 9);
		feasible |= !columns && !strcmp(line, "Feasible\n");
		*optimal |= !strcmp(line, "Optimal\n");
	}
	return feasible && n == ncolumns;
}

static const kind kinds[] = {
	{ "highs", highs_words, highs_read },
	{ "glpsol", glpsol_words, glpsol_read },
};

enum { NKINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* ---- running ----------------------------------------------------------- */

/* The path of a program in $PATH, or NULL. */
static const char *find_program(arena *a, const char *name)
{
	const char *path = getenv("PATH");
	while (path && *path) {
		size_t n = strcspn(path, ":");
		const char *file = arena_printf(a, "%.*s/%s", (int)n, path,
						name);
		if (n > 0 && access(file, X_OK) == 0)
			return file;
		path += n + (path[n] == ':');
	}
	return NULL;
}

static const kind *find_solver(run *r)
{
	for (int i = 0; i < NKINDS; i++) {
		r->program = find_program(r->arena, kinds[i].name);
		if (r->program)
			return &kinds[i];
	}
	return NULL;
}

/* Runs the solver without output.  False if it cannot be run, or fails. */
static bool run_program(const run *r, char **words)
{
	posix_spawn_file_actions_t files;
	pid_t child;
	int status = -1;
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	int failed = posix_spawn(&child, r->program, &files, NULL, words,
				 environ);
	posix_spawn_file_actions_destroy(&files);
	if (failed)
		return false;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool write_model(const run *r, const problem *p)
{
	FILE *f = fopen(r->model, "w");
	if (!f)
		return false;
	ilp_write(p, f);
	bool written = !ferror(f);
	return !fclose(f) && written;
}

/* The assignment in a solution: for each variable, the value whose column is
 * 1. */
static int *values_of(arena *a, const problem *p, const double *column)
{
	int *value = ARENA_ARRAY(a, int, p->vars.n);
	for (int v = 0; v < p->vars.n; v++) {
		int n = p->vars.at[v].nvalues;
		for (int i = 0; i < n; i++)
			if (column[i] > column[value[v]])
				value[v] = i;
		column += n;
	}
	return value;
}

/* Reads the result into *s; false if there is none. */
static bool read_found(arena *a, const run *r, const kind *solver,
		       const problem *p, solution *s)
{
	FILE *f = fopen(r->found, "r");
	int ncolumns = 0;
	if (!f)
		return false;
	for (int v = 0; v < p->vars.n; v++)
		ncolumns += p->vars.at[v].nvalues;
	double *column = ARENA_ARRAY(r->arena, double, ncolumns);
	bool optimal = false;
	bool found = solver->read(f, column, ncolumns, &optimal);
	fclose(f);
	if (!found)
		return false;
	s->value = values_of(a, p, column);
	s->cost = problem_cost(p, s->value);
	s->optimal = optimal || s->cost == 0;
	s->lower_bound = s->optimal ? s->cost : 0;
	return true;
}

static const char *solve_in(arena *a, run *r, const kind *solver,
			    const problem *p, solution *s)
{
	if (!write_model(r, p))
		return arena_printf(a, "cannot write %s", r->model);
	if (!run_program(r, solver->words(r)))
		return arena_printf(a, "%s failed", solver->name);
	if (!read_found(a, r, solver, p, s))
		return arena_printf(a, "%s found no solution in %d seconds",
				    solver->name, r->seconds);
	return NULL;
}

ilp_result ilp_solve(arena *a, const problem *p, int seconds)
{
	arena *tmp = arena_new();
	run r = { .arena = tmp, .seconds = seconds };
	ilp_result is = { .error = "no solver of 0-1 programs is installed: "
				   "neither highs nor glpsol is in PATH",
			  .absent = true };
	const kind *solver = find_solver(&r);
	if (solver) {
		const char *at = getenv("TMPDIR");
		char *folder = arena_printf(tmp, "%s/tdlc-ilp-XXXXXX",
					    at && *at ? at : "/tmp");
		r.folder = mkdtemp(folder);
		r.model = arena_printf(tmp, "%s/model.mps", folder);
		r.found = arena_printf(tmp, "%s/found", folder);
		is.solver = solver->name;
		is.absent = false;
		is.error = r.folder ? solve_in(a, &r, solver, p, &is.solution)
				    : "cannot make a temporary folder";
		unlink(r.model);
		unlink(r.found);
		rmdir(folder);
	}
	arena_free(tmp);
	return is;
}
