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

/* Closes the communicators that were left in the group that has ended. */
FAKE_HIDDEN void close_left(void);

#endif
