/* The parts of the fake driver. */
#ifndef TDL_TESTS_CUDA_FAKE_DRIVER_H
#define TDL_TESTS_CUDA_FAKE_DRIVER_H

#include <pthread.h>

#include "fake.h"

enum {
	MAX_DEVICES = 16,
};

struct CUctx_st {
	int device, retained;
	bool peers[MAX_DEVICES]; /* whose memory its kernels may use */
	CUresult error;		 /* that all calls give from now on */
};

/* ---- driver.c ------------------------------------------------------------ */

/* The beginning of a call: takes the lock, and finds whether the call may be
 * made at all.  `needs` says what it needs. */
typedef enum fake_needs {
	NEEDS_NOTHING,
	NEEDS_INIT,
	NEEDS_CONTEXT,
} fake_needs;
FAKE_HIDDEN CUresult enter(const char *function, fake_needs needs);
FAKE_HIDDEN CUresult leave(CUresult result);
#define ENTER(needs)                                             \
	do {                                                     \
		const CUresult entered_ = enter(__func__, needs); \
		if (entered_)                                    \
			return leave(entered_);                  \
	} while (0)

FAKE_HIDDEN extern pthread_mutex_t fake_lock;
FAKE_HIDDEN CUcontext current(void);
FAKE_HIDDEN CUcontext context_of(int device);
FAKE_HIDDEN int device_count(void);
FAKE_HIDDEN int device_arch(void);
FAKE_HIDDEN void note(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
/* The error that FAKE_CUDA_FAIL has for this call; 0: none, -1: hang. */
FAKE_HIDDEN int injected(const char *function);

/* ---- memory.c ------------------------------------------------------------ */

/* Lets the work of a device use its memory, and its peers'; with NULL nobody
 * may use any, as a program on the host may not. */
FAKE_HIDDEN void memory_open(CUcontext c);

/* ---- queue.c ------------------------------------------------------------- */

/* Does all that was enqueued on a device, or on all (-1). */
FAKE_HIDDEN CUresult finish_device(int device);
/* Whether a call that waits, or allocates, is refused, as something is being
 * captured; that spoils the capture. */
FAKE_HIDDEN CUresult refuse_in_capture(void);
/* True in a function of the program that the driver runs. */
FAKE_HIDDEN bool in_host_function(void);
/* The program has called something. */
FAKE_HIDDEN void count_call(void);

#endif
