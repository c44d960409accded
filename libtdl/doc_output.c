#include "config.h"

#include "libtdl/doc_output.h"

#include <ctype.h>
#include <string.h>

void page_spans(FILE *to, const char *line, size_t n, page_put plain,
		page_put code)
{
	const char *end = line + n;
	while (line < end) {
		const char *open = memchr(line, '`', (size_t)(end - line));
		const char *shut = open ? memchr(open + 1, '`',
						 (size_t)(end - open - 1))
					: NULL;
		plain(to, line, (size_t)((shut ? open : end) - line));
		if (!shut)
			return;
		if (shut > open + 1)
			code(to, open + 1, (size_t)(shut - open - 1));
		line = shut + 1;
	}
}

const char *page_line(const char **text, size_t *n)
{
	const char *line = *text;
	if (!line)
		return NULL;
	const char *end = strchr(line, '\n');
	*text = end ? end + 1 : NULL;
	*n = end ? (size_t)(end - line) : strlen(line);
	while (*n && isspace((unsigned char)*line)) {
		line++;
		--*n;
	}
	while (*n && isspace((unsigned char)line[*n - 1]))
		--*n;
	return line;
}

bool page_is_code(const char *cell)
{
	return strpbrk(cell, "[]*/\\&:%=<>|") != NULL;
}

void page_anchor(FILE *to, const char *words)
{
	for (; *words; words++) {
		unsigned char c = (unsigned char)*words;
		if (isalnum(c) || c == '_' || c == '-')
			fputc(tolower(c), to);
		else if (c == ' ')
			fputc('-', to);
	}
}
