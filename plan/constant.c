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

static uint32_t crc_of(uint32_t crc, const void *data, int64_t n)
{
	return (uint32_t)crc32_z(crc, data, (size_t)n);
}

static void cannot_read(const char *path, diag_sink *s)
{
	diag_error_in(s, DIAG_CANNOT_READ, path, "cannot read: %s",
		      errno ? strerror(errno) : "the file has shrunk");
}

bool plan_file_crc(const char *path, int64_t offset, int64_t nbytes,
		   uint32_t *crc, diag_sink *s)
{
	enum { CHUNK = 1 << 18 };
	arena *tmp = arena_new();
	char *chunk = arena_alloc(tmp, CHUNK);
	int fd = open_part(path, offset, nbytes, s);
	if (fd < 0) {
		arena_free(tmp);
		return false;
	}
	bool ok = true;
	uint32_t sum = crc_of(0, NULL, 0);
	errno = 0;
	while (ok && nbytes > 0) {
		int64_t n = nbytes < CHUNK ? nbytes : CHUNK;
		ok = read_at(fd, chunk, n, offset);
		if (ok)
			sum = crc_of(sum, chunk, n);
		offset += n;
		nbytes -= n;
	}
	int why = errno;
	close(fd);
	errno = why;
	if (!ok)
		cannot_read(path, s);
	arena_free(tmp);
	*crc = sum;
	return ok;
}

static bool read_file(const plan_tensor *t, void *whole, diag_sink *s)
{
	const plan_constant *c = &t->constant;
	int64_t nbytes = plan_tensor_nbytes(t);
	int fd = open_part(c->path, c->offset, nbytes, s);
	if (fd < 0)
		return false;
	errno = 0;
	bool ok = read_at(fd, whole, nbytes, c->offset);
	int why = errno;
	close(fd);
	errno = why;
	if (!ok)
		cannot_read(c->path, s);
	if (ok && crc_of(0, whole, nbytes) != c->crc) {
		diag_error_in(s, DIAG_CONSTANT_CHANGED, c->path,
			      "the weights of '%s' are not those that the plan "
			      "was made with; make the plan again", t->name);
		ok = false;
	}
	return ok;
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
