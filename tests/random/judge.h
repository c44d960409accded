/* A random operator under the three who compute it: the reference, which knows
 * the text alone; the interpreter, behind expansion; generated code. */
#ifndef TDL_TESTS_RANDOM_JUDGE_H
#define TDL_TESTS_RANDOM_JUDGE_H

#include "compiler/verify/trial.h"
#include "tests/random/generate.h"

typedef enum verdict {
	AGREES,
	REFUSED,   /* by the checker */
	UNSUITED,  /* by expansion, for these shapes */
	TOO_LARGE, /* for the reference */
	OUTSIDE,   /* all say that an index is outside its tensor */
	DIFFERS,
	VERDICTS
} verdict;

typedef struct judgement {
	verdict verdict;
	const char *why; /* of DIFFERS, REFUSED and UNSUITED */
	agreement count;
	trial t; /* of AGREES: what was computed, and what is right */
	ref_outcome right;
} judgement;

/* Everything that the judgement holds lives in arena a.  With analysis, the
 * strategies and descriptors of the operator are tried, too, as tdlc verify
 * does. */
judgement judge(arena *a, const random_operator *o, bool analysis);

/* The same for the compiled kernels of n operators that agree, each in an arena
 * of its own.  Sets their verdicts. */
void judge_compiled(judgement *const *all, int n);

#endif
