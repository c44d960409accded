/* The reader of layer tables. */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/file.h"
#include "compiler/placement/layers.h"
#include "compiler/placement/table_file.h"

/* A member that means nothing here means something to whoever wrote it. */
static bool known_members(const table_file *r, const json_t *j,
			  const char *where)
{
	static const char *const known[] = { "name", "params", "flops", "act",
					     "rep", "edge", "ar" };
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)j, key, value) {
		size_t i = 0, n = sizeof(known) / sizeof(*known);
		while (i < n && strcmp(key, known[i]))
			i++;
		if (i == n)
			return table_wrong(r, where, arena_printf(
				r->a, "'%.60s' is not a member of a layer",
				      key));
	}
	return true;
}

static bool read_layer(const table_file *r, const json_t *j, int i, layer *to)
{
	const char *where = arena_printf(r->a, "layer %d", i);
	return known_members(r, j, where) &&
	       table_number(r, j, where, "params", 0, TABLE_MAX_NUMBER,
			    &to->params) &&
	       table_number(r, j, where, "flops", 0, TABLE_MAX_NUMBER,
			    &to->flops) &&
	       table_number(r, j, where, "act", 0, TABLE_MAX_NUMBER,
			    &to->act) &&
	       table_number(r, j, where, "rep", 0, TABLE_MAX_NUMBER,
			    &to->rep) &&
	       table_number(r, j, where, "edge", 0, TABLE_MAX_NUMBER,
			    &to->edge) &&
	       table_number(r, j, where, "ar", 0, TABLE_MAX_NUMBER, &to->ar);
}

static bool read_machine(const table_file *r, const json_t *j, layer_table *t)
{
	const char *w = "machine";
	return table_whole(r, j, w, "devices", LAYERS_MAX_DEVICES,
			   &t->devices) &&
	       table_whole(r, j, w, "node", LAYERS_MAX_DEVICES, &t->node) &&
	       table_number(r, j, w, "flops", 1e-30, TABLE_MAX_NUMBER,
			    &t->flops) &&
	       table_number(r, j, w, "intra", 1e-30, TABLE_MAX_NUMBER,
			    &t->intra) &&
	       table_number(r, j, w, "inter", 1e-30, TABLE_MAX_NUMBER,
			    &t->inter) &&
	       table_number(r, j, w, "memory", 0, TABLE_MAX_NUMBER, &t->memory);
}

static bool read_table(const table_file *r, const json_t *j, layer_table *t)
{
	const json_t *layers = json_object_get(j, "layers");
	const char *format = json_string_value(json_object_get(j, "format"));
	const json_t *version = json_object_get(j, "version");
	if (!format || strcmp(format, "tdl-layers") ||
	    json_integer_value(version) != 1)
		return table_wrong(r, "format",
				   "this is not 'tdl-layers', version 1");
	if (!json_is_array(layers) || json_array_size(layers) < 1 ||
	    json_array_size(layers) > LAYERS_MAX)
		return table_wrong(r, "layers", arena_printf(
			r->a, "a list of 1 to %d layers is expected",
			LAYERS_MAX));
	t->n = (int)json_array_size(layers);
	t->at = ARENA_ARRAY(r->a, layer, t->n);
	for (int i = 0; i < t->n; i++)
		if (!read_layer(r, json_array_get(layers, (size_t)i), i,
				&t->at[i]))
			return false;
	return read_machine(r, json_object_get(j, "machine"), t) &&
	       table_whole(r, j, "table", "batch", LAYERS_MAX_BATCH, &t->batch);
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
	table_file r = { a, s, path };
	layer_table *t = ARENA_NEW(a, layer_table);
	const char *slash = strrchr(path, '/');
	t->name = slash ? slash + 1 : path;
	return read_table(&r, j, t) ? t : NULL;
}
