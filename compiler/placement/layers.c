/* The reader of layer tables. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "compiler/placement/layers.h"

/* No number of a table is larger, so that no product of a few overflows. */
#define MAX_NUMBER 1e30

typedef struct reader {
	arena *a;
	diag_sink *s;
	const char *path;
} reader;

static bool wrong(reader *r, const char *where, const char *what)
{
	diag_error_in(r->s, DIAG_LAYERS_INVALID,
		      arena_printf(r->a, "%s: %s", r->path, where), "%s", what);
	return false;
}

/* A member of an object, least <= value <= most. */
static bool number(reader *r, const json_t *of, const char *where,
		   const char *key, double least, double most, double *to)
{
	const json_t *j = json_object_get(of, key);
	if (!json_is_number(j))
		return wrong(r, where, arena_printf(
			r->a, "'%s' is to be a number", key));
	*to = json_number_value(j);
	if (!(*to >= least && *to <= most))
		return wrong(r, where, arena_printf(
			r->a, "'%s' is to be from %g to %g", key, least,
			most));
	return true;
}

static bool whole(reader *r, const json_t *of, const char *where,
		  const char *key, int most, int *to)
{
	double x;
	if (!number(r, of, where, key, 1, most, &x))
		return false;
	*to = (int)x;
	return *to == x || wrong(r, where, arena_printf(
		r->a, "'%s' is to be a whole number", key));
}

static bool read_layer(reader *r, const json_t *j, int i, layer *to)
{
	const char *where = arena_printf(r->a, "layer %d", i);
	return number(r, j, where, "params", 0, MAX_NUMBER, &to->params) &&
	       number(r, j, where, "flops", 0, MAX_NUMBER, &to->flops) &&
	       number(r, j, where, "act", 0, MAX_NUMBER, &to->act) &&
	       number(r, j, where, "rep", 0, MAX_NUMBER, &to->rep) &&
	       number(r, j, where, "edge", 0, MAX_NUMBER, &to->edge) &&
	       number(r, j, where, "ar", 0, MAX_NUMBER, &to->ar);
}

static bool read_machine(reader *r, const json_t *j, layer_table *t)
{
	const char *w = "machine";
	return whole(r, j, w, "devices", LAYERS_MAX_DEVICES, &t->devices) &&
	       whole(r, j, w, "node", LAYERS_MAX_DEVICES, &t->node) &&
	       number(r, j, w, "flops", 1e-30, MAX_NUMBER, &t->flops) &&
	       number(r, j, w, "intra", 1e-30, MAX_NUMBER, &t->intra) &&
	       number(r, j, w, "inter", 1e-30, MAX_NUMBER, &t->inter) &&
	       number(r, j, w, "memory", 0, MAX_NUMBER, &t->memory);
}

static bool read_table(reader *r, const json_t *j, layer_table *t)
{
	const json_t *layers = json_object_get(j, "layers");
	const char *format = json_string_value(json_object_get(j, "format"));
	const json_t *version = json_object_get(j, "version");
	if (!format || strcmp(format, "tdl-layers") ||
	    json_integer_value(version) != 1)
		return wrong(r, "format", "this is no 'tdl-layers', version 1");
	if (!json_is_array(layers) || json_array_size(layers) < 1 ||
	    json_array_size(layers) > LAYERS_MAX)
		return wrong(r, "layers", arena_printf(
			r->a, "a list of 1 to %d layers is expected",
			LAYERS_MAX));
	t->n = (int)json_array_size(layers);
	t->at = ARENA_ARRAY(r->a, layer, t->n);
	for (int i = 0; i < t->n; i++)
		if (!read_layer(r, json_array_get(layers, (size_t)i), i,
				&t->at[i]))
			return false;
	return read_machine(r, json_object_get(j, "machine"), t) &&
	       whole(r, j, "table", "batch", LAYERS_MAX_BATCH, &t->batch);
}

json_t *layers_load(arena *a, diag_sink *s, const char *path)
{
	json_error_t e;
	size_t len;
	char *text = file_read(a, s, path, LAYERS_MAX_FILE, &len);
	if (!text)
		return NULL;
	json_t *j = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
	if (!j)
		diag_error_in(s, DIAG_LAYERS_INVALID,
			      arena_printf(a, "%s:%d:%d", path, e.line,
					   e.column), "%s", e.text);
	return j;
}

layer_table *layers_read(arena *a, diag_sink *s, const char *path,
			 const json_t *j)
{
	reader r = { a, s, path };
	layer_table *t = ARENA_NEW(a, layer_table);
	const char *slash = strrchr(path, '/');
	t->name = slash ? slash + 1 : path;
	return read_table(&r, j, t) ? t : NULL;
}
