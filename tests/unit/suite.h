/* The suite that a file of unit tests defines; main.c runs it. */
#ifndef TDL_TESTS_UNIT_SUITE_H
#define TDL_TESTS_UNIT_SUITE_H

#include <check.h>
#include <stdbool.h>

/* A new suite, which the runner frees. */
Suite *suite(void);

/* Of what a test tries much of, SAMPLE=N in the environment takes every Nth,
 * from number SAMPLE_FROM on; 1 and 0 where nothing is said. */
int sample_every(void);
int sample_from(void);

/* Whether a test of random seeds takes this one: of N seeds about one.  Which
 * has nothing to do with remainders of the seed, by which tests choose. */
bool sampled(int seed);

/* The number of random cases that a test is to try, n usually, and that of the
 * first of them: CASES=N and CASES_FROM=F in the environment say others. */
int cases_asked(int n);
int cases_from(void);

/* The number that a sample has to exceed, where all cases exceed n: less than
 * its share, since samples scatter, and -1 where that is next to nothing. */
int at_least(int n);

#endif
