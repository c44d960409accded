#include "config.h"

#include "dsl/doc.h"

#include <stdbool.h>
#include <string.h>

#include "base/vec.h"

typedef enum doc_kind {
	DOC_TEXT,
	DOC_LINE,
	DOC_HARD,
	DOC_BLANK,
	DOC_TRAILING, /* a comment after something */
	DOC_OWN_LINE, /* a comment on a line of its own */
	DOC_SEQ,
	DOC_GROUP,
	DOC_NEST,
	DOC_ALIGN,
} doc_kind;

struct doc {
	doc_kind kind;
	const char *text;
	int len;		/* length of text; columns of DOC_NEST */
	VEC(const doc *) parts; /* one of DOC_GROUP, DOC_NEST, DOC_ALIGN */
};

/* ---- making ------------------------------------------------------------- */

static doc *make(arena *a, doc_kind kind)
{
	doc *d = ARENA_NEW(a, doc);
	d->kind = kind;
	return d;
}

doc *doc_text(arena *a, const char *s, int n)
{
	doc *d = make(a, DOC_TEXT);
	d->text = s;
	d->len = n < 0 ? (int)strlen(s) : n;
	return d;
}

const doc doc_line = { .kind = DOC_LINE };
const doc doc_hard = { .kind = DOC_HARD };
const doc doc_blank = { .kind = DOC_BLANK };

doc *doc_comment(arena *a, const char *s, int n, int own_line)
{
	doc *d = doc_text(a, s, n);
	d->kind = own_line ? DOC_OWN_LINE : DOC_TRAILING;
	return d;
}

doc *doc_seq(arena *a)
{
	return make(a, DOC_SEQ);
}

void doc_add(arena *a, doc *seq, const doc *d)
{
	vec_push(a, &seq->parts, d);
}

static doc *wrap(arena *a, doc_kind kind, doc *d)
{
	doc *w = make(a, kind);
	w->parts.at = ARENA_ARRAY(a, const doc *, 1);
	w->parts.at[0] = d;
	w->parts.n = w->parts.cap = 1;
	return w;
}

doc *doc_group(arena *a, doc *d)
{
	return wrap(a, DOC_GROUP, d);
}

doc *doc_nest(arena *a, int n, doc *d)
{
	doc *w = wrap(a, DOC_NEST, d);
	w->len = n;
	return w;
}

doc *doc_align(arena *a, doc *d)
{
	return wrap(a, DOC_ALIGN, d);
}

/* ---- layout ------------------------------------------------------------- */

/* A document whose parts before `next' are done. */
typedef struct frame {
	const doc *d;
	int next;
	int indent;
	bool flat;
} frame;

typedef VEC(frame) frames;

struct layout {
	arena *arena;
	int width, column;
	bool pending; /* a line end is due before more text */
	bool empty;   /* .. and an empty line */
	bool comment; /* the line ends in a comment */
	frames stack;
	frames ahead; /* work space of fits() */
	VEC(char) out;
};

/* Columns of UTF-8 text. */
static int columns(const char *s, int n)
{
	int c = 0;
	for (int i = 0; i < n; i++)
		c += ((unsigned char)s[i] & 0xc0) != 0x80;
	return c;
}

/* Takes the next document from a stack, entering containers; false when it is
 * empty. */
static bool take(arena *a, frames *stack, frame *leaf)
{
	while (stack->n > 0) {
		frame *top = &stack->at[stack->n - 1];
		const doc *d = top->d;
		if (d->kind < DOC_SEQ) {
			*leaf = *top;
			stack->n--;
			return true;
		}
		if (top->next == d->parts.n) {
			stack->n--;
			continue;
		}
		frame inner = *top;
		inner.d = d->parts.at[top->next++];
		inner.next = 0;
		if (inner.d->kind == DOC_NEST)
			inner.indent += inner.d->len;
		if (inner.d->kind == DOC_GROUP || inner.d->kind == DOC_ALIGN) {
			*leaf = inner;
			return true;
		}
		vec_push(a, stack, inner);
	}
	return false;
}

/* Whether a group, and what follows up to the next line end, fits in the rest
 * of the line. */
static bool fits(layout *l, frame group)
{
	int left = l->width - (l->pending ? group.indent : l->column);
	frame f;
	group.flat = true;
	l->ahead.n = 0;
	vec_push(l->arena, &l->ahead, group);
	int rest = l->stack.n;
	while (left >= 0) {
		if (!take(l->arena, &l->ahead, &f)) {
			if (rest == 0)
				return true;
			f = l->stack.at[--rest];
			vec_push(l->arena, &l->ahead, f);
			continue;
		}
		switch (f.d->kind) {
		case DOC_TEXT:
			left -= columns(f.d->text, f.d->len);
			break;
		case DOC_LINE:
			if (!f.flat)
				return true;
			left--;
			break;
		case DOC_HARD:
		case DOC_BLANK:
		case DOC_TRAILING:
		case DOC_OWN_LINE:
			return !f.flat;
		default:
			vec_push(l->arena, &l->ahead, f);
		}
	}
	return false;
}

static void put(layout *l, const char *s, int n)
{
	for (int i = 0; i < n; i++)
		vec_push(l->arena, &l->out, s[i]);
	l->column += columns(s, n);
}

static void drop_blanks(layout *l)
{
	while (l->out.n > 0 && l->out.at[l->out.n - 1] == ' ')
		l->out.n--;
}

/* Ends the line, removing blanks at its end. */
static void end_line(layout *l)
{
	drop_blanks(l);
	if (l->out.n > 0)
		put(l, "\n", 1);
	if (l->empty && l->out.n > 0)
		put(l, "\n", 1);
	l->column = 0;
	l->pending = l->empty = l->comment = false;
}

/* Writes text; at the beginning of a line its leading blanks are dropped. */
static void put_text(layout *l, const frame *f)
{
	const char *text = f->d->text;
	int len = f->d->len;
	if (l->pending) {
		end_line(l);
		for (int i = 0; i < f->indent; i++)
			put(l, " ", 1);
		for (; len > 0 && *text == ' '; len--)
			text++;
	}
	put(l, text, len);
}

/* Of two comments after one thing each gets a line. */
static void put_comment(layout *l, const frame *f)
{
	if (f->d->kind == DOC_TRAILING && !l->comment && l->out.n > 0) {
		drop_blanks(l);
		put(l, "  ", 2);
		put(l, f->d->text, f->d->len);
	} else {
		l->pending = true;
		put_text(l, f);
	}
	l->pending = l->comment = true;
}

static void put_leaf(layout *l, const frame *f)
{
	switch (f->d->kind) {
	case DOC_TEXT:
		put_text(l, f);
		return;
	case DOC_LINE:
		if (!f->flat)
			l->pending = true;
		else if (!l->pending)
			put(l, " ", 1);
		return;
	case DOC_BLANK:
		l->empty = true;
		l->pending = true;
		return;
	case DOC_TRAILING:
	case DOC_OWN_LINE:
		put_comment(l, f);
		return;
	default:
		l->pending = true;
	}
}

layout *layout_new(arena *a, int width)
{
	layout *l = ARENA_NEW(a, layout);
	l->arena = a;
	l->width = width;
	return l;
}

void layout_add(layout *l, const doc *d)
{
	doc all = { .kind = DOC_SEQ, .parts = { &d, 1, 1 } };
	frame f = { .d = &all };
	vec_push(l->arena, &l->stack, f);
	while (take(l->arena, &l->stack, &f)) {
		if (f.d->kind == DOC_GROUP) {
			f.flat = f.flat || fits(l, f);
			vec_push(l->arena, &l->stack, f);
		} else if (f.d->kind == DOC_ALIGN) {
			if (!l->pending)
				f.indent = l->column;
			vec_push(l->arena, &l->stack, f);
		} else {
			put_leaf(l, &f);
		}
	}
}

const char *layout_text(layout *l)
{
	l->empty = false;
	if (l->pending)
		end_line(l);
	vec_push(l->arena, &l->out, '\0');
	l->out.n--;
	return l->out.at;
}
