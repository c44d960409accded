#include "config.h"

#include "compiler/portfolio/pin_text.h"

#include <string.h>

char *pin_trimmed(char *text)
{
	text += strspn(text, " \t\r");
	size_t n = strlen(text);
	while (n > 0 && strchr(" \t\r", text[n - 1]))
		n--;
	text[n] = '\0';
	return text;
}

const char *pin_after_word(const char *text, const char *word)
{
	size_t n = strlen(word);
	if (strncmp(text, word, n) || !text[n] || !strchr(" \t", text[n]))
		return NULL;
	return text + n + strspn(text + n, " \t");
}

bool pin_text_read(arena *a, diag_sink *s, const char *path, const char *text,
		   size_t len, pin_line *line, void *of)
{
	uint32_t base = diag_add_source(s, path, text, len);
	char *rest = arena_strndup(a, text, len), *all = rest;
	bool ok = base > 0;
	if (memchr(text, '\0', len)) {
		diag_error_in(s, DIAG_BAD_PIN, path,
			      "this is not text: it has a zero byte");
		return false;
	}
	for (char *next; base > 0 && (next = strsep(&rest, "\n"));) {
		uint32_t beg = base + (uint32_t)(next - all);
		const range at = { beg, beg + (uint32_t)strlen(next) };
		next[strcspn(next, "#")] = '\0';
		next = pin_trimmed(next);
		if (*next)
			ok &= line(of, next, at);
	}
	return ok;
}
