/* CUDA: elements read by one instruction. */
#include "config.h"

#include "compiler/codegen/cuda.h"

#include "kernel/index_interval.h"

#define SAY(...)  text_line(&g->t, __VA_ARGS__)
#define OPEN(...) text_open(&g->t, __VA_ARGS__)
#define CLOSE()	  text_close(&g->t)

enum { VECTOR = 16 };

/* ---- reads ------------------------------------------------------------- */

static bool same_when(const cuda_when *x, const cuda_when *y)
{
	for (; x && y; x = x->up, y = y->up)
		if (x->holds != y->holds || !kx_equal(x->cond, y->cond))
			return false;
	return x == y;
}

/* Notes a read.  Returns false if a read made at several places cannot be known
 * to be inside its input. */
static bool note_read(cuda_reads *f, const kexpr *e, const cuda_when *when)
{
	for (int i = 0; i < f->n; i++) {
		if (!kx_equal(f->reads[i], e))
			continue;
		if (!when)
			f->when[i] = NULL;
		return !f->when[i] || same_when(f->when[i], when);
	}
	if (f->n < CUDA_MAX_READS && f->wanted(f, e)) {
		f->when[f->n] = when;
		f->reads[f->n++] = e;
	}
	return true;
}

void cuda_find_reads(cuda_reads *f, const kexpr *e)
{
	if (e->kind == KX_READ) {
		note_read(f, e, NULL);
		return;
	}
	for (int i = 0; i < kx_nalways(e); i++)
		cuda_find_reads(f, e->args[i]);
}

static bool find_any_reads(cuda_reads *f, arena *a, const kexpr *e,
			   const cuda_when *when);

/* Finds the reads of e, which is evaluated if a condition holds (holds) or does
 * not.  A condition that does not concern indices does not affect whether reads
 * are inside: those reads are inside in any case. */
static bool find_under(cuda_reads *f, arena *a, const kexpr *e,
		       const cuda_when *up, const kexpr *test, bool holds)
{
	const kernel *k = f->g->k;
	if (!index_cond(a, k, kx_simplify(a, test, k->vars), holds))
		return find_any_reads(f, a, e, up);
	if (kx_has_read(test))
		return !kx_has_read(e);
	cuda_when *when = ARENA_NEW(a, cuda_when);
	*when = (cuda_when){up, test, holds};
	return find_any_reads(f, a, e, when);
}

/* Finds reads under conditions, too.  Returns whether all of these are
 * known. */
static bool find_any_reads(cuda_reads *f, arena *a, const kexpr *e,
			   const cuda_when *when)
{
	if (e->kind == KX_READ)
		return note_read(f, e, when);
	int always = kx_nalways(e);
	bool known = true;
	for (int i = 0; i < always && known; i++)
		known = find_any_reads(f, a, e->args[i], when);
	for (int i = always; i < e->nargs && known; i++)
		known = find_under(f, a, e->args[i], when, e->args[0],
				   e->kind == KX_SELECT ? i == 1
							: e->fn == FN_AND);
	return known;
}

bool cuda_is_plain(const cuda_reads *f, const kexpr *e)
{
	for (int d = 0; d < kx_ndim(e); d++)
		if (needs_check(&f->g->p, e, d) ||
		    !linear_of(&f->g->p.nest, e->args[d]).affine)
			return false;
	return true;
}

bool cuda_is_along(const cuda_reads *f, const kexpr *e)
{
	const nest *n = &f->g->p.nest;
	int last = kx_ndim(e) - 1;
	return last >= 0 && cuda_is_plain(f, e) &&
	       step_of(n, e, f->loop) == 1 &&
	       linear_of(n, e->args[last]).coef[f->loop] == 1;
}

/* Whether a read goes along memory without being one of these.  Then adjacent
 * threads read adjacent elements, and no vectors are used. */
static bool has_other_read(const cuda_reads *f, const kexpr *e)
{
	int64_t step = e->kind == KX_READ
			       ? step_of(&f->g->p.nest, e, f->loop)
			       : 0;
	bool found = step == 0 || step >= FAR_STEP;
	for (int i = 0; i < f->n && !found; i++)
		found = kx_equal(f->reads[i], e);
	for (int i = 0; i < e->nargs && found; i++)
		found = !has_other_read(f, e->args[i]);
	return !found;
}

int cuda_vector_length(cuda_reads *f, const kexpr *e, size_t size)
{
	f->wanted = cuda_is_along;
	if (f->loop < 0 || f->g->p.nest.loops[f->loop].part != LOOP_WHOLE)
		return 1;
	if (!find_any_reads(f, f->g->p.a, e, NULL) || has_other_read(f, e))
		return 1;
	for (int i = 0; i < f->n; i++)
		if (dtype_size(f->reads[i]->type) > size)
			size = dtype_size(f->reads[i]->type);
	return size ? VECTOR / (int)size : 1;
}

/* ---- where vectors may lie ---------------------------------------------- */

/* Prints checks that the steps of other loops are multiples of the vector's
 * length. */
static void check_steps(emitter *g, int along, const char *name, int ndim,
			int n, const linear *x)
{
	int64_t coef[MAX_NDIM];
	for (int l = 0; l < g->p.nest.n; l++) {
		const loop *p = &g->p.nest.loops[l];
		if (l == along)
			continue;
		for (int d = 0; d < ndim; d++)
			coef[d] = x[d].coef[l];
		const char *step = print_step(g, name, coef, ndim);
		if (*step == '0')
			continue;
		if (p->part == LOOP_WHOLE)
			SAY("vectors = vectors && (%s_n == 1 || (%s) %% %d == "
			    "0);", p->name, step, n);
		else
			SAY("vectors = vectors && (%s) %% %d == 0;", step, n);
	}
}

static void check_read(emitter *g, int along, const kexpr *e, int n)
{
	linear x[MAX_NDIM];
	for (int d = 0; d < kx_ndim(e); d++)
		x[d] = linear_of(&g->p.nest, e->args[d]);
	SAY("vectors = vectors && tdl_fits(&%s, %d);",
	    print_element_at(&g->p, e), n);
	check_steps(g, along, g->p.input[e->input], kx_ndim(e), n, x);
}

static void check_result(emitter *g, int along, int n)
{
	linear x[MAX_NDIM];
	for (int v = 0; v < g->k->nout; v++) {
		int l = g->p.nest.first[v];
		x[v] = (linear){.affine = true};
		if (l < 0)
			continue;
		x[v].coef[l] = g->p.nest.loops[l].divisor;
		if (g->p.nest.loops[l].part == LOOP_QUOTIENT)
			x[v].coef[l + 1] = 1;
	}
	SAY("vectors = vectors && tdl_fits(&%s, %d);", print_result(&g->p), n);
	check_steps(g, along, g->p.out, g->k->nout, n, x);
}

void cuda_check_vectors(emitter *g, const cuda_reads *f, int n, var_set all,
			bool result)
{
	SAY("bool vectors = %s_n %% %d == 0;", loop_name(g, f->loop), n);
	text_block(&g->t);
	cuda_first(g, all);
	for (int i = 0; i < f->n; i++)
		check_read(g, f->loop, f->reads[i], n);
	if (result)
		check_result(g, f->loop, n);
	CLOSE();
}

/* ---- reads ahead ------------------------------------------------------- */

void cuda_declare_next(emitter *g, const cuda_reads *f, int n)
{
	for (int i = 0; i < f->n; i++)
		SAY("%s next%d[%d];", type_of_element(f->reads[i]->type), i, n);
}

void cuda_load_next(emitter *g, const cuda_reads *f)
{
	for (int i = 0; i < f->n; i++)
		SAY("next%d[unit] = %s;", i,
		    print_element_at(&g->p, f->reads[i]));
}

void cuda_take_next(emitter *g, const cuda_reads *f)
{
	SAY("TDL_AFTER_LOADS();");
	for (int i = 0; i < f->n; i++)
		vec_push(g->p.a, &g->p.loaded,
			 ((named){f->reads[i], arena_printf(g->p.a,
							    "next%d[unit]",
							    i)}));
}

/* ---- vectors ----------------------------------------------------------- */

const char *cuda_vector_type(emitter *g, dtype t, int n)
{
	return arena_printf(g->p.a, "tdl_vector<%s, %d>", type_of_element(t),
			    n);
}

static void load_vector(emitter *g, const cuda_reads *f, int i, int n)
{
	SAY("part%d = tdl_load<%d>(&%s);", i, n,
	    print_element_at(&g->p, f->reads[i]));
}

/* The conditions around a read and its own, as an operand of &&; one of them
 * may be an alternative. */
static const char *print_when(emitter *g, const cuda_when *when)
{
	const char *s = print_operand(&g->p, when->cond);
	if (!when->holds)
		s = arena_printf(g->p.a, "!%s", s);
	return when->up ? arena_printf(g->p.a, "%s && %s",
				       print_when(g, when->up), s)
			: s;
}

/* Opens the loop over the elements of a vector while a condition holds. */
static void open_units(emitter *g, const cuda_reads *f, int n,
		       const char *while_)
{
	SAY("#pragma unroll");
	OPEN("for (int unit = 0; %sunit < %d; unit++)", while_, n);
	SAY("const TDL_INT %s = first + unit;", loop_name(g, f->loop));
}

/* Loads the vector of a read under a condition: at once if the condition holds
 * for all of it, otherwise those elements for which it does. */
static void load_some(emitter *g, const cuda_reads *f, int i, int n)
{
	const cuda_when *all = f->when[i];
	const char *when = all->holds && !all->up
				   ? print_expr(&g->p, all->cond)
				   : print_when(g, all);
	SAY("bool whole%d = true;", i);
	open_units(g, f, n, "");
	SAY("whole%d = whole%d && (%s);", i, i, when);
	CLOSE();
	OPEN("if (whole%d)", i);
	SAY("const TDL_INT %s = first;", loop_name(g, f->loop));
	load_vector(g, f, i, n);
	CLOSE();
	open_units(g, f, n, arena_printf(g->p.a, "!whole%d && ", i));
	SAY("if (%s)", when);
	SAY("\tpart%d.at[unit] = %s;", i,
	    print_element_at(&g->p, f->reads[i]));
	CLOSE();
}

void cuda_open_vector(emitter *g, const cuda_reads *f, int n, var_set all,
		      bool result)
{
	const char *x = loop_name(g, f->loop);
	var_set others = all & ~var_bit(g->p.nest.loops[f->loop].var);
	if (result)
		SAY("%s *result;", type_of_element(g->k->type));
	for (int i = 0; i < f->n; i++)
		SAY("%s part%d;", cuda_vector_type(g, f->reads[i]->type, n), i);
	SAY("const TDL_INT first = %s_lo + %s;", x,
	    others ? arena_printf(g->p.a, "tdl_digit(at, %s_n)", x) : "at");
	cuda_decode(g, others, "at");
	text_block(&g->t);
	SAY("const TDL_INT %s = first;", x);
	if (result)
		SAY("result = &%s;", print_result(&g->p));
	for (int i = 0; i < f->n; i++)
		if (!f->when[i])
			load_vector(g, f, i, n);
	CLOSE();
	for (int i = 0; i < f->n; i++)
		if (f->when[i])
			load_some(g, f, i, n);
	for (int i = 0; i < f->n; i++)
		vec_push(g->p.a, &g->p.loaded,
			 ((named){f->reads[i],
				  arena_printf(g->p.a, "part%d.at[unit]", i)}));
	open_units(g, f, n, "");
}

void cuda_close_vector(emitter *g)
{
	CLOSE();
	g->p.loaded.n = 0;
}
