#include "config.h"

#include "tests/unit/broken_text.h"

#include <string.h>

static size_t replace_digit(rng *r, char *text, size_t n, size_t at)
{
	while (at < n && (text[at] < '0' || text[at] > '9'))
		at++;
	if (at < n)
		text[at] = (char)('0' + rng_below(r, 10));
	return n;
}

size_t break_text(rng *r, char *text, size_t n)
{
	size_t at = (size_t)rng_below(r, (int)n);
	size_t len = 1 + (size_t)rng_below(r, 40);
	if (at + len >= n)
		len = n - at - 1;
	switch (rng_below(r, 8)) {
	case 0:
		text[at] = (char)rng_below(r, 256);
		return n;
	case 1:
		memmove(text + at, text + at + len, n - at - len);
		return n - len;
	case 2:
		return at;
	case 3:
		memmove(text + at + len, text + at, n - at);
		return n + len;
	default:
		return replace_digit(r, text, n, at);
	}
}
