#include "config.h"

#include "runtime/cuda/nccl_api.h"

#include "runtime/cuda/api.h"

bool nccl_open(nccl_api *api, failure *f)
{
	const struct {
		const char *name;
		void *to;
		bool newer;
	} functions[] = {
#define NCCL(f) { LIBRARY_SYMBOL(f), &api->f, false },
#define NEWER(f) { LIBRARY_SYMBOL(f), &api->f, true },
#include "runtime/cuda/nccl.def"
	};
	void *library = library_open("libnccl.so.2");
	if (!library)
		return fail_with(f, CLI_MACHINE, "there is no library "
				 "libnccl.so.2, which connects GPUs: install "
				 "NCCL, or name its folder in "
				 "LD_LIBRARY_PATH");
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		failure missing = { 0 };
		if (library_find(library, functions[i].name,
				 functions[i].to, &missing) ||
		    functions[i].newer)
			continue;
		return fail_with(f, CLI_MACHINE, "libnccl.so.2 is too old: it "
				 "has no function '%s'; NCCL 2.18 or later is "
				 "needed", functions[i].name);
	}
	return true;
}

bool nccl_good(const nccl_api *api, ncclResult_t r, const char *call,
	       failure *f)
{
	if (r == ncclSuccess)
		return true;
	const char *more = api->ncclGetLastError(NULL);
	return fail_with(f, CLI_MACHINE, "%s: %s%s%s", call,
			 api->ncclGetErrorString(r),
			 more && *more ? ": " : "", more ? more : "");
}
