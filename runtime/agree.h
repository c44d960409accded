/* What the processes of a run have to have in common: the plan, the data, and
 * the options that results depend on. */
#ifndef TDL_RUNTIME_AGREE_H
#define TDL_RUNTIME_AGREE_H

#include "runtime/session.h"

/* Compares digests of all that with those of the other processes, before any
 * of it is used.  False, CLI_INPUT, where some differ; the failure says which
 * ranks have what otherwise than most.
 *
 * Of a plan, and of a file that is no .npz, all bytes count; of an .npz the
 * checksums in its directory, which are compared with the elements when these
 * are read. */
bool agree(session *s, const communicator *c);

#endif
