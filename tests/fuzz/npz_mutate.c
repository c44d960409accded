/* Mutations of .npz files that keep them zips: the bytes and the names of
 * members change, and their checksums with them. */
#include "config.h"

#include <string.h>
#include <zip.h>

#include "tests/fuzz/fuzz.h"

enum { MAX_MEMBERS = 8, MAX_MEMBER = 4096 };

/* All bytes of a zip; 0 where they have no room. */
static size_t read_back(zip_source_t *s, uint8_t *out, size_t max)
{
	zip_int64_t n = -1;
	if (zip_source_open(s) == 0) {
		n = zip_source_read(s, out, max);
		uint8_t more;
		if (n > 0 && zip_source_read(s, &more, 1) != 0)
			n = -1;
		zip_source_close(s);
	}
	return n > 0 ? (size_t)n : 0;
}

static zip_source_t *changed_member(arena *a, fuzz_random *r, zip_t *from,
				    zip_t *to, zip_uint64_t i)
{
	uint8_t *data = arena_alloc(a, MAX_MEMBER + 16);
	zip_file_t *f = zip_fopen_index(from, i, 0);
	zip_int64_t n = f ? zip_fread(f, data, MAX_MEMBER) : -1;
	if (f)
		zip_fclose(f);
	size_t size = n > 0 ? (size_t)n : 0;
	if (fuzz_below(r, 2))
		size = LLVMFuzzerMutate(data, size, size + 16);
	else if (size > 10 && fuzz_below(r, 2))
		data[10 + fuzz_below(r, (int)size - 10)] =
			(uint8_t)(' ' + fuzz_below(r, 95));
	return zip_source_buffer(to, data, size, 0);
}

static void copy_members(arena *a, fuzz_random *r, zip_t *from, zip_t *to)
{
	zip_int64_t n = zip_get_num_entries(from, 0);
	for (zip_int64_t i = 0; i < n && i < MAX_MEMBERS; i++) {
		const char *name = zip_get_name(from, (zip_uint64_t)i,
						ZIP_FL_ENC_RAW);
		zip_source_t *s = changed_member(a, r, from, to,
						 (zip_uint64_t)i);
		if (!name || fuzz_below(r, 16) == 0)
			name = arena_printf(a, "%d.npy", fuzz_below(r, 3));
		zip_int64_t at = s ? zip_file_add(to, name, s,
						  ZIP_FL_ENC_UTF_8) : -1;
		if (s && at < 0)
			zip_source_free(s);
		if (at >= 0)
			zip_set_file_compression(to, (zip_uint64_t)at,
						 fuzz_below(r, 8) ?
							 ZIP_CM_STORE :
							 ZIP_CM_DEFLATE, 0);
	}
}

static size_t rewrite(fuzz_random *r, const uint8_t *data, size_t size,
		      uint8_t *out, size_t max)
{
	arena *a = arena_new();
	size_t n = 0;
	zip_source_t *in = zip_source_buffer_create(data, size, 0, NULL);
	zip_source_t *s = zip_source_buffer_create(NULL, 0, 0, NULL);
	zip_t *from = in ? zip_open_from_source(in, ZIP_RDONLY, NULL) : NULL;
	zip_t *to = from && s ? zip_open_from_source(s, ZIP_TRUNCATE, NULL) :
				NULL;
	if (to) {
		zip_source_keep(s);
		copy_members(a, r, from, to);
		if (zip_close(to) == 0)
			n = read_back(s, out, max);
		else
			zip_discard(to);
	}
	if (s)
		zip_source_free(s);
	if (from)
		zip_discard(from);
	else if (in)
		zip_source_free(in);
	arena_free(a);
	return n;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned seed)
{
	fuzz_random r = fuzz_seed(seed);
	arena *a = arena_new();
	uint8_t *copy = arena_memdup(a, data, size);
	size_t n = size && fuzz_below(&r, 2) ?
			   rewrite(&r, copy, size, data, max) : 0;
	if (n == 0) {
		memcpy(data, copy, size);
		n = LLVMFuzzerMutate(data, size, max);
	}
	arena_free(a);
	return n;
}
