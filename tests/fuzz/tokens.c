#include "config.h"

#include "tests/fuzz/tokens.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- tokens ------------------------------------------------------------- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The end of a number that begins at i: 12, 1.5, 2e-3. */
static int number_end(const char *s, int i, int n)
{
	while (i < n && (is_word(s[i]) ||
			 (s[i] == '.' && i + 1 < n && isdigit(s[i + 1]))))
		i++;
	return i;
}

static int string_end(const char *s, int i, int n)
{
	for (i++; i < n && s[i] != '"' && s[i] != '\n'; i++)
		if (s[i] == '\\' && i + 1 < n)
			i++;
	return i < n ? i + 1 : n;
}

static token next_token(const char *s, int i, int n)
{
	static const char *const long_signs[] = { "...", "->", "..", "<=",
						  ">=", "==", "!=" };
	token t = { TOKEN_SIGN, i, i + 1, -1 };
	if (isdigit((unsigned char)s[i])) {
		t.kind = TOKEN_NUMBER;
		t.end = number_end(s, i, n);
	} else if (is_word(s[i])) {
		t.kind = TOKEN_WORD;
		while (t.end < n && is_word(s[t.end]))
			t.end++;
	} else if (s[i] == '"') {
		t.kind = TOKEN_STRING;
		t.end = string_end(s, i, n);
	} else if (strchr("([{", s[i])) {
		t.kind = TOKEN_OPEN;
	} else if (strchr(")]}", s[i])) {
		t.kind = TOKEN_CLOSE;
	} else {
		for (size_t k = 0; k < sizeof(long_signs) / sizeof(char *);
		     k++) {
			int len = (int)strlen(long_signs[k]);
			if (i + len <= n && !memcmp(s + i, long_signs[k],
						    (size_t)len)) {
				t.end = i + len;
				break;
			}
		}
	}
	return t;
}

static void match_brackets(arena *a, token_vec *v)
{
	VEC(int) open = { 0 };
	for (int i = 0; i < v->n; i++) {
		token *t = &v->at[i];
		if (t->kind == TOKEN_OPEN)
			vec_push(a, &open, i);
		if (t->kind != TOKEN_CLOSE || open.n == 0)
			continue;
		t->match = open.at[--open.n];
		v->at[t->match].match = i;
	}
}

token_vec tokens_of(arena *a, const char *text, int n)
{
	token_vec v = { 0 };
	for (int i = 0; i < n;) {
		if (isspace((unsigned char)text[i]) || !text[i]) {
			i++;
			continue;
		}
		if (i + 1 < n && text[i] == '/' && text[i + 1] == '/') {
			while (i < n && text[i] != '\n')
				i++;
			continue;
		}
		token t = next_token(text, i, n);
		vec_push(a, &v, t);
		i = t.end;
	}
	match_brackets(a, &v);
	return v;
}

/* ---- changes ------------------------------------------------------------ */

span text_replace(arena *a, span text, int beg, int end, span by)
{
	int n = text.n - (end - beg) + by.n;
	char *to = arena_alloc(a, (size_t)n + 1);
	memcpy(to, text.at, (size_t)beg);
	if (by.n)
		memcpy(to + beg, by.at, (size_t)by.n);
	memcpy(to + beg + by.n, text.at + end, (size_t)(text.n - end));
	return (span){ to, n };
}

static span span_of(span text, const token *from, const token *to)
{
	return (span){ text.at + from->beg, to->end - from->beg };
}

static span literal(const char *s)
{
	return (span){ s, (int)strlen(s) };
}

/* A random token of a kind; NULL if there is none. */
static const token *pick(fuzz_random *r, const token_vec *v, token_kind kind)
{
	int first = fuzz_below(r, v->n);
	for (int i = 0; i < v->n; i++) {
		const token *t = &v->at[(first + i) % v->n];
		if (t->kind == kind)
			return t;
	}
	return NULL;
}

static span change_number(arena *a, fuzz_random *r, span text,
			  const token_vec *v)
{
	const token *t = pick(r, v, TOKEN_NUMBER);
	if (!t)
		return text;
	const token *u = pick(r, v, TOKEN_NUMBER);
	span by = span_of(text, u, u);
	if (fuzz_below(r, 4))
		by = literal(arena_printf(a, "%" PRId64, fuzz_integer(r)));
	else if (fuzz_below(r, 4) == 0)
		by = literal(arena_printf(a, "%.17g", fuzz_real(r)));
	return text_replace(a, text, t->beg, t->end, by);
}

/* A word becomes another one of the text. */
static span change_word(arena *a, fuzz_random *r, span text,
			const token_vec *v, token_kind kind)
{
	const token *t = pick(r, v, kind), *u = pick(r, v, kind);
	return t ? text_replace(a, text, t->beg, t->end, span_of(text, u, u)) :
		   text;
}

static span change_sign(arena *a, fuzz_random *r, span text,
			const token_vec *v)
{
	static const char *const signs[] = {
		"+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=",
		" and ", " or ", ",", ";", ":", "=", "->", "..", "...", "\\",
		"&", "?",
	};
	const int n = sizeof(signs) / sizeof(*signs);
	const token *t = pick(r, v, TOKEN_SIGN);
	if (!t)
		return text;
	int among = fuzz_below(r, 8) ? 13 : n; /* mostly the binary ones */
	return text_replace(a, text, t->beg, t->end,
			    literal(signs[fuzz_below(r, among)]));
}

/* The item of tokens around number i: to the commas or brackets on both
 * sides. */
static void item_at(const token_vec *v, span text, int i, int *from, int *to)
{
	*from = *to = i;
	if (v->at[i].match > i)
		*to = v->at[i].match;
	if (v->at[i].match >= 0 && v->at[i].match < i)
		*from = v->at[i].match;
	while (*from > 0) {
		const token *t = &v->at[*from - 1];
		if (t->kind == TOKEN_OPEN || strchr(",;{}", text.at[t->beg]))
			break;
		*from = t->kind == TOKEN_CLOSE && t->match >= 0 ? t->match :
								  *from - 1;
	}
	while (*to + 1 < v->n) {
		const token *t = &v->at[*to + 1];
		if (t->kind == TOKEN_CLOSE || strchr(",;{}", text.at[t->beg]))
			break;
		*to = t->kind == TOKEN_OPEN && t->match > *to ? t->match :
								*to + 1;
	}
}

static span delete_item(arena *a, fuzz_random *r, span text,
			const token_vec *v)
{
	int from, to;
	item_at(v, text, fuzz_below(r, v->n), &from, &to);
	int beg = v->at[from].beg, end = v->at[to].end;
	if (to + 1 < v->n && text.at[v->at[to + 1].beg] == ',')
		end = v->at[to + 1].end;
	else if (from > 0 && text.at[v->at[from - 1].beg] == ',')
		beg = v->at[from - 1].beg;
	return text_replace(a, text, beg, end, literal(""));
}

static span double_item(arena *a, fuzz_random *r, span text,
			const token_vec *v)
{
	int from, to;
	item_at(v, text, fuzz_below(r, v->n), &from, &to);
	span item = span_of(text, &v->at[from], &v->at[to]);
	span more = literal(arena_printf(a, ", %.*s", item.n, item.at));
	return text_replace(a, text, v->at[to].end, v->at[to].end, more);
}

/* One item in the place of another. */
static span move_item(arena *a, fuzz_random *r, span text, const token_vec *v)
{
	int from, to, other, until;
	item_at(v, text, fuzz_below(r, v->n), &from, &to);
	item_at(v, text, fuzz_below(r, v->n), &other, &until);
	return text_replace(a, text, v->at[from].beg, v->at[to].end,
			    span_of(text, &v->at[other], &v->at[until]));
}

/* The tokens in one pair of brackets become those of another. */
static span change_group(arena *a, fuzz_random *r, span text,
			 const token_vec *v)
{
	const token *t = pick(r, v, TOKEN_OPEN), *u = pick(r, v, TOKEN_OPEN);
	if (!t || t->match < 0 || u->match < 0)
		return text;
	return text_replace(a, text, t->beg, v->at[t->match].end,
			    span_of(text, u, &v->at[u->match]));
}

static span swap_tokens(arena *a, fuzz_random *r, span text,
			const token_vec *v)
{
	int i = fuzz_below(r, v->n - 1);
	if (i + 1 >= v->n)
		return text;
	const token *t = &v->at[i], *u = &v->at[i + 1];
	const char *both = arena_printf(a, "%.*s %.*s", u->end - u->beg,
					text.at + u->beg, t->end - t->beg,
					text.at + t->beg);
	return text_replace(a, text, t->beg, u->end, literal(both));
}

static span delete_tokens(arena *a, fuzz_random *r, span text,
			  const token_vec *v)
{
	int i = fuzz_below(r, v->n), j = i + fuzz_below(r, 4);
	j = j < v->n ? j : v->n - 1;
	return text_replace(a, text, v->at[i].beg, v->at[j].end, literal(" "));
}

span tokens_mutate(arena *a, fuzz_random *r, span text)
{
	token_vec v = tokens_of(a, text.at, text.n);
	if (v.n == 0)
		return text;
	switch (fuzz_below(r, 16)) {
	case 0: case 1: case 2:
		return change_number(a, r, text, &v);
	case 3: case 4: case 5:
		return change_word(a, r, text, &v, TOKEN_WORD);
	case 6: case 7:
		return change_sign(a, r, text, &v);
	case 8:
		return change_word(a, r, text, &v, TOKEN_STRING);
	case 9:
		return delete_item(a, r, text, &v);
	case 10:
		return double_item(a, r, text, &v);
	case 11: case 12:
		return move_item(a, r, text, &v);
	case 13:
		return change_group(a, r, text, &v);
	case 14:
		return swap_tokens(a, r, text, &v);
	default:
		return delete_tokens(a, r, text, &v);
	}
}
