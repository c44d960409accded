#include "config.h"

#include "plan/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/checked.h"
#include "base/file.h"
#include "base/memory.h"
#include "layout/runs.h"
#include "plan/random_elements.h"

/* Opens a regular file that has the requested bytes; -1 after adding an error.
 * O_NONBLOCK: opening a pipe must not wait for its writer. */
static int open_part(const char *path, int64_t offset, int64_t nbytes,
		     diag_sink *s)
{
	struct stat st;
	int64_t end;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	memory_guard g;
	memory_guard_on(&g, file_close, &fd);
	if (fd < 0 || fstat(fd, &st) != 0) {
		diag_error_in(s, DIAG_CANNOT_READ, path, "cannot read: %s",
			      strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		diag_error_in(s, DIAG_CANNOT_READ, path,
			      "weights must lie in a regular file");
	} else if (offset < 0 || !ck_add(offset, nbytes, &end) ||
		   end > st.st_size) {
		diag_error_in(s, DIAG_CANNOT_READ, path,
			      "the file has %lld bytes, %lld from byte %lld "
			      "on are needed",
			      (long long)st.st_size, (long long)nbytes,
			      (long long)offset);
	} else {
		memory_guard_off(&g);
		return fd;
	}
	memory_guard_off(&g);
	file_close(&fd);
	return -1;
}

/* Reads exactly n bytes at offset. */
static bool read_at(int fd, void *to, int64_t n, int64_t offset)
{
	char *p = to;
	while (n > 0) {
		ssize_t got = pread(fd, p, (size_t)n, offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		p += got;
		n -= got;
		offset += got;
	}
	return true;
}

/* The bytes that are read at a time, so that they are in the processor's cache
 * when they are added to the checksum. */
enum { CHUNK = 1 << 18 };

/* Reads n bytes at offset and computes their checksum.  all: whether `to' has
 * room for them, and not for a chunk alone. */
static bool read_summed(int fd, char *to, bool all, int64_t n, int64_t offset,
			uint32_t *crc)
{
	uint32_t sum = (uint32_t)crc32_z(0, NULL, 0);
	for (int64_t at = 0; at < n; at += CHUNK) {
		int64_t some = n - at < CHUNK ? n - at : CHUNK;
		char *chunk = all ? to + at : to;
		if (!read_at(fd, chunk, some, offset + at))
			return false;
		sum = (uint32_t)crc32_z(sum, (const unsigned char *)chunk,
					(size_t)some);
	}
	*crc = sum;
	return true;
}

static void cannot_read(const char *path, diag_sink *s)
{
	diag_error_in(s, DIAG_CANNOT_READ, path, "cannot read: %s",
		      errno ? strerror(errno) : "the file has shrunk");
}

/* The same with a part of a file; adds an error on failure. */
static bool read_part(const char *path, int64_t offset, int64_t nbytes,
		      char *to, bool all, uint32_t *crc, diag_sink *s)
{
	int fd = open_part(path, offset, nbytes, s);
	if (fd < 0)
		return false;
	errno = 0;
	bool ok = read_summed(fd, to, all, nbytes, offset, crc);
	int why = errno;
	close(fd);
	errno = why;
	if (!ok)
		cannot_read(path, s);
	return ok;
}

bool plan_file_crc(const char *path, int64_t offset, int64_t nbytes,
		   uint32_t *crc, diag_sink *s)
{
	arena *tmp = arena_new();
	char *chunk = arena_alloc(tmp, CHUNK);
	bool ok = read_part(path, offset, nbytes, chunk, false, crc, s);
	arena_free(tmp);
	return ok;
}

static bool read_file(const plan_tensor *t, void *whole, diag_sink *s)
{
	const plan_constant *c = &t->constant;
	uint32_t crc;
	int64_t nbytes = plan_tensor_nbytes(t);
	if (!read_part(c->path, c->offset, nbytes, whole, true, &crc, s))
		return false;
	if (crc == c->crc)
		return true;
	diag_error_in(s, DIAG_CONSTANT_CHANGED, c->path,
		      "the weights of '%s' are not those that the plan was "
		      "made with; make the plan again", t->name);
	return false;
}

/* Writes elements first .. first + n of a constant that is not in a file. */
static void copy_elements(const plan_tensor *t, int64_t first, int64_t n,
			  char *to)
{
	const plan_constant *c = &t->constant;
	size_t size = dtype_size(t->type);
	const char *from = c->data;
	if (c->kind == PLAN_CONST_RANDOM)
		random_elements(c, t->type, first, n, to);
	else if (c->kind == PLAN_CONST_INLINE)
		memcpy(to, from + (size_t)first * size, (size_t)n * size);
	else
		for (int64_t i = 0; i < n; i++)
			memcpy(to + (size_t)i * size, from, size);
}

void plan_constant_box(const plan_tensor *t, const box *at, void *to)
{
	size_t size = dtype_size(t->type);
	region all = { box_whole(t->dims, t->ndim), 0, plan_tensor_nelem(t) };
	region part = { *at, 0, box_volume(at) };
	runs r = runs_of(at, &part, &all);
	while (runs_next(&r))
		copy_elements(t, r.src, r.n, (char *)to + (size_t)r.dst * size);
}

int plan_constant_of(const plan *p, int tensor)
{
	if (p->tensors[tensor].constant.kind != PLAN_CONST_NONE)
		return tensor;
	for (int i = 0; i < p->nfolds; i++) {
		const plan_fold *f = &p->folds[i];
		const plan_tensor *to = &p->tensors[f->output];
		if (!f->kernel && f->inputs[0] == tensor &&
		    to->constant.kind != PLAN_CONST_NONE)
			return f->output;
	}
	return tensor;
}

bool plan_constant_read(const plan *p, int tensor, void *whole, diag_sink *s)
{
	const plan_tensor *t = &p->tensors[plan_constant_of(p, tensor)];
	if (t->constant.kind == PLAN_CONST_FILE)
		return read_file(t, whole, s);
	copy_elements(t, 0, plan_tensor_nelem(t), whole);
	return true;
}
