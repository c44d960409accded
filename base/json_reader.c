#include "config.h"

#include "base/json_reader.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/file.h"

bool json_reader_wrong(const json_reader *r, const char *what)
{
	diag_error_in(r->s, r->wrong, r->path, "%s%s%s", r->part,
		      *r->part ? ": " : "", what);
	return false;
}

json_reader json_reader_member(const json_reader *r, const char *key)
{
	json_reader own = *r;
	own.part = arena_printf(r->a, "%s%s%s", r->part, *r->part ? "." : "",
				key);
	return own;
}

json_reader json_reader_inside(const json_reader *r, const char *key, size_t i)
{
	json_reader own = *r;
	own.part = arena_printf(r->a, "%s%s%s[%zu]", r->part,
				*r->part ? "." : "", key, i);
	return own;
}

bool json_reader_number(const json_reader *r, const json_t *of,
			const char *key, double least, double otherwise,
			double *to)
{
	const json_t *v = json_object_get(of, key);
	*to = v ? json_number_value(v) : otherwise;
	if ((v ? json_is_number(v) : otherwise >= 0) && isfinite(*to) &&
	    *to >= least && *to <= 1e30)
		return true;
	return json_reader_wrong(
		r, arena_printf(r->a, "'%s' is %s; a number of at least %g is "
				"expected", key,
				v ? "invalid" : "missing", least));
}

bool json_reader_whole(const json_reader *r, const json_t *of,
		       const char *key, int64_t least, int64_t most,
		       int64_t *to)
{
	double v;
	if (!json_reader_number(r, of, key, (double)least, -1, &v))
		return false;
	bool good = v <= (double)most && v == floor(v);
	*to = good ? (int64_t)v : least;
	return good || json_reader_wrong(
		r, arena_printf(r->a, "'%s' is a whole number of %" PRId64
				" to %" PRId64, key, least, most));
}

bool json_reader_count(const json_reader *r, const json_t *of,
		       const char *key, int64_t most, int *to)
{
	int64_t n;
	bool good = json_reader_whole(r, of, key, 1, most, &n);
	*to = good ? (int)n : 1;
	return good;
}

bool json_reader_keys(const json_reader *r, const json_t *of,
		      const char *const *keys)
{
	const char *key;
	json_t *v;
	if (!json_is_object(of))
		return json_reader_wrong(r, "an object is expected");
	json_object_foreach((json_t *)of, key, v) {
		int i = 0;
		while (keys[i] && strcmp(keys[i], key))
			i++;
		if (!keys[i])
			return json_reader_wrong(
				r, arena_printf(r->a, "there is no key "
						"'%.100s' here", key));
	}
	return true;
}

bool json_reader_string(const json_reader *r, const json_t *of,
			const char *key, const char **to)
{
	const json_t *v = json_object_get(of, key);
	const char *text = v ? json_string_value(v) : "";
	*to = text ? arena_strdup(r->a, text) : "";
	return text || json_reader_wrong(
		r, arena_printf(r->a, "'%s' is invalid; a string is "
				"expected", key));
}

bool json_reader_list(const json_reader *r, const json_t *of, const char *key,
		      size_t least, size_t most, const json_t **to)
{
	*to = json_object_get(of, key);
	size_t n = json_array_size(*to);
	if ((!*to && least == 0) ||
	    (json_is_array(*to) && n >= least && n <= most))
		return true;
	return json_reader_wrong(
		r, arena_printf(r->a, "'%s' is %s; a list of %zu to %zu is "
				"expected", key,
				*to ? "invalid" : "missing", least,
				most));
}

json_t *json_reader_text(const json_reader *r, const char *text, size_t len)
{
	json_error_t e;
	json_t *j = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
	if (!j)
		json_reader_wrong(r, arena_printf(r->a, "line %d, column %d: "
						  "%s", e.line, e.column,
						  e.text));
	return j;
}

json_t *json_reader_file(const json_reader *r, size_t most)
{
	size_t len;
	const char *text = file_read(r->a, r->s, r->path, most, &len);
	return text ? json_reader_text(r, text, len) : NULL;
}
