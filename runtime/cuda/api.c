#include "config.h"

#include "runtime/cuda/api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* ---- libraries --------------------------------------------------------- */

/* Opens a library.  It has threads and memory of its own, so it is never
 * unloaded. */
void *library_open(const char *name)
{
	return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

bool library_find(void *library, const char *name, void *to, failure *f)
{
	void *at = dlsym(library, name);
	if (!at)
		return fail_with(f, CLI_MACHINE, "a library is too old: it has "
				 "no function '%s'; update NVIDIA's driver and "
				 "the CUDA toolkit", name);
	memcpy(to, &at, sizeof(at));
	return true;
}

/* ---- opening ----------------------------------------------------------- */

static void *open_driver(failure *f)
{
	void *library = library_open("libcuda.so.1");
	if (!library)
		fail_with(f, CLI_MACHINE, "there is no library libcuda.so.1, "
			  "which comes with NVIDIA's driver: install that, or "
			  "use --backend cpu");
	return library;
}

/* Code compiled by a library, or contained in it, runs on drivers of its
 * generation and later. */
void *library_of_toolkit(const cuda_api *api, const char *name,
			 const char *what, failure *f)
{
	enum { NEWEST = CUDA_VERSION / 1000, OLDEST = 12 };
	int newest = api->generation < NEWEST ? api->generation : NEWEST;
	void *library = NULL;
	for (int major = newest; !library && major >= OLDEST; major--) {
		char file[60];
		snprintf(file, sizeof(file), "%s.so.%d", name, major);
		library = library_open(file);
	}
	if (!library)
		fail_with(f, CLI_MACHINE, "there is no library %s.so.%d, which "
			  "%s: install the CUDA toolkit, or name its folder in "
			  "LD_LIBRARY_PATH", name, newest, what);
	return library;
}

static bool start(cuda_api *api, failure *f)
{
	failure why = { 0 };
	int version;
	if (!CUDA_CALL(api, &why, cuInit, 0))
		return fail_with(f, CLI_MACHINE, "there is no GPU to run on: "
				 "%s; use --backend cpu", why.text);
	if (!CUDA_CALL(api, f, cuDriverGetVersion, &version))
		return false;
	api->generation = version / 1000;
	return true;
}

typedef struct function {
	const char *name;
	void *to;
} function;

static bool find_all(void *library, const function *list, size_t n, failure *f)
{
	for (size_t i = 0; i < n; i++)
		if (!library_find(library, list[i].name, list[i].to, f))
			return false;
	return true;
}

bool api_open(cuda_api *api, failure *f)
{
	const function of_driver[] = {
#define CU(f) { LIBRARY_SYMBOL(f), &api->f },
#include "runtime/cuda/api.def"
	}, of_nvrtc[] = {
#define RTC(f) { LIBRARY_SYMBOL(f), &api->f },
#include "runtime/cuda/api.def"
	};
	void *driver = open_driver(f), *nvrtc;
	if (!driver ||
	    !find_all(driver, of_driver, sizeof(of_driver) / sizeof(function),
		      f) || !start(api, f))
		return false;
	nvrtc = library_of_toolkit(api, "libnvrtc", "compiles kernels", f);
	return nvrtc && find_all(nvrtc, of_nvrtc,
				 sizeof(of_nvrtc) / sizeof(function), f);
}

/* ---- errors ------------------------------------------------------------ */

bool cuda_good(const cuda_api *api, CUresult result, const char *call,
	       failure *f)
{
	const char *text = NULL;
	if (result == CUDA_SUCCESS)
		return true;
	if (api->cuGetErrorString(result, &text) != CUDA_SUCCESS || !text)
		return fail_with(f, CLI_MACHINE, "%s: error %d", call,
				 (int)result);
	return fail_with(f, CLI_MACHINE, "%s: %s", call, text);
}

bool nvrtc_good(const cuda_api *api, nvrtcResult result, const char *call,
		failure *f)
{
	if (result == NVRTC_SUCCESS)
		return true;
	return fail_with(f, CLI_MACHINE, "%s: %s", call,
			 api->nvrtcGetErrorString(result));
}
