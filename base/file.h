/* Files: read whole, written whole or not at all. */
#ifndef TDL_BASE_FILE_H
#define TDL_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"

/* Reads a file of at most limit bytes into a, followed by a zero byte that *len
 * does not count.  On failure adds cannot-read or too-large and returns
 * NULL.  "-" is standard input; of files that are not regular, only pipes
 * without a name are read, such as /dev/stdin or a shell's <(..). */
char *file_read(arena *a, diag_sink *s, const char *path, size_t limit,
		size_t *len);

/* Writes a file atomically: to a temporary file beside it, flushed, renamed
 * onto path when all is written.  A link stays one, and a file keeps its mode.
 * "-" is standard output.  Returns false, with errno set and nothing left
 * behind, on failure. */
bool file_write(const char *path, const void *data, size_t len);

/* Whether file_write() can, as far as that can be seen ahead of a long run: it
 * makes a file beside path and removes it.  errno says why not. */
bool file_can_write(const char *path);

/* The same of files in a folder, which need not be there yet. */
bool file_can_write_in(const char *folder);

/* Closes the descriptor *fd, an int, unless it is standard input or none: the
 * end of a memory_guard. */
void file_close(void *fd);

/* The folder of a path ("." where it has none), and dir/name (name alone
 * where it is absolute). */
char *path_folder(arena *a, const char *path);
char *path_join(arena *a, const char *dir, const char *name);

/* The absolute path without links of a file; NULL where there is none. */
char *path_real(arena *a, const char *path);

/* path relative to a folder, so that both can be moved together: "w.bin",
 * "../models/w.bin".  Absolute where they share nothing but the root, or there
 * is no such folder; unchanged where there is no such file. */
const char *path_seen_from(arena *a, const char *folder, const char *path);

/* Whether a path ends in a suffix such as ".tdl", and has more than that. */
bool path_ends_in(const char *path, const char *suffix);

/* Whether two paths name one regular file, or are one path to none yet. */
bool file_is_same(const char *path, const char *other);

bool file_exists(const char *path);
bool file_is_regular(const char *path);

#endif
