#include "config.h"

#include "compiler/placement/table_file.h"

bool table_wrong(const table_file *f, const char *where, const char *what)
{
	diag_error_in(f->s, DIAG_LAYERS_INVALID,
		      arena_printf(f->a, "%s: %s", f->path, where), "%s", what);
	return false;
}

bool table_number(const table_file *f, const json_t *of, const char *where,
		  const char *key, double least, double most, double *to)
{
	const json_t *j = json_object_get(of, key);
	if (!json_is_number(j))
		return table_wrong(f, where, arena_printf(
			f->a, "'%s' has to be a number", key));
	*to = json_number_value(j);
	if (!(*to >= least && *to <= most))
		return table_wrong(f, where, arena_printf(
			f->a, "'%s' has to be from %g to %g", key, least,
			most));
	return true;
}

bool table_whole(const table_file *f, const json_t *of, const char *where,
		 const char *key, int most, int *to)
{
	double x;
	if (!table_number(f, of, where, key, 1, most, &x))
		return false;
	*to = (int)x;
	return *to == x || table_wrong(f, where, arena_printf(
		f->a, "'%s' has to be a whole number", key));
}
