/* The cache of compiled kernels, in a folder that belongs to the user. */
#ifndef TDL_RUNTIME_EXEC_BUILD_CACHE_H
#define TDL_RUNTIME_EXEC_BUILD_CACHE_H

#include "runtime/exec/fail.h"

/* A listener to the progress of a build. */
typedef struct build_progress {
	/* `done' of all kernels to compile are compiled.  Called from a second
	 * after the beginning on, whenever that changes. */
	void (*compiled)(void *arg, int done, int all);
	void *arg;
} build_progress;

/* Opens the cache: $TDL_CACHE, $XDG_CACHE_HOME/tdlc or ~/.cache/tdlc, created
 * if missing. *path is NULL if none is writable; nothing is kept then.  A
 * folder that others can write to is an error. */
bool cache_open(arena *a, const char **path, failure *f);

/* The path of file `name' of the cache entry that `hash' names, if its key is
 * exactly `key'; NULL if there is none. */
char *cache_find(arena *a, const char *cache, const char *hash, const char *key,
		 const char *name);

/* Makes a new folder in which to build an entry: in the cache, or among the
 * temporary files if cache is NULL. */
char *cache_begin(arena *a, const char *cache, failure *f);

/* Atomically makes the folder the entry of that hash, with its key and a
 * checksum of the library `name' in it, so that no process sees an incomplete
 * entry.  Replaces an entry with the same hash, which cache_find() or the
 * loader rejected.  Returns its path: the folder itself if the cache cannot
 * take it. */
const char *cache_commit(arena *a, const char *cache, const char *folder,
			 const char *hash, const char *key, const char *name);

/* Removes a folder from cache_begin() and its content. */
void cache_remove(const char *folder);

#endif
