/* Reads the annotations of an ONNX model as pins. */
#include "config.h"

#include "libtdl/onnx_layouts.h"

#include <string.h>

#include "base/file.h"
#include "base/intern.h"
#include "base/memory.h"
#include "compiler/onnx/onnx_file.h"
#include "compiler/portfolio/pins.h"

typedef struct reading {
	job *d;
	const char *path;
	const mesh *mesh;
	int ndevices;
	strmap *tensors; /* tensors of the graph by name */
	strmap *pinned;
	cli_words *pins;
} reading;

/* The division of a tensor: its divided dimensions in the order of shard
 * numbers, and the shard of each device. */
typedef struct division {
	int n;
	int dim[MAX_NDIM];
	int64_t shards[MAX_NDIM];
	int64_t *shard_of; /* by device; -1: not known yet */
} division;

static bool refuse(const reading *r, const char *name, const char *why)
{
	diag_error_in(r->d->sink, DIAG_NO_LAYOUTS, r->path,
		      "the layout of '%s' %s", name, why);
	return false;
}

/* ---- what the file says ------------------------------------------------ */

static bool read_dims(const Onnx__ShardingSpecProto *s, int ndim,
		      division *x, int64_t *nshards)
{
	uint32_t seen = 0;
	*nshards = 1;
	for (size_t i = 0; i < s->n_sharded_dim; i++) {
		const Onnx__ShardedDimProto *p = s->sharded_dim[i];
		int64_t d = p->axis < 0 ? p->axis + ndim : p->axis, n = 1;
		if (d < 0 || d >= ndim || seen >> d & 1)
			return false;
		seen |= UINT32_C(1) << d;
		for (size_t j = 0; j < p->n_simple_sharding; j++) {
			int64_t m = p->simple_sharding[j]->num_shards;
			if (m < 1 || m > MESH_MAX_WORKERS ||
			    n * m > MESH_MAX_WORKERS)
				return false;
			n *= m;
		}
		if (*nshards * n > MESH_MAX_WORKERS)
			return false;
		*nshards *= n;
		x->dim[x->n] = (int)d;
		x->shards[x->n++] = n;
	}
	return true;
}

static bool take_device(const reading *r, division *x, int64_t device,
			int64_t shard)
{
	if (device < 0 || device >= r->ndevices || x->shard_of[device] >= 0)
		return false;
	x->shard_of[device] = shard;
	return true;
}

/* Gives a shard to the devices that a number stands for. */
static bool take_group(const reading *r, const Onnx__ShardingSpecProto *s,
		       division *x, int64_t number, int64_t shard)
{
	for (size_t i = 0; i < s->n_index_to_device_group_map; i++) {
		const Onnx__IntIntListEntryProto *g =
			s->index_to_device_group_map[i];
		if (g->key != number)
			continue;
		for (size_t j = 0; j < g->n_value; j++)
			if (!take_device(r, x, g->value[j], shard))
				return false;
		return true;
	}
	return take_device(r, x, number, shard);
}

static bool read_spec(const reading *r, const Onnx__ShardingSpecProto *s,
		      int ndim, division *x)
{
	int64_t nshards;
	*x = (division){ .shard_of = ARENA_ARRAY(r->d->arena, int64_t,
						 r->ndevices) };
	for (int w = 0; w < r->ndevices; w++)
		x->shard_of[w] = -1;
	if (!read_dims(s, ndim, x, &nshards) ||
	    nshards != (int64_t)s->n_device)
		return false;
	for (size_t i = 0; i < s->n_device; i++)
		if (!take_group(r, s, x, s->device[i], (int64_t)i))
			return false;
	for (int w = 0; w < r->ndevices; w++)
		if (x->shard_of[w] < 0)
			return false;
	return true;
}

/* ---- what that is on the mesh ------------------------------------------ */

/* The shard of a device under some cuts, in the order of the dimensions. */
static int64_t shard_under(const reading *r, const division *x, const cuts *c,
			   int device, int64_t *nshards)
{
	int coords[MAX_AXES];
	int64_t shard = 0;
	*nshards = 1;
	mesh_coords(r->mesh, device, coords);
	for (int i = 0; i < x->n; i++)
		for (int a = 0; a < r->mesh->naxes; a++)
			if (c->dim[a] == x->dim[i]) {
				shard = shard * r->mesh->size[a] + coords[a];
				*nshards *= r->mesh->size[a];
			}
	return shard;
}

/* The dimension in which shards p and q differ. */
static int dim_between(const division *x, int64_t p, int64_t q)
{
	for (int i = x->n - 1; i >= 0; i--) {
		if (p % x->shards[i] != q % x->shards[i])
			return x->dim[i];
		p /= x->shards[i];
		q /= x->shards[i];
	}
	return CUT_NONE;
}

/* Finds the cuts that give a division.  Returns false if there are none. */
static bool cuts_of(const reading *r, const division *x, cuts *c)
{
	int coords[MAX_AXES] = { 0 };
	int64_t all = 1, nshards;
	*c = cuts_none();
	for (int a = 0; a < r->mesh->naxes; a++) {
		coords[a] = 1;
		int beside = mesh_worker(r->mesh, coords);
		coords[a] = 0;
		c->dim[a] = (signed char)dim_between(x, x->shard_of[0],
						     x->shard_of[beside]);
	}
	for (int i = 0; i < x->n; i++)
		all *= x->shards[i];
	for (int w = 0; w < r->ndevices; w++)
		if (shard_under(r, x, c, w, &nshards) != x->shard_of[w] ||
		    nshards != all)
			return false;
	return true;
}

static bool pin(const reading *r, const tensor *t,
		const Onnx__ShardingSpecProto *s)
{
	division x;
	cuts c;
	arena *a = r->d->arena;
	if (!read_spec(r, s, t->type.ndim, &x))
		return refuse(r, t->name, "is none of its shards on the "
			      "configuration's devices");
	if (!cuts_of(r, &x, &c))
		return refuse(r, t->name, "is none of the cuts of a mesh of "
			      "these devices");
	const char *line = arena_printf(a, "%s=", pins_pattern(a, t->name));
	for (int i = 0; i < r->mesh->naxes; i++)
		line = c.dim[i] == CUT_NONE ?
			arena_printf(a, "%s%sreplicated", line, i ? "," : "") :
			arena_printf(a, "%s%scut %d", line, i ? "," : "",
				     c.dim[i]);
	vec_push(a, r->pins, line);
	return true;
}

/* ---- the model --------------------------------------------------------- */

static bool read_node(reading *r, const Onnx__NodeProto *n, const char *id)
{
	for (size_t i = 0; i < n->n_device_configurations; i++) {
		const Onnx__NodeDeviceConfigurationProto *c =
			n->device_configurations[i];
		if (!c->configuration_id || strcmp(c->configuration_id, id))
			continue;
		for (size_t j = 0; j < c->n_sharding_spec; j++) {
			const Onnx__ShardingSpecProto *s = c->sharding_spec[j];
			const char *name = s->tensor_name ? s->tensor_name : "";
			const tensor *t = strmap_get(r->tensors, name);
			if (!t || strmap_get(r->pinned, name))
				continue;
			strmap_put(r->pinned, name, r);
			if (!pin(r, t, s))
				return false;
		}
	}
	return true;
}

/* The name of the configuration for this number of devices; NULL with an error
 * added if the model is annotated for another number. */
static const char *configuration_of(const reading *r,
				    const Onnx__ModelProto *m)
{
	for (size_t i = 0; i < m->n_configuration; i++)
		if (m->configuration[i]->num_devices == r->ndevices &&
		    m->configuration[i]->name)
			return m->configuration[i]->name;
	diag_error_in(r->d->sink, DIAG_NO_LAYOUTS, r->path, "the model is "
		      "annotated for %d devices, not for %d",
		      m->configuration[0]->num_devices, r->ndevices);
	return NULL;
}

static bool read_model(reading *r, const Onnx__ModelProto *m)
{
	if (!m || m->n_configuration == 0 || !m->graph)
		return m != NULL;
	const char *id = configuration_of(r, m);
	for (size_t i = 0; id && i < m->graph->n_node; i++)
		if (!read_node(r, m->graph->node[i], id))
			return false;
	return id != NULL;
}

static void close_file(void *f)
{
	onnx_file_close(f);
}

bool onnx_layouts_pins(job *d, const char *model, const graph *g,
		       const mesh *m, cli_words *pins)
{
	reading r = { d, model, m, mesh_workers(m), strmap_new(d->arena),
		      strmap_new(d->arena), pins };
	onnx_file f;
	memory_guard guard;
	if (!path_ends_in(model, ".onnx"))
		return true;
	for (tensor_id t = 0; t < g->ntensors; t++)
		strmap_put(r.tensors, g->tensors[t].name, &g->tensors[t]);
	if (!onnx_file_open(d->arena, d->sink, model, &f))
		return false;
	memory_guard_on(&guard, close_file, &f);
	bool ok = read_model(&r, onnx_file_unpack(d->arena, d->sink, &f));
	memory_guard_off(&guard);
	onnx_file_close(&f);
	return ok;
}
