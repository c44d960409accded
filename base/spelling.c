#include "base/spelling.h"

#include <string.h>

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static int least(int x, int y)
{
	return x < y ? x : y;
}

int spelling_distance(const char *a, const char *b)
{
	int rows[3][SPELLING_MAX + 1];
	int *two = rows[0], *one = rows[1], *now = rows[2];
	size_t na = strlen(a), nb = strlen(b);
	if (na > SPELLING_MAX || nb > SPELLING_MAX)
		return SPELLING_FAR;
	for (size_t j = 0; j <= nb; j++)
		one[j] = two[j] = j;
	for (size_t i = 1; i <= na; i++) {
		now[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			bool same = lower(a[i - 1]) == lower(b[j - 1]);
			now[j] = least(one[j - 1] + !same,
				       1 + least(one[j], now[j - 1]));
			if (i > 1 && j > 1 &&
			    lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]))
				now[j] = least(now[j], two[j - 2] + 1);
		}
		int *free = two;
		two = one;
		one = now;
		now = free;
	}
	return one[nb];
}

/* Whether the shorter of two names, of at least three letters, is the beginning
 * of the longer one. */
static bool begins(const char *a, const char *b)
{
	size_t n = least(strlen(a), strlen(b));
	return n >= 3 && !strncmp(a, b, n);
}

void spelling_try(spelling *s, const char *known)
{
	int longest = strlen(s->given), n = strlen(known);
	longest = n > longest ? n : longest;
	int d = spelling_distance(s->given, known);
	if (d * 3 > longest && !begins(s->given, known))
		return;
	if (s->nearest &&
	    (d > s->distance ||
	     (d == s->distance && n >= (int)strlen(s->nearest))))
		return;
	s->nearest = known;
	s->distance = d;
}

void spelling_note(const spelling *s, diag_sink *sink)
{
	if (s->nearest)
		diag_note(sink, NOWHERE, "did you mean '%s'?", s->nearest);
}

const char *spelling_hint(const spelling *s, arena *a)
{
	return s->nearest ? arena_printf(a, "; did you mean '%s'?", s->nearest)
			  : "";
}
