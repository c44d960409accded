#include "config.h"

#include "runtime/cuda/staging.h"

#include <string.h>

enum { NSLOTS = 2, SLOT = 4 << 20 /* bytes of a slot */ };

/* One slot is copied while the host fills or empties the other. */
struct staging {
	const cuda_api *api;
	CUstream stream;
	char *slots; /* NSLOTS of SLOT bytes */
	CUevent copied[NSLOTS];
	int next;
	bool pending; /* a put copy has not been waited for */
};

staging *staging_open(const cuda *c, int gpu, failure *f)
{
	staging *s = ARENA_NEW(c->a, staging);
	*s = (staging){ .api = &c->api, .stream = c->gpus[gpu].compute };
	bool good = cuda_enter(c, gpu, f) &&
		    CUDA_CALL(s->api, f, cuMemAllocHost, (void **)&s->slots,
			      (size_t)NSLOTS * SLOT);
	for (int i = 0; good && i < NSLOTS; i++)
		good = CUDA_CALL(s->api, f, cuEventCreate, &s->copied[i],
				 CU_EVENT_DISABLE_TIMING);
	if (good)
		return s;
	staging_close(s);
	return NULL;
}

void staging_close(staging *s)
{
	for (int i = 0; i < NSLOTS; i++)
		if (s->copied[i])
			s->api->cuEventDestroy(s->copied[i]);
	if (s->slots)
		s->api->cuMemFreeHost(s->slots);
}

static char *slot_of(const staging *s, int i)
{
	return s->slots + (size_t)i * SLOT;
}

static size_t part_of(size_t n, size_t at)
{
	return n - at < SLOT ? n - at : SLOT;
}

/* Waits for a slot's event.  An event that was never recorded counts as
 * done. */
static bool wait_for(const staging *s, int slot, failure *f)
{
	return CUDA_CALL(s->api, f, cuEventSynchronize, s->copied[slot]);
}

bool staging_put(staging *s, CUdeviceptr to, const void *from, size_t n,
		 failure *f)
{
	for (size_t at = 0; at < n; at += SLOT) {
		int slot = s->next;
		size_t part = part_of(n, at);
		if (!wait_for(s, slot, f))
			return false;
		memcpy(slot_of(s, slot), (const char *)from + at, part);
		if (!CUDA_CALL(s->api, f, cuMemcpyHtoDAsync, to + at,
			       slot_of(s, slot), part, s->stream) ||
		    !CUDA_CALL(s->api, f, cuEventRecord, s->copied[slot],
			       s->stream))
			return false;
		s->next = (slot + 1) % NSLOTS;
		s->pending = true;
	}
	return true;
}

bool staging_get(staging *s, void *to, CUdeviceptr from, size_t n,
		 failure *f)
{
	size_t taken = 0;
	for (size_t at = 0; taken < n; at += SLOT) {
		int slot = (int)(at / SLOT % NSLOTS), other = 1 - slot;
		if (at < n &&
		    (!CUDA_CALL(s->api, f, cuMemcpyDtoHAsync, slot_of(s, slot),
				from + at, part_of(n, at), s->stream) ||
		     !CUDA_CALL(s->api, f, cuEventRecord, s->copied[slot],
				s->stream)))
			return false;
		if (at == 0)
			continue;
		if (!wait_for(s, other, f))
			return false;
		memcpy((char *)to + taken, slot_of(s, other),
		       part_of(n, taken));
		taken += part_of(n, taken);
	}
	return true;
}

bool staging_arrived(staging *s, failure *f)
{
	if (s->pending && !CUDA_CALL(s->api, f, cuStreamSynchronize,
				     s->stream))
		return false;
	s->pending = false;
	return true;
}
