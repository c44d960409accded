/* Removes unused declarations from generated text. */
#include "config.h"

#include "compiler/codegen/cuda.h"

#include <ctype.h>
#include <string.h>

static const char declaration[] = "const TDL_INT ";
static const char digit[] = "tdl_digit(";

static int depth_of(const char *line)
{
	return (int)strspn(line, "\t");
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Whether a line has a name that is no member, unlike in "blockIdx.x" or
 * "tile::b". */
static bool has_word(const char *line, const char *word, size_t n)
{
	for (const char *s = line; (s = strstr(s, word)); s += n)
		if ((s == line || (!is_word(s[-1]) && s[-1] != '.' &&
				   s[-1] != ':')) &&
		    !is_word(s[n]))
			return true;
	return false;
}

/* Whether a line declares this name without using another variable of the same
 * name for it. */
static bool declares(const char *line, const char *word, size_t n)
{
	const char *s = line + depth_of(line);
	size_t head = strlen(declaration);
	return !strncmp(s, declaration, head) &&
	       !strncmp(s + head, word, n) && s[head + n] == ' ' &&
	       !has_word(s + head + n, word, n);
}

/* The line after the end of the block that contains line i; at most n. */
static int end_of_block(char *const *lines, int n, int i)
{
	int depth = depth_of(lines[i]);
	while (++i < n)
		if (*lines[i] && *lines[i] != '#' && depth_of(lines[i]) < depth)
			break;
	return i;
}

/* Whether the name declared in line i is used in the following lines of its
 * block, outside of inner blocks that redeclare it. */
static bool is_used(arena *a, char *const *lines, int n, int i)
{
	const char *name = lines[i] + depth_of(lines[i]) + strlen(declaration);
	size_t len = strcspn(name, " ");
	const char *word = arena_strndup(a, name, len);
	int end = end_of_block(lines, n, i);
	for (int j = i + 1; j < end; j++) {
		if (declares(lines[j], word, len))
			j = end_of_block(lines, n, j) - 1;
		else if (has_word(lines[j], word, len))
			return true;
	}
	return false;
}

/* The rest of a declaration of an unused name: the step of a division into
 * digits.  NULL if the whole line can be removed. */
static char *without_name(arena *a, const char *line)
{
	const char *call = strstr(line, digit);
	if (!call)
		return NULL;
	return arena_printf(a, "%.*s%.*s;", depth_of(line), line,
			    (int)strcspn(call, ")") + 1, call);
}

static int split_lines(arena *a, char *s, char ***lines)
{
	int n = 0;
	for (const char *c = s; *c; c++)
		n += *c == '\n';
	*lines = ARENA_ARRAY(a, char *, n);
	for (int i = 0; i < n; i++) {
		char *end = strchr(s, '\n');
		*end = '\0';
		(*lines)[i] = s;
		s = end + 1;
	}
	return n;
}

char *cuda_tidy(arena *a, char *s)
{
	char **lines;
	int n = split_lines(a, s, &lines);
	text t = {.a = a};
	/* Goes backwards, so that declarations used only by unused ones are
	 * found, too. */
	for (int i = n - 1; i >= 0; i--) {
		const char *line = lines[i] + depth_of(lines[i]);
		if (!strncmp(line, declaration, strlen(declaration)) &&
		    !is_used(a, lines, n, i))
			lines[i] = without_name(a, lines[i]);
		if (!lines[i])
			lines[i] = (char *)"";
	}
	for (int i = 0; i < n; i++)
		if (*lines[i])
			text_line(&t, "%s", lines[i]);
	return text_end(&t);
}
