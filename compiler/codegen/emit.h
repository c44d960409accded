/* Pieces of C that all schedules write: declarations, loops, runs of a loop.
 * Shared by the files of compiler/codegen alone. */
#ifndef TDL_COMPILER_CODEGEN_EMIT_H
#define TDL_COMPILER_CODEGEN_EMIT_H

#include "compiler/codegen/expr.h"
#include "compiler/codegen/schedule.h"
#include "compiler/codegen/text.h"

typedef struct emitter {
	text t;
	printer p;
	schedule s;
	const kernel *k;
	/* For a reduction with an epilogue: the expression stored for each
	 * element, in which the read `own' stands for the reduced value at its
	 * index.  NULL: the value itself is stored.  The input of `own' is not
	 * an argument of the function; its name is the result's.
	 * (epilogue.c) */
	const kexpr *epilogue, *own;
	const char *head; /* "static int NAME" of the function; NULL: it is
			     TDL_KERNEL */
} emitter;

/* The name of a loop in C. */
static inline const char *loop_name(const emitter *g, int l)
{
	return g->p.nest.loops[l].name;
}

/* Writes the C of g's kernel, into a. g->t has an arena; members that no
 * schedule changes are set.  (codegen.c) */
char *emit_kernel(arena *a, emitter *g);

/* Writes the kernel's formula as a comment above its code; an end of comment in
 * it is broken up. */
void emit_comment(emitter *g);

/* ---- declarations ------------------------------------------------------ */

/* Declares pointers, strides and starts of the inputs that e reads; of the
 * result. */
void emit_inputs(emitter *g, const kexpr *e);
void emit_result(emitter *g);

/* Declares the variables with a single value that e uses. */
void emit_constants(emitter *g, const kexpr *e);
/* The variable whose value ArgMax and ArgMin give, as a set; their body need
 * not use it. */
uint32_t position_var(const kernel *k);

/* Declares <loop>_lo and <loop>_hi.  Those of a remainder depend on its
 * quotient. */
void emit_bounds(emitter *g, int l);
void emit_bounds_of(emitter *g, loop_set s);

/* Declares a divided variable, inside its two loops. */
void emit_whole(emitter *g, int l);

/* Merges loops of a set that are adjacent in memory: if the accesses of e, and
 * of the result if asked, allow it, the bounds of the last loop are extended
 * over those before it. */
void emit_merge(emitter *g, loop_set s, const kexpr *e, bool result);

/* The distance in elements, as C, of one step of a loop in a tensor whose index
 * in dimension d moves by coef[d]; "0" if it does not move. */
const char *print_step(emitter *g, const char *name, const int64_t *coef,
		       int ndim);

/* ---- loops ------------------------------------------------------------- */

/* Opens the loops of a set, in order, and returns their number; close_loops()
 * closes that many. */
int open_loops(emitter *g, loop_set s);
void close_loops(emitter *g, int n);

/* Writes the statement executed at a point of the iteration space. */
typedef void statement(emitter *g, const void *arg);

/* Writes loop l from `from' to `to', two C expressions, around a statement that
 * evaluates e.  Conditions are moved out of the hot part: data-dependent
 * indices that do not depend on l are checked before the loop, and if the
 * guarded reads of e share one guard, the loop is split into the parts where it
 * holds and those where it does not. l may be -1: no loop. */
void emit_run(emitter *g, int l, const char *from, const char *to,
	      const kexpr *e, statement *st, const void *arg);

/* Writes the loop from `from' on for n values, which compilers know: with an
 * end of from + n they would have to allow for its overflow.  Each read checks
 * its own guard. */
void emit_whole_run(emitter *g, int l, const char *from, const char *n,
		    const kexpr *e, statement *st, const void *arg);

/* Opens a loop over stretches [<loop>_0, <loop>_1) of loop l, at most `length'
 * long; the name of one of these ends. */
void open_stretches(emitter *g, int l, const char *length);
const char *stretch(emitter *g, int l, int which);

/* The loops of the result, or the reducing ones. */
loop_set loops_that(const emitter *g, bool reduce);

/* s without loop l, which may be -1. */
loop_set set_without(loop_set s, int l);

/* ---- reductions -------------------------------------------------------- */

/* The type of a reduction's accumulator. */
dtype accumulator_of(const kernel *k);
const char *print_identity(emitter *g);

/* Adds the current term to the accumulator named `to'. */
void emit_term(emitter *g, const void *to);
/* Keeps the better of `best' and the current term, and its position in
 * `where'. */
void emit_best(emitter *g, const void *unused);
/* Stores an accumulator as an element of the result. */
void emit_sum(emitter *g, const char *sum);

/* Opens an "if" around the reduction if a reduced variable without a loop may
 * have an empty range; returns whether it did. */
bool open_some(emitter *g);

/* Declares `nothing', the initial value of a reduction under a condition: its
 * value if no term meets the condition. */
void emit_nothing(emitter *g);
/* Opens an "if" for each condition and returns their number. */
int open_wheres(emitter *g);

/* ---- schedules --------------------------------------------------------- */

void emit_schedule(emitter *g);
/* Writes a strip whose terms fall into classes as one function per class, in
 * place of its schedule.  Returns false, and writes nothing, if they do not.
 * (classes.c) */
bool emit_by_class(emitter *g);

void emit_map(emitter *g);
void emit_strip(emitter *g);
void emit_single(emitter *g);
/* Writes, before a strip's loops, code that computes the whole result and
 * returns if all terms are asked for.  Only if one factor is read in a
 * window. */
void emit_window(emitter *g);
void emit_product(emitter *g);
/* A sum, a C value of that type, in the form in which it is stored. */
const char *print_reduced(emitter *g, const char *sum, dtype type);
/* For a product of type t: where a factor with the loops of s lies, if at run
 * time, once loops are merged, it turns out to be in rows of equal distances;
 * also a row for each image of a batch. (product_place.c) */
void emit_in_memory(emitter *g, const char *name, const kexpr *e, loop_set s,
		dtype t);
/* For a product: a factor with the loops of s as a window, if it is read in
 * one. (product_window.c) */
void emit_planes(emitter *g, const char *name, const kexpr *e, loop_set s);
void emit_scatter(emitter *g);
void emit_scan(emitter *g);

/* An expression with all reads of the kernel and its epilogue. */
const kexpr *all_reads(emitter *g);

/* The common beginning of all schedules of plain loops: emit_begin(),
 * declarations, bounds. */
void emit_head(emitter *g);

/* Declares the bounds of the innermost loop if it is a remainder, inside its
 * quotient's loop; the name of a bound, "<loop>_lo", or "" without a loop. */
void emit_inner_bounds(emitter *g);
const char *inner_bound(emitter *g, const char *which);

/* Writes the head of the kernel's function, which returns if the result is
 * empty; that return alone; the function's end. */
void emit_begin(emitter *g);
void emit_empty(emitter *g);
void emit_end(emitter *g);

/* "args->lo[4] < args->hi[4]" for the reduced variables without a loop; NULL if
 * there are none. */
const char *print_some(emitter *g);

#endif
