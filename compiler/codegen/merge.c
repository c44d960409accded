/* Merges loops at run time if they are contiguous in memory. */
#include "config.h"

#include "compiler/codegen/emit.h"

#include <inttypes.h>

#include "plan/plan.h"

#define SAY(...)  text_line(&g->t, __VA_ARGS__)
#define OPEN(...) text_open(&g->t, __VA_ARGS__)
#define CLOSE()	  text_close(&g->t)

/* The conditions of a merge on the accesses' steps, in C. */
typedef struct merge {
	int outer, inner;
	bool possible;
	const char *when; /* NULL: always */
} merge;

const char *print_step(emitter *g, const char *name, const int64_t *coef,
		       int ndim)
{
	const char *s = "0";
	for (int d = 0; d < ndim; d++) {
		if (!coef[d])
			continue;
		const char *one =
			d == ndim - 1
				? arena_printf(g->p.a, "%" PRId64, coef[d])
			: coef[d] == 1
				? arena_printf(g->p.a, "%s_%d", name, d)
				: arena_printf(g->p.a, "%" PRId64 " * %s_%d",
					       coef[d], name, d);
		s = *s == '0' ? one : arena_printf(g->p.a, "%s + %s", s, one);
	}
	return s;
}

/* The number of values of a loop. */
static const char *count_of(emitter *g, int l)
{
	const char *n = loop_name(g, l);
	return arena_printf(g->p.a, g->p.cuda ? "%s_n" : "%s_hi - %s_lo", n, n);
}

static void merge_access(emitter *g, merge *m, const char *name,
			 const int64_t *outer, const int64_t *inner, int ndim)
{
	const char *x = print_step(g, name, outer, ndim);
	const char *y = print_step(g, name, inner, ndim);
	const char *n = count_of(g, m->inner), *one;
	if (*x == '0' && *y == '0')
		return;
	if (*x == '0' || *y == '0') {
		m->possible = false;
		return;
	}
	if (*y == '1' && !y[1])
		one = arena_printf(g->p.a, "%s == %s", x, n);
	else
		one = arena_printf(g->p.a, "%s == (%s) * %s%s%s", x, y,
				   g->p.cuda ? "" : "(", n,
				   g->p.cuda ? "" : ")");
	m->when =
		m->when ? arena_printf(g->p.a, "%s && %s", m->when, one) : one;
}

/* Adds the conditions that a merge has for read e. */
static void merge_read(emitter *g, merge *m, const kexpr *e)
{
	int64_t outer[MAX_NDIM], inner[MAX_NDIM];
	loop_set both = loop_bit(m->outer) | loop_bit(m->inner);
	for (int d = 0; d < kx_ndim(e); d++) {
		linear x = linear_of(&g->p.nest, e->args[d]);
		outer[d] = x.affine ? x.coef[m->outer] : 0;
		inner[d] = x.affine ? x.coef[m->inner] : 0;
		if ((!x.affine || needs_check(&g->p, e, d)) &&
		    loops_of(&g->p.nest, e->args[d]) & both)
			m->possible = false;
	}
	merge_access(g, m, g->p.input[e->input], outer, inner, kx_ndim(e));
}

static void merge_expr(emitter *g, merge *m, const kexpr *e)
{
	loop_set both = loop_bit(m->outer) | loop_bit(m->inner);
	if (e->kind == KX_READ) {
		merge_read(g, m, e);
		if (e->guarded)
			merge_expr(g, m, e->args[e->nargs - 1]);
		return;
	}
	if ((e->kind == KX_VAR || nest_part(&g->p.nest, e) >= 0) &&
	    loops_of(&g->p.nest, e) & both)
		m->possible = false;
	for (int i = 0; i < e->nargs; i++)
		merge_expr(g, m, e->args[i]);
}

static void merge_result(emitter *g, merge *m)
{
	int64_t outer[MAX_NVARS] = {0}, inner[MAX_NVARS] = {0};
	int x = g->p.nest.loops[m->outer].var;
	int y = g->p.nest.loops[m->inner].var;
	outer[x] = g->p.by[x] ? g->p.by[x] : 1;
	inner[y] = g->p.by[y] ? g->p.by[y] : 1;
	merge_access(g, m, g->p.out, outer, inner, g->k->nout);
}

void emit_merge(emitter *g, loop_set s, const kexpr *e, bool result)
{
	merge m = {.inner = set_last(s)};
	const char *before = NULL;
	if (m.inner < 0 || g->p.nest.loops[m.inner].part != LOOP_WHOLE)
		return;
	for (s &= ~loop_bit(m.inner); s; s &= ~loop_bit(m.outer)) {
		m.outer = set_last(s);
		m.possible = g->p.nest.loops[m.outer].part == LOOP_WHOLE;
		m.when = before;
		if (m.possible)
			merge_expr(g, &m, e);
		if (m.possible && result)
			merge_result(g, &m);
		if (!m.possible)
			return;
		const char *o = loop_name(g, m.outer);
		const char *i = loop_name(g, m.inner);
		OPEN("if (%s)", m.when ? m.when : "true");
		if (g->p.cuda) {
			SAY("%s_n *= %s_n;", i, o);
			SAY("%s_n = 1;", o);
		} else {
			SAY("%s_hi += (%s_hi - %s_lo - 1) * (%s_hi - %s_lo);",
			    i, o, o, i, i);
			SAY("%s_hi = %s_lo + 1;", o, o);
		}
		CLOSE();
		before = arena_printf(g->p.a, "%s%s%s == 1",
				      before ? before : "",
				      before ? " && " : "",
				      count_of(g, m.outer));
	}
}
