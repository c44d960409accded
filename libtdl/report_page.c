/* The page of a report: puts its parts together with the JSON. */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "base/stream.h"
#include "libtdl/report.h"
#include "libtdl/report_files.h"

static const char *part(const char *name, size_t len)
{
	for (int i = 0; i < header_count; i++)
		if (strlen(headers[i].name) == len &&
		    !memcmp(headers[i].name, name, len))
			return headers[i].text;
	return NULL;
}

/* Writes JSON for a script element.  Characters that could end the element or
 * begin another are escaped.  They occur only inside strings. */
static void put_json(FILE *to, const char *text)
{
	for (; *text; text++)
		if (*text == '<' || *text == '>' || *text == '&')
			fprintf(to, "\\u%04x", (unsigned)*text);
		else
			putc(*text, to);
}

/* Writes a line of page.html.  "@NAME" stands for a file, "@report" for the
 * data. */
static void put_line(FILE *to, const char *line, size_t len, const char *json)
{
	const char *file = len > 1 && *line == '@' ? part(line + 1, len - 1)
						   : NULL;
	if (len == 7 && !memcmp(line, "@report", 7))
		put_json(to, json);
	else if (file)
		fputs(file, to);
	else
		fwrite(line, 1, len, to);
	putc('\n', to);
}

char *report_page(arena *a, const json_t *report, size_t *len)
{
	static const char frame[] = "libtdl/page/page.html";
	const char *json = json_text(a, report, JSON_COMPACT);
	text_stream s;
	FILE *to = text_stream_open(&s);
	const char *line = part(frame, strlen(frame));
	assert(line);
	while (to && *line) {
		size_t n = strcspn(line, "\n");
		put_line(to, line, n, json);
		line += n + (line[n] == '\n');
	}
	return to ? text_stream_close(&s, a, len) : NULL;
}
