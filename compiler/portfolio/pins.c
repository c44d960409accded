#include "config.h"

#include "compiler/portfolio/pins.h"

#include <fnmatch.h>
#include <string.h>

#include "base/file.h"
#include "base/spelling.h"
#include "compiler/planners/partial_assignment.h"
#include "compiler/portfolio/pin_text.h"
#include "compiler/portfolio/tensor_parallel.h"

/* A pin: a pattern, and one word per axis; a single word is for all axes. */
typedef struct pin {
	range at;
	const char *names;
	bool of_nodes; /* the first word is for operators */
	int nwords;
	const char *words[MAX_AXES]; /* "1" of "cut 1"; NULL: whole */
} pin;

typedef struct reading {
	arena *arena;
	diag_sink *sink;
	const graph *g;
	const mesh *mesh;
	partial_assignment *partial_assignment;
	assignment as; /* to ask which choices are possible */
} reading;

static bool fail(const reading *r, const pin *p, const char *why)
{
	diag_error(r->sink, DIAG_BAD_PIN, p->at, "%s", why);
	return false;
}

/* ---- text -------------------------------------------------------------- */

static bool read_word(const reading *r, pin *p, const char *text)
{
	const char *cut = pin_after_word(text, "cut");
	const char *by = pin_after_word(text, "by");
	bool of_nodes = by || !strcmp(text, "whole");
	if (!cut && !of_nodes && strcmp(text, "replicated"))
		return fail(r, p, arena_printf(r->arena, "'%s' is none of "
					       "cut D, replicated, by V, whole",
					       text));
	if (p->nwords > 0 && of_nodes != p->of_nodes)
		return fail(r, p, "some words are for tensors, some for "
			    "operators");
	if (p->nwords == MAX_AXES)
		return fail(r, p, "there are more words than axes");
	p->of_nodes = of_nodes;
	p->words[p->nwords++] = cut ? cut : by;
	return true;
}

/* Reads NAMES=WORDS.  Splits the text in place. */
static bool read_pin(const reading *r, char *text, pin *p)
{
	char *words = strrchr(text, '=');
	if (!words)
		return fail(r, p, "NAMES=WORDS is expected");
	*words++ = '\0';
	p->names = pin_trimmed(text);
	for (char *word; (word = strsep(&words, ","));)
		if (!read_word(r, p, pin_trimmed(word)))
			return false;
	if (p->nwords != 1 && p->nwords != r->mesh->naxes)
		return fail(r, p, arena_printf(r->arena, "%d words, but "
					       "the mesh has %d axes",
					       p->nwords, r->mesh->naxes));
	return true;
}

/* ---- meaning ----------------------------------------------------------- */

/* The dimension that a word names, or the variable of a node.  CUT_NONE for
 * `whole', -2 for anything else. */
static int choice_of(const char *word, const kernel *k)
{
	int64_t d;
	if (!word)
		return CUT_NONE;
	if (!k)
		return cli_int(word, 0, MAX_NDIM - 1, &d) ? (int)d : -2;
	for (int v = 0; v < k->nvars; v++)
		if (!strcmp(k->vars[v].name, word))
			return v;
	return -2;
}

/* The message "it has no such variable; there are i, j, k". */
static const char *no_variable(arena *a, const kernel *k)
{
	const char *text = "it has no such variable";
	for (int v = 0; v < k->nvars; v++)
		text = arena_printf(a, "%s%s%s", text,
				    v ? ", " : "; there are ",
				    k->vars[v].name);
	return text;
}

/* Decides a tensor, or the node with kernel k. */
static bool decide(reading *r, const pin *p, int id, const kernel *k)
{
	const step s = { r->g, &r->as };
	cuts *c = k ? &r->as.node_cuts[id] : &r->as.tensor_cuts[id];
	const char *name = k ? r->g->nodes[id].name : r->g->tensors[id].name;
	*c = cuts_none();
	for (int a = 0; a < r->mesh->naxes; a++) {
		const char *word = p->words[p->nwords == 1 ? 0 : a];
		int d = choice_of(word, k);
		const char *why;
		r->as.mesh.naxes = a + 1;
		if (d == -2)
			why = k ? no_variable(r->arena, k)
				: "it has no such dimension";
		else
			why = k ? partial_assignment_refuses_var(r->arena,
								 &s, id, d)
				: partial_assignment_refuses_dim(r->arena,
								 &s, id, d);
		if (why)
			return fail(r, p, arena_printf(
					r->arena, "'%s' cannot be %s %s%s: "
					"%s", name, k ? "divided by" : "cut "
					"along dimension", word,
					a ? " once more" : "", why));
		c->dim[a] = (signed char)d;
	}
	*(k ? &r->partial_assignment->nodes[id]
	    : &r->partial_assignment->tensors[id]) = *c;
	*(k ? &r->partial_assignment->node_set[id]
	    : &r->partial_assignment->tensor_set[id]) = true;
	return true;
}

static bool no_name(const reading *r, const pin *p)
{
	spelling s = { .given = p->names };
	const char *to = p->of_nodes ? NULL
		: graph_folded_to(r->arena, r->g, p->names);
	if (to)
		return fail(r, p, arena_printf(
			r->arena, "no device has '%s': '%s' is computed of it "
			"once, and lies there in its place", p->names, to));
	for (tensor_id t = 0; !p->of_nodes && t < r->g->ntensors; t++)
		spelling_try(&s, r->g->tensors[t].name);
	for (node_id n = 0; p->of_nodes && n < r->g->nnodes; n++)
		spelling_try(&s, r->g->nodes[n].name);
	return fail(r, p, arena_printf(r->arena, "no %s is called '%s'%s",
				       p->of_nodes ? "operator" : "tensor",
				       p->names,
				       spelling_hint(&s, r->arena)));
}

static bool apply(reading *r, const pin *p)
{
	int count = 0;
	bool ok = true;
	for (tensor_id t = 0; ok && !p->of_nodes && t < r->g->ntensors; t++)
		if (!fnmatch(p->names, r->g->tensors[t].name, 0)) {
			ok = decide(r, p, t, NULL);
			count++;
		}
	for (node_id n = 0; ok && p->of_nodes && n < r->g->nnodes; n++)
		if (!fnmatch(p->names, r->g->nodes[n].name, 0)) {
			ok = decide(r, p, n, r->g->nodes[n].kernel);
			count++;
		}
	return ok && count == 0 ? no_name(r, p) : ok;
}

/* Reads and applies a pin; a pin_line. */
static bool apply_line(void *of, char *line, range at)
{
	reading *r = of;
	pin p = { .at = at };
	return read_pin(r, line, &p) && apply(r, &p);
}

static bool apply_all(reading *r, const char *path, const char *text,
		      size_t len)
{
	return pin_text_read(r->arena, r->sink, path, text, len, apply_line,
			     r);
}

/* Whether states and their next values have the same pins. */
static bool agree(const reading *r, const pin_texts *o)
{
	tensor_id t = partial_assignment_tie(r->partial_assignment);
	if (t == NONE)
		return true;
	diag_error_in(r->sink, DIAG_BAD_PIN,
		      o->file ? o->file : diag_option(r->sink, "pin"),
		      "'%s' and its next value, '%s', have to be held in the "
		      "same way",
		      r->g->tensors[t].name,
		      r->g->tensors[r->g->tensors[t].next].name);
	return false;
}

const char *pins_pattern(arena *a, const char *name)
{
	const char *s = "";
	for (; *name; name++)
		s = strchr("*?[\\", *name) ?
			arena_printf(a, "%s\\%c", s, *name) :
			arena_printf(a, "%s%c", s,
				     strchr("#\n\r\t ", *name) ? '?' : *name);
	return s;
}

const partial_assignment *pins_resolve(arena *a, diag_sink *sink,
				       const pin_texts *o, const graph *g,
				       const mesh *m)
{
	partial_assignment *all = ARENA_NEW(a, partial_assignment);
	partial_assignment scratch = partial_assignment_new(a, g);
	reading r = { a, sink, g, m, all,
		      { *m, scratch.tensors, scratch.nodes } };
	bool ok = true;
	*all = partial_assignment_new(a, g);
	if (o->file) {
		size_t len;
		const char *text = file_read(a, sink, o->file,
					     PIN_MOST_TEXT, &len);
		if (text && path_ends_in(o->file, ".json")) {
			text = tensor_parallel_pins(a, sink, o->file, text,
						    len, g);
			len = text ? strlen(text) : 0;
		}
		ok = text && apply_all(&r, o->file, text, len);
	}
	for (int i = 0; i < o->pins.n; i++)
		ok &= apply_all(&r, diag_option(sink, "pin"), o->pins.at[i],
				strlen(o->pins.at[i]));
	return ok && agree(&r, o) ? all : NULL;
}
