#include "config.h"

#include "runtime/run/generate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "kernel/eval.h"

typedef struct generation {
	session *s;
	const plan *p;
	executor *m;
	feed *feed;
	array *outputs;
	int tokens, position; /* inputs; position -1: none */
	int logits;	      /* output */
	/* rows; tokens of each in an input; scores of a token */
	int64_t rows, width, words;
	/* Tokens per row: least and most in the prompt, most at the end. */
	int64_t least, prompt, all;
	int64_t *ids;	  /* rows * all; NO_TOKEN: none */
	int64_t *lengths; /* by row: tokens in the prompt */
	int64_t *ends;	  /* by row: tokens wanted, or at which it stopped */
	int64_t at;	  /* tokens of each row fed so far */
	int64_t steps, made; /* made: tokens except the first of each row */
	/* for feeding the prompt, for the rest */
	double prompt_seconds, seconds;
} generation;

enum { NO_TOKEN = -1 };

/* ---- inputs and outputs ------------------------------------------------ */

static int find_named(const plan *p, const int *tensors, int n,
		      const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(p->tensors[tensors[i]].name, name))
			return i;
	return -1;
}

static bool takes_tokens(const plan_tensor *t)
{
	return dtype_is_int(t->type) && (t->ndim == 1 || t->ndim == 2);
}

/* Finds the input of tokens: the named one, or the only one of integers that
 * nothing else feeds. */
static bool find_tokens(generation *g)
{
	const plan *p = g->p;
	failure *f = &g->s->f;
	const char *name = g->s->o->token_input;
	int found = name ? find_named(p, p->inputs, p->ninputs, name) : -1;
	int n = 0;
	for (int i = 0; !name && i < p->ninputs; i++) {
		if (g->feed->fed[i] || i == g->position ||
		    !takes_tokens(&p->tensors[p->inputs[i]]))
			continue;
		found = i;
		n++;
	}
	if (!name && n != 1)
		return fail_with(f, CLI_INPUT, "%s: %d inputs may take tokens; "
				 "--token-input names the one that does",
				 g->s->o->plan, n);
	if (found < 0 || !takes_tokens(&p->tensors[p->inputs[found]]))
		return fail_with(f, CLI_INPUT, "%s: there is no input '%s' of "
				 "integers, [rows, tokens] or [rows]",
				 g->s->o->plan, name);
	const plan_tensor *t = &p->tensors[p->inputs[found]];
	g->tokens = found;
	g->rows = t->dims[0];
	g->width = t->ndim == 2 ? t->dims[1] : 1;
	return (g->rows > 0 && g->width > 0) ||
	       fail_with(f, CLI_INPUT, "%s: '%s' takes no tokens",
			 g->s->o->plan, t->name);
}

/* Whether an output has word scores for each token, or for each row. */
static bool has_scores(const generation *g, const plan_tensor *t)
{
	if (!dtype_is_float(t->type) || t->ndim < 2 || t->ndim > 3 ||
	    t->dims[0] != g->rows || t->dims[t->ndim - 1] == 0)
		return false;
	return t->ndim == 3 ? t->dims[1] == g->width : g->width == 1;
}

static bool find_logits(generation *g)
{
	const plan *p = g->p;
	const char *name = g->s->o->logits;
	int found = find_named(p, p->outputs, p->noutputs,
			       name ? name : "logits");
	bool any = !name && found < 0;
	int n = 0;
	for (int i = 0; any && i < p->noutputs; i++)
		if (has_scores(g, &p->tensors[p->outputs[i]])) {
			found = i;
			n++;
		}
	if (n > 1)
		return fail_with(&g->s->f, CLI_INPUT, "%s: %d outputs may have "
				 "the scores of words; --logits names the one "
				 "that does", g->s->o->plan, n);
	if (found < 0 || !has_scores(g, &p->tensors[p->outputs[found]]))
		return fail_with(&g->s->f, CLI_INPUT, "%s: there is no output "
				 "'%s' of floats with the scores of words, "
				 "[rows, tokens, words]%s", g->s->o->plan,
				 name ? name : "logits",
				 name ? "" : "; --logits names another");
	const plan_tensor *t = &p->tensors[p->outputs[found]];
	g->logits = found;
	g->words = t->dims[t->ndim - 1];
	return true;
}

/* Finds the running position, which nothing else may feed. */
static bool find_position(generation *g)
{
	session *s = g->s;
	g->position = -1;
	for (int i = 0; g->p->length > 0 && i < g->p->ninputs; i++)
		if (g->p->inputs[i] == g->p->position)
			g->position = i;
	if (g->position < 0 || !s->o->inputs)
		return true;
	arena *work = arena_new();
	const char *name = g->p->tensors[g->p->position].name;
	npz *z = npz_open(work, s->o->inputs, &s->f);
	bool good = z && (!npz_has(z, name) ||
			  fail_with(&s->f, CLI_INPUT, "%s: '%s' is what "
				    "--generate counts, and cannot be fed",
				    s->o->inputs, name));
	if (z)
		npz_close(z);
	arena_free(work);
	return good;
}

/* ---- the prompt -------------------------------------------------------- */

/* Checks that the tokens have room. */
static bool check_lengths(const generation *g, const char *path)
{
	failure *f = &g->s->f;
	int64_t length = g->p->length, fed = g->all - 1;
	if (g->position < 0 && g->width > 1)
		return fail_with(f, CLI_INPUT, "%s: a step takes %" PRId64
				 " tokens, and no position says how many of "
				 "them count: plan it for one",
				 g->s->o->plan, g->width);
	if (length > 0 && fed > length)
		return fail_with(f, CLI_INPUT, "%s: %" PRId64 " tokens and %"
				 PRId64 " more need %" PRId64 " entries, the "
				 "plan has %" PRId64 " (--carry-length)", path,
				 g->prompt, g->all - g->prompt, fed, length);
	return true;
}

/* The number of tokens in a row of the prompt.  Numbers below 0 only come after
 * them; otherwise, or if there are none, -1. */
static int64_t count_tokens(const array *x, int64_t row)
{
	int64_t n = 0, all = x->dims[1];
	while (n < all && elem_get_i64(x->type, x->data, row * all + n) >= 0)
		n++;
	for (int64_t i = n; i < all; i++)
		if (elem_get_i64(x->type, x->data, row * all + i) >= 0)
			return -1;
	return n > 0 ? n : -1;
}

/* The least and the greatest of what the rows have. */
typedef struct span {
	int64_t least, most;
} span;

static span span_of(const generation *g,
		    int64_t (*of)(const generation *g, int64_t row))
{
	span s = { INT64_MAX, 0 };
	for (int64_t r = 0; r < g->rows; r++) {
		int64_t n = of(g, r);
		s.least = n < s.least ? n : s.least;
		s.most = n > s.most ? n : s.most;
	}
	return s;
}

static int64_t length_of(const generation *g, int64_t row)
{
	return g->lengths[row];
}

static int64_t end_of(const generation *g, int64_t row)
{
	return g->ends[row];
}

static int64_t generated(const generation *g, int64_t row)
{
	return g->ends[row] - g->lengths[row];
}

static bool find_lengths(generation *g, const array *x, const char *path)
{
	arena *a = g->s->a;
	g->lengths = ARENA_ARRAY(a, int64_t, g->rows);
	g->ends = ARENA_ARRAY(a, int64_t, g->rows);
	for (int64_t r = 0; r < g->rows; r++) {
		g->lengths[r] = count_tokens(x, r);
		if (g->lengths[r] < 0)
			return fail_with(&g->s->f, CLI_INPUT, "%s: row %" PRId64
					 " of '%s' is not tokens, and then "
					 "numbers below 0 where it is shorter "
					 "than others", path, r, x->name);
	}
	span s = span_of(g, length_of);
	g->least = s.least < x->dims[1] ? s.least : x->dims[1];
	g->prompt = s.most;
	return true;
}

/* Puts the prompt's tokens at the beginning of each row. */
static bool take_prompt(generation *g, const array *x, const char *path)
{
	int64_t more = g->s->o->generate, n;
	if (!find_lengths(g, x, path))
		return false;
	if (!ck_add(g->prompt, more, &g->all) ||
	    !ck_mul(g->all, g->rows, &n) || n > INT64_MAX / 8)
		return fail_with(&g->s->f, CLI_INPUT, "%s: too many tokens",
				 path);
	if (!check_lengths(g, path))
		return false;
	g->ids = calloc((size_t)n, sizeof(*g->ids));
	if (!g->ids)
		return fail_with(&g->s->f, CLI_MACHINE,
				 "no memory for %" PRId64 " tokens", n);
	for (int64_t r = 0; r < g->rows; r++) {
		g->ends[r] = g->lengths[r] + more;
		for (int64_t i = 0; i < g->all; i++)
			g->ids[r * g->all + i] =
				i < g->lengths[r]
					? elem_get_i64(x->type, x->data,
						       r * x->dims[1] + i)
					: NO_TOKEN;
	}
	return true;
}

static bool read_array(generation *g, npz *z, array *x, const char *path)
{
	failure *f = &g->s->f;
	if (!npz_shape(z, x, f))
		return false;
	if (x->ndim != 2 || x->dims[0] != g->rows || x->dims[1] < 1)
		return fail_with(f, CLI_INPUT, "%s: '%s' is not [%" PRId64
				 ", tokens], with a token or more for each "
				 "row", path, x->name, g->rows);
	x->data = malloc((size_t)array_nbytes(x));
	if (!x->data)
		return fail_with(f, CLI_MACHINE, "%s: no memory for '%s'", path,
				 x->name);
	return npz_read(z, x, f);
}

static bool read_prompt(generation *g)
{
	arena *work = arena_new();
	const char *path = g->s->o->prompt;
	const plan_tensor *t = &g->p->tensors[g->p->inputs[g->tokens]];
	array x = { .name = t->name, .type = t->type };
	npz *z = npz_open(work, path, &g->s->f);
	bool good = z && read_array(g, z, &x, path) &&
		    take_prompt(g, &x, path);
	if (z)
		npz_close(z);
	free(x.data);
	arena_free(work);
	return good;
}

/* ---- steps ------------------------------------------------------------- */

/* The first word with the greatest score for token i of a row; -1 if a score is
 * NaN. */
static int64_t best_word(const generation *g, int64_t row, int64_t i)
{
	const array *x = &g->outputs[g->logits];
	int64_t begin = (row * g->width + i) * g->words, best = 0;
	double most = -INFINITY;
	for (int64_t w = 0; w < g->words; w++) {
		double v = elem_get_f64(x->type, x->data, begin + w);
		if (isnan(v))
			return -1;
		if (v > most) {
			most = v;
			best = w;
		}
	}
	return best;
}

/* Token i of a row; after the end of a row its first token, as any number may
 * not be a token. */
static int64_t token_of(const generation *g, int64_t row, int64_t i)
{
	const int64_t *ids = &g->ids[row * g->all];
	return i + 1 < g->ends[row] && ids[i] != NO_TOKEN ? ids[i] : ids[0];
}

/* Feeds the next tokens of each row, as many up to `end' as a step takes.
 * Places without tokens get the last one. */
static bool step(generation *g, int64_t end, int64_t *fed)
{
	const array *x = &g->feed->inputs[g->tokens];
	int64_t n = end - g->at < g->width ? end - g->at : g->width;
	for (int64_t r = 0; r < g->rows; r++)
		for (int64_t i = 0; i < g->width; i++)
			elem_set_i64(x->type, x->data, r * g->width + i,
				     token_of(g, r, g->at +
					      (i < n ? i : n - 1)));
	if (g->position >= 0) {
		const array *p = &g->feed->inputs[g->position];
		elem_set_i64(p->type, p->data, 0, g->at);
	}
	if (!executor_step(g->m, g->feed->inputs, g->outputs, &g->s->f))
		return false;
	g->at += n;
	g->steps++;
	*fed = n;
	return true;
}

/* Whether the input's type can hold the number of a word. */
static bool is_element(const generation *g, int64_t word)
{
	dtype t = g->feed->inputs[g->tokens].type;
	int bits = dtype_bits(t) - dtype_is_signed(t);
	return bits > 62 || word < INT64_C(1) << bits;
}

/* Appends the likeliest word to each row that needs one and has not ended.
 * Rows are independent: no token sees another row's. */
static bool append(generation *g, int64_t fed)
{
	for (int64_t r = 0; r < g->rows; r++) {
		if (g->at < g->lengths[r] || g->at >= g->ends[r])
			continue;
		int64_t word = best_word(g, r, fed - 1);
		if (word < 0)
			return fail_with(&g->s->f, CLI_MACHINE,
					 "scores of row %" PRId64 " behind "
					 "token %" PRId64 " are no numbers", r,
					 g->at - 1);
		g->ids[r * g->all + g->at] = word;
		g->made += g->at > g->lengths[r];
		if (word == g->s->o->stop)
			g->ends[r] = g->at + 1;
		if (g->at + 1 < g->ends[r] && !is_element(g, word))
			return fail_with(&g->s->f, CLI_INPUT,
					 "%s: word %" PRId64 ", the likeliest "
					 "behind token %" PRId64 " of row %"
					 PRId64 ", is no %s, of which '%s' is",
					 g->s->o->plan, word, g->at - 1, r,
					 dtype_name(g->feed->inputs[g->tokens]
							    .type),
					 g->feed->inputs[g->tokens].name);
	}
	return true;
}

/* The end of the longest row. */
static int64_t last_end(const generation *g)
{
	return span_of(g, end_of).most;
}

/* Removes places after the ends of all rows. */
static void trim(generation *g)
{
	int64_t end = last_end(g);
	for (int64_t r = 0; r < g->rows; r++)
		memmove(&g->ids[r * end], &g->ids[r * g->all],
			(size_t)end * sizeof(*g->ids));
	g->all = end;
}

static bool feed_prompt(generation *g)
{
	double begun = clock_seconds();
	int64_t fed = 0;
	while (g->at < g->least) {
		session_progress(g->s, "prompt: token %" PRId64 " of %" PRId64,
				 g->at + 1, g->least);
		if (!step(g, g->least, &fed))
			return false;
	}
	g->prompt_seconds = clock_seconds() - begun;
	return append(g, fed);
}

static bool generate(generation *g)
{
	double begun = clock_seconds();
	int64_t fed = 0;
	while (g->at + 1 < last_end(g)) {
		session_progress(g->s, "token %" PRId64 " of %" PRId64,
				 g->at + 2 - g->least, last_end(g) - g->least);
		if (!step(g, g->at + 1, &fed) || !append(g, fed))
			return false;
	}
	g->seconds = clock_seconds() - begun;
	trim(g);
	return true;
}

/* ---- the result -------------------------------------------------------- */

/* Tokens of all rows per second; 0 if there were none. */
static double rate(int64_t n, double seconds)
{
	return n > 0 && seconds > 0 ? (double)n / seconds : 0;
}

/* The rate for the prompt. */
static double prompt_rate(const generation *g)
{
	return rate(g->least * g->rows, g->prompt_seconds);
}

/* The rate for words; the first word counts for the prompt. */
static double words_rate(const generation *g)
{
	return rate(g->made, g->seconds);
}

static json_t *ids_json(const generation *g)
{
	json_t *rows = json_array();
	for (int64_t r = 0; r < g->rows; r++) {
		json_t *row = json_array();
		for (int64_t i = 0; i < g->ends[r]; i++)
			json_array_append_new(
				row, json_integer((json_int_t)
						  g->ids[r * g->all + i]));
		json_array_append_new(rows, row);
	}
	return rows;
}

static void report_json(const generation *g, const figures *x)
{
	json_t *j = figures_json(x, g->s->pipeline);
	json_object_set_new(j, "rows", json_integer((json_int_t)g->rows));
	json_object_set_new(j, "prompt_tokens",
			    json_integer((json_int_t)g->prompt));
	json_object_set_new(j, "generated_tokens",
			    json_integer((json_int_t)
						 span_of(g, generated).most));
	json_object_set_new(j, "prompt_tokens_per_second",
			    json_number(prompt_rate(g)));
	json_object_set_new(j, "tokens_per_second",
			    json_number(words_rate(g)));
	json_t *lengths = json_array();
	for (int64_t r = 0; r < g->rows; r++)
		json_array_append_new(lengths, json_integer((json_int_t)
							    g->lengths[r]));
	json_object_set_new(j, "prompt_lengths", lengths);
	json_object_set_new(j, "tokens", ids_json(g));
	print_json(j);
}

static void print_row(const generation *g, int64_t r)
{
	enum { COLUMN = 17, WIDEST = 21 }; /* a number and a blank */
	arena *work = arena_new();
	size_t n = (size_t)generated(g, r);
	char *text = arena_alloc(work, n * WIDEST + 1), *to = text;
	for (int64_t i = g->lengths[r]; i < g->ends[r]; i++)
		to += sprintf(to, "%s%" PRId64, i > g->lengths[r] ? " " : "",
			      g->ids[r * g->all + i]);
	printf("  row %-10" PRId64 " ", r);
	text_wrap(stdout, text, COLUMN, COLUMN);
	arena_free(work);
}

/* "3", "2 to 3" */
static const char *range_text(arena *a, int64_t least, int64_t most)
{
	return least < most ? arena_printf(a, "%" PRId64 " to %" PRId64, least,
					   most)
			    : arena_printf(a, "%" PRId64, most);
}

static void report_text(const generation *g, const figures *x)
{
	span made = span_of(g, generated);
	printf("%s: %d worker%s, %" PRId64 " step%s of %s\n", g->p->model,
	       x->devices, x->devices == 1 ? "" : "s", x->steps,
	       x->steps == 1 ? "" : "s",
	       units_seconds(x->seconds_per_step).text);
	printf("  %-14s %s token%s in each of %" PRId64 " row%s, %s "
	       "tokens per second\n", "prompt",
	       range_text(g->s->a, g->least, g->prompt),
	       g->prompt == 1 ? "" : "s", g->rows, g->rows == 1 ? "" : "s",
	       units_scaled(prompt_rate(g), "").text);
	printf("  %-14s %s token%s in each row", "generated",
	       range_text(g->s->a, made.least, made.most),
	       made.most == 1 ? "" : "s");
	if (words_rate(g) > 0)
		printf(", %s tokens per second",
		       units_scaled(words_rate(g), "").text);
	putchar('\n');
	figures_print(x, g->s->pipeline);
	for (int64_t r = 0; !g->s->o->outputs && r < g->rows; r++)
		print_row(g, r);
}

/* Writes the tokens, with NO_TOKEN after a row's end. */
static bool write_tokens(const generation *g)
{
	array x = { .name = "tokens", .type = DT_I64, .ndim = 2,
		    .dims = { g->rows, g->all }, .data = g->ids };
	return !g->s->o->outputs || !g->s->leads ||
	       npz_write(g->s->o->outputs, 1, &x, &g->s->f);
}

/* ---- the command ------------------------------------------------------- */

static bool prepare(generation *g)
{
	session *s = g->s;
	const options *o = s->o;
	if (g->p->training)
		return fail_with(&s->f, CLI_INPUT, "%s: a step of this plan "
				 "trains, and changes the states: --generate "
				 "needs a plan that does not train", o->plan);
	g->feed = feed_new(s->a, g->p, false, &s->f);
	if (!g->feed || (o->inputs && !feed_read(g->feed, o->inputs, &s->f)))
		return false;
	if (!find_position(g) || !find_tokens(g) || !find_logits(g) ||
	    !read_prompt(g))
		return false;
	g->feed->fed[g->tokens] = true;
	if (!feed_is_complete(g->feed, o->inputs ? o->inputs : o->plan, &s->f))
		return false;
	g->outputs = arrays_of(s->a, g->p, g->p->outputs, g->p->noutputs,
			       &s->f);
	return g->outputs != NULL;
}

static bool run(generation *g, figures *x)
{
	session *s = g->s;
	g->m = session_machine(s, s->pipeline, s->o->plan);
	bool good = g->m && session_states(s, g->m, g->p, g->feed) &&
		    feed_prompt(g) && generate(g);
	if (good)
		*x = session_figures(s, s->pipeline, g->m, g->steps);
	if (g->m)
		session_close(s, g->m);
	return good && write_tokens(g);
}

bool generate_command(session *s, cli_status *status)
{
	generation g = { .s = s, .p = s->p };
	figures x;
	bool good = prepare(&g) && run(&g, &x);
	session_progress(s, "%s", "");
	if (good && s->o->json)
		report_json(&g, &x);
	else if (good)
		report_text(&g, &x);
	arrays_free(g.outputs, g.p->noutputs);
	feed_free(g.feed);
	free(g.ids);
	*status = CLI_OK;
	return good;
}
