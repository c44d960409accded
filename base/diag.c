#include "config.h"

#include "base/diag.h"

#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "base/vec.h"

typedef enum severity { ERROR, WARNING, NOTE } severity;

typedef struct source {
	const char *path, *text;
	uint32_t base, len;
} source;

typedef struct diag {
	severity severity;
	diag_id id;	    /* for errors and warnings */
	range at;
	const char *place;  /* if there is no text */
	const char *message;
} diag;

struct diag_sink {
	arena *arena;
	VEC(source) sources;
	VEC(diag) diags; /* notes follow their diagnostic */
	uint32_t next_base;
	int nerrors;
	bool note_dropped; /* the preceding diagnostic was not kept */
	bool members;	   /* as set by diag_name_members() */
};

static const struct {
	const char *name, *summary;
} ids[DIAG_COUNT] = {
#define DIAG(id, name, summary) [DIAG_##id] = { name, summary },
#include "base/diag.def"
#undef DIAG
};

const char *diag_name(diag_id id)
{
	return ids[id].name;
}

const char *diag_summary(diag_id id)
{
	return ids[id].summary;
}

diag_sink *diag_sink_new(arena *a)
{
	diag_sink *s = ARENA_NEW(a, diag_sink);
	s->arena = a;
	s->next_base = 1;
	return s;
}

diag_sink *diag_sink_beside(arena *a, const diag_sink *from)
{
	diag_sink *s = diag_sink_new(a);
	for (int i = 0; i < from->sources.n; i++)
		vec_push(a, &s->sources, from->sources.at[i]);
	s->next_base = from->next_base;
	s->members = from->members;
	return s;
}

static const struct {
	const char *name, *member, *spelling;
} options[] = {
#define OPTION(name, member, spelling) { name, member, spelling },
#include "base/options.def"
#undef OPTION
};

const char *diag_option(const diag_sink *s, const char *name)
{
	size_t i = 0;
	while (strcmp(options[i].name, name)) {
		i++;
		assert(i < sizeof(options) / sizeof(*options));
	}
	return s->members ? options[i].member : options[i].spelling;
}

void diag_name_members(diag_sink *s)
{
	s->members = true;
}

uint32_t diag_add_source(diag_sink *s, const char *path, const char *text,
			 size_t len)
{
	if (len > DIAG_MAX_SOURCE ||
	    len >= (size_t)(UINT32_MAX - s->next_base)) {
		diag_error_in(s, DIAG_TOO_LARGE, path,
			      "the file has %zu bytes, %u are accepted", len,
			      DIAG_MAX_SOURCE);
		return 0;
	}
	source src = { arena_strdup(s->arena, path), text, s->next_base,
		       (uint32_t)len };
	vec_push(s->arena, &s->sources, src);
	s->next_base += (uint32_t)len + 1;
	return src.base;
}

static const source *find_source(const diag_sink *s, uint32_t offset)
{
	for (int i = s->sources.n - 1; i >= 0; i--) {
		const source *src = &s->sources.at[i];
		if (offset >= src->base && offset - src->base <= src->len)
			return src;
	}
	return NULL;
}

const char *diag_path(const diag_sink *s, range r)
{
	const source *src = find_source(s, r.beg);
	return src ? src->path : NULL;
}

const char *diag_text(const diag_sink *s, range r, size_t *len)
{
	const source *src = find_source(s, r.beg);
	*len = src ? r.end - r.beg : 0;
	return src ? src->text + (r.beg - src->base) : "";
}

void diag_line_col(const diag_sink *s, uint32_t offset, int *line, int *col)
{
	const source *src = find_source(s, offset);
	*line = *col = 0;
	if (!src)
		return;
	*line = 1;
	uint32_t start = 0, at = offset - src->base;
	for (uint32_t i = 0; i < at; i++) {
		if (src->text[i] == '\n') {
			++*line;
			start = i + 1;
		}
	}
	*col = (int)(at - start) + 1;
}

/* The most bytes shown of a message, and of the name of a place. */
enum { MAX_MESSAGE = 1000, MAX_PLACE = 300 };

static bool continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* A text that contains words from the input, made safe to show.  Control
 * characters are replaced, and a long text is reduced to its beginning and
 * end. */
static char *shown(arena *a, char *text, size_t most)
{
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	size_t n = strlen(text), head = most / 2, tail = n - most / 2;
	if (n <= most)
		return text;
	while (head > 0 && continues(text[head]))
		head--;
	while (continues(text[tail]))
		tail++;
	text[head] = '\0';
	return arena_printf(a, "%s...%s", text, text + tail);
}

static void say_too_many(diag_sink *s)
{
	diag d = { .severity = ERROR, .id = DIAG_TOO_MANY_ERRORS };
	d.message = arena_printf(s->arena, "there are more errors than the %d "
				 "shown", DIAG_MAX_ERRORS);
	vec_push(s->arena, &s->diags, d);
}

/* Counts a diagnostic.  Returns whether to keep it. */
static bool count(diag_sink *s, const diag *d)
{
	if (d->severity == ERROR)
		s->nerrors++;
	if (d->severity != NOTE)
		s->note_dropped = s->nerrors > DIAG_MAX_ERRORS;
	if (s->note_dropped && d->severity == ERROR &&
	    s->nerrors == DIAG_MAX_ERRORS + 1)
		say_too_many(s);
	return !s->note_dropped;
}

static void add(diag_sink *s, diag d, const char *fmt, va_list ap)
{
	if (!count(s, &d))
		return;
	d.message = shown(s->arena, arena_vprintf(s->arena, fmt, ap),
			  MAX_MESSAGE);
	if (d.place)
		d.place = shown(s->arena, arena_strdup(s->arena, d.place),
				MAX_PLACE);
	vec_push(s->arena, &s->diags, d);
}

#define ADD(...)                                 \
	do {                                     \
		va_list ap;                      \
		va_start(ap, fmt);               \
		add(s, (diag){ __VA_ARGS__ }, fmt, ap); \
		va_end(ap);                      \
	} while (0)

void diag_error(diag_sink *s, diag_id id, range at, const char *fmt, ...)
{
	ADD(.severity = ERROR, .id = id, .at = at);
}

void diag_warning(diag_sink *s, diag_id id, range at, const char *fmt, ...)
{
	ADD(.severity = WARNING, .id = id, .at = at);
}

void diag_error_in(diag_sink *s, diag_id id, const char *place,
		   const char *fmt, ...)
{
	ADD(.severity = ERROR, .id = id, .place = place);
}

void diag_warning_in(diag_sink *s, diag_id id, const char *place,
		     const char *fmt, ...)
{
	ADD(.severity = WARNING, .id = id, .place = place);
}

void diag_note(diag_sink *s, range at, const char *fmt, ...)
{
	ADD(.severity = NOTE, .at = at);
}

void diag_join(diag_sink *s, const diag_sink *from)
{
	for (int i = 0; i < from->diags.n; i++) {
		diag d = from->diags.at[i];
		if (!count(s, &d))
			continue;
		d.message = arena_strdup(s->arena, d.message);
		d.place = d.place ? arena_strdup(s->arena, d.place) : NULL;
		vec_push(s->arena, &s->diags, d);
	}
}

int diag_errors(const diag_sink *s)
{
	return s->nerrors;
}

void diag_forgive(diag_sink *s, int n)
{
	int seen = 0, last = s->diags.n - 1;
	if (last >= 0 && s->diags.at[last].severity == ERROR &&
	    s->diags.at[last].id == DIAG_TOO_MANY_ERRORS)
		s->diags.n--;
	for (int i = 0; i < s->diags.n; i++)
		if (s->diags.at[i].severity == ERROR && seen++ >= n)
			s->diags.at[i].severity = WARNING;
	s->nerrors = s->nerrors < n ? s->nerrors : n;
	s->note_dropped = false;
}

const char *diag_message(const diag_sink *s, int i)
{
	for (int j = 0; j < s->diags.n; j++)
		if (s->diags.at[j].severity == ERROR && i-- == 0)
			return s->diags.at[j].message;
	return NULL;
}

int diag_count(const diag_sink *s)
{
	return s->diags.n;
}

enum { LINE_SHOWN = 160 };

/* Bytes that would move the cursor or are no text are shown as '?'. */
static char clean(char c)
{
	unsigned char u = (unsigned char)c;
	return u == '\t' ? ' ' : u < 0x20 || u == 0x7f ? '?' : c;
}

/* Quotes the line of d.  A long line is cut to a window around the range. */
static void quote_line(const diag_sink *s, const source *src, const diag *d,
		       diag_view *v)
{
	uint32_t at = d->at.beg - src->base, beg = at, end = at;
	while (beg > 0 && src->text[beg - 1] != '\n' && at - beg < LINE_SHOWN)
		beg--;
	while (end < src->len && src->text[end] != '\n' &&
	       end - beg < 2 * LINE_SHOWN)
		end++;
	if (end - beg > LINE_SHOWN) {
		if (at - beg > LINE_SHOWN / 2)
			beg = at - LINE_SHOWN / 2;
		if (end - beg > LINE_SHOWN)
			end = beg + LINE_SHOWN;
		while (beg < at && continues(src->text[beg]))
			beg++;
	}
	char *line = arena_strndup(s->arena, src->text + beg, end - beg);
	for (uint32_t i = 0; i < end - beg; i++)
		line[i] = clean(src->text[beg + i]);
	v->excerpt = line;
	v->excerpt_column = v->column - (int)(at - beg);
}

diag_view diag_at(const diag_sink *s, int i)
{
	const diag *d = &s->diags.at[i];
	const source *src = d->at.beg ? find_source(s, d->at.beg) : NULL;
	diag_view v = { .severity = (diag_severity)d->severity,
			.name = d->severity == NOTE ? "" : diag_name(d->id),
			.message = d->message, .file = d->place };
	if (!src)
		return v;
	v.file = src->path;
	diag_line_col(s, d->at.beg, &v.line, &v.column);
	diag_line_col(s, d->at.end, &v.end_line, &v.end_column);
	quote_line(s, src, d, &v);
	return v;
}

bool diag_source(const diag_sink *s, int i, const char **path,
		 const char **text, size_t *len)
{
	if (i >= s->sources.n)
		return false;
	*path = s->sources.at[i].path;
	*text = s->sources.at[i].text;
	*len = s->sources.at[i].len;
	return true;
}

bool diag_full(const diag_sink *s)
{
	return s->nerrors >= DIAG_MAX_ERRORS;
}

/* ---- printing ---------------------------------------------------------- */

static const char *const severity_name[] = { "error", "warning", "note" };
static const char *const severity_colour[] = { "\033[1;31m", "\033[1;35m",
					       "\033[1;36m" };

static void put_clean(FILE *to, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fputc(clean(s[i]), to);
}

/* Prints the source line with a caret under the range. */
static void print_excerpt(const diag_view *v, FILE *to, const char *on,
			  const char *off)
{
	int n = (int)strlen(v->excerpt), at = v->column - v->excerpt_column;
	int stop = v->end_line > v->line ? n : v->end_column -
						       v->excerpt_column;
	fprintf(to, "%5d | %s\n      | ", v->line, v->excerpt);
	for (int i = 0; i < at; i++)
		if (!continues(v->excerpt[i]))
			fputc(' ', to);
	fprintf(to, "%s^", on);
	for (int i = at + 1; i < stop && i < n; i++)
		if (!continues(v->excerpt[i]))
			fputc(v->severity == DIAG_IS_NOTE ? '~' : '^', to);
	fprintf(to, "%s\n", off);
}

static void print_view(const diag_view *v, FILE *to, bool colour)
{
	const char *bold = colour ? "\033[1m" : "";
	const char *on = colour ? severity_colour[v->severity] : "";
	const char *off = colour ? "\033[0m" : "";
	if (v->line)
		fprintf(to, "%s%s:%d:%d:%s ", bold, v->file, v->line,
			v->column, off);
	else if (v->file)
		fprintf(to, "%s%s:%s ", bold, v->file, off);
	fprintf(to, "%s%s:%s ", on, severity_name[v->severity], off);
	size_t n = strlen(v->message);
	put_clean(to, v->message, n > 4096 ? 4096 : n);
	if (v->severity != DIAG_IS_NOTE)
		fprintf(to, " [%s]", v->name);
	fputc('\n', to);
	if (v->excerpt)
		print_excerpt(v, to, on, off);
}

void diag_print_views(const diag_view *all, int n, FILE *to, bool colour)
{
	for (int i = 0; i < n; i++)
		print_view(&all[i], to, colour);
}

void diag_print(const diag_sink *s, FILE *to, bool colour)
{
	for (int i = 0; i < diag_count(s); i++) {
		diag_view v = diag_at(s, i);
		print_view(&v, to, colour);
	}
}

static json_t *json_one(const diag_view *v)
{
	json_t *j = json_object();
	if (v->file)
		json_object_set_new(j, "file", json_of_text(v->file));
	if (v->line) {
		json_object_set_new(j, "line", json_integer(v->line));
		json_object_set_new(j, "column", json_integer(v->column));
		json_object_set_new(j, "end_line", json_integer(v->end_line));
		json_object_set_new(j, "end_column",
				    json_integer(v->end_column));
	}
	json_object_set_new(j, "severity",
			    json_string(severity_name[v->severity]));
	if (v->severity != DIAG_IS_NOTE) {
		json_object_set_new(j, "name", json_string(v->name));
		json_object_set_new(j, "notes", json_array());
	}
	json_object_set_new(j, "message", json_of_text(v->message));
	return j;
}

void diag_print_views_json(const diag_view *views, int n, FILE *to)
{
	json_t *all = json_array(), *last = NULL;
	for (int i = 0; i < n; i++) {
		json_t *j = json_one(&views[i]);
		if (views[i].severity == DIAG_IS_NOTE && last) {
			json_array_append_new(json_object_get(last, "notes"),
					      j);
		} else {
			json_array_append_new(all, j);
			last = j;
		}
	}
	json_t *top = json_pack("{s:o}", "diagnostics", all);
	json_dumpf(top, to, JSON_INDENT(2));
	fputc('\n', to);
	json_decref(top);
}
