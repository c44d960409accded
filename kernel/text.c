#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "kernel/kernel.h"

/* Precedence levels of the parts of an expression, as in TDL. */
enum {
	LEVEL_SELECT,
	LEVEL_OR,
	LEVEL_AND,
	LEVEL_NOT,
	LEVEL_COMPARE,
	LEVEL_SUM,
	LEVEL_PRODUCT,
	LEVEL_UNARY,
	LEVEL_ATOM,
};

typedef struct writer {
	arena *a;
	const kernel *k;
	VEC(char) out;
} writer;

static void expr(writer *w, const kexpr *e, int level);

static void put(writer *w, const char *s)
{
	for (; *s; s++)
		vec_push(w->a, &w->out, *s);
}

static char *text(writer *w)
{
	vec_push(w->a, &w->out, '\0');
	return w->out.at;
}

static void put_int(writer *w, int64_t i)
{
	char buf[32];
	snprintf(buf, sizeof(buf), "%" PRId64, i);
	put(w, buf);
}

/* The shortest decimal that reads back as f, with a point in it. */
static void put_float(writer *w, double f)
{
	char buf[40];
	if (isinf(f)) {
		put(w, f < 0 ? "-inf" : "inf");
		return;
	}
	if (isnan(f)) {
		put(w, "nan");
		return;
	}
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(buf, sizeof(buf), "%.*g", digits, f);
		if (strtod(buf, NULL) == f)
			break;
	}
	put(w, buf);
	for (const char *s = buf; *s; s++)
		if (*s == '.' || *s == 'e')
			return;
	put(w, ".0");
}

static int level_of(fn f)
{
	switch (f) {
	case FN_OR:
		return LEVEL_OR;
	case FN_AND:
		return LEVEL_AND;
	case FN_NOT:
		return LEVEL_NOT;
	case FN_ADD:
	case FN_SUB:
		return LEVEL_SUM;
	case FN_MUL:
	case FN_DIV:
	case FN_MOD:
		return LEVEL_PRODUCT;
	case FN_NEG:
		return LEVEL_UNARY;
	default:
		return fn_is_comparison(f) ? LEVEL_COMPARE : LEVEL_ATOM;
	}
}

static void list(writer *w, kexpr *const *args, int n)
{
	for (int i = 0; i < n; i++) {
		if (i)
			put(w, ", ");
		expr(w, args[i], LEVEL_SELECT);
	}
}

static void function(writer *w, const kexpr *e, int own)
{
	if (own == LEVEL_ATOM) {
		put(w, fn_name(e->fn));
		put(w, "(");
		list(w, e->args, e->nargs);
		put(w, ")");
	} else if (e->nargs == 1) {
		put(w, e->fn == FN_NEG ? "-" : "not ");
		expr(w, e->args[0], e->fn == FN_NEG ? own + 1 : own);
	} else {
		bool chain = own != LEVEL_COMPARE;
		expr(w, e->args[0], chain ? own : own + 1);
		put(w, " ");
		put(w, fn_name(e->fn));
		put(w, " ");
		expr(w, e->args[1], own + 1);
	}
}

static void read(writer *w, const kexpr *e)
{
	int ndim = kx_ndim(e);
	put(w, e->guarded ? "(" : "");
	put(w, w->k->inputs[e->input].name);
	if (ndim) {
		put(w, "[");
		list(w, e->args, ndim);
		put(w, "]");
	}
	if (e->guarded) {
		put(w, " else ");
		expr(w, e->args[ndim], LEVEL_SELECT);
		put(w, ")");
	}
}

static void select_expr(writer *w, const kexpr *e)
{
	put(w, "if ");
	expr(w, e->args[0], LEVEL_OR);
	put(w, " then ");
	expr(w, e->args[1], LEVEL_OR);
	put(w, " else ");
	expr(w, e->args[2], LEVEL_SELECT);
}

static int level(const kexpr *e)
{
	switch (e->kind) {
	case KX_FN:
		return level_of(e->fn);
	case KX_SELECT:
		return LEVEL_SELECT;
	case KX_INT:
		return e->i < 0 ? LEVEL_UNARY : LEVEL_ATOM;
	case KX_FLOAT:
		return signbit(e->f) ? LEVEL_UNARY : LEVEL_ATOM;
	default:
		return LEVEL_ATOM;
	}
}

/* Writes e, in parentheses if its level is below `least'. */
static void expr(writer *w, const kexpr *e, int least)
{
	bool parens = level(e) < least;
	put(w, parens ? "(" : "");
	switch (e->kind) {
	case KX_INT:
		if (e->type == DT_BOOL)
			put(w, e->i ? "true" : "false");
		else
			put_int(w, e->i);
		break;
	case KX_FLOAT:
		put_float(w, e->f);
		break;
	case KX_VAR:
		put(w, w->k->vars[e->var].name);
		break;
	case KX_READ:
		read(w, e);
		break;
	case KX_FN:
		function(w, e, level_of(e->fn));
		break;
	case KX_SELECT:
		select_expr(w, e);
		break;
	case KX_CAST:
	case KX_BITCAST:
		put(w, e->kind == KX_CAST ? "cast(" : "bitcast(");
		expr(w, e->args[0], LEVEL_SELECT);
		put(w, ", ");
		put(w, dtype_name(e->type));
		put(w, ")");
		break;
	}
	put(w, parens ? ")" : "");
}

char *kx_text(arena *a, const kernel *k, const kexpr *e)
{
	writer w = { .a = a, .k = k };
	expr(&w, e, LEVEL_SELECT);
	return text(&w);
}

/* ---- kernels ----------------------------------------------------------- */

static void names(writer *w, int from, int to)
{
	for (int v = from; v < to; v++) {
		put(w, v > from ? ", " : "");
		put(w, w->k->vars[v].name);
	}
}

static void slice(writer *w, const kslice *s)
{
	put(w, w->k->inputs[s->input].name);
	put(w, s->ndim ? "[" : "");
	for (int d = 0; d < s->ndim; d++) {
		put(w, d ? ", " : "");
		if (s->at[d])
			expr(w, s->at[d], LEVEL_SELECT);
		else
			put(w, ":");
	}
	put(w, s->ndim ? "]" : "");
}

static void opaque(writer *w)
{
	const kernel *k = w->k;
	put(w, k->opaque);
	put(w, "(");
	for (int s = 0; s < k->nslices; s++) {
		put(w, s ? ", " : "");
		slice(w, &k->slices[s]);
	}
	put(w, ")");
	if (k->nhidden) {
		put(w, "[");
		names(w, k->nout - k->nhidden, k->nout);
		put(w, "]");
	}
}

char *kernel_text(arena *a, const kernel *k)
{
	writer w = { .a = a, .k = k };
	put(&w, "out");
	if (k->nout) {
		put(&w, "[");
		names(&w, 0, k->nout);
		put(&w, "]");
	}
	put(&w, " = ");
	if (k->reducer != RED_NONE) {
		int end = k->nout;
		while (end < k->nvars && k->vars[end].kind == KVAR_REDUCE)
			end++;
		put(&w, reducer_name(k->reducer));
		put(&w, "(");
		names(&w, k->nout, end);
		put(&w, ") ");
	}
	if (k->opaque)
		opaque(&w);
	else
		expr(&w, k->body, LEVEL_SELECT);
	return text(&w);
}
