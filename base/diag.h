/* Diagnostics: faults in the user's input, each with its place and, where there
 * is one, a remedy.
 *
 * Every reader of input takes a diag_sink, adds to it and goes on; only the
 * driver prints.  Each diagnostic has a name out of base/diag.def, and each
 * name has a golden test. */
#ifndef TDL_BASE_DIAG_H
#define TDL_BASE_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"

/* A range of bytes in a source text, half open.  All sources of a sink share
 * one space of offsets, so a range also says which file it is in.  Offset 0
 * belongs to no source: { 0, 0 } is "nowhere". */
typedef struct range {
	uint32_t beg, end;
} range;

#define NOWHERE ((range){ 0, 0 })

static inline range range_join(range a, range b)
{
	return a.beg == 0 ? b : b.beg == 0 ? a : (range){ a.beg, b.end };
}

typedef enum diag_id {
#define DIAG(id, name, summary) DIAG_##id,
#include "base/diag.def"
#undef DIAG
	DIAG_COUNT
} diag_id;

/* The name as users see it, "read-outside", and a sentence on its meaning. */
const char *diag_name(diag_id id);
const char *diag_summary(diag_id id);

typedef struct diag_sink diag_sink;

/* Diagnostics and sources live in a. */
diag_sink *diag_sink_new(arena *a);

/* A new sink with the sources of another one, so that ranges in them have their
 * places; without its diagnostics. */
diag_sink *diag_sink_beside(arena *a, const diag_sink *from);

/* Adds all diagnostics of another sink that was made beside this one, or with
 * the same sources. */
void diag_join(diag_sink *s, const diag_sink *from);

/* An option in a message, by its name: as the command line has it ("--memory",
 * "-k"), or as members of a request are named ("memory", "devices") after
 * diag_name_members().  One that is in base/options.def. */
const char *diag_option(const diag_sink *s, const char *name);
void diag_name_members(diag_sink *s);

/* Adds a source text, which must outlive the sink and may hold any bytes.
 * Returns the offset of its first byte; the last valid range ends at that
 * plus len.  Returns 0, with an error added, when the text is larger than
 * DIAG_MAX_SOURCE or the space of offsets is used up. */
#define DIAG_MAX_SOURCE (64u << 20)
uint32_t diag_add_source(diag_sink *s, const char *path, const char *text,
			 size_t len);

/* The path of the source that r is in; NULL for NOWHERE.  The text of r is
 * returned by diag_text(), not zero-terminated, its length in *len. */
const char *diag_path(const diag_sink *s, range r);
const char *diag_text(const diag_sink *s, range r, size_t *len);

/* 1-based line and column, in bytes, of an offset; 0 and 0 for nowhere. */
void diag_line_col(const diag_sink *s, uint32_t offset, int *line, int *col);

/* Adds an error or a warning at a range. The message is one sentence, lower
 * case, without a full stop, the user's words in ' '. */
void diag_error(diag_sink *s, diag_id id, range at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void diag_warning(diag_sink *s, diag_id id, range at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The same where the place is no text: "model.onnx: node 'conv_3'". */
void diag_error_in(diag_sink *s, diag_id id, const char *place,
		   const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void diag_warning_in(diag_sink *s, diag_id id, const char *place,
		     const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* A note under the diagnostic added last; at may be NOWHERE. */
void diag_note(diag_sink *s, range at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Number of errors so far.  After DIAG_MAX_ERRORS, diag_full() is true and
 * further ones are counted but not kept; the last one that is says so. */
#define DIAG_MAX_ERRORS 100
int diag_errors(const diag_sink *s);
/* Makes warnings of all errors but the first n. */
void diag_forgive(diag_sink *s, int n);
bool diag_full(const diag_sink *s);

/* The message of error i, 0 <= i < diag_errors(); NULL for one that was not
 * kept. */
const char *diag_message(const diag_sink *s, int i);

/* Diagnostic i of all that were kept, notes among them, in order. */
typedef enum diag_severity { DIAG_IS_ERROR, DIAG_IS_WARNING, DIAG_IS_NOTE }
	diag_severity;

typedef struct diag_view {
	diag_severity severity;
	const char *name;    /* "" for a note */
	const char *message;
	const char *file;    /* or another place; NULL: none */
	int line, column, end_line, end_column; /* 0: none */
	/* The line, of a long one what is around the place, at most 160 bytes
	 * without control characters; and the column of its first byte. */
	const char *excerpt; /* NULL: none */
	int excerpt_column;
} diag_view;

int diag_count(const diag_sink *s);
diag_view diag_at(const diag_sink *s, int i);

/* Source i, in the order of diag_add_source(); false after the last. */
bool diag_source(const diag_sink *s, int i, const char **path,
		 const char **text, size_t *len);

/* Prints all of them, as text in GNU form with the line and a caret, coloured
 * if asked. */
void diag_print(const diag_sink *s, FILE *to, bool colour);

/* The same of diagnostics out of any sink; or as JSON,
 * {"diagnostics": [{"file", "line", "column", "end_line", "end_column",
 *  "severity", "name", "message", "notes": [{...}]}]}; or as a SARIF log, with
 * notes as related locations. */
void diag_print_views(const diag_view *all, int n, FILE *to, bool colour);
void diag_print_views_json(const diag_view *all, int n, FILE *to);
void diag_print_views_sarif(const diag_view *all, int n, FILE *to);

#endif
