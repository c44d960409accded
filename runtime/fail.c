#include "config.h"

#include "runtime/fail.h"

#include <stdarg.h>
#include <stdio.h>

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
