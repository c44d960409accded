#include "config.h"

#include "compiler/export/jax_names.h"

#include <ctype.h>
#include <string.h>

#include "compiler/export/jax_files.h"

const char *jax_prelude(jax_prelude_part part)
{
	return headers[part].text;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Takes what stands behind a word at the beginning of a line of a text. */
static void take_defined(arena *a, strmap *taken, const char *text,
			 const char *word)
{
	size_t n = strlen(word);
	for (const char *s = text; s; s = strchr(s, '\n')) {
		s += *s == '\n';
		if (strncmp(s, word, n))
			continue;
		const char *from = s + n, *to = from;
		while (is_word(*to))
			to++;
		strmap_put(taken, arena_strndup(a, from, (size_t)(to - from)),
			   taken);
	}
}

strmap *jax_names(arena *a)
{
	static const char *const words[] = {
		"False", "None", "True", "and", "as", "assert", "async",
		"await", "break", "class", "continue", "def", "del", "elif",
		"else", "except", "finally", "for", "from", "global", "if",
		"import", "in", "is", "lambda", "nonlocal", "not", "or", "pass",
		"raise", "return", "try", "while", "with", "yield", "math",
		"os", "re", "jax", "jnp", "np", "lax", "AxisType", "Mesh",
		"NamedSharding", "P", "RECEIVED", "MESH", "STATES", "INPUTS",
		"OUTPUTS", "INITIAL", "DEFAULTS", "TURNS", "DIVIDED",
		"FOLDED", "weights", "fold", "state", "inputs", "outputs",
		"pin", "given", "values", "now", "forward", "step", "range",
		"float", "int", "bool", "tuple", "max", "min", "sum", "len",
		"sorted", "enumerate", "zip", "isinstance", "staticmethod",
		"property", "list", "BETWEEN", "collections", "any", "all",
		"set", "next", "dict", "Part", "Stage", "CHANNELS", "HOME",
		"NEXT", "STAGES", "FORWARD_STAGES", "abs", "hasattr", "open",
		"round", "KeyError", "ValueError", "_forward", "saved", "_",
		"__name__", "__file__",
	};
	strmap *taken = strmap_new(a);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		strmap_put(taken, words[i], taken);
	for (int i = 0; i < header_count; i++) {
		take_defined(a, taken, headers[i].text, "def ");
		take_defined(a, taken, headers[i].text, "class ");
	}
	return taken;
}

const char *jax_name(arena *a, strmap *taken, const char *name)
{
	char *s = arena_printf(a, isdigit((unsigned char)*name) ? "_%s" : "%s",
			       *name ? name : "x");
	for (char *c = s; *c; c++)
		if (!is_word(*c))
			*c = '_';
	const char *unique = s;
	for (int i = 2; strmap_get(taken, unique); i++)
		unique = arena_printf(a, "%s_%d", s, i);
	strmap_put(taken, unique, taken);
	return unique;
}

const char *jax_string(arena *a, const char *s)
{
	const char *to = "\"";
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '"' || c == '\\')
			to = arena_printf(a, "%s\\%c", to, c);
		else if (c < 32 || c == 127)
			to = arena_printf(a, "%s\\x%02x", to, c);
		else
			to = arena_printf(a, "%s%c", to, c);
	}
	return arena_printf(a, "%s\"", to);
}

const char *jax_comment(arena *a, const char *s)
{
	char *to = arena_strdup(a, s);
	for (char *c = to; *c; c++)
		if (iscntrl((unsigned char)*c) || *c == '\\' || *c == '"')
			*c = '_';
	return to;
}
