/* Names in generated text.  Names of the operator become identifiers that are
 * no words of C or CUDA and no names of the generator. */
#include "config.h"

#include <ctype.h>
#include <string.h>

#include "base/intern.h"
#include "compiler/codegen/expr.h"

/* Words of C, of the C library's headers and of the generator.  Those of
 * functions are in kernel/functions.def. */
static const char *const reserved[] = {
	"auto",	    "break",	"case",	    "char",	 "const",   "continue",
	"default",  "do",	"double",   "else",	 "enum",    "extern",
	"float",    "for",	"goto",	    "if",	 "inline",  "int",
	"long",	    "register", "restrict", "return",	 "short",   "signed",
	"sizeof",   "static",	"struct",   "switch",	 "typedef", "union",
	"unsigned", "void",	"volatile", "while",	 "asm",	    "typeof",
	"bool",	    "true",	"false",    "linux",	 "unix",    "i386",
	"NULL",	    "NAN",	"INFINITY", "HUGE_VAL",	 "I",	    "EOF",
	"errno",    "memset",	"memcpy",   "args",
	"product",  "line",	"at",	    "in",	 "end",	    "to",
	"run",	    "stop",	"left",	    "first",	 "count",   "depth",
	"ndepth",   "row",	"nrows",    "col",	 "ncols",   "tile",
	"panel",    "panel_",	"sum",	    "term",	 "best",    "where",
	"lane",	    "total",	"terms",    "nothing",
};

/* Words of C++ and of CUDA, and of the CUDA generator. */
static const char *const reserved_cuda[] = {
	"alignas",   "alignof",	 "and",	      "bitand",	   "bitor",
	"catch",     "class",	 "compl",     "constexpr", "decltype",
	"delete",    "explicit", "export",    "friend",	   "mutable",
	"namespace", "new",	 "noexcept",  "not",	   "nullptr",
	"operator",  "or",	 "private",   "protected", "public",
	"template",  "this",	 "throw",     "try",	   "typeid",
	"typename",  "using",	 "virtual",   "xor",	   "wchar_t",
	"min",	     "max",	 "threadIdx", "blockIdx",  "blockDim",
	"gridDim",   "warpSize", "dim3",      "assert",	   "printf",
	"p",	     "item",	 "items",     "elements",  "element",
	"some",	     "shared",	 "before",    "value",	   "all",
	"rows",	     "cols",	 "vectors",   "unit",	   "outer",
	"part",	     "outs",	 "group",     "result",	   "depths",
	"lgamma",    "tgamma",	 "j0",	      "j1",	   "y0",
	"y1",	     "jn",	 "yn",	      "rint",	   "abs",
	"round",     "trunc",	 "exp2",      "log2",	   "log10",
	"cbrt",	     "hypot",	 "fma",	      "signal",	   "rsqrt",
	"norm",	     "clock",	 "malloc",    "free",	   "isfinite",
	"right",     "last",	 "next",      "from",	   "last_term",
	"row_0",     "col_0",	 "row_at",    "col_at",	   "row_tiles",
	"col_tiles", "outer_at", "free_at",   "depth_at",  "term_at",
	"left_at",   "right_at",
	"stretches", "tile0",	 "tile1",     "tile2",	   "tile3",
	"part0",     "part1",	 "part2",     "part3",	   "part4",
	"part5",     "part6",	 "part7",     "next0",	   "next1",
	"next2",     "next3",	 "next4",     "next5",	   "next6",
	"next7",     "whole0",	 "whole1",    "whole2",	   "whole3",
	"whole4",    "whole5",	 "whole6",    "whole7",
};

/* Suffixes that the generator adds to a name. */
static const char *const suffixes[] = {
	"",	 "_lo",	  "_hi",      "_at",   "_first",
	"_q",	 "_r",	  "_q_lo",    "_q_hi", "_q_first",
	"_r_lo", "_r_hi", "_r_first", "_r_0",  "_r_1",
	"_n",	 "_tile", "_vector",
};

/* Whether a name is that of a float function: the name of a double function
 * followed by "f". */
static bool is_float_function(const strmap *taken, arena *a, const char *name)
{
	size_t n = strlen(name);
	return n > 1 && name[n - 1] == 'f' &&
	       strmap_get(taken, arena_strndup(a, name, n - 1));
}

/* Whether a name begins like names of the generator or of <stdint.h>, so that
 * no suffix distinguishes it from all of them. */
static bool is_reserved(const char *name)
{
	return !strncmp(name, "index", 5) || !strncasecmp(name, "tdl_", 4) ||
	       !strncmp(name, "int", 3) || !strncmp(name, "uint", 4) ||
	       !strncmp(name, "INT", 3) || !strncmp(name, "UINT", 4);
}

static bool is_taken(const strmap *taken, arena *a, const char *name)
{
	if (is_float_function(taken, a, name))
		return true;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (strmap_get(taken,
			       arena_printf(a, "%s%s", name, suffixes[i])))
			return true;
	for (int d = 0; d < MAX_NDIM; d++)
		if (strmap_get(taken, arena_printf(a, "%s_%d", name, d)))
			return true;
	return false;
}

static void take(strmap *taken, arena *a, const char *name)
{
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		strmap_put(taken, arena_printf(a, "%s%s", name, suffixes[i]),
			   taken);
	for (int d = 0; d < MAX_NDIM; d++)
		strmap_put(taken, arena_printf(a, "%s_%d", name, d), taken);
}

enum { LONGEST_NAME = 40 };

/* Reserves the words of a function's text. */
static void reserve_words(strmap *taken, arena *a, const char *text)
{
	while (text && *text) {
		size_t n = 0;
		while (isalnum((unsigned char)text[n]) || text[n] == '_')
			n++;
		if (n)
			strmap_put(taken, arena_strndup(a, text, n), taken);
		text += n ? n : 1;
	}
}

static void reserve_functions(strmap *taken, arena *a)
{
	for (int f = 0; f < FN_COUNT; f++) {
		reserve_words(taken, a, fn_table[f].f64.c);
		reserve_words(taken, a, fn_table[f].f32.c);
	}
}

/* The name as an identifier that is not in use yet. */
static const char *choose(strmap *taken, arena *a, const char *name,
			  const char *otherwise)
{
	char *s = arena_printf(a, "%.*s", LONGEST_NAME, name ? name : "");
	for (char *c = s; *c; c++)
		if (!isalnum((unsigned char)*c) || *c & 0x80)
			*c = '_';
	if (!isalpha((unsigned char)*s) || is_reserved(s))
		s = arena_printf(a, "%s%s", otherwise, s);
	const char *base = s;
	for (int i = 1; is_taken(taken, a, s); i++)
		s = arena_printf(a, "%s%s%d", base, otherwise, i);
	take(taken, a, s);
	return s;
}

void printer_init(printer *p, arena *a, const nest *n, bool cuda)
{
	const kernel *k = n->k;
	strmap *taken = strmap_new(a);
	*p = (printer){.a = a, .nest = *n, .cuda = cuda};
	for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
		strmap_put(taken, reserved[i], taken);
	reserve_functions(taken, a);
	for (size_t i = 0; cuda && i < sizeof(reserved_cuda) /
					       sizeof(*reserved_cuda); i++)
		strmap_put(taken, reserved_cuda[i], taken);
	for (int v = 0; v < k->nvars; v++)
		p->var[v] = choose(taken, a, k->vars[v].name, "v");
	for (int i = 0; i < k->ninputs; i++)
		p->input[i] = choose(taken, a, k->inputs[i].name, "x");
	p->out = choose(taken, a, "out", "y");
	for (int l = 0; l < n->n; l++) {
		loop *x = &p->nest.loops[l];
		const char *name = p->var[x->var];
		x->name =
			x->part == LOOP_WHOLE
				? name
				: arena_printf(a, "%s_%c", name,
					       x->part == LOOP_REMAINDER ? 'r'
									 : 'q');
	}
}
