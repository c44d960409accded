/* Texts as tokens and brackets: what mutators know of TDL and of numbers
 * between blanks without parsing them. */
#ifndef TDL_TESTS_FUZZ_TOKENS_H
#define TDL_TESTS_FUZZ_TOKENS_H

#include "base/vec.h"
#include "tests/fuzz/fuzz.h"

typedef enum token_kind {
	TOKEN_WORD,
	TOKEN_NUMBER,
	TOKEN_STRING,
	TOKEN_OPEN,  /* ( [ { */
	TOKEN_CLOSE, /* ) ] } */
	TOKEN_SIGN,  /* everything else, "->" and "<=" in one */
} token_kind;

typedef struct token {
	token_kind kind;
	int beg, end;
	int match; /* of a bracket: its partner's number; -1 without one */
} token;

/* A part of a text. */
typedef struct span {
	const char *at;
	int n;
} span;

typedef VEC(token) token_vec;
typedef VEC(span) span_vec;

token_vec tokens_of(arena *a, const char *text, int n);

/* text[0..n) with [beg, end) replaced. */
span text_replace(arena *a, span text, int beg, int end, span by);

/* One change of tokens or of brackets: what lies between commas is deleted,
 * doubled, swapped; words, numbers and signs become others. */
span tokens_mutate(arena *a, fuzz_random *r, span text);

#endif
