#include "config.h"

#include "libtdl/name_groups.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"

enum { MAX_DIGITS = 9, /* of a number that may be grouped */
       MAX_LISTED = 4, /* numbers listed if they form no range */
       NUMBER = 1      /* character for a number in a pattern */
};

static size_t digits(const char *s)
{
	size_t n = 0;
	while (isdigit((unsigned char)s[n]))
		n++;
	return n;
}

/* Whether a number that may vary within a group begins at s.  Digits with a
 * leading zero, or too many for an int, count as text. */
static bool is_number(const char *s)
{
	size_t n = digits(s);
	return n > 0 && n <= MAX_DIGITS && (n == 1 || s[0] != '0');
}

/* The pattern of a name, with its numbers replaced by NUMBER.  Sets *nnumbers.
 * Names of one pattern differ only in their numbers. */
static const char *pattern_of(arena *a, const char *name, int *nnumbers)
{
	char *to = arena_alloc(a, strlen(name) + 1), *p = to;
	*nnumbers = 0;
	while (*name) {
		size_t n = digits(name);
		if (is_number(name)) {
			*p++ = NUMBER;
			++*nnumbers;
			name += n;
			continue;
		}
		n = n ? n : 1;
		memcpy(p, name, n);
		p += n;
		name += n;
	}
	*p = '\0';
	return arena_printf(a, "%d %s", *nnumbers, to);
}

/* Number `which' of a name.  *at and *end are set to its text. */
static int number_at(const char *name, int which, const char **at,
		     const char **end)
{
	for (const char *s = name;;) {
		size_t n = digits(s);
		if (is_number(s) && which-- == 0) {
			*at = s;
			*end = s + n;
			return atoi(s);
		}
		s += n ? n : 1;
	}
}

static int compare_ints(const void *x, const void *y)
{
	int a = *(const int *)x, b = *(const int *)y;
	return a < b ? -1 : a > b;
}

/* The set as {0..11}, {1,4,6} or {0,2,..,22}, or the number itself if there is
 * one. */
static const char *set_text(arena *a, int *v, int n)
{
	int kept = 1;
	qsort(v, (size_t)n, sizeof(*v), compare_ints);
	for (int i = 1; i < n; i++)
		if (v[i] != v[kept - 1])
			v[kept++] = v[i];
	if (kept == 1)
		return arena_printf(a, "%d", v[0]);
	if (kept > 2 && v[kept - 1] - v[0] == kept - 1)
		return arena_printf(a, "{%d..%d}", v[0], v[kept - 1]);
	if (kept > MAX_LISTED)
		return arena_printf(a, "{%d,%d,..,%d}", v[0], v[1],
				    v[kept - 1]);
	const char *text = "";
	for (int i = 0; i < kept; i++)
		text = arena_printf(a, "%s%s%d", text, i ? "," : "", v[i]);
	return arena_printf(a, "{%s}", text);
}

/* The first member's name with each number replaced by the set of all members'
 * numbers there. */
static const char *joined_name(arena *a, const name_group *g,
			       const char *const *names, int nnumbers)
{
	const char *first = names[g->members[0]], *text = "", *done = first;
	int *v = ARENA_ARRAY(a, int, g->n);
	if (g->n == 1)
		return first;
	for (int k = 0; k < nnumbers; k++) {
		const char *at, *end, *beg, *other;
		for (int i = g->n - 1; i >= 0; i--)
			v[i] = number_at(names[g->members[i]], k, &at, &end);
		v[0] = number_at(first, k, &beg, &other);
		text = arena_printf(a, "%s%.*s%s", text, (int)(beg - done),
				    done, set_text(a, v, g->n));
		done = other;
	}
	return arena_printf(a, "%s%s", text, done);
}

typedef struct group {
	int nnumbers; /* numbers in each name */
	VEC(int) members;
} group;

name_groups group_names(arena *a, int n, const char *const *names,
			const char *const *kinds)
{
	strmap *by_text = strmap_new(a);
	name_groups all = { 0 };
	for (int i = 0; i < n; i++) {
		int nnumbers;
		const char *pattern = pattern_of(a, names[i], &nnumbers);
		const char *key = arena_printf(a, "%s\n%s", kinds[i], pattern);
		group *g = strmap_get(by_text, key);
		if (!g) {
			g = ARENA_NEW(a, group);
			g->nnumbers = nnumbers;
			strmap_put(by_text, key, g);
		}
		vec_push(a, &g->members, i);
	}
	for (int i = 0; i < strmap_count(by_text); i++) {
		const group *g = strmap_value(by_text, i);
		name_group x = { .n = g->members.n, .members = g->members.at };
		x.name = joined_name(a, &x, names, g->nnumbers);
		vec_push(a, &all, x);
	}
	return all;
}
