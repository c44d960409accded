#include "config.h"

#include "runtime/exec/build_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"

enum { MAX_LIBRARY = 1 << 30 };

/* ---- the folder -------------------------------------------------------- */

/* An absolute path from the environment; NULL if there is none. */
static const char *env_path(const char *name)
{
	const char *s = getenv(name);
	return s && *s == '/' ? s : NULL;
}

static const char *home(void)
{
	const char *s = env_path("HOME");
	struct passwd *pw = s ? NULL : getpwuid(geteuid());
	return s ? s : pw ? pw->pw_dir : NULL;
}

/* Like mkdir -p; the folders are private to the user. */
static bool make_folders(arena *a, const char *path)
{
	char *s = arena_strdup(a, path);
	for (char *c = s + 1; *c; c++) {
		if (*c != '/')
			continue;
		*c = '\0';
		if (mkdir(s, 0700) && errno != EEXIST)
			return false;
		*c = '/';
	}
	return mkdir(s, 0700) == 0 || errno == EEXIST;
}

static bool is_private(const struct stat *st)
{
	return st->st_uid == geteuid() && !(st->st_mode & 022);
}

bool cache_open(arena *a, const char **path, failure *f)
{
	const char *dir = getenv("TDL_CACHE"), *base;
	struct stat st;
	*path = NULL;
	if (!dir || !*dir) {
		base = env_path("XDG_CACHE_HOME");
		if (!base && home())
			base = arena_printf(a, "%s/.cache", home());
		dir = base ? arena_printf(a, "%s/tdlc", base) : NULL;
	}
	if (!dir || !make_folders(a, dir) || stat(dir, &st) ||
	    !S_ISDIR(st.st_mode))
		return true;
	if (!is_private(&st))
		return fail_with(
			f, CLI_MACHINE,
			"the cache '%s' belongs to somebody else or can "
			"be written by others; 'chmod 700' it, or name "
			"another folder in TDL_CACHE",
			dir);
	if (chmod(dir, 0700) == 0 && access(dir, W_OK | X_OK) == 0)
		*path = dir;
	return true;
}

/* ---- entries ----------------------------------------------------------- */

/* Whether a file of an entry belongs to the user, and nobody else can change
 * it. */
static bool is_trusted(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && is_private(&st);
}

static bool has_text(const char *path, const char *text)
{
	arena *work = arena_new();
	diag_sink *s = diag_sink_new(work);
	size_t want = strlen(text), len = 0;
	char *got = is_trusted(path) ? file_read(work, s, path, want + 1, &len)
				     : NULL;
	bool same = got && len == want && !memcmp(got, text, len);
	arena_free(work);
	return same;
}

/* Size and hash of a file as text; NULL if it cannot be read.  A file truncated
 * by a full disk or a power failure must not reach the loader, which would
 * crash on it. */
static const char *stamp(arena *a, const char *path)
{
	arena *work = arena_new();
	size_t len;
	const char *data = file_read(work, diag_sink_new(work), path,
				     MAX_LIBRARY, &len);
	uint64_t hash = data ? hash_bytes(HASH_SEED, data, len) : 0;
	arena_free(work);
	return data ? arena_printf(a, "%zu %016llx\n", len,
				   (unsigned long long)hash)
		    : NULL;
}

char *cache_find(arena *a, const char *cache, const char *hash, const char *key,
		 const char *name)
{
	char *folder, *file;
	struct stat st;
	if (!cache)
		return NULL;
	folder = arena_printf(a, "%s/%s", cache, hash);
	file = arena_printf(a, "%s/%s", folder, name);
	if (lstat(folder, &st) || !S_ISDIR(st.st_mode) || !is_private(&st))
		return NULL;
	if (!has_text(arena_printf(a, "%s/key", folder), key) ||
	    !is_trusted(file))
		return NULL;
	const char *sum = stamp(a, file);
	bool whole = sum && has_text(arena_printf(a, "%s/sum", folder), sum);
	return whole ? file : NULL;
}

char *cache_begin(arena *a, const char *cache, failure *f)
{
	const char *tmp = env_path("TMPDIR");
	char *s = cache ? arena_printf(a, "%s/new-XXXXXX", cache)
			: arena_printf(a, "%s/tdlc-XXXXXX", tmp ? tmp : "/tmp");
	if (mkdtemp(s))
		return s;
	fail_with(f, CLI_MACHINE,
		  "cannot make a folder for compiled kernels like "
		  "'%s': %s",
		  s, strerror(errno));
	return NULL;
}

const char *cache_commit(arena *a, const char *cache, const char *folder,
			 const char *hash, const char *key, const char *name)
{
	const char *sum = stamp(a, arena_printf(a, "%s/%s", folder, name));
	const char *to = arena_printf(a, "%s/%s", cache ? cache : "", hash);
	const char *old = arena_printf(a, "%s-old", folder);
	if (!cache || !sum ||
	    !file_write(arena_printf(a, "%s/sum", folder), sum, strlen(sum)) ||
	    !file_write(arena_printf(a, "%s/key", folder), key, strlen(key)))
		return folder;
	if (rename(folder, to) == 0)
		return to;
	if (rename(to, old))
		return folder;
	bool moved = rename(folder, to) == 0;
	cache_remove(old);
	return moved ? to : folder;
}

/* Removes everything in an open folder, and closes it. */
static void empty(int fd)
{
	DIR *d = fdopendir(fd);
	if (!d)
		close(fd);
	for (struct dirent *e; d && (e = readdir(d));) {
		const char *name = e->d_name;
		if (!strcmp(name, ".") || !strcmp(name, ".."))
			continue;
		if (!unlinkat(fd, name, 0) ||
		    (errno != EISDIR && errno != EPERM))
			continue;
		int inner = openat(fd, name, O_RDONLY | O_DIRECTORY |
				   O_NOFOLLOW | O_CLOEXEC);
		if (inner >= 0)
			empty(inner);
		unlinkat(fd, name, AT_REMOVEDIR);
	}
	if (d)
		closedir(d);
}

/* Allocates nothing, because it may be called when a memory_guard ends. */
void cache_remove(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		empty(fd);
	rmdir(folder);
}
