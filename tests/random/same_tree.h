/* Comparison of two trees of an operator: as it was built, and as its text was
 * parsed. */
#ifndef TDL_TESTS_RANDOM_SAME_TREE_H
#define TDL_TESTS_RANDOM_SAME_TREE_H

#include "dsl/ast.h"

/* Compares all that the grammar makes, parentheses included, and nothing that
 * the checker adds.  Names of both are in one interner.  NULL where all is the
 * same, else what is not: "a let". */
const char *tree_difference(const ast_op *x, const ast_op *y);

#endif
