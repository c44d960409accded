/* The suite that a file of unit tests defines; main.c runs it. */
#ifndef TDL_TESTS_UNIT_SUITE_H
#define TDL_TESTS_UNIT_SUITE_H

#include <check.h>

/* A new suite, which the runner frees. */
Suite *suite(void);

#endif
