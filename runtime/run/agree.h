/* Checks that all processes of a run have the same plan, data, and options that
 * affect results. */
#ifndef TDL_RUNTIME_RUN_AGREE_H
#define TDL_RUNTIME_RUN_AGREE_H

#include "runtime/run/session.h"

/* Compares digests of these with the other processes', before any of them is
 * used.  If some differ returns false, CLI_INPUT, with a failure that names the
 * ranks that differ from the majority and the inputs in which they differ.
 *
 * For a plan, and for files other than .npz, all bytes count.  For an .npz the
 * checksums in its directory count; they are compared with the elements when
 * these are read. */
bool agree(session *s, const communicator *c);

#endif
