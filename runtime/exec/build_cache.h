/* The cache of compiled kernels: a folder of the user's own. */
#ifndef TDL_RUNTIME_EXEC_BUILD_CACHE_H
#define TDL_RUNTIME_EXEC_BUILD_CACHE_H

#include "runtime/exec/fail.h"

/* A listener to how far a build is. */
typedef struct build_progress {
	/* So many of all kernels that have to be compiled are.  Called from a
	 * second after the beginning on, where that has changed. */
	void (*compiled)(void *arg, int done, int all);
	void *arg;
} build_progress;

/* Opens the cache: $TDL_CACHE, $XDG_CACHE_HOME/tdlc or ~/.cache/tdlc, made if
 * it is not there.  *path is NULL if none can be written: nothing is kept then.
 * A folder that others can write to is an error. */
bool cache_open(arena *a, const char **path, failure *f);

/* The file `name` of an entry whose text `key` is exactly this; NULL if there
 * is none.  `hash` names the entry. */
char *cache_find(arena *a, const char *cache, const char *hash, const char *key,
		 const char *name);

/* Makes a new folder to build an entry in; in the cache, or with the other
 * temporary files where cache is NULL. */
char *cache_begin(arena *a, const char *cache, failure *f);

/* Makes the folder the entry of that hash, with its key and a checksum of the
 * library `name` in it; atomically, so that no process sees a part of it.  An
 * entry of the same hash, which cache_find() or the loader rejected, is
 * replaced.  Returns its path: the folder itself if the cache cannot take
 * it. */
const char *cache_commit(arena *a, const char *cache, const char *folder,
			 const char *hash, const char *key, const char *name);

/* Removes a folder that was begun, and all in it. */
void cache_remove(const char *folder);

#endif
