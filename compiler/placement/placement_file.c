#include "config.h"

#include "compiler/placement/placement_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/intern.h"

typedef struct reader {
	arena *a;
	diag_sink *s;
	const char *path, *place;
	const cost_graph *g;
	int naccelerators, ndevices; /* ndevices: including processor cores */
	strmap *ids; /* operator's number + 1 by id */
	int *device;
} reader;

static bool wrong(const reader *r, const char *what)
{
	diag_error_in(r->s, DIAG_PLACEMENT_INVALID, r->place, "%s", what);
	return false;
}

static bool read_row(reader *r, const json_t *j)
{
	const json_t *id = json_object_get(j, "id");
	const json_t *device = json_object_get(j, "device");
	const char *name = json_string_value(id);
	int64_t d = json_integer_value(device);
	if (json_is_integer(id))
		name = arena_printf(r->a, "%" JSON_INTEGER_FORMAT,
				    json_integer_value(id));
	if (!name || !json_is_integer(device))
		return wrong(r, "{\"id\": .., \"device\": d} is expected");
	int v = (int)(intptr_t)strmap_get(r->ids, name) - 1;
	if (v < 0)
		return wrong(r, arena_printf(r->a, "the graph has no operator "
					     "'%.60s'", name));
	if (r->device[v] >= 0)
		return wrong(r, arena_printf(r->a, "operator '%.60s' is placed "
					     "twice", name));
	if (d < 0 || d >= r->ndevices)
		return wrong(r, arena_printf(r->a, "device %" PRId64 ": there "
					     "are devices 0 to %d", d,
					     r->ndevices - 1));
	r->device[v] = (int)d;
	return true;
}

static bool read_rows(reader *r, const json_t *j)
{
	json_t *of;
	size_t i;
	if (!json_is_array(j))
		return wrong(r, "'placement' is missing: a list of objects");
	json_array_foreach((json_t *)j, i, of) {
		r->place = arena_printf(r->a, "%s: row %zu", r->path, i + 1);
		if (!read_row(r, of))
			return false;
	}
	r->place = r->path;
	for (int v = 0; v < r->g->nops; v++) {
		const cost_op *op = &r->g->ops[v];
		if (r->device[v] < 0 && op->backward && op->mirror >= 0 &&
		    r->g->format == COST_FORMAT_PIPEDREAM)
			r->device[v] = r->device[op->mirror];
		if (r->device[v] < 0)
			return wrong(r, arena_printf(r->a, "operator '%.60s' "
						     "has no device", op->id));
	}
	return true;
}

/* Checks the devices.  If there are other devices than the file was made for,
 * only those with lower numbers are the same; the file's others do not exist,
 * or are cores. */
static bool check_devices(const reader *r, const json_t *j)
{
	int64_t n = json_integer_value(j), most = 0;
	if (!j || n == r->naccelerators)
		return true;
	if (n < 1)
		return wrong(r, "'devices' has to be a number, 1 or more");
	for (int v = 0; v < r->g->nops; v++)
		most = r->device[v] > most ? r->device[v] : most;
	const char *what = arena_printf(
		r->a, "the placement is for %" PRId64 " device%s, not %d", n,
		n == 1 ? "" : "s", r->naccelerators);
	if (most >= n || most >= r->naccelerators)
		return wrong(r, arena_printf(r->a, "%s, and uses device %"
					     PRId64, what, most));
	diag_warning_in(r->s, DIAG_PLACEMENT_INVALID, r->place, "%s", what);
	return true;
}

const char *placement_parted(arena *a, const cost_graph *g, const int *place)
{
	arena *own = arena_new();
	int *first = ARENA_ARRAY(own, int, g->ncolours), parted = -1;
	for (int v = 0; v < g->nops && g->bound && parted < 0; v++) {
		int *u = &first[g->ops[v].colour];
		if (*u == 0)
			*u = v + 1;
		else if (place[*u - 1] != place[v])
			parted = v;
	}
	const char *what = parted < 0 ? NULL : arena_printf(
		a, "operators '%.60s' and '%.60s' share memory, but are on two "
		"devices", g->ops[first[g->ops[parted].colour] - 1].id,
		g->ops[parted].id);
	arena_free(own);
	return what;
}

/* Checks that operators which share memory are together. */
static bool check_bound(const reader *r)
{
	const char *what = placement_parted(r->a, r->g, r->device);
	return !what || wrong(r, what);
}

static bool read_placement(reader *r, const json_t *j)
{
	const char *format = json_string_value(json_object_get(j, "format"));
	if (!format || strcmp(format, "tdl-placement"))
		return wrong(r, "this is not a placement: 'format' is not "
				"\"tdl-placement\"");
	if (json_integer_value(json_object_get(j, "version")) != 1)
		return wrong(r, "the version of the format is not 1");
	return read_rows(r, json_object_get(j, "placement")) &&
	       check_devices(r, json_object_get(j, "devices")) &&
	       check_bound(r);
}

int *placement_read(arena *a, diag_sink *s, const char *path,
		    const cost_graph *g, int naccelerators, int ncores)
{
	reader r = { a, s, path, path, g, naccelerators,
		     naccelerators + ncores, strmap_new(a),
		     ARENA_ARRAY(a, int, g->nops) };
	json_error_t e;
	size_t len;
	const char *text = file_read(a, s, path, COST_GRAPH_MAX_FILE, &len);
	if (!text)
		return NULL;
	for (int v = 0; v < g->nops; v++) {
		r.device[v] = -1;
		strmap_put(r.ids, g->ops[v].id, (void *)(intptr_t)(v + 1));
	}
	json_t *j = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
	if (!j) {
		r.place = arena_printf(a, "%s:%d:%d", path, e.line, e.column);
		wrong(&r, arena_printf(a, "this is not JSON: %s", e.text));
	}
	bool good = j && read_placement(&r, j);
	json_decref(j);
	return good ? r.device : NULL;
}

json_t *placement_list(const cost_graph *g, const int *place)
{
	json_t *list = json_array();
	for (int v = 0; v < g->nops; v++) {
		const char *id = g->ops[v].id;
		json_t *row = json_object(), *name;
		name = g->integer_ids ? json_integer(strtoll(id, NULL, 10)) :
					json_string(id);
		json_object_set_new(row, "id", name);
		json_object_set_new(row, "device", json_integer(place[v]));
		json_array_append_new(list, row);
	}
	return list;
}

json_t *placement_json(const cost_graph *g, const int *place, int ndevices)
{
	json_t *j = json_object();
	json_object_set_new(j, "format", json_string("tdl-placement"));
	json_object_set_new(j, "version", json_integer(1));
	json_object_set_new(j, "devices", json_integer(ndevices));
	json_object_set_new(j, "placement", placement_list(g, place));
	return j;
}
