/* Files: read whole, written whole or not at all. */
#ifndef TDL_BASE_FILE_H
#define TDL_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"

/* Reads a file of at most limit bytes into a, followed by a zero byte that *len
 * does not count.  "-" is standard input.  Of the files that are not regular,
 * only unnamed pipes are read, such as /dev/stdin or a shell's <(..).  On
 * failure adds cannot-read or too-large and returns NULL. */
char *file_read(arena *a, diag_sink *s, const char *path, size_t limit,
		size_t *len);

/* Writes a file atomically: writes a temporary file beside it, flushes it, and
 * renames it onto path.  Follows a symbolic link and keeps the file's mode.
 * "-" is standard output.  On failure returns false with errno set, and leaves
 * nothing behind. */
bool file_write(const char *path, const void *data, size_t len);

/* Whether file_write() will probably succeed; asked before a long run.  Makes a
 * file beside path and removes it.  On false errno says why. */
bool file_can_write(const char *path);

/* The same for files in a folder that may not exist yet. */
bool file_can_write_in(const char *folder);

/* Closes the descriptor *fd (an int) unless it is standard input or negative.
 * For use as the end() of a memory_guard. */
void file_close(void *fd);

/* The folder of a path ("." if it has none); dir/name, or name alone if it is
 * absolute. */
char *path_folder(arena *a, const char *path);
char *path_join(arena *a, const char *dir, const char *name);

/* The absolute path of a file with links resolved; NULL if there is no such
 * file. */
char *path_real(arena *a, const char *path);

/* The path relative to a folder, so that both can be moved together: "w.bin",
 * "../models/w.bin".  Absolute if they share only the root, or there is no such
 * folder; unchanged if there is no such file. */
const char *path_seen_from(arena *a, const char *folder, const char *path);

/* Whether a path ends in a suffix such as ".tdl" and is longer than it. */
bool path_ends_in(const char *path, const char *suffix);

/* Whether two paths name the same regular file, or are the same path to a file
 * that does not exist yet. */
bool file_is_same(const char *path, const char *other);

bool file_exists(const char *path);
bool file_is_regular(const char *path);

#endif
