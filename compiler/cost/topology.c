#include "config.h"

#include "compiler/cost/topology.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "compiler/cost/assignment.h"
#include "layout/mesh.h"

/* ---- presets ----------------------------------------------------------- */

/* FLOP/s on f64, on f32 and integers, on floats of 16 and of 8 bits. */
#define RATES(d, f, h, q) \
	{ [DT_F64] = d, [DT_F32] = f, [DT_F16] = h, [DT_BF16] = h, \
	  [DT_I64 ... DT_BOOL] = f, [DT_F8E4M3FN ... DT_F8E8M0] = q, \
	  [DT_F6E2M3 ... DT_COUNT - 1] = f }

/* A core of a common server with shared memory for a network; round numbers.
 * It copies what it receives itself. */
static const topology cpu = {
	.name = "cpu",
	.device = "a core",
	.bandwidth = 10e9,
	.flops = RATES(20e9, 20e9, 20e9, 20e9),
	.nlevels = 1,
	.levels = { { "memory", 0, 5e-6, 5e9 } },
};

/* Amazon's p2.8xlarge, on which Tofu was measured: halves of a K80 behind PCIe
 * switches, 21 GB/s from peer to peer. */
static const topology k80 = {
	.name = "8xk80",
	.device = "half a Tesla K80",
	.memory = (int64_t)12 << 30,
	.bandwidth = 240e9,
	.launch = 5e-6,
	.flops = RATES(1.4e12, 4.1e12, 4.1e12, 4.1e12),
	.overlap = true,
	.nlevels = 1,
	.levels = { { "PCIe", 8, 10e-6, 21e9 } },
};

#define H100 \
	.device = "H100 SXM", .memory = (int64_t)80 << 30, \
	.bandwidth = 3.35e12, .launch = 3e-6, \
	.flops = RATES(34e12, 67e12, 989e12, 1979e12), .overlap = true

static const topology h100 = {
	.name = "8xh100-nvlink",
	H100,
	.nlevels = 1,
	.levels = { { "NVLink", 8, 3e-6, 450e9 } },
};

static const topology two_h100 = {
	.name = "2x8xh100",
	H100,
	.nlevels = 2,
	.levels = { { "InfiniBand", 2, 8e-6, 50e9 },
		    { "NVLink", 8, 3e-6, 450e9 } },
};

static const topology many_h100 = {
	.name = "h100-cluster",
	H100,
	.nlevels = 2,
	.levels = { { "InfiniBand", 0, 8e-6, 50e9 },
		    { "NVLink", 8, 3e-6, 450e9 } },
};

const topology *topology_preset(int i)
{
	static const topology *const all[] = { &cpu, &k80, &h100, &two_h100,
					       &many_h100, NULL };
	return all[i];
}

/* ---- files ------------------------------------------------------------- */

typedef struct reader {
	arena *a;
	diag_sink *s;
	const char *path;
} reader;

static bool wrong(const reader *r, const char *what)
{
	diag_error_in(r->s, DIAG_BAD_TOPOLOGY, r->path, "%s", what);
	return false;
}

/* A number of at least `least`, or `otherwise` where there is none and that is
 * not negative. */
static bool number(const reader *r, const json_t *of, const char *key,
		   double least, double otherwise, double *to)
{
	const json_t *v = json_object_get(of, key);
	*to = v ? json_number_value(v) : otherwise;
	if ((v ? json_is_number(v) : otherwise >= 0) && isfinite(*to) &&
	    *to >= least && *to <= 1e30)
		return true;
	return wrong(r, arena_printf(r->a, "'%s' is %s; a number of at least "
				     "%g is expected", key,
				     v ? "something else" : "missing", least));
}

/* Whether an object has no other keys than these. */
static bool known_keys(const reader *r, const json_t *of,
		       const char *const *keys)
{
	const char *key;
	json_t *v;
	json_object_foreach((json_t *)of, key, v) {
		int i = 0;
		while (keys[i] && strcmp(keys[i], key))
			i++;
		if (!keys[i])
			return wrong(r, arena_printf(r->a, "there is no key "
						     "'%.100s' here", key));
	}
	return true;
}

/* A text, "" where there is none. */
static bool string(const reader *r, const json_t *of, const char *key,
		   const char **to)
{
	const json_t *v = json_object_get(of, key);
	const char *text = v ? json_string_value(v) : "";
	*to = text ? arena_strdup(r->a, text) : "";
	return text || wrong(r, arena_printf(r->a, "'%s' is something else; a "
					     "string is expected", key));
}

/* A type without a rate of its own runs at that of f32. */
static bool read_flops(const reader *r, const json_t *of, topology *t)
{
	const char *key;
	json_t *v;
	double f32;
	if (!json_is_object(of))
		return wrong(r, "'flops' is missing: an object of FLOP/s by "
				"element type");
	if (!number(r, of, "f32", 1, -1, &f32))
		return false;
	for (int i = 0; i < DT_COUNT; i++)
		t->flops[i] = f32;
	json_object_foreach((json_t *)of, key, v) {
		dtype type = dtype_parse(key);
		if (type == DT_NONE)
			return wrong(r, arena_printf(r->a, "'%.100s' is not an "
						     "element type", key));
		if (!number(r, of, key, 1, -1, &t->flops[type]))
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
	if (!known_keys(r, of, keys) ||
	    !string(r, of, "name", &t->device) ||
	    !number(r, of, "memory", 0, 0, &memory) ||
	    !number(r, of, "bandwidth", 1, -1, &t->bandwidth) ||
	    !number(r, of, "launch", 0, 0, &t->launch))
		return false;
	if (overlap && !json_is_boolean(overlap))
		return wrong(r, "'overlap' is true or false");
	t->overlap = !json_is_false(overlap);
	t->memory = memory < 0x1p60 ? (int64_t)memory : (int64_t)1 << 60;
	return read_flops(r, json_object_get(of, "flops"), t);
}

static bool read_level(const reader *r, const json_t *of, topology_level *l)
{
	static const char *const keys[] = { "name", "size", "latency",
					    "bandwidth", NULL };
	double size, least = json_object_get(of, "size") ? 1 : 0;
	if (!json_is_object(of))
		return wrong(r, "a level is an object");
	if (!known_keys(r, of, keys) ||
	    !string(r, of, "name", &l->name) ||
	    !number(r, of, "size", least, 0, &size) ||
	    !number(r, of, "latency", 0, -1, &l->latency) ||
	    !number(r, of, "bandwidth", 1, -1, &l->bandwidth))
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
		if (!read_level(r, json_array_get(of, (size_t)i),
				&t->levels[i]))
			return false;
		if (i > 0 && t->levels[i].size == 0)
			return wrong(r, "only the outermost level can be "
					"without a size");
	}
	return true;
}

/* Their numbers are those of the list, one kind behind the other. */
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
		if (!known_keys(r, j, keys) ||
		    !number(r, j, "count", 1, 1, &count) ||
		    !number(r, j, "speed", 1e-3, 1, &kinds[i].speed) ||
		    !number(r, j, "memory", 0, (double)t->memory, &memory))
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

static bool read_topology(const reader *r, const json_t *j, topology *t)
{
	static const char *const keys[] = { "format", "version", "name",
					    "device", "levels", "devices",
					    NULL };
	const char *format = json_string_value(json_object_get(j, "format"));
	if (!format || strcmp(format, "tdl-topology"))
		return wrong(r, "this is not a topology: 'format' is not "
				"\"tdl-topology\"");
	if (json_integer_value(json_object_get(j, "version")) != 1)
		return wrong(r, "the version of the format is not 1");
	return known_keys(r, j, keys) && string(r, j, "name", &t->name) &&
	       read_device(r, json_object_get(j, "device"), t) &&
	       read_levels(r, json_object_get(j, "levels"), t) &&
	       read_kinds(r, json_object_get(j, "devices"), t);
}

static const topology *read_file(arena *a, diag_sink *s, const char *path)
{
	enum { MOST = 1 << 20 };
	reader r = { a, s, path };
	topology *t = ARENA_NEW(a, topology);
	json_error_t e;
	size_t len;
	const char *text = file_read(a, s, path, MOST, &len);
	if (!text)
		return NULL;
	json_t *j = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
	bool good = j ? read_topology(&r, j, t) :
			wrong(&r, arena_printf(a, "line %d, column %d: %s",
					       e.line, e.column, e.text));
	json_decref(j);
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

/* ---- the mesh ---------------------------------------------------------- */

/* The number of parts of each level that k devices fill, from the innermost
 * on. */
static bool fill_levels(const topology *t, int k, int *used)
{
	for (int i = t->nlevels; i-- > 0;) {
		int size = t->levels[i].size ? t->levels[i].size : k;
		used[i] = k < size ? k : size;
		if (k % used[i])
			return false;
		k /= used[i];
	}
	return k == 1;
}

const char *topology_sizes(arena *a, const topology *t)
{
	int64_t n = t->levels[t->nlevels - 1].size;
	const char *text = n ? arena_printf(a, "it has up to %d", (int)n)
			     : "it has any number";
	for (int i = t->nlevels - 1; i-- > 0 && n <= MESH_MAX_WORKERS;) {
		int size = t->levels[i].size;
		text = size ? arena_printf(a, "%s, and multiples of %" PRId64
					   " up to %" PRId64, text, n,
					   n * size)
			    : arena_printf(a, "%s, and multiples of %" PRId64,
					   text, n);
		n *= size;
	}
	return text;
}

bool topology_mesh(const topology *t, int k, mesh *m)
{
	int used[MAX_AXES];
	if (!fill_levels(t, k, used))
		return false;
	m->naxes = 0;
	for (int i = 0; i < t->nlevels; i++)
		m->naxes += mesh_factors(used[i], m->size + m->naxes);
	return true;
}

void topology_levels(const topology *t, const mesh *m, int *levels)
{
	int used[MAX_AXES] = { 0 }, level = 0;
	int64_t left, taken = 1;
	fill_levels(t, mesh_workers(m), used);
	left = used[0];
	for (int i = 0; i < m->naxes; i++) {
		while (taken >= left && level + 1 < t->nlevels)
			left *= used[++level];
		levels[i] = level;
		taken *= m->size[i];
	}
}

/* ---- times ------------------------------------------------------------- */

/* The bytes that a collective brings each device over level i, relative to
 * those that the device finally keeps from there.  A collective goes level
 * after level, the outermost first, and a device passes the bytes of one level
 * on over the levels within.  So each device brings only its share of the needs
 * of all devices within its part of the machine, but the bytes of the levels
 * before are passed on with it. */
static double ring_share(const topology *t, const topology_move *m, int i)
{
	double share = 1;
	for (int j = 0; j < t->nlevels; j++)
		if (j < i)
			share *= m->peers[j];
		else if (j > i)
			share /= m->peers[j];
	return share;
}

/* Around a ring a message follows another, one less than there are peers; side
 * by side they wait for one latency, the longest. */
double topology_move_seconds(const topology *t, const topology_move *m)
{
	double slowest = 0, latency = 0;
	for (int i = 0; i < t->nlevels; i++) {
		const topology_level *l = &t->levels[i];
		double wait = m->peers[i] > 1 ? l->latency : 0;
		double bytes = m->bytes[i];
		if (m->ring) {
			bytes *= ring_share(t, m, i);
			latency += wait * (m->peers[i] - 1);
		} else {
			latency = wait > latency ? wait : latency;
		}
		if (bytes / l->bandwidth > slowest)
			slowest = bytes / l->bandwidth;
	}
	return latency + slowest;
}

kernel_work kernel_work_of(const kernel *k, const box *part)
{
	box made = kernel_produces(k, part);
	double points = 1;
	double bytes = (double)box_volume(&made) * (double)dtype_size(k->type);
	for (int i = 0; i < k->nvars; i++)
		if (k->vars[i].kind != KVAR_DERIVED)
			points *= (double)(part->hi[i] - part->lo[i]);
	for (int i = 0; i < k->ninputs; i++) {
		box need = kernel_need(k, part, i);
		bytes += (double)box_volume(&need) *
			 (double)dtype_size(k->inputs[i].type);
	}
	return (kernel_work){ points * (double)kernel_flops_per_point(k),
			      bytes };
}

double topology_kernel_seconds(const topology *t, dtype type, double flops,
			       double bytes)
{
	double compute = flops / t->flops[type], move = bytes / t->bandwidth;
	double longest = compute > move ? compute : move;
	return longest > t->launch ? longest : t->launch;
}
