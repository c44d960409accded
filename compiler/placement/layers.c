/* Reads layer tables. */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/file.h"
#include "compiler/placement/layers.h"
#include "compiler/placement/table_file.h"

/* Refuses unknown members, as they mean something to their author.  The list
 * ends with NULL. */
static bool known_members(const table_file *r, const json_t *j,
			  const char *where, const char *const *known,
			  const char *of)
{
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)j, key, value) {
		int i = 0;
		while (known[i] && strcmp(key, known[i]))
			i++;
		if (!known[i])
			return table_wrong(r, where, arena_printf(
				r->a, "'%.60s' is not a member of a %s", key,
				      of));
	}
	return true;
}

static bool read_layer(const table_file *r, const json_t *j, int i, layer *to)
{
	static const char *const known[] = { "name", "params", "flops", "act",
					     "rep", "edge", "ar", "tie",
					     NULL };
	const char *where = arena_printf(r->a, "layer %d", i);
	return known_members(r, j, where, known, "layer") &&
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

/* ---- ties ---------------------------------------------------------------- */

static const char *tie_of(const json_t *layers, int i)
{
	return json_string_value(json_object_get(
		json_array_get(layers, (size_t)i), "tie"));
}

/* The layer before or after i, depending on `by', with the tie of i; -1. */
static int tied_layer(const layer_table *t, const json_t *layers, int i,
		      int by)
{
	int k = i + by;
	while (k >= 0 && k < t->n &&
	       (!tie_of(layers, k) ||
		strcmp(tie_of(layers, k), tie_of(layers, i))))
		k += by;
	return k < t->n ? k : -1;
}

/* Reads the number of a layer's tie.  Tied layers share all of their
 * parameters, and a tie has at least two layers. */
static bool read_tie(const table_file *r, const json_t *layers, int i,
		     layer_table *t)
{
	const json_t *tie = json_object_get(json_array_get(layers, (size_t)i),
					    "tie");
	const char *where = arena_printf(r->a, "layer %d", i);
	if (!tie)
		return true;
	if (json_string_length(tie) == 0)
		return table_wrong(r, where, "'tie' has to be a name");
	int before = tied_layer(t, layers, i, -1);
	if (before < 0 && tied_layer(t, layers, i, 1) < 0)
		return table_wrong(r, where, arena_printf(
			r->a, "no other layer has the tie '%.60s'",
			json_string_value(tie)));
	if (before >= 0 && t->at[before].params != t->at[i].params)
		return table_wrong(r, where, arena_printf(
			r->a, "'params' differ from those of layer %d, with "
			"the same tie", before));
	t->at[i].tie = before < 0 ? ++t->nties : t->at[before].tie;
	return true;
}

/* ---- skips --------------------------------------------------------------- */

/* Reads a layer's number, from 0. */
static bool read_end(const table_file *r, const json_t *j, const char *where,
		     const char *key, const layer_table *t, int *to)
{
	double x;
	if (!table_number(r, j, where, key, 0, t->n - 1, &x))
		return false;
	*to = (int)x;
	return *to == x || table_wrong(r, where, arena_printf(
		r->a, "'%s' has to be a whole number", key));
}

static bool read_skip(const table_file *r, const json_t *j, int i,
		      const layer_table *t, layer_skip *to)
{
	static const char *const known[] = { "from", "to", "act", NULL };
	const char *where = arena_printf(r->a, "skip %d", i);
	return known_members(r, j, where, known, "skip") &&
	       read_end(r, j, where, "from", t, &to->from) &&
	       read_end(r, j, where, "to", t, &to->to) &&
	       (to->from < to->to || table_wrong(r, where, "'to' has to be a "
						 "layer after 'from'")) &&
	       table_number(r, j, where, "act", 0, TABLE_MAX_NUMBER, &to->act);
}

static bool read_skips(const table_file *r, const json_t *j, layer_table *t)
{
	if (!j)
		return true;
	if (!json_is_array(j) || json_array_size(j) > LAYERS_MAX_SKIPS)
		return table_wrong(r, "skips", arena_printf(
			r->a, "a list of at most %d skips is expected",
			LAYERS_MAX_SKIPS));
	t->nskips = (int)json_array_size(j);
	t->skips = ARENA_ARRAY(r->a, layer_skip, t->nskips);
	for (int i = 0; i < t->nskips; i++)
		if (!read_skip(r, json_array_get(j, (size_t)i), i, t,
			       &t->skips[i]))
			return false;
	return true;
}

/* ---- all ----------------------------------------------------------------- */

static bool read_machine(const table_file *r, const json_t *j, layer_table *t)
{
	static const char *const known[] = { "name", "devices", "node",
					     "flops", "intra", "inter",
					     "memory", NULL };
	const char *w = "machine";
	return known_members(r, j, w, known, w) &&
	       table_whole(r, j, w, "devices", LAYERS_MAX_DEVICES,
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
	static const char *const known[] = { "format", "version", "name",
					     "layers", "skips", "machine",
					     "batch", NULL };
	const json_t *layers = json_object_get(j, "layers");
	const char *format = json_string_value(json_object_get(j, "format"));
	const json_t *version = json_object_get(j, "version");
	if (!format || strcmp(format, "tdl-layers") ||
	    json_integer_value(version) != 1)
		return table_wrong(r, "format",
				   "this is not 'tdl-layers', version 1");
	if (!known_members(r, j, "table", known, "table"))
		return false;
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
	for (int i = 0; i < t->n; i++)
		if (!read_tie(r, layers, i, t))
			return false;
	return read_skips(r, json_object_get(j, "skips"), t) &&
	       read_machine(r, json_object_get(j, "machine"), t) &&
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
