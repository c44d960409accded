#include "config.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

/* Reads fd to its end.  The buffer grows by doubling, because a pipe has no
 * size. */
static char *read_all(arena *a, int fd, size_t expected, size_t limit,
		      size_t *len)
{
	size_t cap = (expected < limit ? expected : limit) + 2, n = 0;
	char *buf = memory_malloc(cap);
	while (buf) {
		ssize_t got = read(fd, buf + n, cap - n - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
		n += (size_t)got;
		if (got == 0 || n > limit) {
			*len = n;
			char *out = n > limit ? NULL : arena_strndup(a, buf, n);
			memory_free(buf);
			errno = EFBIG;
			return out;
		}
		if (cap - n - 1 == 0) {
			char *more = memory_realloc(buf, cap *= 2);
			if (!more)
				break;
			buf = more;
		}
	}
	memory_free(buf);
	return NULL;
}

/* Whether a path has a name of its own; pipes behind /dev/stdin and <(..) have
 * none. */
static bool is_named(const char *path)
{
	char *real = realpath(path, NULL);
	free(real);
	return real != NULL;
}

/* Opens a file, or a pipe with a writer.  Returns -1 with errno set on failure,
 * ENODEV for anything else.  Does not wait: nobody may ever open the other end
 * of a named pipe, and a device may never be ready. */
static int open_input(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	if (fd < 0)
		return -1;
	bool ok = fstat(fd, &st) == 0;
	if (ok && S_ISFIFO(st.st_mode) && !is_named(path))
		ok = fcntl(fd, F_SETFL, 0) == 0;
	else if (ok && !S_ISREG(st.st_mode)) {
		errno = S_ISDIR(st.st_mode) ? EISDIR : ENODEV;
		ok = false;
	}
	if (ok)
		return fd;
	int why = errno;
	close(fd);
	errno = why;
	return -1;
}

void file_close(void *fd)
{
	if (*(int *)fd > 0)
		close(*(int *)fd);
}

char *file_read(arena *a, diag_sink *s, const char *path, size_t limit,
		size_t *len)
{
	int fd = strcmp(path, "-") ? open_input(path) : STDIN_FILENO;
	struct stat st;
	char *text = NULL;
	bool known = fd >= 0 && fstat(fd, &st) == 0;
	memory_guard g;
	memory_guard_on(&g, file_close, &fd);
	if (known && S_ISREG(st.st_mode) && (uint64_t)st.st_size > limit)
		errno = EFBIG; /* before any byte is read */
	else if (known)
		text = read_all(a, fd,
				S_ISREG(st.st_mode) ? (size_t)st.st_size : 0,
				limit, len);
	int why = errno;
	memory_guard_off(&g);
	file_close(&fd);
	if (!text && why == EFBIG)
		diag_error_in(s, DIAG_TOO_LARGE, path,
			      "the file has more than %zu bytes", limit);
	else if (!text)
		diag_error_in(s, DIAG_CANNOT_READ, path, "cannot read: %s",
			      why == ENODEV ? "it is not a regular file"
					    : strerror(why));
	return text;
}

static bool write_all(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t put = write(fd, p, n);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return false;
		p += put;
		n -= (size_t)put;
	}
	return true;
}

static bool write_special(const char *path, const void *data, size_t len)
{
	int fd = strcmp(path, "-") ? open(path, O_WRONLY | O_CLOEXEC)
				   : dup(STDOUT_FILENO);
	if (fd < 0)
		return false;
	bool ok = write_all(fd, data, len);
	int why = errno;
	if (close(fd) != 0 && ok)
		return false;
	errno = why;
	return ok;
}

enum { TMP_SUFFIX = 8 }; /* including the final zero */

/* Creates a file at path with a pseudorandom suffix, which is added to path.
 * mkstemp() would ignore the umask, which cannot be read without changing it
 * for a moment in all threads. */
static int create_beside(char *path)
{
	enum { MOST = 10000 };
	char *suffix = path + strlen(path);
	unsigned number = (unsigned)getpid() * 0x9e3779b1U;
	int fd = -1;
	for (int i = 0; i < MOST && fd < 0; i++) {
		snprintf(suffix, TMP_SUFFIX, ".%06x",
			 (number + (unsigned)i) >> 8 & 0xffffff);
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			break;
		number += 0x85ebca6bU;
	}
	return fd;
}

/* Makes a file beside `path'.  Sets *name, for the caller to free.  Returns -1
 * with errno set, and no name, on failure. */
static int make_beside(const char *path, char **name)
{
	size_t n = strlen(path);
	*name = malloc(n + TMP_SUFFIX);
	if (!*name)
		return -1;
	memcpy(*name, path, n + 1);
	int fd = create_beside(*name);
	if (fd < 0) {
		int why = errno;
		free(*name);
		errno = why;
	}
	return fd;
}

/* Writes a file beside `path' and renames it, so nobody ever sees a partial
 * file.  Its mode is *mode; if mode is NULL, that of a new file. */
static bool replace(const char *path, const mode_t *mode, const void *data,
		    size_t len)
{
	char *tmp;
	int fd = make_beside(path, &tmp);
	if (fd < 0)
		return false;
	bool ok = (!mode || fchmod(fd, *mode) == 0) &&
		  write_all(fd, data, len) && fsync(fd) == 0;
	int why = errno;
	if (close(fd) != 0 && ok) {
		ok = false;
		why = errno;
	}
	if (ok && rename(tmp, path) != 0) {
		ok = false;
		why = errno;
	}
	if (!ok)
		unlink(tmp);
	free(tmp);
	errno = why;
	return ok;
}

/* Devices and pipes cannot be replaced by a rename.  A link remains a link, and
 * a file keeps its mode. */
bool file_write(const char *path, const void *data, size_t len)
{
	struct stat st;
	bool there = stat(path, &st) == 0;
	if (!strcmp(path, "-") || (there && !S_ISREG(st.st_mode)))
		return write_special(path, data, len);
	if (!there)
		return replace(path, NULL, data, len);
	char *to = realpath(path, NULL);
	mode_t mode = st.st_mode & 0777;
	bool ok = to && replace(to, &mode, data, len);
	int why = errno;
	free(to);
	errno = why;
	return ok;
}

/* Whether a file beside path can be made.  The file is removed again. */
static bool can_replace(const char *path)
{
	char *tmp;
	int fd = make_beside(path, &tmp);
	if (fd < 0)
		return false;
	close(fd);
	unlink(tmp);
	free(tmp);
	return true;
}

bool file_can_write(const char *path)
{
	struct stat st;
	bool there = stat(path, &st) == 0;
	if (!strcmp(path, "-"))
		return true;
	if (!*path) {
		errno = ENOENT;
		return false;
	}
	if (there && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return false;
	}
	if (there && !S_ISREG(st.st_mode))
		return access(path, W_OK) == 0;
	char *to = there ? realpath(path, NULL) : NULL;
	bool ok = there ? to && can_replace(to) : can_replace(path);
	int why = errno;
	free(to);
	errno = why;
	return ok;
}

bool file_can_write_in(const char *folder)
{
	static const char name[] = "/x";
	size_t n = strlen(folder);
	char *inside = malloc(n + sizeof(name));
	if (!inside)
		return false;
	memcpy(inside, folder, n);
	memcpy(inside + n, name, sizeof(name));
	bool made = mkdir(folder, 0777) == 0;
	bool ok = (made || errno == EEXIST) && can_replace(inside);
	int why = errno;
	if (made)
		rmdir(folder);
	free(inside);
	errno = why;
	return ok;
}

/* Whether two paths of files that do not exist yet would name the same file. */
static bool is_same_place(const char *path, const char *other)
{
	const char *const paths[] = { path, other };
	const char *names[2];
	struct stat st[2];
	for (int i = 0; i < 2; i++) {
		const char *slash = strrchr(paths[i], '/');
		char *folder = slash ? strndup(paths[i], (size_t)(
						slash - paths[i] + 1)) : NULL;
		bool there = (!slash || folder) &&
			     stat(folder ? folder : ".", &st[i]) == 0;
		free(folder);
		if (!there)
			return !strcmp(path, other);
		names[i] = slash ? slash + 1 : paths[i];
	}
	return st[0].st_dev == st[1].st_dev && st[0].st_ino == st[1].st_ino &&
	       !strcmp(names[0], names[1]);
}

bool file_is_same(const char *path, const char *other)
{
	struct stat st, so;
	bool there = stat(path, &st) == 0, too = stat(other, &so) == 0;
	if (!there && !too)
		return is_same_place(path, other);
	return there && too && S_ISREG(st.st_mode) && st.st_dev == so.st_dev &&
	       st.st_ino == so.st_ino;
}

char *path_folder(arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');
	if (!slash)
		return arena_strdup(a, ".");
	size_t n = slash == path ? 1 : (size_t)(slash - path);
	return arena_strndup(a, path, n);
}

bool path_ends_in(const char *path, const char *suffix)
{
	size_t n = strlen(path), m = strlen(suffix);
	return n > m && !strcmp(path + n - m, suffix);
}

char *path_join(arena *a, const char *dir, const char *name)
{
	if (name[0] == '/' || !strcmp(dir, "."))
		return arena_strdup(a, name);
	return arena_printf(a, "%s/%s", dir, name);
}

/* The length of the common folder of two absolute paths, up to and with a
 * slash. */
static size_t shared_folder(const char *x, const char *y)
{
	size_t n = 0;
	for (size_t i = 0; x[i] && x[i] == y[i]; i++)
		if (x[i] == '/')
			n = i + 1;
	return n;
}

/* The path `to' relative to the folder `from', both absolute and without links:
 * "w.bin", "../models/w.bin".  It is unchanged if they have only the root in
 * common. */
static const char *relative(arena *a, const char *from, const char *to)
{
	from = arena_printf(a, "%s/", from);
	size_t n = shared_folder(from, to);
	if (n <= 1)
		return to;
	const char *up = "";
	for (const char *p = from + n; *p; p++)
		if (*p == '/')
			up = arena_printf(a, "%s../", up);
	return arena_printf(a, "%s%s", up, to + n);
}

char *path_real(arena *a, const char *path)
{
	char *real = realpath(path, NULL);
	memory_guard g;
	memory_guard_on(&g, free, real);
	char *copy = real ? arena_strdup(a, real) : NULL;
	memory_guard_off(&g);
	free(real);
	return copy;
}

const char *path_seen_from(arena *a, const char *folder, const char *path)
{
	const char *from = path_real(a, folder), *to = path_real(a, path);
	if (!to)
		return arena_strdup(a, path);
	return from ? relative(a, from, to) : to;
}

bool file_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

bool file_is_regular(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}
