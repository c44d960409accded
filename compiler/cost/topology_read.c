/* Reads topologies from files (docs/topology.md).  Nothing in them is
 * trusted. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/json_reader.h"
#include "compiler/cost/topology.h"
#include "layout/mesh.h"

enum { OLDEST = 1, NEWEST = 2 };

typedef json_reader reader;

static bool wrong(const reader *r, const char *what)
{
	return json_reader_wrong(r, what);
}

/* A type without a rate of its own has that of f32. */
static bool read_flops(const reader *r, const json_t *of, topology *t)
{
	const char *key;
	json_t *v;
	double f32;
	if (!json_is_object(of))
		return wrong(r, "'flops' is missing: an object of FLOP/s by "
				"element type");
	if (!json_reader_number(r, of, "f32", 1, -1, &f32))
		return false;
	for (int i = 0; i < DT_COUNT; i++)
		t->flops[i] = f32;
	json_object_foreach((json_t *)of, key, v) {
		dtype type = dtype_parse(key);
		if (type == DT_NONE)
			return wrong(r, arena_printf(r->a, "'%.100s' is not an "
						     "element type", key));
		if (!json_reader_number(r, of, key, 1, -1, &t->flops[type]))
			return false;
	}
	return true;
}

static bool read_device(const reader *r, const json_t *of, topology *t)
{
	static const char *const keys[] = { "name", "memory", "bandwidth",
					    "launch", "flops", "overlap",
					    NULL };
	const json_t *overlap = json_object_get(of, "overlap");
	double memory;
	if (!json_is_object(of))
		return wrong(r, "'device' is missing: an object");
	if (!json_reader_keys(r, of, keys) ||
	    !json_reader_string(r, of, "name", &t->device) ||
	    !json_reader_number(r, of, "memory", 0, 0, &memory) ||
	    !json_reader_number(r, of, "bandwidth", 1, -1, &t->bandwidth) ||
	    !json_reader_number(r, of, "launch", 0, 0, &t->launch))
		return false;
	if (overlap && !json_is_boolean(overlap))
		return wrong(r, "'overlap' is true or false");
	t->overlap = !json_is_false(overlap);
	t->memory = memory < 0x1p60 ? (int64_t)memory : (int64_t)1 << 60;
	return read_flops(r, json_object_get(of, "flops"), t);
}

/* ---- what was measured ------------------------------------------------- */

enum { MAX_POINTS = 256, MAX_CURVES = 1024, MAX_SHARES = 32 };

/* [size, seconds, spread]; the spread is for people. */
static bool read_point(const reader *r, const json_t *of, const
		       curve_point *before, curve_point *to)
{
	double v[3] = { 0, 0, 0 };
	size_t n = json_array_size(of);
	if (!json_is_array(of) || n < 2 || n > 3)
		return wrong(r, "[size, seconds, spread] is expected");
	for (size_t i = 0; i < n; i++) {
		const json_t *x = json_array_get(of, i);
		v[i] = json_number_value(x);
		if (!json_is_number(x) || !isfinite(v[i]) || v[i] < 0 ||
		    v[i] > 1e30)
			return wrong(r, "a size, seconds and a spread are "
					"numbers of at least 0");
	}
	*to = (curve_point){ v[0], v[1] };
	if (to->size <= 0 || to->seconds < 1e-12 || to->seconds > 1e9)
		return wrong(r, "a size is above 0, seconds are 1e-12 to 1e9");
	if (before && to->size <= before->size)
		return wrong(r, "sizes must rise from point to point");
	if (before && to->seconds < before->seconds)
		return wrong(r, "what is larger cannot take less time");
	return true;
}

static bool read_curve(const reader *r, const char *key, const json_t *of,
		       curve *to)
{
	size_t n = json_array_size(of);
	if (!json_is_array(of) || n == 0 || n > MAX_POINTS)
		return wrong(r, arena_printf(r->a, "'%s' is missing: a list "
					     "of 1 to %d points", key,
					     MAX_POINTS));
	curve_point *at = ARENA_ARRAY(r->a, curve_point, n);
	for (size_t i = 0; i < n; i++) {
		const reader in = json_reader_inside(r, key, i);
		if (!read_point(&in, json_array_get(of, i),
				i ? &at[i - 1] : NULL, &at[i]))
			return false;
	}
	*to = (curve){ (int)n, at };
	return true;
}

static bool read_side(const reader *r, const json_t *of, measured_kernels *to)
{
	const char *side;
	int least;
	if (!json_object_get(of, "side") && !json_object_get(of, "least"))
		return true;
	if (!kernel_class_has_sides(to->class))
		return wrong(r, "only products and convolutions have a 'side'");
	if (!json_reader_string(r, of, "side", &side) ||
	    !json_reader_count(r, of, "least", 1 << 30, &least))
		return false;
	to->side = kernel_side_parse(side);
	to->least = least;
	return to->side < KERNEL_SIDES ||
	       wrong(r, "'side' is rows, columns or depth");
}

static bool read_kernels(const reader *r, const json_t *of,
			 measured_kernels *to)
{
	static const char *const keys[] = { "class", "type", "side", "least",
					    "points", NULL };
	const char *class, *type;
	if (!json_reader_keys(r, of, keys) ||
	    !json_reader_string(r, of, "class", &class) ||
	    !json_reader_string(r, of, "type", &type))
		return false;
	*to = (measured_kernels){ .class = kernel_class_parse(class),
				  .type = dtype_parse(type) };
	if (to->class >= KERNEL_OPAQUE)
		return wrong(r, arena_printf(r->a, "there is no class '%.100s' "
					     "of kernels", class));
	if (to->type == DT_NONE)
		return wrong(r, arena_printf(r->a, "'%.100s' is not an element "
					     "type", type));
	return read_side(r, of, to) &&
	       read_curve(r, "points", json_object_get(of, "points"),
			  &to->curve);
}

/* Appends the curves of one class and type to a list, by side and extent. */
static bool put_kernels(const reader *r, measured_device *d,
			const measured_kernels *x)
{
	measured_list *l = &d->kernels[x->class][x->type];
	measured_kernels *at = ARENA_ARRAY(r->a, measured_kernels, l->n + 1);
	int n = 0, i = 0;
	for (; i < l->n && (l->at[i].side < x->side ||
			    (l->at[i].side == x->side &&
			     l->at[i].least < x->least)); i++)
		at[n++] = l->at[i];
	if (i < l->n && l->at[i].side == x->side && l->at[i].least == x->least)
		return wrong(r, "the same kernels are there twice");
	at[n++] = *x;
	for (; i < l->n; i++)
		at[n++] = l->at[i];
	*l = (measured_list){ n, at };
	return true;
}

static bool read_share(const reader *r, const json_t *of, measured_device *d)
{
	static const char *const keys[] = { "devices", "memory", "kernels",
					    NULL };
	const json_t *all = json_object_get(of, "kernels");
	size_t n = json_array_size(all);
	if (!json_reader_keys(r, of, keys) ||
	    !json_reader_count(r, of, "devices", MESH_MAX_WORKERS,
			       &d->devices) ||
	    !read_curve(r, "memory", json_object_get(of, "memory"),
			&d->memory))
		return false;
	if (!json_is_array(all) || n > MAX_CURVES)
		return wrong(r, "'kernels' is missing: a list of curves");
	for (size_t i = 0; i < n; i++) {
		const reader in = json_reader_inside(r, "kernels", i);
		measured_kernels x;
		if (!read_kernels(&in, json_array_get(all, i), &x) ||
		    !put_kernels(&in, d, &x))
			return false;
	}
	return true;
}

static bool read_measured(const reader *r, const json_t *of, topology *t)
{
	size_t n = json_array_size(of);
	if (!of)
		return true;
	if (!json_is_array(of) || n == 0 || n > MAX_SHARES)
		return wrong(r, arena_printf(r->a, "'measured' is a list of 1 "
					     "to %d objects", MAX_SHARES));
	measured_device *all = ARENA_ARRAY(r->a, measured_device, n);
	for (size_t i = 0; i < n; i++) {
		const reader in = json_reader_inside(r, "measured", i);
		if (!read_share(&in, json_array_get(of, i), &all[i]))
			return false;
		if (i > 0 && all[i].devices <= all[i - 1].devices)
			return wrong(&in, "'devices' must rise");
	}
	t->nmeasured = (int)n;
	t->measured = all;
	return true;
}

static bool read_processors(const reader *r, const json_t *of, topology *t)
{
	return !json_object_get(of, "processors") ||
	       json_reader_count(r, of, "processors", MESH_MAX_WORKERS,
				 &t->processors);
}

static bool read_transfer(const reader *r, const json_t *of,
			  topology_level *l)
{
	static const char *const keys[] = { "collective", "devices", "points",
					    NULL };
	const char *name;
	measured_transfer x;
	if (!json_reader_keys(r, of, keys) ||
	    !json_reader_string(r, of, "collective", &name) ||
	    !json_reader_count(r, of, "devices", MESH_MAX_WORKERS,
			       &x.devices) ||
	    !read_curve(r, "points", json_object_get(of, "points"), &x.curve))
		return false;
	int c = collective_parse(name);
	if (c <= COLL_LOCAL)
		return wrong(r, arena_printf(r->a, "'%.100s' is not a "
					     "collective", name));
	x.collective = (collective)c;
	if (l->measured[c])
		return wrong(r, "the same collective is there twice");
	l->measured[c] = ARENA_COPY(r->a, &x, 1);
	return true;
}

static bool read_transfers(const reader *r, const json_t *of,
			   topology_level *l)
{
	if (of && !json_is_array(of))
		return wrong(r, "'transfers' is a list of curves");
	for (size_t i = 0; i < json_array_size(of); i++) {
		const reader in = json_reader_inside(r, "transfers", i);
		if (!read_transfer(&in, json_array_get(of, i), l))
			return false;
	}
	return true;
}

/* ---- the machine ------------------------------------------------------- */

static bool read_level(const reader *r, const json_t *of, topology_level *l)
{
	static const char *const keys[] = { "name", "size", "latency",
					    "bandwidth", "shared", "transfers",
					    NULL };
	double size, least = json_object_get(of, "size") ? 1 : 0;
	double shared = json_object_get(of, "shared") ? 1 : 0;
	if (!json_is_object(of))
		return wrong(r, "a level is an object");
	if (!json_reader_keys(r, of, keys) ||
	    !json_reader_string(r, of, "name", &l->name) ||
	    !json_reader_number(r, of, "size", least, 0, &size) ||
	    !json_reader_number(r, of, "latency", 0, -1, &l->latency) ||
	    !json_reader_number(r, of, "bandwidth", 1, -1, &l->bandwidth) ||
	    !json_reader_number(r, of, "shared", shared, 0, &l->shared) ||
	    !read_transfers(r, json_object_get(of, "transfers"), l))
		return false;
	if (size != floor(size) || size > MESH_MAX_WORKERS)
		return wrong(r, "the size of a level is an integer up to "
				"65536");
	l->size = (int)size;
	return true;
}

static bool read_levels(const reader *r, const json_t *of, topology *t)
{
	if (!json_is_array(of) || json_array_size(of) == 0 ||
	    json_array_size(of) > MAX_AXES)
		return wrong(r, "'levels' is missing: a list of 1 to 24 "
				"levels of links, the outermost first");
	t->nlevels = (int)json_array_size(of);
	for (int i = 0; i < t->nlevels; i++) {
		const reader in = json_reader_inside(r, "levels", (size_t)i);
		if (!read_level(&in, json_array_get(of, (size_t)i),
				&t->levels[i]))
			return false;
		if (i > 0 && t->levels[i].size == 0)
			return wrong(r, "only the outermost level can be "
					"without a size");
	}
	return true;
}

/* Numbers follow the list, one kind after another. */
static bool read_kinds(const reader *r, const json_t *of, topology *t)
{
	static const char *const keys[] = { "count", "speed", "memory", NULL };
	size_t n = json_array_size(of);
	if (!of)
		return true;
	if (!json_is_array(of) || n == 0 || n > TOPOLOGY_MAX_KINDS)
		return wrong(r, arena_printf(r->a, "'devices' is a list of 1 "
					     "to %d kinds",
					     TOPOLOGY_MAX_KINDS));
	topology_devices *kinds = ARENA_ARRAY(r->a, topology_devices, n);
	for (size_t i = 0; i < n; i++) {
		const json_t *j = json_array_get(of, i);
		double count, memory;
		if (!json_is_object(j))
			return wrong(r, "a kind of devices is an object");
		if (!json_reader_keys(r, j, keys) ||
		    !json_reader_number(r, j, "count", 1, 1, &count) ||
		    !json_reader_number(r, j, "speed", 1e-3, 1,
					&kinds[i].speed) ||
		    !json_reader_number(r, j, "memory", 0, (double)t->memory,
					&memory))
			return false;
		if (count != floor(count) || count > MESH_MAX_WORKERS ||
		    kinds[i].speed > 1e3)
			return wrong(r, "the 'count' of a kind is an integer "
					"up to 65536, its 'speed' 0.001 to "
					"1000");
		kinds[i].count = (int)count;
		kinds[i].memory = memory < 0x1p60 ? (int64_t)memory :
						    (int64_t)1 << 60;
	}
	t->nkinds = (int)n;
	t->kinds = kinds;
	return true;
}

/* Version 2 can have measurements. */
static bool read_version(const reader *r, const json_t *j)
{
	const json_t *v = json_object_get(j, "version");
	json_int_t n = json_integer_value(v);
	if (!json_is_integer(v) || n < OLDEST || n > NEWEST)
		return wrong(r, "the version of the format is neither 1 nor 2");
	bool measured = json_object_get(j, "measured") ||
			json_object_get(j, "processors") ||
			json_object_get(j, "made");
	return n > 1 || !measured ||
	       wrong(r, "'measured', 'processors' and 'made' are of version 2");
}

/* Reads the name, which plans contain and which must therefore be valid
 * there. */
static bool read_title(const reader *r, const json_t *j, topology *t)
{
	enum { MOST = 4096 };
	if (!json_reader_string(r, j, "name", &t->name))
		return false;
	if (strlen(t->name) > MOST)
		return wrong(r, "'name' has more than 4096 bytes");
	for (const char *c = t->name; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return wrong(r, "'name' has a control character");
	if (!*t->name)
		t->name = "machine";
	return true;
}

static bool read_topology(const reader *r, const json_t *j, topology *t)
{
	static const char *const keys[] = { "format", "version", "name",
					    "device", "levels", "devices",
					    "measured", "processors", "made",
					    NULL };
	const char *format = json_string_value(json_object_get(j, "format"));
	const char *made;
	if (!format || strcmp(format, "tdl-topology"))
		return wrong(r, "this is not a topology: 'format' is not "
				"\"tdl-topology\"");
	return read_version(r, j) && json_reader_keys(r, j, keys) &&
	       read_title(r, j, t) &&
	       read_device(r, json_object_get(j, "device"), t) &&
	       read_levels(r, json_object_get(j, "levels"), t) &&
	       read_kinds(r, json_object_get(j, "devices"), t) &&
	       json_reader_string(r, j, "made", &made) &&
	       read_processors(r, j, t) &&
	       read_measured(r, json_object_get(j, "measured"), t);
}

static const topology *read_file(arena *a, diag_sink *s, const char *path)
{
	enum { MOST = 1 << 24 };
	const reader r = { a, s, DIAG_BAD_TOPOLOGY, path, "" };
	topology *t = ARENA_NEW(a, topology);
	json_t *j = json_reader_file(&r, MOST);
	bool good = j && read_topology(&r, j, t);
	json_decref(j);
	t->path = arena_strdup(a, path);
	return good ? t : NULL;
}

const topology *topology_read(arena *a, diag_sink *s, const char *name)
{
	const char *known = "";
	for (int i = 0; topology_preset(i); i++) {
		const topology *t = topology_preset(i);
		if (!strcmp(t->name, name))
			return t;
		known = arena_printf(a, "%s%s%s", known, i ? ", " : "",
				     t->name);
	}
	if (file_exists(name))
		return read_file(a, s, name);
	diag_error_in(s, DIAG_UNKNOWN_TOPOLOGY, name,
		      "there is no such file, and no topology of that name; "
		      "those known by name are %s", known);
	return NULL;
}
