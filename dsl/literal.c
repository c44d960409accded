/* Converts the scanner's matches to values: strings, numbers and names. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "dsl/parse.h"

/* The byte that a backslash and c stand for; 0 if none. */
static char escaped(char c)
{
	switch (c) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case '"':
	case '\\':
		return c;
	default:
		return 0;
	}
}

bool literal_string(dsl_parser *p, range at, const char *text, int len,
		    const char **s)
{
	char *out = ARENA_ARRAY(p->arena, char, len);
	size_t n = 0;
	for (int i = 1; i < len - 1; i++) {
		char c = text[i];
		if (c == '\\') {
			c = escaped(text[++i]);
			if (!c) {
				uint32_t beg = at.beg + (uint32_t)i - 1;
				dsl_fault(p, DIAG_BAD_ESCAPE,
					  (range){ beg, beg + 2 },
					  "a backslash can only be before \", "
					  "\\, n or t");
				return false;
			}
		}
		out[n++] = c;
	}
	*s = intern_n(p->names, out, n);
	return true;
}

bool literal_int(dsl_parser *p, range at, const char *text, int64_t *i)
{
	errno = 0;
	long long v = strtoll(text, NULL, 10);
	*i = v;
	if (!errno)
		return true;
	dsl_fault(p, DIAG_OVERFLOW, at, "this number does not fit 64 bits");
	return false;
}

bool literal_float(dsl_parser *p, range at, const char *text, double *f)
{
	*f = strtod(text, NULL);
	if (!isinf(*f))
		return true;
	dsl_fault(p, DIAG_OVERFLOW, at,
		  "this number does not fit 64 bits; write inf for infinity");
	return false;
}

bool literal_name(dsl_parser *p, range at, const char *text, int len,
		  const char **name)
{
	if (len > AST_MAX_NAME) {
		dsl_fault(p, DIAG_NAME_TOO_LONG, at,
			  "this name has %d bytes, at most %d are accepted",
			  len, AST_MAX_NAME);
		return false;
	}
	*name = intern_n(p->names, text, (size_t)len);
	return true;
}
