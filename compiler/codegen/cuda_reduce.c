/* CUDA for reductions.  Each thread has an element of the result, or several
 * threads share one and each takes every n-th term. */
#include "config.h"

#include "compiler/codegen/cuda.h"

#include <inttypes.h>

#define SAY(...)  text_line(&g->t, __VA_ARGS__)
#define OPEN(...) text_open(&g->t, __VA_ARGS__)
#define CLOSE()	  text_close(&g->t)

/* ---- accumulators ------------------------------------------------------ */

const char *cuda_joins(reducer r)
{
	return reducer_table[r].cuda;
}

bool cuda_is_long(const kernel *k, int64_t terms)
{
	return k->reducer == RED_SUM && accumulator_of(k) == DT_F32 &&
	       terms > CUDA_TERMS;
}

static bool is_arg(const kernel *k)
{
	return reducer_is_where(k->reducer);
}

/* The C type in which threads combine their results; f64 for long sums. */
static const char *joined_type(emitter *g, bool is_long)
{
	const char *t = type_of_value(accumulator_of(g->k));
	if (is_arg(g->k))
		return arena_printf(g->p.a, "tdl_best<%s>", t);
	return is_long ? "double" : t;
}

/* Declares the accumulators: a sum, or the best value and its position. */
static void declare_accumulator(emitter *g, bool is_long)
{
	const char *t = type_of_value(accumulator_of(g->k));
	if (is_arg(g->k)) {
		SAY("%s best = %s;", t, print_identity(g));
		SAY("int64_t where = -1;");
	} else {
		SAY("%s sum = %s;", is_long ? "double" : t,
		    g->s.kind == SCHEDULE_SCATTER ? "nothing"
						  : print_identity(g));
	}
}

static void store_accumulator(emitter *g, bool is_long)
{
	if (is_arg(g->k))
		SAY("%s = %s;", print_result(&g->p),
		    print_element(&g->p, "tdl_max(where, (int64_t)0)", DT_I64,
				  g->k->type));
	else
		emit_sum(g, is_long ? "(float)sum" : "sum");
}

/* ---- terms ------------------------------------------------------------- */

/* The walk over an element's terms.  Variables of `flat' are walked by term
 * number, those of `inside' in loops within. */
typedef struct terms {
	var_set flat, inside;
} terms;

/* Reduced variables that have one value, or that a condition determines, get no
 * loop. */
static terms terms_of(const emitter *g)
{
	const nest *n = &g->p.nest;
	terms t = {.flat = cuda_vars(g, true)};
	if (g->s.kind == SCHEDULE_SCATTER) {
		var_set given = vars_of_loops(n, g->s.given);
		var_set around = vars_of_loops(n, g->s.around);
		t.inside = t.flat & ~around & ~given;
		t.flat &= around;
	}
	return t;
}

/* Declares the bounds with which a scatter's conditions are compared. */
static void declare_given(emitter *g)
{
	for (int l = 0; l < g->p.nest.n; l++)
		if (g->s.given & loop_bit(l))
			SAY("const TDL_INT %s_hi = %s_lo + %s_n;",
			    loop_name(g, l), loop_name(g, l), loop_name(g, l));
}

/* Emits the term at a point of `flat'. */
static void emit_point(emitter *g, const terms *t, const char *sum)
{
	int n = 0;
	if (g->s.kind == SCHEDULE_SCATTER)
		n = open_wheres(g);
	n += cuda_loops(g, t->inside);
	if (is_arg(g->k))
		emit_best(g, NULL);
	else
		emit_term(g, sum);
	while (n--)
		CLOSE();
}

/* ---- a thread for each element ----------------------------------------- */

/* Emits loops over all terms.  Long sums are added to a sum in f64 from time to
 * time. */
static void emit_loops(emitter *g, const terms *t, bool is_long)
{
	bool some = open_some(g);
	if (is_long) {
		SAY("float part = 0;");
		SAY("int terms = 0;");
	}
	int n = cuda_loops(g, t->flat);
	emit_point(g, t, is_long ? "part" : "sum");
	if (is_long) {
		OPEN("if (++terms == %d)", CUDA_TERMS);
		SAY("sum += part;");
		SAY("part = 0;");
		SAY("terms = 0;");
		CLOSE();
	}
	while (n--)
		CLOSE();
	if (is_long)
		SAY("sum += part;");
	if (some)
		CLOSE();
}

static void reduce_alone(cuda_text *c, bool is_long)
{
	emitter *g = &c->g;
	var_set out = cuda_vars(g, false);
	terms t = terms_of(g);
	cuda_tile(c, -1, CUDA_THREADS);
	cuda_elements(g, cuda_count(g, out));
	cuda_decode(g, out, "at");
	declare_accumulator(g, is_long);
	emit_loops(g, &t, is_long);
	store_accumulator(g, is_long);
	cuda_end(g);
}

/* ---- several threads for each element ---------------------------------- */

/* The threads of a block that share an element: `lanes' threads, adjacent, or
 * `columns' apart if memory is stored along the result. */
typedef struct team {
	int threads, lanes, columns;
	bool apart;
} team;

/* Emits n terms from term_at on, read as a vector if possible. */
static void emit_elements(emitter *g, const terms *t, const cuda_reads *f,
			  int n, const char *sum)
{
	OPEN("if (vectors)");
	SAY("TDL_INT at = term_at;");
	cuda_open_vector(g, f, n, t->flat, false);
	emit_point(g, t, sum);
	cuda_close_vector(g);
	CLOSE();
	OPEN("for (int unit = 0; !vectors && unit < %d && term_at + unit < "
	     "stop; unit++)", n);
	SAY("TDL_INT at = term_at + unit;");
	cuda_decode(g, t->flat, "at");
	emit_point(g, t, sum);
	CLOSE();
}

/* The number of a lane's terms that are read before the first one is added.  It
 * is limited by registers, and keeps memory busy. */
static int terms_ahead(const cuda_reads *f)
{
	enum { REGISTERS = 24, MOST = 8, SIZE = 4 };
	int each = 0, n = MOST;
	for (int i = 0; i < f->n; i++) {
		int size = (int)dtype_size(f->reads[i]->type);
		each += size > SIZE ? size / SIZE : 1;
	}
	while (n > 1 && n * each > REGISTERS)
		n /= 2;
	return f->n ? n : 1;
}

/* Opens the loop over the terms of a lane that are read at a time. */
static void open_ahead(emitter *g, const terms *t, const team *how, int n)
{
	SAY("#pragma unroll");
	OPEN("for (int unit = 0; unit < %d; unit++)", n);
	SAY("[[maybe_unused]] TDL_INT at = term_at + unit * %d;", how->lanes);
	cuda_decode(g, t->flat, "at");
}

/* Emits this lane's terms from term_at on, n at a time as long as enough are
 * left.  The order of addition is that of single terms. */
static void emit_ahead(emitter *g, const terms *t, const team *how,
		       const cuda_reads *f, int n, const char *end,
		       const char *sum)
{
	OPEN("for (; term_at + %d < %s; term_at += %d)", (n - 1) * how->lanes,
	     end, n * how->lanes);
	cuda_declare_next(g, f, n);
	open_ahead(g, t, how, n);
	cuda_load_next(g, f);
	CLOSE();
	cuda_take_next(g, f);
	open_ahead(g, t, how, n);
	emit_point(g, t, sum);
	CLOSE();
	g->p.loaded.n = 0;
	CLOSE();
}

/* Emits this lane's terms from term_at to `end'. */
static void emit_terms(emitter *g, const terms *t, const team *how,
		       const char *end, const char *sum)
{
	cuda_reads f = {.g = g, .loop = -1, .wanted = cuda_is_plain};
	if (t->flat && g->s.kind != SCHEDULE_SCATTER)
		cuda_find_reads(&f, g->s.term);
	int n = terms_ahead(&f);
	if (n > 1)
		emit_ahead(g, t, how, &f, n, end, sum);
	SAY("#pragma unroll %d", n > 1 ? 1 : 4);
	OPEN("for (; term_at < %s; term_at += %d)", end, how->lanes);
	if (t->flat)
		SAY("TDL_INT at = term_at;");
	cuda_decode(g, t->flat, "at");
	emit_point(g, t, sum);
	CLOSE();
}

/* The same for n adjacent terms at a time. */
static void emit_vectors(emitter *g, const terms *t, const team *how,
			 const cuda_reads *f, int n, const char *end,
			 const char *sum)
{
	SAY("#pragma unroll 2");
	OPEN("for (; term_at < %s; term_at += %d)", end, n * how->lanes);
	emit_elements(g, t, f, n, sum);
	CLOSE();
}

/* Emits this lane's terms, n adjacent ones at a time, in stretches. */
static void emit_lane(emitter *g, const terms *t, const team *how,
		      const cuda_reads *f, int n, bool is_long)
{
	const char *sum = is_long ? "part" : "sum", *end = "stop";
	SAY("TDL_INT term_at = lane%s;",
	    n > 1 ? arena_printf(g->p.a, " * %d", n) : "");
	if (is_long) {
		OPEN("while (term_at < stop)");
		SAY("const TDL_INT end = tdl_min(stop, term_at + %d);",
		    CUDA_TERMS * how->lanes);
		SAY("float part = 0;");
		end = "end";
	}
	if (n > 1)
		emit_vectors(g, t, how, f, n, end, sum);
	else
		emit_terms(g, t, how, end, sum);
	if (is_long) {
		SAY("sum += part;");
		CLOSE();
	}
}

/* Combines the accumulators of a team into one. */
static void emit_join(emitter *g, const team *how)
{
	const char *name = is_arg(g->k) ? "all" : "sum";
	const char *op = cuda_joins(g->k->reducer);
	if (is_arg(g->k)) {
		SAY("%s all;", joined_type(g, false));
		SAY("all.best = best;");
		SAY("all.where = where;");
	}
	if (how->apart)
		SAY("%s = tdl_join_columns<%s>(%s, %d, shared);", name, op,
		    name, how->columns);
	else if (how->lanes == 32)
		SAY("%s = tdl_join_warp<%s>(%s);", name, op, name);
	else
		SAY("%s = tdl_join_block<%s>(%s, shared);", name, op, name);
	if (is_arg(g->k))
		SAY("where = all.where;");
}

static void reduce_together(cuda_text *c, const team *how, bool is_long)
{
	emitter *g = &c->g;
	var_set out = cuda_vars(g, false);
	terms t = terms_of(g);
	var_set counted = all_reduced(g->k);
	if (g->s.kind == SCHEDULE_SCATTER)
		counted &= ~t.inside & ~vars_of_loops(&g->p.nest, g->s.given);
	int nshared = how->apart	 ? how->threads
		      : how->lanes == 32 ? 0
					 : how->threads / 32;
	cuda_reads f = {.g = g, .loop = -1};
	if (!how->apart && g->s.kind != SCHEDULE_SCATTER)
		f.loop = set_last(loops_that(g, true));
	int n = cuda_vector_length(&f, g->s.term, 0);
	/* A lane has n adjacent terms, whether or not they can be read as a
	 * vector.  So where they cannot, it has one. */
	if (n > 1 && g->p.nest.loops[f.loop].extent % n != 0)
		n = 1;
	cuda_tile(c, -1, how->columns);
	if (nshared)
		SAY("__shared__ %s shared[%d];", joined_type(g, is_long),
		    nshared);
	SAY("const TDL_INT elements = %s, terms = %s;", cuda_count(g, out),
	    cuda_count(g, counted));
	SAY("const int lane = threadIdx.x %s %d;", how->apart ? "/" : "%",
	    how->apart ? how->columns : how->lanes);
	if (n > 1)
		cuda_check_vectors(g, &f, n, out | t.flat, false);
	cuda_items(g, arena_printf(g->p.a,
				   "tdl_ceil_div(elements, (TDL_INT)%d)",
				   how->columns));
	SAY("const TDL_INT element = item * %d + threadIdx.x %s %d;",
	    how->columns, how->apart ? "%" : "/",
	    how->apart ? how->columns : how->lanes);
	SAY("const TDL_INT stop = element < elements ? terms : 0;");
	if (out) {
		SAY("TDL_INT at = tdl_min(element, elements - 1);");
		cuda_decode(g, out, "at");
	}
	declare_accumulator(g, is_long);
	emit_lane(g, &t, how, &f, n, is_long);
	emit_join(g, how);
	OPEN("if (lane == 0 && element < elements)");
	store_accumulator(g, is_long);
	CLOSE();
	cuda_end(g);
}

/* ---- which way --------------------------------------------------------- */

static bool is_near(const emitter *g, int l)
{
	int64_t step = l < 0 ? 0 : step_of(&g->p.nest, g->s.term, l);
	return step > 0 && step < FAR_STEP;
}

/* The team if columns are used.  Their number leaves a full block for each
 * multiprocessor. */
static team columns_of(int64_t results, int64_t nterms)
{
	enum { BLOCKS = 128, ROOM = 1024, LONG = 1024 };
	int columns = results >= 32 * BLOCKS   ? 32
		      : results >= 16 * BLOCKS ? 16
					       : 8;
	bool few = results / columns < ROOM && nterms >= LONG;
	int threads = few ? 1024 : CUDA_THREADS;
	return (team){threads, threads / columns, columns, true};
}

/* The threads that share an element, chosen by extents and by the order of
 * reads in memory. */
static team team_of(const emitter *g, int64_t results, int64_t nterms)
{
	enum { FEW = 32, MANY = 1 << 16, WARPS = 2048, LONG = 1 << 14 };
	const nest *n = &g->p.nest;
	loop_set out = loops_that(g, false), reduced = loops_that(g, true);
	bool along_result = is_near(g, set_last(out));
	bool along_terms = is_near(g, set_last(reduced));
	team alone = {CUDA_THREADS, 1, CUDA_THREADS, false};
	if (nterms < FEW || n->n == 0)
		return alone;
	if (along_result || !along_terms) {
		if (results >= MANY)
			return alone;
		if (results >= 8)
			return columns_of(results, nterms);
	}
	if (nterms >= LONG && results < 512)
		return (team){1024, 1024, 1, false};
	if (nterms >= WARPS || (nterms >= 512 && results < WARPS))
		return (team){CUDA_THREADS, CUDA_THREADS, 1, false};
	return (team){CUDA_THREADS, 32, CUDA_THREADS / 32, false};
}

void cuda_reduce(cuda_text *c)
{
	enum { CAP = 1 << 30 };
	emitter *g = &c->g;
	terms t = terms_of(g);
	bool is_scatter = g->s.kind == SCHEDULE_SCATTER;
	int64_t results = cuda_points(g->k, cuda_vars(g, false), CAP);
	team how = team_of(g, results, cuda_points(g->k, t.flat, CAP));
	bool is_long = cuda_is_long(
		g->k, cuda_points(g->k, t.flat | t.inside, CAP));
	cuda_head(c, g->k->body, how.threads,
		  is_scatter ? 0 : ~(var_set)0);
	if (is_scatter) {
		emit_nothing(g);
		declare_given(g);
	} else {
		cuda_merge(c, false, g->k->body, true);
		if (how.lanes > 1)
			cuda_merge(c, true, g->k->body, false);
	}
	if (how.lanes == 1)
		reduce_alone(c, is_long);
	else
		reduce_together(c, &how, is_long);
}
