#include "config.h"

#include "compiler/solver/wcsp.h"

#include <limits.h>

#include "base/file.h"

enum {
	MAX_FILE = 1 << 30,
	/* costs that any file may have, however short: functions may leave them
	 * to a default */
	FREE_CELLS = 1 << 24,
	MAX_VALUES = 1 << 20, /* per variable */
};

/* A function that may be reused. */
typedef struct shared {
	int arity, n[2];
	const int64_t *cost;
} shared;

typedef struct reader {
	arena *a;
	diag_sink *s;
	const char *path, *text, *at;
	problem *p;
	int64_t cells; /* cells that may still be used */
	VEC(shared) shared;
} reader;

/* A function: its variables and the numbers of their values, 1 for a missing
 * variable. */
typedef struct function {
	int arity, var[2], n[2];
	int64_t *cost;
} function;

/* ---- words ------------------------------------------------------------- */

/* Adds an error at the reader's position; returns false. */
static bool error(const reader *r, diag_id id, const char *what)
{
	int line = 1;
	for (const char *c = r->text; c < r->at; c++)
		line += *c == '\n';
	const char *place = arena_printf(r->a, "%s:%d", r->path, line);
	diag_error_in(r->s, id, place, "%s", what);
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_blanks(reader *r)
{
	while (is_blank(*r->at))
		r->at++;
}

/* Reports that a word is not the expected number. */
static bool not_a_number(const reader *r, const char *what)
{
	int n = 0;
	while (r->at[n] && !is_blank(r->at[n]) && n < 40)
		n++;
	if (n == 0)
		return error(r, DIAG_WCSP_SYNTAX,
			     arena_printf(r->a, "%s is missing", what));
	return error(r, DIAG_WCSP_SYNTAX,
		     arena_printf(r->a, "%s is expected, not '%.*s'", what, n,
				  r->at));
}

/* Reads the next word, an integer. */
static inline bool read_number(reader *r, const char *what, int64_t *v)
{
	skip_blanks(r);
	const char *c = r->at;
	bool minus = *c == '-';
	c += minus;
	const char *first = c;
	uint64_t sum = 0;
	while ((unsigned char)(*c - '0') <= 9 && c - first < 20)
		sum = sum * 10 + (uint64_t)(*c++ - '0');
	if (c == first || (*c && !is_blank(*c)) || c - first > 19 ||
	    sum > INT64_MAX)
		return not_a_number(r, what);
	*v = minus ? -(int64_t)sum : (int64_t)sum;
	r->at = c;
	return true;
}

/* The same; min <= *v <= max. */
static bool read_within(reader *r, const char *what, int64_t min, int64_t max,
			int64_t *v)
{
	if (!read_number(r, what, v))
		return false;
	if (*v >= min && *v <= max)
		return true;
	return error(r, DIAG_WCSP_INVALID,
		     arena_printf(r->a, "%s is %lld, not %lld to %lld", what,
				  (long long)*v, (long long)min,
				  (long long)max));
}

/* Reads a cost; all costs that are not wanted become equal. */
static inline bool read_cost(reader *r, const char *what, int64_t *v)
{
	if (!read_number(r, what, v))
		return false;
	if (*v < 0)
		return error(r, DIAG_WCSP_INVALID,
			     arena_printf(r->a, "%s is negative", what));
	*v = *v < r->p->top ? *v : r->p->top;
	return true;
}

/* ---- functions --------------------------------------------------------- */

/* Allocates the costs of f. */
static bool take_cells(reader *r, function *f)
{
	int64_t cells = (int64_t)f->n[0] * f->n[1];
	r->cells -= cells;
	if (r->cells < 0)
		return error(r, DIAG_TOO_LARGE, "the functions have more costs "
			     "than tdlc accepts in such a short file");
	f->cost = ARENA_ARRAY(r->a, int64_t, cells);
	return true;
}

/* Reads a tuple of f; returns its index, -1 after an error. */
static inline int64_t read_tuple(reader *r, const function *f)
{
	int64_t at = 0;
	for (int i = 0; i < f->arity; i++) {
		int64_t v;
		if (!read_within(r, "a value", 0, f->n[i] - 1, &v))
			return -1;
		at = at * f->n[i] + v;
	}
	return at;
}

/* Reads the tuples of f and their costs; tuples that are not listed cost
 * `other'. */
static bool read_tuples(reader *r, function *f, int64_t n, int64_t other)
{
	if (!take_cells(r, f))
		return false;
	int64_t cells = (int64_t)f->n[0] * f->n[1];
	for (int64_t i = 0; i < cells; i++)
		f->cost[i] = -1;
	for (int64_t i = 0; i < n; i++) {
		int64_t at = read_tuple(r, f), cost = 0;
		if (at < 0 || !read_cost(r, "a cost", &cost))
			return false;
		if (f->cost[at] >= 0)
			return error(r, DIAG_WCSP_INVALID,
				     "a tuple is listed twice");
		f->cost[at] = cost;
	}
	for (int64_t i = 0; i < cells && n < cells; i++)
		f->cost[i] = f->cost[i] < 0 ? other : f->cost[i];
	return true;
}

/* Reuses a function. */
static bool share(reader *r, function *f, int64_t number)
{
	if (number > r->shared.n)
		return error(r, DIAG_WCSP_INVALID,
			     arena_printf(r->a, "there is no shared function "
					  "%lld before this one",
					  (long long)number));
	const shared *s = &r->shared.at[number - 1];
	if (s->arity != f->arity || s->n[0] != f->n[0] || s->n[1] != f->n[1])
		return error(r, DIAG_WCSP_INVALID, "a shared function is used "
			     "for variables with other domains");
	f->cost = (int64_t *)s->cost;
	return true;
}

static bool read_scope(reader *r, function *f)
{
	for (int i = 0; i < f->arity; i++) {
		int64_t v;
		if (!read_within(r, "a variable", 0, r->p->vars.n - 1, &v))
			return false;
		f->var[i] = (int)v;
		f->n[i] = r->p->vars.at[v].nvalues;
	}
	if (f->arity == 2 && f->var[0] == f->var[1])
		return error(r, DIAG_WCSP_INVALID,
			     "a function has the same variable twice");
	return true;
}

/* Adds f to the problem; without variables it is the constant `other'. */
static void add_function(reader *r, const function *f, int64_t other)
{
	problem *p = r->p;
	if (f->arity == 0)
		p->constant = cost_add(p->constant, other);
	else if (f->arity == 2)
		problem_add_table(p, f->var[0], f->var[1], f->cost);
	for (int x = 0; f->arity == 1 && x < f->n[0]; x++)
		problem_add_cost(p, f->var[0], x, f->cost[x]);
}

static bool read_function(reader *r)
{
	function f = { .n = { 1, 1 } };
	int64_t arity = 0, other = 0, ntuples = 0;
	if (!read_number(r, "an arity", &arity))
		return false;
	f.arity = arity < -2 || arity > 2 ? 3 : (int)(arity < 0 ? -arity :
								  arity);
	if (f.arity > 2)
		return error(r, DIAG_WCSP_UNSUPPORTED, "functions of more than "
			     "two variables are not supported");
	if (!read_scope(r, &f) ||
	    !read_number(r, "a default cost", &other))
		return false;
	if (other < 0)
		return error(r, DIAG_WCSP_UNSUPPORTED, "functions that do not "
			     "list their costs are not supported");
	other = other < r->p->top ? other : r->p->top;
	int64_t most = f.arity ? (int64_t)f.n[0] * f.n[1] : 0;
	if (!read_number(r, "a number of tuples", &ntuples))
		return false;
	if (ntuples > most)
		return error(r, DIAG_WCSP_INVALID,
			     "a function has more tuples than there are");
	if (ntuples < 0 ? !share(r, &f, -ntuples) :
	    f.arity && !read_tuples(r, &f, ntuples, other))
		return false;
	add_function(r, &f, other);
	if (arity < 0) {
		shared s = { f.arity, { f.n[0], f.n[1] }, f.cost };
		vec_push(r->a, &r->shared, s);
	}
	return true;
}

/* ---- files ------------------------------------------------------------- */

static bool read_domains(reader *r, int64_t nvars, int64_t largest)
{
	for (int64_t i = 0; i < nvars; i++) {
		int64_t n;
		if (!read_within(r, "a domain's size", 1, largest, &n))
			return false;
		if ((r->cells -= n) < 0)
			return error(r, DIAG_TOO_LARGE, "the domains have more "
				     "values than tdlc accepts in such a short "
				     "file");
		problem_add_var(r->p, (int)n);
	}
	return true;
}

static bool read_all(reader *r, int64_t len)
{
	int64_t nvars = 0, largest = 0, nfunctions = 0, top = 0;
	skip_blanks(r);
	if (!*r->at)
		return error(r, DIAG_WCSP_SYNTAX, "the name is missing");
	while (*r->at && !is_blank(*r->at))
		r->at++;
	if (!read_within(r, "the number of variables", 0, len, &nvars) ||
	    !read_within(r, "the largest domain's size", 0, MAX_VALUES,
			 &largest) ||
	    !read_within(r, "the number of functions", 0, INT_MAX,
			 &nfunctions) ||
	    !read_within(r, "the upper bound", 0, INT64_MAX, &top))
		return false;
	r->p->top = cost_clamp(top);
	if (!read_domains(r, nvars, largest))
		return false;
	while (nfunctions-- > 0)
		if (!read_function(r))
			return false;
	skip_blanks(r);
	if (r->at < r->text + len)
		return error(r, DIAG_WCSP_SYNTAX,
			     "the file goes on after its last function");
	return true;
}

problem *wcsp_parse(arena *a, diag_sink *s, const char *path,
		    const char *text, size_t len)
{
	reader r = { a, s, path, text, text, problem_new(a),
		     FREE_CELLS + (int64_t)len };
	return read_all(&r, (int64_t)len) ? r.p : NULL;
}

problem *wcsp_read(arena *a, diag_sink *s, const char *path)
{
	arena *tmp = arena_new();
	size_t len;
	char *text = file_read(tmp, s, path, MAX_FILE, &len);
	problem *p = text ? wcsp_parse(a, s, path, text, len) : NULL;
	arena_free(tmp);
	return p;
}
