#include "base/units.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number of decimals that gives v, in [1, 1000), three digits.  It is one
 * less if v rounds up to 10.0 or 100. */
static int decimals(double v)
{
	return v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2;
}

quantity units_scaled(double v, const char *unit)
{
	static const char *const prefixes[] = { "", "k", "M", "G", "T", "P",
						"E" };
	quantity q;
	int i = 0;
	for (; fabs(v) >= 999.5 && i < 6; i++)
		v /= 1000;
	snprintf(q.text, sizeof(q.text), "%.*f%s%s%s",
		 i ? decimals(fabs(v)) : 0, v, i || *unit ? " " : "",
		 prefixes[i], unit);
	return q;
}

quantity units_bytes(double n)
{
	return units_scaled(n, "B");
}

void units_bytes_apart(int n, const double *bytes, quantity *texts)
{
	for (int i = 0; i < n; i++) {
		bool same = false;
		texts[i] = units_bytes(bytes[i]);
		for (int j = 0; j < n; j++)
			same |= bytes[j] != bytes[i] &&
				!strcmp(units_bytes(bytes[j]).text,
					texts[i].text);
		if (same)
			snprintf(texts[i].text, sizeof(texts[i].text),
				 "%.0f B", bytes[i]);
	}
}

quantity units_seconds(double s)
{
	static const char *const units[] = { "s", "ms", "µs" };
	quantity q = { "0 s" };
	int i = 0;
	assert(s >= 0);
	if (s == 0)
		return q;
	for (; s < 0.9995 && i < 2; i++)
		s *= 1000;
	snprintf(q.text, sizeof(q.text), "%.*f %s", decimals(s), s, units[i]);
	return q;
}

quantity units_right(quantity q, int width)
{
	int characters = 0, bytes = (int)strlen(q.text);
	quantity r;
	for (int i = 0; i < bytes; i++)
		characters += (q.text[i] & 0xc0) != 0x80;
	snprintf(r.text, sizeof(r.text), "%*s", width + bytes - characters,
		 q.text);
	return r;
}

/* The factor of a unit: 1024 to the letter's power, or 1000 for decimal units;
 * 0 for an unknown unit. */
static int64_t scale_of(const char *unit)
{
	static const char letters[] = "KMGT";
	bool decimal = strlen(unit) == 2 && unit[1] == 'B';
	char letter = decimal && *unit == 'k' ? 'K' : *unit;
	const char *at = strchr(letters, letter);
	int64_t scale = 1;
	if (!*unit || !strcmp(unit, "B"))
		return 1;
	if (!at || (decimal && *unit == 'K') ||
	    (unit[1] && !decimal && strcmp(unit + 1, "iB") != 0))
		return 0;
	for (long i = 0; i <= at - letters; i++)
		scale *= decimal ? 1000 : 1024;
	return scale;
}

bool units_read_size(const char *text, int64_t *v)
{
	static const char digits[] = "0123456789";
	const int64_t most = (int64_t)1 << 62;
	size_t whole = strspn(text, digits), part = 0;
	if (text[whole] == '.')
		part = strspn(text + whole + 1, digits);
	int64_t scale = scale_of(text + whole + (part ? part + 1 : 0));
	errno = 0;
	long long n = strtoll(text, NULL, 10);
	if (whole == 0 || scale == 0 || errno || n >= most / scale)
		return false;
	*v = n * scale;
	/* A fraction of up to 15 digits is exact enough to be truncated. */
	if (part > 0)
		*v += (int64_t)(strtod(text + whole, NULL) * (double)scale);
	return true;
}
