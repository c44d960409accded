#include "config.h"

#include "runtime/run/log.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"

struct train_log {
	const char *path;
	FILE *to;
	int nmetrics;
};

enum { MAX_LOG = 1 << 30 };

static bool cannot_write(const char *path, failure *f)
{
	return fail_with(f, CLI_MACHINE, "%s: cannot write: %s", path,
			 strerror(errno));
}

/* A field of a CSV file, RFC 4180. */
static char *quote(arena *a, const char *text)
{
	if (!strpbrk(text, ",\"\n\r"))
		return arena_strdup(a, text);
	char *s = arena_alloc(a, 2 * strlen(text) + 3), *p = s;
	*p++ = '"';
	for (; *text; text++) {
		if (*text == '"')
			*p++ = '"';
		*p++ = *text;
	}
	*p = '"';
	return s;
}

static char *header_of(arena *a, int nmetrics, const metric *metrics)
{
	char *s = arena_strdup(a, "step,epoch,loss,learning_rate,"
				  "samples_per_second");
	for (int i = 0; i < nmetrics; i++)
		s = arena_printf(a, "%s,%s", s,
				 quote(a, arena_printf(a, "evaluate_%s",
						       metrics[i].name)));
	return arena_printf(a, "%s\n", s);
}

/* The length of the beginning of a log that ends with the line of a step.
 * Lines have to be complete, and numbers ascending. */
static size_t length_until(const char *text, size_t len, int64_t steps)
{
	const char *at = text, *end = text + len, *eol;
	while ((eol = memchr(at, '\n', (size_t)(end - at))) != NULL) {
		char *behind;
		long long step = strtoll(at, &behind, 10);
		if (behind != at && (*behind != ',' || step > steps))
			break;
		at = eol + 1;
	}
	return (size_t)(at - text);
}

/* Cuts an existing log down to its first steps; *length is set to the rest.  A
 * log with other columns is refused. */
static bool shorten(arena *a, const char *path, const char *header,
		    int64_t steps, size_t *length, failure *f)
{
	diag_sink *s = diag_sink_new(a);
	size_t len, n = strlen(header);
	const char *text = file_read(a, s, path, MAX_LOG, &len);
	if (!text)
		return fail_of(f, s);
	if (len > 0 && (len < n || memcmp(text, header, n)))
		return fail_with(f, CLI_INPUT, "%s: this log has other columns "
				 "than the run that is resumed", path);
	*length = length_until(text, len, steps);
	return file_write(path, text, *length) || cannot_write(path, f);
}

train_log *log_open(arena *a, const char *path, int64_t steps, int nmetrics,
		    const metric *metrics, failure *f)
{
	train_log *l = ARENA_NEW(a, train_log);
	arena *work = arena_new();
	const char *header = header_of(work, nmetrics, metrics);
	size_t length = 0;
	bool resumed = steps > 0 && file_exists(path);
	bool good = !resumed ||
		    shorten(work, path, header, steps, &length, f);
	*l = (train_log){ .path = path, .nmetrics = nmetrics };
	if (good) {
		l->to = fopen(path, resumed ? "a" : "w");
		good = (l->to && (length > 0 || fputs(header, l->to) >= 0) &&
			fflush(l->to) == 0) || cannot_write(path, f);
	}
	arena_free(work);
	if (good)
		return l;
	log_close(l);
	return NULL;
}

static void put_number(FILE *to, double v)
{
	if (isnan(v))
		fputc(',', to);
	else
		fprintf(to, ",%.9g", v);
}

bool log_write(train_log *l, const log_line *line, failure *f)
{
	fprintf(l->to, "%" PRId64 ",%" PRId64, line->step, line->epoch);
	put_number(l->to, line->loss);
	put_number(l->to, line->learning_rate);
	put_number(l->to, line->samples_per_second);
	for (int i = 0; i < l->nmetrics; i++)
		put_number(l->to, i < line->nmetrics ? line->metrics[i].value :
						       NAN);
	fputc('\n', l->to);
	return (!ferror(l->to) && fflush(l->to) == 0) ||
	       cannot_write(l->path, f);
}

void log_close(train_log *l)
{
	if (l && l->to)
		fclose(l->to);
}
