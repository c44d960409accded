/* Reads the constants of a plan file.  The member that is present decides where
 * the elements are. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/file.h"
#include "plan/base64.h"
#include "plan/read.h"

static bool read_file(reader *r, members *m, plan_constant *c)
{
	const char *path;
	int64_t crc;
	c->kind = PLAN_CONST_FILE;
	if (!read_text(r, m, "file", &path) ||
	    !read_int(r, m, "offset", 0, INT64_MAX, &c->offset) ||
	    !read_int(r, m, "crc32", 0, UINT32_MAX, &crc))
		return false;
	c->crc = (uint32_t)crc;
	c->path = path_join(r->arena, path_folder(r->arena, r->path), path);
	return true;
}

/* A number that is finite, written with or without a point. */
static bool read_number(reader *r, json_t *j, double *v)
{
	*v = json_number_value(j);
	return (json_is_number(j) && isfinite(*v)) ||
	       read_error(r, "a parameter of the distribution is not a number");
}

/* Reads 64 bits, as sixteen hexadecimal digits. */
static bool read_key(reader *r, members *m, uint64_t *key)
{
	const char *text;
	if (!read_text(r, m, "key", &text))
		return false;
	*key = strtoull(text, NULL, 16);
	return (strlen(text) == 16 &&
		strspn(text, "0123456789abcdef") == 16) ||
	       read_error(r, "'key' is not 16 hexadecimal digits");
}

static bool read_random(reader *r, members *m, const plan_tensor *t,
			plan_constant *c)
{
	bool uniform = json_object_get(m->object, "uniform") != NULL;
	json_t *both;
	c->kind = PLAN_CONST_RANDOM;
	c->law = uniform ? PLAN_UNIFORM : PLAN_NORMAL;
	if (!read_array(r, m, uniform ? "uniform" : "normal", 2, &both))
		return false;
	if (json_array_size(both) != 2)
		return read_error(r, "a distribution has two parameters");
	if (!dtype_is_float(t->type))
		return read_error(r, "random elements are of a float type");
	return read_number(r, json_array_get(both, 0), &c->a) &&
	       read_number(r, json_array_get(both, 1), &c->b) &&
	       read_key(r, m, &c->key);
}

/* Reads the elements themselves: all, or one for all. */
static bool read_elements(reader *r, members *m, const plan_tensor *t,
			  plan_constant *c)
{
	bool fill = json_object_get(m->object, "fill") != NULL;
	const char *text;
	int64_t nbytes;
	c->kind = fill ? PLAN_CONST_FILL : PLAN_CONST_INLINE;
	if (!read_text(r, m, fill ? "fill" : "base64", &text))
		return false;
	bool fits = ck_product(t->dims, t->ndim, &nbytes) &&
		    ck_mul(nbytes, (int64_t)dtype_size(t->type), &nbytes);
	nbytes = fill ? (int64_t)dtype_size(t->type) : nbytes;
	if (!fits || nbytes > PLAN_MOST_TEXT)
		return read_error(r, "the constant is too large");
	void *data = arena_alloc(r->arena, (size_t)nbytes);
	c->data = data;
	return base64_decode(text, data, (size_t)nbytes) ||
	       read_error(r, "the constant is not base64 of %lld bytes",
			  (long long)nbytes);
}

bool read_constant(reader *r, json_t *j, plan_tensor *t)
{
	plan_constant *c = &t->constant;
	members m;
	bool ok;
	if (!read_members(r, j, &m))
		return false;
	if (json_object_get(j, "file"))
		ok = read_file(r, &m, c);
	else if (json_object_get(j, "uniform") || json_object_get(j, "normal"))
		ok = read_random(r, &m, t, c);
	else
		ok = read_elements(r, &m, t, c);
	return ok && read_no_more(r, &m);
}
