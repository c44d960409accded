#include "ring.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t size_of(int nranks)
{
	return sizeof(peer_monitor) +
	       (size_t)nranks * (size_t)nranks * sizeof(ring);
}

peer_monitor *board_open(const char *name, int nranks)
{
	const int file = shm_open(name, O_RDWR | O_CREAT, 0600);
	if (file < 0)
		return NULL;
	peer_monitor *b = MAP_FAILED;
	if (ftruncate(file, (off_t)size_of(nranks)) == 0)
		b = mmap(NULL, size_of(nranks), PROT_READ | PROT_WRITE,
			 MAP_SHARED, file, 0);
	close(file);
	if (b == MAP_FAILED)
		return NULL;
	int none = 0;
	if (!atomic_compare_exchange_strong(&b->nranks, &none, nranks) &&
	    none != nranks) {
		munmap(b, size_of(nranks));
		return NULL;
	}
	return b;
}

void board_forget(const char *name)
{
	shm_unlink(name);
}

void board_close(peer_monitor *b)
{
	munmap(b, size_of(b->nranks));
}

int board_dead(const peer_monitor *b)
{
	for (int i = 0; i < b->nranks; i++)
		if (b->seats[i].arrived > 0 &&
		    kill(b->seats[i].pid, 0) < 0 && errno == ESRCH)
			return i;
	return -1;
}

int board_meet(peer_monitor *b, int rank, int n)
{
	b->seats[rank].arrived = n;
	for (int i = 0; i < b->nranks; i++)
		while (b->seats[i].arrived < n) {
			const int dead = board_dead(b);
			if (dead >= 0)
				return dead;
			usleep(200);
		}
	return -1;
}

size_t ring_put(ring *r, const void *from, size_t n)
{
	const uint64_t at = r->written;
	const size_t room = RING_BYTES - (size_t)(at - r->taken);
	const size_t first = RING_BYTES - (size_t)(at % RING_BYTES);
	if (n > room)
		n = room;
	const size_t part = n < first ? n : first;
	memcpy(r->bytes + at % RING_BYTES, from, part);
	memcpy(r->bytes, (const char *)from + part, n - part);
	r->written = at + n;
	return n;
}

size_t ring_take(ring *r, void *to, size_t n)
{
	const uint64_t at = r->taken;
	const size_t have = (size_t)(r->written - at);
	const size_t first = RING_BYTES - (size_t)(at % RING_BYTES);
	if (n > have)
		n = have;
	const size_t part = n < first ? n : first;
	memcpy(to, r->bytes + at % RING_BYTES, part);
	memcpy((char *)to + part, r->bytes, n - part);
	r->taken = at + n;
	return n;
}

bool ring_is_empty(const ring *r)
{
	return r->written == r->taken;
}
