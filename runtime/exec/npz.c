#include "config.h"

#include "runtime/exec/npz.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "base/checked.h"
#include "base/hash.h"
#include "base/intern.h"
#include "kernel/eval.h"

enum { MAX_HEADER = 1 << 16, MAX_MEMBERS = 1 << 20 };

struct npz {
	arena *a;
	const char *path;
	zip_t *zip;
	strmap *members; /* index + 1 by name */
};

int64_t array_nelem(const array *x)
{
	int64_t n = 0;
	return ck_product(x->dims, x->ndim, &n) ? n : 0;
}

int64_t array_nbytes(const array *x)
{
	return array_nelem(x) * (int64_t)dtype_size(x->type);
}

/* ---- types and shapes -------------------------------------------------- */

static const char *const descriptions[DT_COUNT] = {
	[DT_F64] = "<f8", [DT_F32] = "<f4",  [DT_F16] = "<f2",
	[DT_BF16] = "<u2", [DT_I64] = "<i8", [DT_I32] = "<i4",
	[DT_I16] = "<i2", [DT_I8] = "|i1",   [DT_U64] = "<u8",
	[DT_U32] = "<u4", [DT_U16] = "<u2",  [DT_U8] = "|u1",
	[DT_BOOL] = "|b1", [DT_F8E4M3FN] = "|u1", [DT_F8E4M3FNUZ] = "|u1",
	[DT_F8E5M2] = "|u1", [DT_F8E5M2FNUZ] = "|u1", [DT_F8E8M0] = "|u1",
	[DT_F6E2M3] = "|u1", [DT_F6E3M2] = "|u1", [DT_F4E2M1] = "|u1",
	[DT_I4] = "|i1", [DT_U4] = "|u1",    [DT_I2] = "|i1",
	[DT_U2] = "|u1",
};

/* The shape as Python prints it: "(2, 3)". */
static char *print_shape(arena *a, int ndim, const int64_t *dims)
{
	char *s = arena_strdup(a, "(");
	for (int d = 0; d < ndim; d++)
		s = arena_printf(a, "%s%s%" PRId64, s, d ? ", " : "", dims[d]);
	return arena_printf(a, "%s%s)", s, ndim == 1 ? "," : "");
}

/* ---- headers ----------------------------------------------------------- */

/* The contents of the header of a .npy file. */
typedef struct header {
	char descr[16];
	bool fortran;
	int ndim;
	int64_t dims[MAX_NDIM];
	bool has_descr, has_order, has_shape;
} header;

static const char *skip(const char *s)
{
	return s + strspn(s, " \t\n");
}

/* The text after `word'; NULL if s does not begin with it. */
static const char *expect(const char *s, const char *word)
{
	size_t n = strlen(word);
	return s && !strncmp(skip(s), word, n) ? skip(s) + n : NULL;
}

/* Parses 'text' of fewer than size bytes. */
static const char *parse_string(const char *s, char *to, size_t size)
{
	const char *end;
	s = skip(s);
	if (*s != '\'' && *s != '"')
		return NULL;
	end = strchr(s + 1, *s);
	if (!end || (size_t)(end - s) > size)
		return NULL;
	memcpy(to, s + 1, (size_t)(end - s - 1));
	to[end - s - 1] = '\0';
	return end + 1;
}

static const char *parse_number(const char *s, int64_t *v)
{
	s = skip(s);
	if (*s < '0' || *s > '9')
		return NULL;
	for (*v = 0; *s >= '0' && *s <= '9'; s++)
		if (!ck_mul(*v, 10, v) || !ck_add(*v, *s - '0', v))
			return NULL;
	return s;
}

/* Parses (), (3,) or (3, 4). */
static const char *parse_shape(const char *s, header *h)
{
	s = expect(s, "(");
	while (s && *skip(s) != ')') {
		if (h->ndim == MAX_NDIM)
			return NULL;
		s = parse_number(s, &h->dims[h->ndim++]);
		if (s && *skip(s) == ',')
			s = skip(s) + 1;
		else if (s && (*skip(s) != ')' || h->ndim == 1))
			return NULL;
	}
	return s ? skip(s) + 1 : NULL;
}

static const char *parse_order(const char *s, header *h)
{
	const char *end = expect(s, "True");
	h->fortran = end != NULL;
	return end ? end : expect(s, "False");
}

/* Parses "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }". */
static bool parse_dict(const char *s, header *h)
{
	char key[20];
	*h = (header){ 0 };
	s = expect(s, "{");
	while (s && *skip(s) != '}') {
		s = parse_string(s, key, sizeof(key));
		s = expect(s, ":");
		if (!s)
			return false;
		if (!strcmp(key, "descr") && !h->has_descr) {
			h->has_descr = true;
			s = parse_string(s, h->descr, sizeof(h->descr));
		} else if (!strcmp(key, "fortran_order") && !h->has_order) {
			h->has_order = true;
			s = parse_order(s, h);
		} else if (!strcmp(key, "shape") && !h->has_shape) {
			h->has_shape = true;
			s = parse_shape(s, h);
		} else {
			return false;
		}
		if (s && *skip(s) == ',')
			s = skip(s) + 1;
		else if (s && *skip(s) != '}')
			return false;
	}
	return s && !*skip(skip(s) + 1) && h->has_descr && h->has_order &&
	       h->has_shape;
}

static bool read_bytes(zip_file_t *in, void *to, int64_t n)
{
	char *p = to;
	while (n > 0) {
		zip_int64_t got = zip_fread(in, p, (zip_uint64_t)n);
		if (got <= 0)
			return false;
		p += got;
		n -= got;
	}
	return true;
}

/* Reads the header.  *nbytes is set to its length in the file. */
static bool read_header(zip_file_t *in, header *h, int64_t *nbytes)
{
	unsigned char start[12];
	char *text;
	bool good;
	size_t n, lead;
	if (!read_bytes(in, start, 10) || memcmp(start, "\x93NUMPY", 6) ||
	    start[6] < 1 || start[6] > 3 || start[7] != 0)
		return false;
	n = start[8] | (size_t)start[9] << 8;
	lead = 10;
	if (start[6] > 1) {
		if (!read_bytes(in, start + 10, 2))
			return false;
		n |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
		lead = 12;
	}
	if (n > MAX_HEADER)
		return false;
	text = calloc(n + 1, 1);
	good = text && read_bytes(in, text, (int64_t)n) &&
	       strlen(text) == n && parse_dict(text, h);
	free(text);
	*nbytes = (int64_t)(lead + n);
	return good;
}

/* ---- reading ----------------------------------------------------------- */

static bool add_member(npz *z, zip_uint64_t i, failure *f)
{
	const char *file = zip_get_name(z->zip, i, ZIP_FL_ENC_RAW);
	size_t n = file ? strlen(file) : 0;
	char *name;
	if (n < 4 || strcmp(file + n - 4, ".npy"))
		return fail_with(f, CLI_INPUT, "%s: '%.200s' is not an .npy "
				 "file",
				 z->path, file ? file : "");
	name = arena_strndup(z->a, file, n - 4);
	if (strmap_get(z->members, name))
		return fail_with(f, CLI_INPUT, "%s: two arrays are called "
				 "'%.200s'", z->path, name);
	strmap_put(z->members, name, (void *)(uintptr_t)(i + 1));
	return true;
}

npz *npz_open(arena *a, const char *path, failure *f)
{
	npz *z = ARENA_NEW(a, npz);
	zip_error_t why;
	int code = 0;
	*z = (npz){ .a = a, .path = path, .members = strmap_new(a) };
	z->zip = zip_open(path, ZIP_RDONLY, &code);
	if (!z->zip) {
		zip_error_init_with_code(&why, code);
		fail_with(f, CLI_INPUT, "%s: cannot read: %s", path,
			  zip_error_strerror(&why));
		zip_error_fini(&why);
		return NULL;
	}
	zip_int64_t n = zip_get_num_entries(z->zip, 0);
	bool good = n <= MAX_MEMBERS ||
		    fail_with(f, CLI_INPUT, "%s: too many arrays", path);
	for (zip_int64_t i = 0; good && i < n; i++)
		good = add_member(z, (zip_uint64_t)i, f);
	if (good)
		return z;
	npz_close(z);
	return NULL;
}

void npz_close(npz *z)
{
	zip_discard(z->zip);
}

const char *npz_name(const npz *z, int i)
{
	return i < strmap_count(z->members) ? strmap_key(z->members, i) : NULL;
}

bool npz_has(const npz *z, const char *name)
{
	return strmap_get(z->members, name) != NULL;
}

uint64_t npz_digest(const npz *z)
{
	uint64_t sum = 0;
	for (int i = 0; i < strmap_count(z->members); i++) {
		zip_stat_t st;
		zip_uint64_t at = (uintptr_t)strmap_value(z->members, i) - 1;
		uint64_t h = hash_str(HASH_SEED, strmap_key(z->members, i));
		if (!zip_stat_index(z->zip, at, 0, &st)) {
			h = hash_i64(h, (int64_t)st.size);
			h = hash_i64(h, st.crc);
		}
		sum += h; /* independent of the order */
	}
	return sum ? sum : 1;
}

static bool check_type(npz *z, const array *x, const header *h, failure *f)
{
	if (strcmp(h->descr, descriptions[x->type]))
		return fail_with(f, CLI_INPUT, "%s: '%s' has elements of type "
				 "'%s', '%s' (%s) is needed", z->path, x->name,
				 h->descr, descriptions[x->type],
				 dtype_name(x->type));
	if (h->fortran && h->ndim > 1)
		return fail_with(f, CLI_INPUT, "%s: '%s' is in Fortran order; "
				 "save it with numpy.ascontiguousarray()",
				 z->path, x->name);
	return true;
}

static bool check_shape(npz *z, const array *x, const header *h, failure *f)
{
	const char *want = print_shape(z->a, x->ndim, x->dims);
	const char *got = print_shape(z->a, h->ndim, h->dims);
	return !strcmp(want, got) ||
	       fail_with(f, CLI_INPUT, "%s: '%s' has the shape %s, %s is "
			 "needed", z->path, x->name, got, want);
}

/* Checks that the file has exactly nbytes of elements after `before' bytes of
 * header. */
static bool check_length(npz *z, zip_uint64_t i, int64_t before,
			 const array *x, failure *f)
{
	int64_t nelem, nbytes;
	zip_stat_t st;
	return (ck_product(x->dims, x->ndim, &nelem) &&
		ck_mul(nelem, (int64_t)dtype_size(x->type), &nbytes) &&
		ck_add(nbytes, before, &nbytes) &&
		!zip_stat_index(z->zip, i, 0, &st) &&
		st.size == (zip_uint64_t)nbytes) ||
	       fail_with(f, CLI_INPUT, "%s: the elements of '%s' are damaged "
			 "or incomplete", z->path, x->name);
}

/* Opens the array called x->name after its header; NULL, with *f set, on
 * failure. */
static zip_file_t *open_member(npz *z, const array *x, zip_uint64_t *i,
			       header *h, int64_t *before, failure *f)
{
	zip_file_t *in = NULL;
	*i = (uintptr_t)strmap_get(z->members, x->name);
	if (!*i) {
		fail_with(f, CLI_INPUT, "%s: there is no array '%s'", z->path,
			  x->name);
		return NULL;
	}
	in = zip_fopen_index(z->zip, --*i, 0);
	if (in && read_header(in, h, before))
		return in;
	fail_with(f, CLI_INPUT, "%s: '%s' is not an array written by NumPy",
		  z->path, x->name);
	if (in)
		zip_fclose(in);
	return NULL;
}

bool npz_shape(npz *z, array *x, failure *f)
{
	header h;
	zip_uint64_t i;
	int64_t before;
	zip_file_t *in = open_member(z, x, &i, &h, &before, f);
	if (!in)
		return false;
	zip_fclose(in);
	x->ndim = h.ndim;
	memcpy(x->dims, h.dims, sizeof(x->dims));
	return check_type(z, x, &h, f) && check_length(z, i, before, x, f);
}

bool npz_read(npz *z, const array *x, failure *f)
{
	header h;
	zip_uint64_t i;
	int64_t before;
	char beyond;
	zip_file_t *in = open_member(z, x, &i, &h, &before, f);
	if (!in)
		return false;
	bool good = check_type(z, x, &h, f) && check_shape(z, x, &h, f) &&
		    check_length(z, i, before, x, f);
	/* The checksum is verified when the end is read. */
	if (good && (!read_bytes(in, x->data, array_nbytes(x)) ||
		     zip_fread(in, &beyond, 1) != 0))
		good = fail_with(f, CLI_INPUT, "%s: the elements of '%s' are "
				 "damaged or incomplete", z->path, x->name);
	zip_fclose(in);
	if (good)
		elem_clean(x->type, x->data, array_nelem(x));
	return good;
}

/* ---- writing ----------------------------------------------------------- */

/* Makes the .npy header of an array.  Sets *n to its length. */
static char *make_header(arena *a, const array *x, size_t *n)
{
	const char *dict = arena_printf(
		a, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
		descriptions[x->type], print_shape(a, x->ndim, x->dims));
	size_t len = (strlen(dict) + 1 + 10 + 63) / 64 * 64 - 10;
	char *s = arena_alloc(a, 10 + len);
	memcpy(s, "\x93NUMPY\1", 8);
	s[8] = (char)(len & 255);
	s[9] = (char)(len >> 8);
	memset(s + 10, ' ', len);
	memcpy(s + 10, dict, strlen(dict));
	s[10 + len - 1] = '\n';
	*n = 10 + len;
	return s;
}

/* The arena must live until the zip is closed. */
static bool add_array(arena *a, zip_t *zip, const array *x)
{
	size_t n, nbytes = (size_t)array_nbytes(x);
	char *lead = make_header(a, x, &n);
	const char *name = arena_printf(a, "%s.npy", x->name);
	const zip_buffer_fragment_t parts[] = {
		{ (zip_uint8_t *)lead, n }, { x->data, nbytes },
	};
	zip_source_t *from =
		zip_source_buffer_fragment(zip, parts, nbytes ? 2 : 1, 0);
	if (!from)
		return false;
	zip_int64_t i = zip_file_add(zip, name, from, ZIP_FL_ENC_UTF_8);
	if (i < 0) {
		zip_source_free(from);
		return false;
	}
	/* 1980-01-01, the first day that zip can represent. */
	return !zip_set_file_compression(zip, (zip_uint64_t)i, ZIP_CM_STORE,
					 0) &&
	       !zip_file_set_dostime(zip, (zip_uint64_t)i, 0, 0x21, 0);
}

bool npz_write(const char *path, int n, const array *arrays, failure *f)
{
	arena *work = arena_new();
	zip_error_t why;
	int code = 0;
	zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
	bool good = zip != NULL;
	zip_error_init_with_code(&why, code);
	for (int i = 0; good && i < n; i++)
		good = add_array(work, zip, &arrays[i]);
	if (good && zip_close(zip) == 0)
		zip = NULL;
	if (zip || !good) {
		fail_with(f, CLI_MACHINE, "%s: cannot write: %s", path,
			  zip ? zip_strerror(zip) : zip_error_strerror(&why));
		good = false;
	}
	if (zip)
		zip_discard(zip);
	zip_error_fini(&why);
	arena_free(work);
	return good;
}
