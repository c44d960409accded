/* Streams, events and graphs of the fake driver; all with the lock held. */
#ifndef TDL_TESTS_CUDA_FAKE_QUEUE_H
#define TDL_TESTS_CUDA_FAKE_QUEUE_H

#include "driver.h"

/* As fake_enqueue(), with the lock held. */
FAKE_HIDDEN CUresult enqueue(CUstream s, const fake_work *w);

/* Does what a stream has; the error of its context. */
FAKE_HIDDEN CUresult finish_stream(CUstream s);

/* The device of a stream; -1 where it is none. */
FAKE_HIDDEN int stream_device(CUstream s);

/* Whether it captures. */
FAKE_HIDDEN bool captures_now(CUstream s);

/* What a stream captures is of no use any more; the error that says so. */
FAKE_HIDDEN CUresult spoil_capture(CUstream s);

#endif
