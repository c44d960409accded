#include "config.h"

#include "runtime/exec/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fail_with(failure *f, cli_status status, const char *fmt, ...)
{
	va_list ap;
	if (f->status != CLI_OK)
		return false;
	f->status = status;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	return false;
}

bool fail_of(failure *f, const diag_sink *s)
{
	char *text = NULL;
	size_t n;
	FILE *to;
	if (!diag_errors(s))
		return true;
	to = open_memstream(&text, &n);
	if (to) {
		diag_print(s, to, false);
		fclose(to);
	}
	n = text ? strlen(text) : 0;
	while (n > 0 && text[n - 1] == '\n')
		text[--n] = '\0';
	fail_with(f, CLI_INPUT, "%s", text ? text : "the plan has errors");
	free(text);
	return false;
}
