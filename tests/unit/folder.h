/* A folder for the files of a test, and an arena: checked fixtures. */
#ifndef TDL_TESTS_UNIT_FOLDER_H
#define TDL_TESTS_UNIT_FOLDER_H

#include "base/arena.h"

extern arena *mem;   /* of the test that runs */
extern char *folder; /* for its files, the cache of kernels among them */

void begin_test(void);
void end_test(void); /* removes the folder */

/* The path of a file in the folder. */
char *file(const char *name);

#endif
