/* Runs a fuzz target without libFuzzer, with any compiler:
 *
 *	TARGET [-mutate=N] FILE|FOLDER...
 *
 * gives the target each file as it is, then after each of N mutations, one on
 * top of the other.  Ends with 0 if the target survives all of them. */
#include "config.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_FILE = 1 << 24, ROOM = 1 << 16 };

static fuzz_random changes;

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max)
{
	if (size < max && (size == 0 || fuzz_below(&changes, 4) == 0))
		data[size++] = (uint8_t)fuzz_below(&changes, 256);
	else if (size > 1 && fuzz_below(&changes, 4) == 0)
		size--;
	if (size > 0)
		data[fuzz_below(&changes, (int)size)] ^=
			(uint8_t)(1 << fuzz_below(&changes, 8));
	return size;
}

/* Gives the data in a block of its own, so that a sanitizer sees a read past
 * its end. */
static void give(const uint8_t *data, size_t size)
{
	uint8_t *own = malloc(size ? size : 1);
	FUZZ_CHECK(own);
	memcpy(own, data, size);
	LLVMFuzzerTestOneInput(own, size);
	free(own);
}

static void mutate(const uint8_t *data, size_t size, int times)
{
	uint8_t *own = malloc(size + ROOM);
	FUZZ_CHECK(own);
	memcpy(own, data, size);
	for (int i = 0; i < times; i++) {
		unsigned seed = (unsigned)fuzz_below(&changes, 1 << 30);
		size = LLVMFuzzerCustomMutator(own, size, size + ROOM / 256,
					       seed);
		give(own, size);
	}
	free(own);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

typedef VEC(const char *) paths;

/* The files of a folder, by name; a file itself. */
static void collect(arena *a, const char *path, paths *to)
{
	DIR *dir = opendir(path);
	int first = to->n;
	if (!dir) {
		vec_push(a, to, path);
		return;
	}
	for (struct dirent *e; (e = readdir(dir));)
		if (e->d_name[0] != '.')
			vec_push(a, to, path_join(a, path, e->d_name));
	closedir(dir);
	qsort(to->at + first, (size_t)(to->n - first), sizeof(*to->at),
	      compare);
}

int main(int argc, char **argv)
{
	arena *a = arena_new();
	diag_sink *s = diag_sink_new(a);
	paths all = { 0 };
	int times = 0;
	changes = fuzz_seed(1);
	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], "-mutate=", 8))
			times = atoi(argv[i] + 8);
		else
			collect(a, argv[i], &all);
	for (int i = 0; i < all.n; i++) {
		size_t size;
		const char *data = file_read(a, s, all.at[i], MAX_FILE, &size);
		FUZZ_CHECK(data);
		fprintf(stderr, "%s: %zu bytes\n", all.at[i], size);
		give((const uint8_t *)data, size);
		mutate((const uint8_t *)data, size, times);
	}
	printf("%d inputs\n", all.n);
	arena_free(a);
	return all.n > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
