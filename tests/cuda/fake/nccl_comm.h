/* The parts of the fake NCCL that its communicators and its calls share. */
#ifndef TDL_TESTS_CUDA_FAKE_NCCL_COMM_H
#define TDL_TESTS_CUDA_FAKE_NCCL_COMM_H

#include <stdbool.h>

#include "fake.h"
#include "nccl_op.h"

/* Notes the text of an error, and returns its code. */
FAKE_HIDDEN ncclResult_t wrong(ncclResult_t result, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The error that FAKE_NCCL_FAIL gives for a call. */
FAKE_HIDDEN ncclResult_t injected(const char *function);

/* Whether this thread has begun a group and not ended it. */
FAKE_HIDDEN bool group_is_open(void);

/* The first of the communicators that are open. */
FAKE_HIDDEN ncclComm_t first_comm(void);

/* Whether bytes are registered with a communicator, so that the library uses
 * them where they are. */
FAKE_HIDDEN bool is_registered(ncclComm_t comm, const void *p, size_t n);

/* Frees the registrations that a communicator has; their number. */
FAKE_HIDDEN int drop_registrations(ncclComm_t comm);

/* Closes the communicators that were left in the group that has ended. */
FAKE_HIDDEN void close_left(void);

#endif
