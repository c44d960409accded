/* The parts that the fake libraries share: a driver whose GPUs are the host,
 * and which does what is enqueued in any order that streams and events allow.
 *
 * Nothing is done when it is enqueued.  Work is done when the program waits for
 * it or asks for it, or after some milliseconds, by a thread of its own; always
 * one piece at a time, by a choice among what may be next that FAKE_CUDA_SEED
 * determines: an event that is missing shows as a wrong result, and again with
 * the same seed.
 *
 *	FAKE_CUDA_DEVICES	GPUs, 1
 *	FAKE_CUDA_ARCH		their architecture, 90
 *	FAKE_CUDA_VERSION	the driver's, as 12080, instead of the headers'
 *	FAKE_CUDA_MEMORY	MiB of each, 4096
 *	FAKE_CUDA_SEED		of the choices, 1
 *	FAKE_CUDA_FAIL		FUNCTION:N:ERROR, which lets the N-th call of a
 *				function fail, or, where FUNCTION is `kernel',
 *				the N-th kernel when it runs; ERROR is a number
 *				or `hang': it never ends
 *	FAKE_CUDA_LOG		a file to which the work is written as it is
 *				done */
#ifndef TDL_TESTS_CUDA_FAKE_FAKE_H
#define TDL_TESTS_CUDA_FAKE_FAKE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_EXPORT __attribute__((visibility("default")))
#define FAKE_HIDDEN __attribute__((visibility("hidden")))

/* Work of a stream.  It may be done many times, as part of a graph. */
typedef struct fake_work {
	const char *what; /* for the log */
	/* Does it, or a part; `first` when it begins.  CUDA_ERROR_NOT_READY:
	 * not done, to be tried again; any other error is the context's from
	 * then on. */
	CUresult (*step)(void *arg, bool first);
	void (*release)(void *arg); /* may be NULL */
	void *arg;
	bool of_host;	/* runs the program's functions */
	bool of_kernel; /* a kernel, for FAKE_CUDA_FAIL */
} fake_work;

/* Enqueues work on a stream, or adds it to the graph that the stream captures;
 * it belongs to the stream even where this fails. */
FAKE_EXPORT CUresult fake_enqueue(CUstream s, const fake_work *w);

/* Where the program's pointer is memory of a device, all n bytes of it, that
 * device's number; else -1.  *host: whether it is pinned memory of the host,
 * which is a device's as well. */
FAKE_EXPORT int fake_device_of(const void *p, size_t n, bool *pinned);

/* Takes memory of a device that nobody reads, as libraries do; false where
 * there is not as much. */
FAKE_EXPORT bool fake_take(int device, size_t nbytes);

/* The device of a stream, whether it captures. */
FAKE_EXPORT int fake_stream_device(CUstream s);
FAKE_EXPORT bool fake_stream_captures(CUstream s);

/* Lets what is enqueued go on for a while; from libraries that wait. */
FAKE_EXPORT void fake_progress(void);

/* A number that FAKE_CUDA_SEED determines, below n. */
FAKE_EXPORT unsigned fake_random(unsigned n);

#endif
