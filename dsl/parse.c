/* From text to a tree: checks and scans the text, and distinguishes keywords
 * from names. */
#include "config.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "base/utf8.h"
#include "dsl/gram.h"

/* ---- places -------------------------------------------------------------- */

static bool begins_line(const dsl_parser *p, uint32_t at)
{
	for (uint32_t i = at - p->base; i > 0; i--) {
		char c = p->text[i - 1];
		if (c == '\n')
			return true;
		if (c != ' ' && c != '\t')
			return false;
	}
	return true;
}

/* Keywords that begin a definition, and so end the one before. */
static bool begins_definition(int kind)
{
	return kind >= TOK_OP && kind <= TOK_IMPORT;
}

/* ---- faults ------------------------------------------------------------- */

/* Notes a name, or a token in its place, after a fault: it may be the name of
 * the definition, so that calls of it are not reported. */
static void note_word(dsl_parser *p, const dsl_token *t)
{
	if (p->lost && (t->kind == TOK_NAME || t->kind == TOK_STRING))
		strmap_put(p->broken, t->value.name, p);
}

void dsl_fault(dsl_parser *p, diag_id id, range at, const char *fmt, ...)
{
	if (p->quiet || p->stop)
		return;
	p->quiet = true;
	p->fault_at = at.beg;
	if (p->defining)
		strmap_put(p->broken, p->defining, p);
	p->lost = !p->defining || begins_line(p, at.beg);
	note_word(p, p->token);
	va_list ap;
	va_start(ap, fmt);
	const char *text = arena_vprintf(p->arena, fmt, ap);
	va_end(ap);
	diag_error(p->sink, id, at, "%s", text);
}

void dsl_begin(dsl_parser *p, range at)
{
	bool misplaced = p->quiet && p->fault_at == at.beg;
	if (misplaced && !begins_line(p, at.beg))
		return;
	p->quiet = p->lost = false;
	p->defining = NULL;
}

void dsl_too_large(dsl_parser *p, range at, int most, const char *what)
{
	dsl_fault(p, DIAG_TOO_LARGE, at, "the file has more than %d %s", most,
		  what);
	p->stop = true;
}

/* Whether the brace at a place directly follows a name. */
static bool behind_name(const dsl_parser *p, range at)
{
	uint32_t i = at.beg - p->base;
	return p->last == TOK_LBRACE && i > 0 && i < p->len &&
	       p->text[i] == '{' && !strchr(" \t\r\n\f{}()", p->text[i - 1]);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The end of what stands before offset i and is not blank. */
static size_t end_before(const dsl_parser *p, size_t i)
{
	while (i > 0 && is_blank(p->text[i - 1]))
		i--;
	return i;
}

/* Whether the text ends in a word before offset i. */
static bool behind_word(const dsl_parser *p, size_t i, const char *word)
{
	const size_t n = strlen(word);
	i = end_before(p, i);
	if (i < n || memcmp(p->text + i - n, word, n))
		return false;
	return i == n || (p->text[i - n - 1] != '_' &&
			  !isalnum((unsigned char)p->text[i - n - 1]));
}

/* Whether the text is lambda (i): e, whichever of its tokens caused the fault;
 * *where is the parenthesis. */
static bool has_parentheses(const dsl_parser *p, range at, range *where)
{
	size_t i = at.beg - p->base, end = at.end - p->base;
	if (i >= p->len)
		return false;
	if (p->text[i] == ':') {
		i = end_before(p, i);
		if (i == 0 || p->text[i - 1] != ')')
			return false;
		while (i > 0 && p->text[i] != '(')
			i--;
	} else {
		for (i = end; i < p->len && is_blank(p->text[i]); i++)
			;
	}
	*where = (range){ p->base + (uint32_t)i, p->base + (uint32_t)i + 1 };
	return i < p->len && p->text[i] == '(' &&
	       behind_word(p, i, "lambda");
}

/* Notes how TDL writes what has been found where nothing of the kind is
 * expected. */
static void note_form(dsl_parser *p, range at, const char *what)
{
	const size_t i = at.beg - p->base, end = end_before(p, i);
	if (!strcmp(what, "'='"))
		diag_note(p->sink, NOWHERE, "a comparison is written '=='");
	if (!strcmp(what, "'else'") && end > 0 && p->text[end - 1] == ']')
		diag_note(p->sink, NOWHERE, "the value outside a tensor is "
			  "in parentheses with the read, as in "
			  "'(x[i] else 0)'");
	if (behind_word(p, i, "let"))
		diag_note(p->sink, NOWHERE, "a 'let' stands before the lambda "
			  "of the result, and is a tensor: 'let a = lambda i: "
			  "..', read as a[i]");
}

void dsl_unexpected(dsl_parser *p, range at, const char *got,
		    const char *expected)
{
	range open;
	if (has_parentheses(p, at, &open)) {
		dsl_fault(p, DIAG_SYNTAX, open,
			  "the variables of a lambda have no parentheses "
			  "around them, as in 'lambda i, j: ..'");
		return;
	}
	if (begins_definition(p->last)) {
		dsl_fault(p, DIAG_SYNTAX, at,
			  begins_line(p, at.beg)
				  ? "%s begins another definition, but the one "
				    "before is not complete"
				  : "%s is a reserved word; it begins a "
				    "definition and cannot be a name",
			  got);
		return;
	}
	size_t n;
	const char *text = diag_text(p->sink, at, &n);
	bool literal = *got != '\'' && n > 0 && n <= 40;
	const char *what =
		literal ? arena_printf(p->arena, "'%.*s'", (int)n, text) : got;
	bool heard = !p->quiet && !p->stop;
	if (expected)
		dsl_fault(p, DIAG_SYNTAX, at, "%s is expected, not %s",
			  expected, what);
	else
		dsl_fault(p, DIAG_SYNTAX, at, "%s is not expected here", what);
	if (heard && !expected)
		note_form(p, at, what);
	if (heard && behind_name(p, at))
		diag_note(p->sink, NOWHERE, "a name that is made of a number "
			  "has '_' before the brace, as in h_{i}");
}

static int bounded(dsl_parser *p, range at, int64_t n, const char *what)
{
	enum { MOST = 1000000 };
	if (n <= MOST)
		return (int)n;
	dsl_fault(p, DIAG_OVERFLOW, at, "%s is at most %d", what, MOST);
	return MOST;
}

int dsl_opset(dsl_parser *p, range at, int64_t n)
{
	return bounded(p, at, n, "an opset");
}

int dsl_length(dsl_parser *p, range at, int64_t n)
{
	return bounded(p, at, n, "the length of a list");
}

/* ---- comments ----------------------------------------------------------- */

/* The range without blanks at its end. */
static range trimmed(const dsl_parser *p, range at)
{
	while (at.end > at.beg) {
		char c = p->text[at.end - p->base - 1];
		if (c != ' ' && c != '\t' && c != '\r')
			break;
		at.end--;
	}
	return at;
}

static bool count_comment(dsl_parser *p, range at)
{
	if (p->ncomments++ < AST_MAX_COMMENTS)
		return true;
	dsl_too_large(p, at, AST_MAX_COMMENTS, "comments");
	return false;
}

static void add_comment(dsl_parser *p, range at)
{
	ast_comment c = { trimmed(p, at), begins_line(p, at.beg) };
	vec_push(p->arena, &p->comments, c);
}

void dsl_comment(dsl_parser *p, range at)
{
	if (!p->stop && count_comment(p, at))
		add_comment(p, at);
}

void dsl_doc(dsl_parser *p, range at)
{
	if (p->stop || !count_comment(p, at))
		return;
	if (begins_line(p, at.beg))
		vec_push(p->arena, &p->docs, trimmed(p, at));
	else
		add_comment(p, at);
}

/* The lines of documentation before a definition, joined; NULL if none. */
static const char *take_docs(dsl_parser *p)
{
	size_t size = 1, n = 0;
	for (int i = 0; i < p->docs.n; i++)
		size += p->docs.at[i].end - p->docs.at[i].beg;
	if (size == 1)
		return NULL;
	char *doc = ARENA_ARRAY(p->arena, char, size);
	for (int i = 0; i < p->docs.n; i++) {
		range r = p->docs.at[i];
		const char *line = p->text + (r.beg - p->base) + 3;
		size_t len = r.end - r.beg - 3;
		if (len && *line == ' ') {
			line++;
			len--;
		}
		if (i)
			doc[n++] = '\n';
		memcpy(doc + n, line, len);
		n += len;
	}
	p->docs.n = 0;
	return doc;
}

static void drop_docs(dsl_parser *p)
{
	for (int i = 0; i < p->docs.n; i++)
		add_comment(p, p->docs.at[i]);
	p->docs.n = 0;
}

/* ---- words and names ---------------------------------------------------- */

/* Whether an expression can end with the token, assuming it is not a
 * keyword. */
static bool ends_operand(int kind)
{
	switch (kind) {
	case TOK_NAME:
	case TOK_STRING:
	case TOK_INT:
	case TOK_FLOAT:
	case TOK_TRUE:
	case TOK_FALSE:
	case TOK_PI:
	case TOK_INF:
	case TOK_TAIL:
	case TOK_RPAREN:
	case TOK_RBRACKET:
		return true;
	default:
		return false;
	}
}

/* Whether the token can begin an expression but cannot follow a name. */
static bool begins_operand(int kind)
{
	switch (kind) {
	case TOK_NAME:
	case TOK_HEAD:
	case TOK_STRING:
	case TOK_INT:
	case TOK_FLOAT:
	case TOK_MINUS:
	case TOK_LPAREN:
		return true;
	default:
		return kind >= TOK_LAMBDA && kind <= TOK_INF;
	}
}

static bool joins_operands(int kind)
{
	return kind == TOK_THEN || kind == TOK_ELSE || kind == TOK_AND ||
	       kind == TOK_OR;
}

/* Whether the token, a keyword of expressions, is meant as a name: it is in a
 * place, between the tokens before and after, where the keyword cannot be.
 *
 * - after .. and after the keyword of a definition, all are names;
 * - `if' and `not' are keywords before an operand other than a list;
 * - `lambda' is one before a variable, a pack or a colon, but not after ;
 * - `and or then else' are keywords between two operands, `else' also after };
 * - `true false pi inf' are names before [ ( = and :. */
static bool is_name(int before, int kind, int after)
{
	if (before == TOK_DOTS || begins_definition(before))
		return true;
	switch (kind) {
	case TOK_IF:
	case TOK_NOT:
		return !begins_operand(after) || joins_operands(after);
	case TOK_LAMBDA:
		return before == TOK_SEMICOLON || before == TOK_LAMBDA ||
		       !(after == TOK_NAME || after == TOK_DOTS ||
			 after == TOK_COLON ||
			 (after >= TOK_LAMBDA && after <= TOK_INF));
	case TOK_AND:
	case TOK_OR:
	case TOK_THEN:
	case TOK_ELSE:
		if (kind == TOK_ELSE && before == TOK_RBRACE)
			return after != TOK_LBRACE && after != TOK_IF;
		return !ends_operand(before) ||
		       !(begins_operand(after) || after == TOK_LBRACKET);
	case TOK_TRUE:
	case TOK_FALSE:
	case TOK_PI:
	case TOK_INF:
		return after == TOK_LBRACKET || after == TOK_LPAREN ||
		       after == TOK_ASSIGN || after == TOK_COLON;
	default:
		return false;
	}
}

static void scan(dsl_parser *p, dsl_token *t)
{
	t->kind = dsl_scan(&t->value, &t->at, p->scanner);
	if (t->kind == TOK_END)
		t->at.beg = t->at.end = p->base + (uint32_t)p->len;
	if (begins_definition(t->kind)) {
		t->value.name = take_docs(p);
		p->open = 0;
	} else {
		drop_docs(p);
	}
}

/* The next token.  After a fault everything is skipped up to the next
 * definition, which begins at the beginning of a line: elsewhere the keyword is
 * more likely a misplaced name. */
static dsl_token next(dsl_parser *p)
{
	dsl_token t = *p->ahead;
	p->ahead->kind = -1;
	if (p->stop || diag_errors(p->sink) > DIAG_MAX_ERRORS)
		return (dsl_token){ .kind = TOK_END };
	if (t.kind < 0)
		scan(p, &t);
	while (p->quiet && t.kind != TOK_END &&
	       !(begins_definition(t.kind) && begins_line(p, t.at.beg))) {
		note_word(p, &t);
		scan(p, &t);
	}
	return t;
}

int dsl_yylex(DSL_YYSTYPE *value, range *at, dsl_parser *p)
{
	dsl_token t = next(p);
	if (t.kind >= TOK_LAMBDA && t.kind <= TOK_INF) {
		scan(p, p->ahead);
		if (is_name(p->last, t.kind, p->ahead->kind))
			t.kind = TOK_NAME;
	}
	if (t.kind == TOK_NAME && begins_definition(p->last)) {
		p->defining = t.value.name;
		p->models |= p->last == TOK_MODEL;
	}
	p->last = t.kind;
	*p->token = t;
	*value = t.value;
	*at = t.at;
	return t.kind;
}

/* ---- the text ----------------------------------------------------------- */

static bool check_text(dsl_parser *p)
{
	const char *s = p->text;
	for (size_t i = 0; i < p->len;) {
		size_t n = utf8_length(s + i, p->len - i);
		if (n && s[i]) {
			i += n;
			continue;
		}
		uint32_t beg = p->base + (uint32_t)i;
		if (n)
			diag_error(p->sink, DIAG_NUL_BYTE, (range){ beg, beg },
				   "the file has a zero byte here; it is not "
				   "text");
		else
			diag_error(p->sink, DIAG_NOT_UTF8, (range){ beg, beg },
				   "the file is not UTF-8: byte 0x%02x here",
				   (unsigned char)s[i]);
		return false;
	}
	return true;
}

/* A byte order mark is not part of the text. */
static void skip_mark(dsl_parser *p)
{
	if (p->len >= 3 && !memcmp(p->text, "\xef\xbb\xbf", 3)) {
		p->text += 3;
		p->base += 3;
		p->len -= 3;
	}
}

static void parse_text(dsl_parser *p)
{
	dsl_token ahead = { .kind = -1 }, token = ahead;
	p->ahead = &ahead;
	p->token = &token;
	if (!scan_open(p))
		return;
	/* The grammar's stack is full: continue after the definition. */
	while (dsl_yyparse(p) == 2 && p->last > 0) {
		DSL_YYSTYPE value;
		range at;
		do
			dsl_yylex(&value, &at, p);
		while (p->last > 0 && !begins_definition(p->last));
		p->ahead->kind = p->last;
		p->ahead->value = value;
		p->ahead->at = at;
	}
	drop_docs(p);
	scan_close(p);
}

ast_module *parse_source(tdl_modules *m, const char *path, const char *text,
			 size_t len, bool *models)
{
	if (len > DSL_MAX_SOURCE) {
		diag_error_in(m->sink, DIAG_TOO_LARGE, path,
			      "the file has %zu bytes, at most %d are accepted",
			      len, DSL_MAX_SOURCE);
		return NULL;
	}
	dsl_parser p = { .arena = m->arena, .sink = m->sink,
			 .names = m->names, .broken = m->broken,
			 .text = text, .len = len };
	p.base = diag_add_source(m->sink, path, text, len);
	if (!p.base || !check_text(&p))
		return NULL;
	ast_module *module = ARENA_NEW(m->arena, ast_module);
	*module = (ast_module){ .path = intern(m->names, path),
				.base = p.base, .text = text, .len = len };
	skip_mark(&p);
	parse_text(&p);
	if (p.stop)
		return NULL;
	module->defs = p.defs.at;
	module->ndefs = p.defs.n;
	module->comments = p.comments.at;
	module->ncomments = p.comments.n;
	if (models)
		*models = p.models;
	return module;
}

ast_module *dsl_parse(tdl_modules *m, const char *path, const char *text,
		      size_t len)
{
	int errors = diag_errors(m->sink);
	ast_module *module = parse_source(m, path, text, len, NULL);
	return diag_errors(m->sink) == errors ? module : NULL;
}
