/* CUDA's driver and NVRTC, loaded on demand, so that tdlrun starts on machines
 * without them. */
#ifndef TDL_RUNTIME_CUDA_API_H
#define TDL_RUNTIME_CUDA_API_H

#include <cuda.h>
#include <nvrtc.h>

#include "runtime/exec/fail.h"

/* The functions of api.def.  The headers rename some of them to newer versions;
 * the members have the same names. */
typedef struct cuda_api {
	int generation; /* of the driver, such as 12 */
#define CU(f) __typeof__(f) *f;
#define RTC(f) __typeof__(f) *f;
#include "runtime/cuda/api.def"
} cuda_api;

/* Loads both and initialises the driver.  On failure returns false, with *f set
 * to CLI_MACHINE and what is missing. */
bool api_open(cuda_api *api, failure *f);

/* Opens a library, which stays loaded until the process ends.  NULL if it is
 * not there. */
void *library_open(const char *name);
/* Opens a library of the toolkit, such as "libnvrtc": the newest of the
 * driver's generation, else of the generation of these headers, else an older
 * one.  NULL, with *f set to CLI_MACHINE, if there is none; `what' is its
 * purpose, for the message. */
void *library_of_toolkit(const cuda_api *api, const char *name,
			 const char *what, failure *f);
/* Stores the address of a function in the function pointer to which `to'
 * points.  Returns false, with *f set, if the library does not have it. */
bool library_find(void *library, const char *name, void *to, failure *f);

/* A name as the library exports it, with the headers' macros expanded. */
#define LIBRARY_SYMBOL_(name) #name
#define LIBRARY_SYMBOL(name) LIBRARY_SYMBOL_(name)

/* Whether a call succeeded; if not, notes "cuLaunchKernel: an illegal memory
 * access was encountered".  Once the device has failed, all calls report it. */
bool cuda_good(const cuda_api *api, CUresult result, const char *call,
	       failure *f);
bool nvrtc_good(const cuda_api *api, nvrtcResult result, const char *call,
		failure *f);

/* CUDA_CALL(api, f, cuMemFree, pointer) calls the function; true if it
 * succeeded. */
#define CUDA_CALL(api, f, function, ...) \
	cuda_good((api), (api)->function(__VA_ARGS__), #function, (f))
#define NVRTC_CALL(api, f, function, ...) \
	nvrtc_good((api), (api)->function(__VA_ARGS__), #function, (f))

#endif
