/* Elements stored in a file beside the model.
 *
 * Source: onnx docs/ExternalData.md.  The file has to be inside the model's
 * folder: paths that lead out of it are refused. */
#include "config.h"

#include "compiler/onnx/onnx_import.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/file.h"
#include "base/memory.h"

typedef struct location {
	const char *path; /* as written in the model */
	int64_t offset, length;
	bool has_length;
} location;

static bool parse_number(const char *s, int64_t *v)
{
	char *end;
	errno = 0;
	if (*s < '0' || *s > '9')
		return false;
	*v = strtoll(s, &end, 10);
	return errno == 0 && *end == '\0';
}

static bool refuse(importer *im, const char *place, const char *why,
		   const char *what)
{
	diag_error_in(im->sink, DIAG_ONNX_EXTERNAL, place,
		      "external data '%s': %s", what ? what : "", why);
	return false;
}

static bool parse(importer *im, const Onnx__TensorProto *t, const char *place,
		  location *l)
{
	*l = (location){ 0 };
	for (size_t i = 0; i < t->n_external_data; i++) {
		const char *key = t->external_data[i]->key;
		const char *value = t->external_data[i]->value;
		if (!key || !value)
			continue;
		bool ok = true;
		if (!strcmp(key, "location")) {
			l->path = value;
		} else if (!strcmp(key, "offset")) {
			ok = parse_number(value, &l->offset);
		} else if (!strcmp(key, "length")) {
			ok = parse_number(value, &l->length);
			l->has_length = true;
		}
		if (!ok)
			return refuse(im, place, "not a number of bytes",
				      value);
	}
	if (!l->path || !*l->path)
		return refuse(im, place, "no location is given", l->path);
	return true;
}

/* Opens a path below folder without following links or "..".  Returns -1 and
 * sets *why on failure. */
static int open_below(const char *folder, const char *path, const char **why)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (fd >= 0 && *path) {
		char name[256];
		size_t n = strcspn(path, "/");
		bool last = path[n] == '\0';
		*why = "the path leads out of the model's folder";
		if (n == 0 || n >= sizeof(name) ||
		    (n == 2 && !memcmp(path, "..", 2)))
			break;
		memcpy(name, path, n);
		name[n] = '\0';
		path += n + !last;
		int next = openat(fd, name,
				  O_RDONLY | O_NOFOLLOW | O_CLOEXEC |
					  O_NONBLOCK |
					  (last ? 0 : O_DIRECTORY));
		*why = errno == ELOOP || errno == ENOTDIR
			       ? "the path leads over a symbolic link or a file"
			       : strerror(errno);
		close(fd);
		fd = next;
		if (last)
			return fd;
	}
	if (fd >= 0)
		close(fd);
	else if (!*why)
		*why = strerror(errno);
	return -1;
}

/* ---- packed elements --------------------------------------------------- */

/* The most elements of less than 8 bits that are unpacked in memory.  More are
 * left in their files. */
static const int64_t most_unpacked = (int64_t)1 << 32;

static bool read_all(int fd, int64_t offset, unsigned char *to, int64_t n)
{
	while (n > 0) {
		ssize_t got = pread(fd, to, (size_t)n, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		to += got;
		offset += got;
		n -= got;
	}
	return true;
}

static bool unpack(importer *im, const location *l, const char *place, int fd,
		   const tensor_type *type, constant *c)
{
	int64_t n = onnx_packed_nbytes(type);
	if (tensor_nelem(type) > most_unpacked) {
		diag_error_in(im->sink, DIAG_TOO_LARGE, place,
			      "more than 2^32 elements of type %s",
			      dtype_name(type->type));
		return false;
	}
	unsigned char *packed = arena_alloc(im->tmp, (size_t)n + 1);
	if (!read_all(fd, l->offset, packed, n))
		return refuse(im, place, strerror(errno), l->path);
	*c = (constant){ .data = onnx_unpack(im->arena, type, packed) };
	return true;
}

/* ---- all elements ------------------------------------------------------ */

/* Finds the data of a tensor in an open file. */
static bool find_data(importer *im, const location *l, const char *place,
		      int fd, const tensor_type *type, constant *c)
{
	struct stat st;
	int64_t want = onnx_packed_nbytes(type), end;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return refuse(im, place, "this is not a regular file", l->path);
	if (l->has_length && l->length != want) {
		diag_error_in(im->sink, DIAG_ONNX_DATA, place,
			      "%" PRId64 " bytes of data, %" PRId64
			      " expected",
			      l->length, want);
		return false;
	}
	if (!ck_add(l->offset, want, &end) || end > st.st_size)
		return refuse(im, place, "the data runs beyond the file's end",
			      l->path);
	if (dtype_bits(type->type) < 8)
		return unpack(im, l, place, fd, type, c);
	*c = (constant){ .path = path_join(im->arena,
					   path_folder(im->tmp, im->path),
					   l->path),
			 .offset = l->offset };
	return true;
}

bool onnx_external(importer *im, const Onnx__TensorProto *t, const char *place,
		   const tensor_type *type, constant *c)
{
	location l;
	const char *why = NULL;
	if (!parse(im, t, place, &l))
		return false;
	char *folder = path_folder(im->tmp, im->path);
	int fd = l.path[0] == '/' ? -1 : open_below(folder, l.path, &why);
	if (fd < 0)
		return refuse(im, place,
			      why ? why : "the path is absolute", l.path);
	memory_guard g;
	memory_guard_on(&g, file_close, &fd);
	bool good = find_data(im, &l, place, fd, type, c);
	memory_guard_off(&g);
	close(fd);
	return good;
}
