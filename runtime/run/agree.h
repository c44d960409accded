/* The check that all processes of a run have the same plan, data, and options
 * that results depend on. */
#ifndef TDL_RUNTIME_RUN_AGREE_H
#define TDL_RUNTIME_RUN_AGREE_H

#include "runtime/run/session.h"

/* Compares digests of these with those of the other processes, before any of
 * them is used.  False, CLI_INPUT, if some differ; the failure names the ranks
 * that differ from the majority, and the inputs in which they do.
 *
 * Of a plan, and of a file that is no .npz, all bytes count; of an .npz the
 * checksums in its directory, which are compared with the elements when these
 * are read. */
bool agree(session *s, const communicator *c);

#endif
