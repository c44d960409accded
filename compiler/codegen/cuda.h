/* Kernels as CUDA: state and helpers of the schedules, shared by the files
 * cuda*.c alone.  A thread finds out by division which element of the result is
 * its own, so that here variables count, and loops (nest.h) where an index is
 * looked at. */
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

/* Those with more than one value, of the result, or that are reduced. */
var_set cuda_vars(const emitter *g, bool reduced);
/* Those of some loops; all reduced ones, with those of one value. */
var_set vars_of_loops(const nest *n, loop_set s);
var_set all_reduced(const kernel *k);

/* The extents of some variables multiplied, at most `cap`. */
int64_t cuda_points(const kernel *k, var_set s, int64_t cap);

/* ---- declarations ------------------------------------------------------ */

/* Pointers, strides and bounds of all that e uses; of the result.  Counts of
 * the variables in `merges` can be changed. */
void cuda_head(cuda_text *c, const kexpr *e, int threads, var_set merges);
/* Merges loops of the result, or that are reduced, as emit_merge() does. */
void cuda_merge(cuda_text *c, bool reduced, const kexpr *e, bool result);

/* "i_n * j_n", the number of points of some variables; "1" for none. */
const char *cuda_count(emitter *g, var_set s);

/* Declares variables at the point number `at`, a variable that is lost. */
void cuda_decode(emitter *g, var_set s, const char *at);
/* Declares the quotients and remainders of v that are variables, behind the
 * declaration of v. */
void cuda_parts(emitter *g, int v);
/* Variables of the result at their first values. */
void cuda_first(emitter *g, var_set s);

/* Opens the loop over a variable; the loops over several, returning how
 * many. */
void cuda_loop(emitter *g, int v);
int cuda_loops(emitter *g, var_set s);

/* Adds a tile to the launch. */
void cuda_tile(cuda_text *c, int var, int64_t of);

/* Opens the loop over the items of a block, of which there are as many as this
 * C expression says; closes it and the kernel. */
void cuda_items(emitter *g, const char *items);
void cuda_end(emitter *g);

/* Opens the loop over items of CUDA_THREADS of this many elements, one a
 * thread, whose number is `at`. */
void cuda_elements(emitter *g, const char *elements);

/* ---- vectors ----------------------------------------------------------- */

enum { CUDA_MAX_READS = 8 };

/* A condition on indices on the way to a read, and those around it. */
typedef struct cuda_when {
	const struct cuda_when *up; /* NULL for none */
	const kexpr *cond;
	bool holds; /* or does not */
} cuda_when;

/* Reads of a kind, each once. */
typedef struct cuda_reads cuda_reads;
struct cuda_reads {
	const emitter *g;
	int loop; /* along which memory is read; may be -1 */
	bool (*wanted)(const cuda_reads *f, const kexpr *read);
	int n;
	const kexpr *reads[CUDA_MAX_READS];
	/* Under which they are inside their inputs; NULL: always. */
	const cuda_when *when[CUDA_MAX_READS];
};

/* Adds those of e outside of conditions: they are inside their inputs. */
void cuda_find_reads(cuda_reads *f, const kexpr *e);
/* Whether a read is always inside its input, at indices that are sums. */
bool cuda_is_plain(const cuda_reads *f, const kexpr *e);
/* Whether f->loop leads from each element to the next. */
bool cuda_is_along(const cuda_reads *f, const kexpr *e);

/* Reads that are made before any of them is used: the arrays next0[n], ..; an
 * element `unit` of each; from then on that stands for the read. */
void cuda_declare_next(emitter *g, const cuda_reads *f, int n);
void cuda_load_next(emitter *g, const cuda_reads *f);
void cuda_take_next(emitter *g, const cuda_reads *f);

/* Finds the reads of e that go along memory, those under conditions, too; how
 * many elements a vector has: 16 bytes of the largest type, one of `size` bytes
 * included; 1 for none. */
int cuda_vector_length(cuda_reads *f, const kexpr *e, size_t size);

/* Declares `vectors`: whether the loop consists of whole vectors that lie where
 * vectors may, for all values of these variables; of the result, too. */
void cuda_check_vectors(emitter *g, const cuda_reads *f, int n, var_set all,
			bool result);
const char *cuda_vector_type(emitter *g, dtype t, int n);

/* Reads the vectors at point `at`, which is lost, and opens the loop over their
 * elements, in which these reads are what was loaded. */
void cuda_open_vector(emitter *g, const cuda_reads *f, int n, var_set all,
		      bool result);
void cuda_close_vector(emitter *g);

/* ---- schedules --------------------------------------------------------- */

void cuda_map(cuda_text *c);
void cuda_reduce(cuda_text *c);
void cuda_product(cuda_text *c);
void cuda_scatter(cuda_text *c);
void cuda_scan(cuda_text *c);

/* Whether a product can be divided into tiles; else it is a reduction. */
bool cuda_has_tiles(const schedule *s);

/* The functor of tdl/cuda.h that joins accumulators. */
const char *cuda_joins(reducer r);
/* Terms of a sum of f32, before they are added to one of f64. */
enum { CUDA_TERMS = 32, CUDA_THREADS = 256 };
bool cuda_is_long(const kernel *k, int64_t terms);

/* The text, whose memory is written to, without unused declarations. */
char *cuda_tidy(arena *a, char *text);

#endif
