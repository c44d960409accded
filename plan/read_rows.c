#include "config.h"

#include "plan/read_rows.h"

#include <stdio.h>
#include <string.h>

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t skip_space(const rows *r, size_t i, size_t end)
{
	while (i < end && is_space(r->text[i]))
		i++;
	return i;
}

/* The offset after the string that begins at i; `end' if it does not end. */
static size_t skip_string(const rows *r, size_t i, size_t end)
{
	for (i++; i < end && r->text[i] != '"'; i++)
		if (r->text[i] == '\\')
			i++;
	return i < end ? i + 1 : end;
}

static size_t skip_word(const rows *r, size_t i, size_t end)
{
	while (i < end && !is_space(r->text[i]) &&
	       !strchr(",:[]{}\"", r->text[i]))
		i++;
	return i;
}

/* The offset after the value, of any kind, that begins at i; `end' if it does
 * not end. */
static size_t skip_value(const rows *r, size_t i, size_t end)
{
	size_t depth = 0;
	while (i < end) {
		char c = r->text[i];
		if (c == '"') {
			i = skip_string(r, i, end);
		} else if (c == '[' || c == '{') {
			depth++;
			i++;
		} else if (c == ']' || c == '}') {
			if (depth == 0)
				return i;
			depth--;
			i++;
		} else if (depth > 0) {
			i++;
			continue;
		} else {
			return skip_word(r, i, end);
		}
		if (depth == 0)
			return i;
	}
	return end;
}

/* The value at i, after white space. */
static slice row_at(const rows *r, size_t i, size_t end)
{
	i = skip_space(r, i, end);
	return (slice){ i, skip_value(r, i, end) };
}

/* Notes a table if the member is one. */
static void note_table(rows *r, const char *const *names, slice name,
		       slice value)
{
	size_t n = name.end - name.beg;
	bool array = value.end < r->len && r->text[value.beg] == '[' &&
		     r->text[value.end - 1] == ']';
	for (int t = 0; array && t < r->ntables; t++)
		if (strlen(names[t]) == n && r->tables[t].beg == 0 &&
		    !memcmp(names[t], r->text + name.beg, n))
			r->tables[t] = (slice){ value.beg + 1, value.end - 1 };
}

rows rows_find(const char *text, size_t len, const char *const *names,
	       int ntables)
{
	rows r = { .text = text, .len = len, .ntables = ntables };
	size_t i = skip_space(&r, 0, len);
	if (i == len || text[i] != '{')
		return r;
	for (i++; i < len;) {
		i = skip_space(&r, i, len);
		if (i >= len || text[i] != '"')
			break;
		slice name = { i + 1, skip_string(&r, i, len) - 1 };
		i = skip_space(&r, name.end + 1, len);
		if (i >= len || text[i] != ':')
			break;
		slice value = row_at(&r, i + 1, len);
		note_table(&r, names, name, value);
		i = skip_space(&r, value.end, len);
		if (i >= len || text[i] != ',')
			break;
		i++;
	}
	return r;
}

/* ---- bounds ------------------------------------------------------------ */

/* The memory of the tree that jansson builds of a part of the text.  An object
 * takes about 250 bytes, an array 150, a member 100, an element 60, a string
 * its length in addition. */
static size_t cost_of(const rows *r, size_t i, size_t end)
{
	size_t cost = 0;
	bool quoted = false;
	for (; i < end; i++) {
		char c = r->text[i];
		if (quoted && c == '\\')
			i++;
		else if (c == '"')
			cost += (quoted = !quoted) ? 60 : 0;
		else if (!quoted)
			cost += c == '{' ? 250 : c == '[' ? 150
			      : c == ':' ? 100 : c == ',' ? 60 : 0;
	}
	return cost;
}

/* The first table that begins after `at'; -1 if there is none. */
static int next_table(const rows *r, size_t at)
{
	int found = -1;
	for (int t = 0; t < r->ntables; t++)
		if (r->tables[t].beg > at &&
		    (found < 0 || r->tables[t].beg < r->tables[found].beg))
			found = t;
	return found;
}

bool rows_fit(const rows *r, size_t most)
{
	size_t at = 0, cost = 0;
	for (int t = next_table(r, 0); t >= 0; t = next_table(r, at)) {
		const slice *x = &r->tables[t];
		cost += cost_of(r, at, x->beg);
		for (size_t i = x->beg; i < x->end; i++) {
			slice row = row_at(r, i, x->end);
			if (cost_of(r, row.beg, row.end) > most)
				return false;
			i = row.end;
		}
		at = x->end;
	}
	return cost + cost_of(r, at, r->len) <= most;
}

/* ---- reading ----------------------------------------------------------- */

/* A copy of the text with the tables' rows blanked out, so that offsets stay
 * the same. */
typedef struct blanked {
	const rows *r;
	size_t at;
} blanked;

static size_t give(void *buffer, size_t size, void *data)
{
	blanked *b = data;
	const rows *r = b->r;
	size_t n = r->len - b->at < size ? r->len - b->at : size;
	char *to = buffer;
	memcpy(to, r->text + b->at, n);
	for (int t = 0; t < r->ntables; t++) {
		size_t beg = r->tables[t].beg, end = r->tables[t].end;
		beg = beg > b->at ? beg : b->at;
		end = end < b->at + n ? end : b->at + n;
		for (size_t i = beg; i < end; i++)
			if (r->text[i] != '\n')
				to[i - b->at] = ' ';
	}
	b->at += n;
	return n;
}

json_t *rows_rest(const rows *r, json_error_t *e)
{
	blanked b = { r, 0 };
	return json_load_callback(give, &b, JSON_REJECT_DUPLICATES, e);
}

/* Shifts an error's place, which is relative to `offset', to be relative to the
 * beginning. */
static void place_from(const rows *r, size_t offset, json_error_t *e)
{
	int line = 0, column = 0;
	for (size_t i = 0; i < offset; i++) {
		line += r->text[i] == '\n';
		column = r->text[i] == '\n' ? 0 : column + 1;
	}
	e->column += e->line <= 1 ? column : 0;
	e->line += line;
}

int64_t rows_count(const rows *r, int table)
{
	const slice *x = &r->tables[table];
	int64_t n = 0;
	for (size_t i = x->beg; i < x->end; i++, n++) {
		slice row = row_at(r, i, x->end);
		if (row.beg == x->end)
			break;
		i = skip_space(r, row.end, x->end);
	}
	return n;
}

row_cursor rows_begin(const rows *r, int table)
{
	return (row_cursor){ r, r->tables[table], false };
}

json_t *rows_next(row_cursor *c, json_error_t *e)
{
	const rows *r = c->rows;
	size_t at = skip_space(r, c->rest.beg, c->rest.end);
	json_t *j = NULL;
	memset(e, 0, sizeof(*e));
	if (at == c->rest.end)
		return NULL;
	if (c->started && r->text[at] != ',') {
		e->line = 1;
		snprintf(e->text, sizeof(e->text), "',' or ']' expected");
	} else {
		slice row = row_at(r, at + c->started, c->rest.end);
		j = json_loadb(r->text + row.beg, row.end - row.beg,
			       JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, e);
		at = row.beg;
		c->started = true;
		c->rest.beg = row.end;
	}
	if (!j)
		place_from(r, at, e);
	return j;
}
