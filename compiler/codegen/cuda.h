/* Kernels as CUDA: state and helpers of the schedules, shared by the files
 * cuda*.c alone.  A thread finds its element of the result by division, so the
 * schedules work on variables; loops (nest.h) serve only to look at indices. */
#ifndef TDL_COMPILER_CODEGEN_CUDA_H
#define TDL_COMPILER_CODEGEN_CUDA_H

#include "compiler/codegen/emit.h"
#include "plan/plan.h"

typedef struct cuda_text {
	emitter g;
	plan_launch launch;
	plan_tile tiles[MAX_NDIM];
} cuda_text;

/* A set of variables, a bit for each. */
typedef uint32_t var_set;

static inline var_set var_bit(int v)
{
	return (var_set)1 << v;
}

/* The variables of the result, or the reduced ones, that have more than one
 * value. */
var_set cuda_vars(const emitter *g, bool reduced);
/* The variables of some loops; all reduced variables, including those of one
 * value. */
var_set vars_of_loops(const nest *n, loop_set s);
var_set all_reduced(const kernel *k);

/* The product of the extents of some variables, at most `cap'. */
int64_t cuda_points(const kernel *k, var_set s, int64_t cap);

/* ---- declarations ------------------------------------------------------ */

/* Writes pointers, strides and bounds for all inputs that e uses and for the
 * result.  The counts of variables in `merges' are declared so that they can
 * change. */
void cuda_head(cuda_text *c, const kexpr *e, int threads, var_set merges);
/* Merges loops of the result, or reduced ones, as emit_merge() does. */
void cuda_merge(cuda_text *c, bool reduced, const kexpr *e, bool result);

/* "i_n * j_n", the number of points of some variables; "1" for none. */
const char *cuda_count(emitter *g, var_set s);

/* Declares variables at the point number `at', a C variable that is
 * overwritten. */
void cuda_decode(emitter *g, var_set s, const char *at);
/* Declares the quotients and remainders of v that are loops of their own, after
 * the declaration of v. */
void cuda_parts(emitter *g, int v);
/* Declares variables of the result at their first values. */
void cuda_first(emitter *g, var_set s);

/* Opens the loop over a variable; opens the loops over several and returns
 * their number. */
void cuda_loop(emitter *g, int v);
int cuda_loops(emitter *g, var_set s);

/* Adds a tile to the launch. */
void cuda_tile(cuda_text *c, int var, int64_t of);

/* Opens the loop over the items of a block, whose number is a C expression;
 * closes it and the kernel. */
void cuda_items(emitter *g, const char *items);
void cuda_end(emitter *g);

/* Opens a loop over items of CUDA_THREADS elements, one per thread; `at' is the
 * element's number. */
void cuda_elements(emitter *g, const char *elements);

/* ---- vectors ----------------------------------------------------------- */

enum { CUDA_MAX_READS = 8 };

/* A condition on indices that guards a read, and the conditions around it. */
typedef struct cuda_when {
	const struct cuda_when *up; /* NULL for none */
	const kexpr *cond;
	/* the read is made where cond holds, or where it does not */
	bool holds;
} cuda_when;

/* The distinct reads of a kind in an expression. */
typedef struct cuda_reads cuda_reads;
struct cuda_reads {
	const emitter *g;
	int loop; /* along which memory is read; may be -1 */
	bool (*wanted)(const cuda_reads *f, const kexpr *read);
	int n;
	const kexpr *reads[CUDA_MAX_READS];
	/* The conditions under which each is inside its input; NULL: always. */
	const cuda_when *when[CUDA_MAX_READS];
};

/* Adds the reads of e that are under no condition: they are inside their
 * inputs. */
void cuda_find_reads(cuda_reads *f, const kexpr *e);
/* Whether a read is always inside its input, at affine indices. */
bool cuda_is_plain(const cuda_reads *f, const kexpr *e);
/* Whether f->loop steps through adjacent elements of a read. */
bool cuda_is_along(const cuda_reads *f, const kexpr *e);

/* Reads made ahead of their use.  They declare the arrays next0[n], ..; load an
 * element `unit' of each; and make that element stand for the read. */
void cuda_declare_next(emitter *g, const cuda_reads *f, int n);
void cuda_load_next(emitter *g, const cuda_reads *f);
void cuda_take_next(emitter *g, const cuda_reads *f);

/* Finds the reads of e that go along memory, including those under conditions.
 * Returns the number of elements of a vector: 16 bytes of the largest type,
 * where one of `size' bytes counts as well; 1 if there can be no vectors. */
int cuda_vector_length(cuda_reads *f, const kexpr *e, size_t size);

/* Declares `vectors': whether, for all values of these variables, the loop
 * consists of whole vectors at aligned addresses; including the result's if
 * asked. */
void cuda_check_vectors(emitter *g, const cuda_reads *f, int n, var_set all,
			bool result);
const char *cuda_vector_type(emitter *g, dtype t, int n);

/* Loads the vectors at point `at', which is overwritten, and opens the loop
 * over their elements, in which the loaded values stand for the reads. */
void cuda_open_vector(emitter *g, const cuda_reads *f, int n, var_set all,
		      bool result);
void cuda_close_vector(emitter *g);

/* ---- schedules --------------------------------------------------------- */

void cuda_map(cuda_text *c);
void cuda_reduce(cuda_text *c);
void cuda_product(cuda_text *c);
void cuda_scatter(cuda_text *c);
void cuda_scan(cuda_text *c);

/* Whether a product can be divided into tiles; if not, it is a reduction. */
bool cuda_has_tiles(const schedule *s);

/* The functor of tdl/cuda.h that joins accumulators. */
const char *cuda_joins(reducer r);
/* The number of terms of a sum that are added in f32 before they are added to
 * one in f64; threads per block. */
enum { CUDA_TERMS = 32, CUDA_THREADS = 256 };
bool cuda_is_long(const kernel *k, int64_t terms);

/* Removes unused declarations from the text, in place. */
char *cuda_tidy(arena *a, char *text);

#endif
