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
	/* Of a reduction: what is stored of each of its elements, which `own'
	 * reads at its index; NULL for the element itself.  The input of `own'
	 * is none that the kernel is called with: it goes by the result's
	 * name.  (epilogue.c) */
	const kexpr *epilogue, *own;
	const char *head; /* "static int NAME" of the function; NULL: it is
			     TDL_KERNEL */
} emitter;

/* The name of a loop in C. */
static inline const char *loop_name(const emitter *g, int l)
{
	return g->p.nest.loops[l].name;
}

/* The C of g's kernel, into a; g->t has an arena, and g's other members that no
 * schedule changes are set.  (codegen.c) */
char *emit_kernel(arena *a, emitter *g);

/* The kernel's formula as a comment above its code; an end of comment in it is
 * broken up. */
void emit_comment(emitter *g);

/* ---- declarations ------------------------------------------------------ */

/* Pointers, strides and starts of the inputs that e reads; of the result. */
void emit_inputs(emitter *g, const kexpr *e);
void emit_result(emitter *g);

/* Variables that have one value, where e uses them. */
void emit_constants(emitter *g, const kexpr *e);
/* As a set, the variable whose value ArgMax and ArgMin give, though their body
 * may not use it. */
uint32_t position_var(const kernel *k);

/* <loop>_lo and <loop>_hi.  A remainder's depend on its quotient. */
void emit_bounds(emitter *g, int l);

/* A divided variable, inside its two loops. */
void emit_whole(emitter *g, int l);

/* Loops of a set that come one right after the other in memory become one:
 * where the accesses of e, and of the result if asked, allow it, the bounds
 * of the last loop are extended over those before it. */
void emit_merge(emitter *g, loop_set s, const kexpr *e, bool result);

/* The distance in elements of one step of a loop in a tensor whose index in
 * dimension d moves by coef[d]; "0" for none. */
const char *print_step(emitter *g, const char *name, const int64_t *coef,
		       int ndim);

/* ---- loops ------------------------------------------------------------- */

/* Opens the loops of a set, in order; close_loops() ends as many. */
int open_loops(emitter *g, loop_set s);
void close_loops(emitter *g, int n);

/* Writes the statement that a point of the iteration space executes. */
typedef void statement(emitter *g, const void *arg);

/* The loop l from `from` to `to`, two C expressions, around a statement that
 * evaluates e.  The hot part has no conditions that could be taken out: data-
 * dependent indices that do not depend on l are checked before, and where e
 * has guarded reads with one guard the loop is divided into the parts where it
 * holds and those where it does not.  l may be -1: no loop. */
void emit_run(emitter *g, int l, const char *from, const char *to,
	      const kexpr *e, statement *st, const void *arg);

/* A loop over the stretches [<loop>_0, <loop>_1) of a loop, which are at most
 * `length` long; and the name of one of these ends. */
void open_stretches(emitter *g, int l, const char *length);
const char *stretch(emitter *g, int l, int which);

/* The loops over the result, or those that reduce. */
loop_set loops_that(const emitter *g, bool reduce);

/* A set without a loop, which may be -1. */
loop_set set_without(loop_set s, int l);

/* ---- reductions -------------------------------------------------------- */

/* The type that a reduction is kept in. */
dtype accumulator_of(const kernel *k);
const char *print_identity(emitter *g);

/* Adds the term at hand to the accumulator `to`, a name. */
void emit_term(emitter *g, const void *to);
/* Keeps the better of `best` and the term at hand, and `where` it was. */
void emit_best(emitter *g, const void *unused);
/* Stores an accumulator as an element of the result. */
void emit_sum(emitter *g, const char *sum);

/* Opens "if" around the reduction where it may be empty for a variable that
 * has no loop; returns whether it did. */
bool open_some(emitter *g);

/* Declares the initial value of a reduction under a condition, `nothing`: its
 * value without terms, or if none of its terms meets the condition. */
void emit_nothing(emitter *g);
/* Opens an "if" for each condition, and returns how many. */
int open_wheres(emitter *g);

/* ---- schedules --------------------------------------------------------- */

void emit_schedule(emitter *g);
/* In place of the schedule of a strip: if its terms are in classes, which are
 * functions; false, and nothing, if they are not.  (classes.c) */
bool emit_by_class(emitter *g);

void emit_map(emitter *g);
void emit_strip(emitter *g);
void emit_single(emitter *g);
/* In front of a strip's loops: if one factor is read in a window, code that
 * computes the whole where all terms are asked for, and returns. */
void emit_window(emitter *g);
void emit_product(emitter *g);
/* A sum, in C a value of that type, as it is stored. */
const char *print_reduced(emitter *g, const char *sum, dtype type);
/* Of a product: its columns as a window, if they are read in one.
 * (product_window.c) */
void emit_planes(emitter *g);
void emit_scatter(emitter *g);
void emit_scan(emitter *g);

/* An expression that reads all that the kernel and its epilogue read. */
const kexpr *all_reads(emitter *g);

/* The beginning of all schedules of plain loops: emit_begin(), declarations,
 * bounds. */
void emit_head(emitter *g);

/* The bounds of the schedule's innermost loop where it is a remainder, which
 * are known only inside its quotient's; "<loop>_lo", or "" without one. */
void emit_inner_bounds(emitter *g);
const char *inner_bound(emitter *g, const char *which);

/* The head of the kernel's function, which returns where the result has no
 * elements, the latter alone, and its end. */
void emit_begin(emitter *g);
void emit_empty(emitter *g);
void emit_end(emitter *g);

/* "args->lo[4] < args->hi[4]" for the reduced variables that have no loop; NULL
 * for none. */
const char *print_some(emitter *g);

#endif
