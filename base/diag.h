/* Diagnostics: faults in the user's input, each with its place and, where
 * possible, a remedy.
 *
 * Every reader of input takes a diag_sink, adds its faults to it and goes on;
 * only the driver prints.  Each diagnostic has a name from base/diag.def, and
 * each name has a golden test. */
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

/* The name as users see it, "read-outside", and a sentence that explains it. */
const char *diag_name(diag_id id);
const char *diag_summary(diag_id id);

typedef struct diag_sink diag_sink;

/* Returns a new sink.  Its diagnostics and its list of sources live in a. */
diag_sink *diag_sink_new(arena *a);

/* Returns a new sink that knows the sources of another, so that ranges in them
 * resolve to places, but has none of its diagnostics. */
diag_sink *diag_sink_beside(arena *a, const diag_sink *from);

/* Appends the diagnostics of `from', which must have the same sources as s or
 * have been made by diag_sink_beside(s). */
void diag_join(diag_sink *s, const diag_sink *from);

/* The name of an option of base/options.def for a message: as on the command
 * line ("--memory", "-k"), or, after diag_name_members(), as a member of a
 * request ("memory", "devices"). */
const char *diag_option(const diag_sink *s, const char *name);
void diag_name_members(diag_sink *s);

/* Adds a source text, which must outlive the sink and may hold any bytes.
 * Returns the offset of its first byte; the end of the last valid range is that
 * offset plus len.  Returns 0, with an error added, if the text is larger than
 * DIAG_MAX_SOURCE or the space of offsets is used up. */
#define DIAG_MAX_SOURCE (64u << 20)
uint32_t diag_add_source(diag_sink *s, const char *path, const char *text,
			 size_t len);

/* The path of the source that contains r; NULL for NOWHERE.  The text of r,
 * which is not zero-terminated and *len bytes long; empty for NOWHERE. */
const char *diag_path(const diag_sink *s, range r);
const char *diag_text(const diag_sink *s, range r, size_t *len);

/* 1-based line and column, in bytes, of an offset; 0 and 0 for nowhere. */
void diag_line_col(const diag_sink *s, uint32_t offset, int *line, int *col);

/* Adds an error or a warning at a range.  The message is one sentence, lower
 * case, without a full stop; the user's words are in ' '. */
void diag_error(diag_sink *s, diag_id id, range at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void diag_warning(diag_sink *s, diag_id id, range at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The same for a place that is not in a source text: "model.onnx: node
 * 'conv_3'". */
void diag_error_in(diag_sink *s, diag_id id, const char *place,
		   const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void diag_warning_in(diag_sink *s, diag_id id, const char *place,
		     const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* A note under the diagnostic added last; at may be NOWHERE. */
void diag_note(diag_sink *s, range at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The number of errors so far.  From DIAG_MAX_ERRORS on, diag_full() is true,
 * and further errors are counted but not kept; the last error kept says so. */
#define DIAG_MAX_ERRORS 100
int diag_errors(const diag_sink *s);
/* Turns all errors but the first n into warnings. */
void diag_forgive(diag_sink *s, int n);
bool diag_full(const diag_sink *s);

/* The message of error i, 0 <= i < diag_errors(); NULL if it was not kept. */
const char *diag_message(const diag_sink *s, int i);

/* Diagnostics as values, notes included, in the order in which they were added:
 * 0 <= i < diag_count(). */
typedef enum diag_severity { DIAG_IS_ERROR, DIAG_IS_WARNING, DIAG_IS_NOTE }
	diag_severity;

typedef struct diag_view {
	diag_severity severity;
	const char *name;    /* "" for a note */
	const char *message;
	const char *file;    /* a path, or another place; NULL: none */
	int line, column, end_line, end_column; /* 0: none */
	/* The line, and the column of the excerpt's first byte.  Of a long line
	 * the excerpt is the part around the place; at most 160 bytes, without
	 * control characters. */
	const char *excerpt; /* NULL: none */
	int excerpt_column;
} diag_view;

int diag_count(const diag_sink *s);
diag_view diag_at(const diag_sink *s, int i);

/* Source i, in the order of diag_add_source(); false after the last. */
bool diag_source(const diag_sink *s, int i, const char **path,
		 const char **text, size_t *len);

/* Prints all diagnostics in GNU form, each with its line of source and a caret,
 * coloured if asked. */
void diag_print(const diag_sink *s, FILE *to, bool colour);

/* The same for diagnostics gathered from any sinks: as text; as JSON,
 * {"diagnostics": [{"file", "line", "column", "end_line", "end_column",
 * "severity", "name", "message", "notes": [{...}]}]}; or as a SARIF log, with
 * notes as related locations. */
void diag_print_views(const diag_view *all, int n, FILE *to, bool colour);
void diag_print_views_json(const diag_view *all, int n, FILE *to);
void diag_print_views_sarif(const diag_view *all, int n, FILE *to);

#endif
