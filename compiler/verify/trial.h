/* The state of a verification: random shapes, attributes and contents (a
 * trial), the findings over all trials, and helpers of the checks.  Shared by
 * the files of compiler/verify alone. */
#ifndef TDL_COMPILER_VERIFY_TRIAL_H
#define TDL_COMPILER_VERIFY_TRIAL_H

#include "base/vec.h"
#include "compiler/analysis/descriptor.h"
#include "compiler/analysis/strategy.h"
#include "compiler/analysis/symbolic.h"
#include "compiler/verify/reference/reference.h"
#include "compiler/verify/verify.h"
#include "kernel/eval.h"

/* ---- pseudo-random numbers (splitmix64) --------------------------------- */

typedef struct rng {
	uint64_t state;
} rng;

static inline uint64_t rng_next(rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Uniform in [lo, hi]. */
static inline int64_t rng_in(rng *r, int64_t lo, int64_t hi)
{
	uint64_t n = (uint64_t)(hi - lo) + 1;
	return lo + (int64_t)(rng_next(r) % n);
}

static inline bool rng_percent(rng *r, int percent)
{
	return rng_in(r, 0, 99) < percent;
}

/* ---- what an operator's text says of its attributes (attr_roles.c) ------ */

typedef enum role_kind {
	ROLE_VALUE,
	ROLE_PACK, /* its elements are the extents of a pack's dimensions */
	ROLE_AXES, /* it selects axes */
	ROLE_PERM, /* it permutes dimensions */
} role_kind;

typedef struct role {
	role_kind kind;
	const char *pack;   /* whose axes; NULL if a call says */
	int nwords;	    /* number of words that its text is compared with */
	const char **words;
} role;

/* By attribute. */
role *roles_of(arena *a, const ast_op *op);

/* ---- shapes and attributes (sample_*.c) --------------------------------- */

typedef struct draw_size {
	const char *name;
	int64_t value;
} draw_size;

typedef struct draw_pack {
	const char *name;
	int rank;
	int64_t dims[MAX_NDIM];
} draw_pack;

typedef struct draw {
	VEC(draw_size) sizes;
	VEC(draw_pack) packs;
	const attr_value **attrs; /* NULL for the default */
	tensor_type *types;	  /* of the parameters */
	bool repeats;		  /* some operand is broadcast */
} draw;

/* Draws shapes, attributes and types that may suit the operator.  Returns false
 * if the draw failed. */
bool draw_signature(arena *a, rng *r, const ast_op *op, const role *roles,
		    draw *d);

/* The value of the attribute, or of the element, that `text' names:
 * "pads[0]". */
bool draw_value(const ast_op *op, const draw *d, const char *text, int64_t *v);

/* "--shape x=3x4 -D axis=1", with the types unless they are f32. */
const char *draw_text(arena *a, const ast_op *op, const draw *d);

/* ---- a trial ------------------------------------------------------------ */

/* An attempt at what is not offered (a cut, or partial values) over all trials;
 * what: a sentence that says that it works. */
typedef struct attempt {
	const char *stage, *about, *what;
	int least;  /* number of successes required */
	int tried;  /* trials in which it could have failed */
	int failed;
} attempt;

typedef struct verifier {
	arena *arena;
	const tdl_modules *modules;
	const ast_op *op;
	const desc_op *described;
	const sym_op *symbolic;
	rng random;
	verify_result *result;
	VEC(verify_finding) findings;
	VEC(attempt) attempts;
	int unlike; /* shapes whose stages differ from the descriptor's */
	VEC(const char *) proved, whole, passing; /* "stage variable" */
	struct gradient *derived; /* by parameter; NULL: not checked */
	/* the operators of which these are gradients; NULL if none */
	const ast_op **gradients;
	int64_t *points; /* by parameter: number of slopes compared */
} verifier;

typedef struct trial {
	arena *arena;
	verifier *v;
	const draw *drawn;
	const expansion *x;
	view *values; /* the parameters', then the stages' results, whole */
} trial;

/* Fills the parameters at random and runs all stages.  Returns false if no
 * contents were found for which every index is inside its tensor. */
bool begin_trial(trial *t);

/* Runs all stages on the parameters' values.  Returns false if an index is
 * outside of its tensor. */
bool run_stages(trial *t);

/* Turns attempts that never failed into findings. */
void report_attempts(verifier *v);

/* Notes a finding; repeated findings of the same kind, stage, about and format
 * are counted. k is 0 if nothing was divided. */
void note(trial *t, verify_kind kind, const char *label, const char *about,
	  int k, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* The attempt with that name; made at the first call. */
attempt *find_attempt(verifier *v, const char *label, const char *about,
		      const char *what, int least);

/* Adds "stage about" to a list, once. */
#define note_name(v, list, stage, about) \
	note_name_in((v), &(list)->at, &(list)->n, &(list)->cap, stage, about)
void note_name_in(verifier *v, const char ***at, int *n, int *cap,
		  const char *label, const char *about);

/* The name of a kernel's variable common to all trials: "d" for "d.1", "x.d"
 * for a derived one. */
const char *var_name(arena *a, const kernel *k, int v);

/* The names of some inputs, a bit each: "x", "{x, y}". */
const char *inputs_text(arena *a, const kernel *k, uint32_t set);

/* The whole inputs of a stage. */
view *stage_inputs(const trial *t, int stage);

/* ---- dimensions of descriptors (spots.c) -------------------------------- */

/* The spot of a dimension of a shape: the descriptor's dimension, and the pack
 * and the position in it; NULL and -1 for a dimension of its own. */
typedef struct spot {
	int dim;
	const char *pack;
	int at;
} spot;

typedef struct spots {
	int n;
	spot at[MAX_NVARS];
} spots;

/* The spots of the dimensions that the descriptor's n dimensions, given as
 * text, stand for.  Returns false if they cannot be told. */
bool find_spots(const trial *t, const char *const *texts, const bool *packs,
		 int n, spots *out);

/* ---- contents (data.c) -------------------------------------------------- */

/* The distribution of random contents. */
typedef struct contents {
	int style;	/* of floats */
	int64_t lo, hi; /* of integers */
} contents;

int64_t view_count(const view *v);
view new_view(arena *a, dtype t, int ndim, const int64_t *dims);
/* Memory for the result of a kernel, all of it poisoned. */
view new_result(arena *a, const kernel *k);
void fill_random(rng *r, const contents *c, view *v);
/* A copy with everything outside of `keep' poisoned: NaN, or an integer other
 * than the one there. */
view poisoned(arena *a, const view *v, const box *keep);
view copy_view(arena *a, const view *v);

/* Whether got equals want up to slack[i] for element i (NULL: bit for bit,
 * except that all NaN are equal, and with `loose' -0 equals 0).  If not, *at is
 * the first element that differs. */
bool same_values(const view *got, const view *want, const double *slack,
		 bool loose, int64_t *at);
/* "3.5", for messages. */
const char *value_text(arena *a, const view *v, int64_t at);

/* Half the distance of the numbers of type t near 1. */
double unit_roundoff(dtype t);

/* Adds, in f64, the sum of |terms| of each of the n elements of a Sum. */
void add_terms(trial *t, const kernel *k, const view *inputs, double *sum,
	       int64_t n);

/* The greatest difference that rounding can cause between a result combined
 * from nparts partial ones and the whole one; NULL if nothing is rounded. */
double *rounding_slack(trial *t, const kernel *k, const view *inputs,
		       reducer r, const view *parts, int nparts);

/* A function that stands in for every opaque one (stand_in.c). */
int stand_in(const struct tdl_kernel_call *call);

/* ---- definitions (agree.c) ---------------------------------------------- */

/* Elements compared, and those whose right value rounding leaves open. */
typedef struct agreement {
	int64_t elements, doubtful;
} agreement;

/* The operator's results for a trial's parameters by the reference; these
 * parameters, newly allocated; the results for other parameters of their
 * types. */
ref_outcome define(const trial *t);
ref_tensor *definition_params(const trial *t);
ref_outcome define_for(const trial *t, const ref_tensor *params);
/* A sentence that says how a result differs from its definition; NULL if it
 * does not. */
const char *differs_from(arena *a, const view *got, const ref_tensor *want,
			 agreement *count);

/* ---- what is checked of a stage ----------------------------------------- */

enum { MIN_PARTS = 2, MAX_PARTS = 4 };

/* Part p of `parts' of a kernel's iteration space, divided along variable v. */
box part_of(const kernel *k, int v, int p, int parts);

/* The box around the elements of an input that part p of nparts along a
 * variable reads, found by visiting all points (reads.c). */
box reads_of_part(trial *t, const stage *st, int var, int p, int nparts,
		  int input);

void check_cuts(trial *t, int stage);	  /* cuts.c */
void check_regions(trial *t, int stage);  /* reads.c */
void check_attempts(trial *t, int stage); /* attempts.c */
void check_partials(trial *t, int stage); /* partials.c */
void check_passing(trial *t);		  /* passing.c */
/* Whether the definition could be evaluated with reasonable effort
 * (agree.c). */
bool check_reference(trial *t);
void check_symbolic(trial *t);		  /* symbolic.c */
void check_gradients(trial *t);		  /* gradients.c */

/* Derives the operators of the gradients and adds them to m. */
void derive_gradients(verifier *v, tdl_modules *m);

/* Counts the gradients that were compared nowhere. */
void report_gradients(verifier *v);

#endif
