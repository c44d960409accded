/* Generates text: a plan whose states remember what it has read is repeatedly
 * fed the most likely next word (docs/generation.md). */
#ifndef TDL_RUNTIME_RUN_GENERATE_H
#define TDL_RUNTIME_RUN_GENERATE_H

#include "runtime/run/session.h"

/* Continues the prompt of --prompt by --generate words, and prints and writes
 * the result. */
bool generate_command(session *s, cli_status *status);

#endif
