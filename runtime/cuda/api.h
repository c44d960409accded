/* CUDA's driver and NVRTC, loaded when they are needed, so that tdlrun starts
 * on machines that have neither. */
#ifndef TDL_RUNTIME_CUDA_API_H
#define TDL_RUNTIME_CUDA_API_H

#include <cuda.h>
#include <nvrtc.h>

#include "runtime/exec/fail.h"

/* The functions of api.def.  The headers give some of them the name of a newer
 * version, which the members have, too. */
typedef struct cuda_api {
	int generation; /* of the driver, as 12 */
#define CU(f) __typeof__(f) *f;
#define RTC(f) __typeof__(f) *f;
#include "runtime/cuda/api.def"
} cuda_api;

/* Loads both and initialises the driver.  False, with *f set to
 * CLI_MACHINE and what is missing, on failure. */
bool api_open(cuda_api *api, failure *f);

/* Opens a library, which stays loaded until the process ends; NULL if it is
 * not there. */
void *library_open(const char *name);
/* Opens a library of the toolkit, "libnvrtc": the newest of the driver's
 * generation, or of that of these headers, or of an older one.  NULL, with *f
 * set to CLI_MACHINE, if there is none; `what' is its purpose, for the
 * message. */
void *library_of_toolkit(const cuda_api *api, const char *name,
			 const char *what, failure *f);
/* Stores the address of a function at `to`, which points to a pointer to one;
 * false, with *f set, where the library does not have it. */
bool library_find(void *library, const char *name, void *to, failure *f);

/* A name as the library exports it: the headers' macros are expanded. */
#define LIBRARY_SYMBOL_(name) #name
#define LIBRARY_SYMBOL(name) LIBRARY_SYMBOL_(name)

/* Whether a call worked; else notes "cuLaunchKernel: an illegal memory access
 * was encountered".  Once the device has failed all calls report it. */
bool cuda_good(const cuda_api *api, CUresult result, const char *call,
	       failure *f);
bool nvrtc_good(const cuda_api *api, nvrtcResult result, const char *call,
		failure *f);

/* CUDA_CALL(api, f, cuMemFree, pointer): calls, and whether it worked. */
#define CUDA_CALL(api, f, function, ...) \
	cuda_good((api), (api)->function(__VA_ARGS__), #function, (f))
#define NVRTC_CALL(api, f, function, ...) \
	nvrtc_good((api), (api)->function(__VA_ARGS__), #function, (f))

#endif
