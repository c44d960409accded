/* TDL written in a test: modules that it is loaded into, and what they say. */
#ifndef TDL_TESTS_UNIT_WRITTEN_H
#define TDL_TESTS_UNIT_WRITTEN_H

#include <stdbool.h>

#include "dsl/dsl.h"

/* Those of the running test, from set_up_modules() to tear_down_modules(). */
extern arena *a;
extern diag_sink *sink;
extern tdl_modules *modules;

void set_up_modules(void);
void tear_down_modules(void);

/* Loads a text as test.tdl. */
bool load_text(const char *text);

/* All diagnostics as text. */
char *printed(void);

#endif
