/* Reads PipeDream's profiles, graph.txt (Narayanan et al., SOSP 2019).  There
 * is a line for each layer,
 *	ID -- TEXT -- forward_compute_time=MS, backward_compute_time=MS,
 *	activation_size=BYTES, parameter_size=BYTES
 * (on one line; the activation may be a list), then one for each edge,
 *	ID -- ID */
#include "config.h"

#include "compiler/placement/cost_graph.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

typedef struct layer {
	const char *id, *text;
	double forward, backward, activation, parameters;
	bool input; /* its time is for loading data */
} layer;

typedef struct pair {
	const char *end[2];
	int line;
} pair;

typedef struct reader {
	arena *a;
	diag_sink *s;
	const char *path;
	int line;
	VEC(layer) layers;
	VEC(pair) edges;
} reader;

static bool wrong(const reader *r, diag_id id, const char *what)
{
	diag_error_in(r->s, id, arena_printf(r->a, "%s:%d", r->path, r->line),
		      "%s", what);
	return false;
}

/* The length of the decimal number at the beginning of a text; 0 if there is
 * none.  strtod() would also accept "inf", "nan", "-1" and "0x1". */
static size_t decimal(const char *s)
{
	static const char digits[] = "0123456789";
	size_t n = strspn(s, digits), fraction = 0, exponent = n;
	if (s[n] == '.') {
		fraction = strspn(s + n + 1, digits);
		exponent = n + 1 + fraction;
	}
	if (n + fraction == 0)
		return 0;
	n = exponent;
	if (s[n] == 'e' || s[n] == 'E') {
		n += 1 + (s[n + 1] == '+' || s[n + 1] == '-');
		if (isdigit((unsigned char)s[n]))
			return n + strspn(s + n, digits);
	}
	return exponent;
}

/* Reads a number from 0 to most at *at, and moves *at after it. */
static bool number(const reader *r, char **at, double most, double *to)
{
	size_t n = decimal(*at);
	char *end = *at;
	*to = n > 0 ? strtod(*at, &end) : -1;
	if (end != *at + n || !(*to >= 0 && *to <= most))
		return wrong(r, DIAG_COST_GRAPH_INVALID,
			     arena_printf(r->a, "a number from 0 to %.0f is "
					  "expected, not '%.20s'", most, *at));
	*at = end;
	return true;
}

/* Reads KEY=NUMBER at *at, and what separates it from the next. */
static bool setting(const reader *r, char **at, const char *key, double most,
		    double *to)
{
	size_t n = strlen(key);
	if (strncmp(*at, key, n) || (*at)[n] != '=')
		return wrong(r, DIAG_COST_GRAPH_SYNTAX,
			     arena_printf(r->a, "'%s=' is expected, not "
					  "'%.20s'", key, *at));
	*at += n + 1;
	if (!number(r, at, most, to))
		return false;
	*at += strspn(*at, ", ");
	return true;
}

/* Reads activation_size=BYTES, =[BYTES; BYTES] or =[BYTES, BYTES]. */
static bool activation(const reader *r, char **at, double *to)
{
	static const char key[] = "activation_size=";
	size_t n = sizeof(key) - 1;
	double one;
	if (strncmp(*at, key, n) || (*at)[n] != '[')
		return setting(r, at, "activation_size", COST_GRAPH_MAX_BYTES,
			       to);
	*to = 0;
	for (*at += n + 1; **at && **at != ']'; *at += strspn(*at, ",; ")) {
		if (!number(r, at, COST_GRAPH_MAX_BYTES, &one))
			return false;
		*to += one;
	}
	if (**at != ']')
		return wrong(r, DIAG_COST_GRAPH_SYNTAX,
			     "the list of 'activation_size' does not end");
	*at += 1 + strspn(*at + 1, ", ");
	return true;
}

static bool read_layer(reader *r, const char *id, const char *text, char *at)
{
	layer l = { .id = id, .text = text };
	if (!setting(r, &at, "forward_compute_time", COST_GRAPH_MAX_MS,
		     &l.forward) ||
	    !setting(r, &at, "backward_compute_time", COST_GRAPH_MAX_MS,
		     &l.backward) ||
	    !activation(r, &at, &l.activation) ||
	    !setting(r, &at, "parameter_size", COST_GRAPH_MAX_BYTES,
		     &l.parameters))
		return false;
	if (*at && strncmp(at, "-- ", 3))
		return wrong(r, DIAG_COST_GRAPH_SYNTAX,
			     arena_printf(r->a, "the line goes on with "
					  "'%.20s'", at));
	l.input = !strncmp(text, "Input", 5);
	vec_push(r->a, &r->layers, l);
	return true;
}

/* Cuts off trailing blanks.  Returns where the line's text begins. */
static char *stripped(char *line)
{
	char *end = line + strlen(line);
	while (end > line && isspace((unsigned char)end[-1]))
		*--end = 0;
	return line + strspn(line, " \t");
}

static bool read_line(reader *r, char *line)
{
	static const char bar[] = " -- ";
	char *id = stripped(line), *rest = strstr(id, bar);
	if (!*id)
		return true;
	if (!rest || rest == id || strcspn(id, " \t") < (size_t)(rest - id))
		return wrong(r, DIAG_COST_GRAPH_SYNTAX,
			     "neither 'ID -- TEXT -- forward_compute_time=..' "
			     "nor 'ID -- ID'");
	*rest = 0;
	rest += sizeof(bar) - 1;
	char *numbers = strstr(rest, " -- forward_compute_time=");
	if (numbers) {
		*numbers = 0;
		return read_layer(r, id, rest, numbers + sizeof(bar) - 1);
	}
	if (rest[strcspn(rest, " \t")])
		return wrong(r, DIAG_COST_GRAPH_SYNTAX,
			     "an edge is 'ID -- ID', a layer has "
			     "'forward_compute_time='");
	vec_push(r->a, &r->edges, ((pair){ { id, rest }, r->line }));
	return true;
}

/* ---- the training pass --------------------------------------------------- */

/* Adds each layer as a forward operator, and after these a backward operator
 * for each. */
static bool add_layers(reader *r, cost_builder *b)
{
	int n = r->layers.n;
	for (int i = 0; i < n; i++) {
		const layer *l = &r->layers.at[i];
		double bytes = l->input ? 0 : l->activation;
		cost_op op = { .id = l->id, .name = l->text,
			       .ms = l->input ? 0 : l->forward, .core_ms = -1,
			       .resident_nbytes =
				       (int64_t)floor(l->parameters + 0.5),
			       .activation_nbytes =
				       (int64_t)floor(bytes + 0.5),
			       .colour = i, .mirror = n + i };
		if (cost_builder_op(b, &op) < 0)
			return false;
		cost_builder_result(b, i, bytes, -1);
	}
	for (int i = 0; i < n; i++) {
		const layer *l = &r->layers.at[i];
		cost_op op = { .id = arena_printf(r->a, "%s'", l->id),
			       .name = arena_printf(r->a, "%s'", l->text),
			       .ms = l->input ? 0 : l->backward, .core_ms = -1,
			       .colour = i, .mirror = i, .backward = true };
		if (cost_builder_op(b, &op) < 0)
			return false;
	}
	return true;
}

/* The gradient of u's activation has the same size.  Each reader of u sends its
 * own gradient to u', which also reads u's activation. */
static bool add_edges(reader *r, cost_builder *b)
{
	int n = r->layers.n;
	for (int i = 0; i < r->edges.n; i++) {
		int at[2];
		for (int k = 0; k < 2; k++) {
			const char *id = r->edges.at[i].end[k];
			at[k] = cost_builder_find(b, id);
			r->line = r->edges.at[i].line;
			if (at[k] < 0 || at[k] >= n)
				return wrong(r, DIAG_COST_GRAPH_INVALID,
					     arena_printf(r->a, "no layer has "
							  "the id '%.60s'",
							  id));
		}
		const layer *l = &r->layers.at[at[0]];
		if (!cost_builder_edge(b, at[0], at[1]) ||
		    !cost_builder_own(b, n + at[1], n + at[0],
				      l->input ? 0 : l->activation, -1))
			return false;
	}
	for (int i = 0; i < n; i++)
		if (!cost_builder_edge(b, i, n + i))
			return false;
	return true;
}

static void say_inputs(const reader *r)
{
	int n = 0;
	for (int i = 0; i < r->layers.n; i++) {
		const layer *l = &r->layers.at[i];
		n += l->input && (l->forward > 0 || l->backward > 0 ||
				  l->activation > 0);
	}
	if (n > 0)
		diag_warning_in(r->s, DIAG_COST_GRAPH_REPAIRED, r->path,
				"%d 'Input' nodes have the time of loading "
				"data, and a size; they count 0", n);
}

cost_graph *cost_graph_read_profile(arena *a, diag_sink *s, const char *path,
				    char *text, size_t len)
{
	reader r = { .a = a, .s = s, .path = path };
	const char *end = text + len;
	for (char *next; text; text = next) {
		char *stop = text + strcspn(text, "\n");
		next = *stop ? stop + 1 : NULL;
		r.line++;
		if (!next && stop < end) {
			wrong(&r, DIAG_COST_GRAPH_SYNTAX,
			      "a zero byte is not text");
			return NULL;
		}
		*stop = 0;
		if (!read_line(&r, text))
			return NULL;
	}
	cost_builder *b = cost_builder_new(a, s, path);
	if (!add_layers(&r, b) || !add_edges(&r, b))
		return NULL;
	say_inputs(&r);
	cost_graph *g = cost_builder_finish(b, COST_FORMAT_PIPEDREAM);
	if (g)
		g->resident_is_weights = true;
	return g;
}
