/* Source: onnx/docs/proposals/ONNXMultiDeviceProposal.md and protobuf's
 * encoding, protobuf.dev/programming-guides/encoding. */
#include "config.h"

#include "compiler/export/onnx_annotate.h"

#include <string.h>

#include "base/intern.h"

const char onnx_configuration[] = "tdlc";

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_LEN = 2, WIRE_32 = 5 };

/* Numbers of fields. */
enum {
	MODEL_IR_VERSION = 1,
	MODEL_GRAPH = 7,
	MODEL_CONFIGURATION = 26,
	GRAPH_NODE = 1,
	NODE_INPUT = 1,
	NODE_OUTPUT = 2,
	NODE_CONFIGURATIONS = 10,
};

/* ---- writing ----------------------------------------------------------- */

static void put_bytes(onnx_bytes *to, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		vec_push(to->a, &to->b, p[i]);
}

static void put_varint(onnx_bytes *to, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		vec_push(to->a, &to->b, (uint8_t)(v | 0x80));
	vec_push(to->a, &to->b, (uint8_t)v);
}

static void put_int(onnx_bytes *to, int number, int64_t v)
{
	put_varint(to, (uint64_t)number << 3 | WIRE_VARINT);
	put_varint(to, (uint64_t)v);
}

static void put_field(onnx_bytes *to, int number, const void *p, size_t n)
{
	put_varint(to, (uint64_t)number << 3 | WIRE_LEN);
	put_varint(to, n);
	put_bytes(to, p, n);
}

static void put_message(onnx_bytes *to, int number, const onnx_bytes *of)
{
	put_field(to, number, of->b.at, (size_t)of->b.n);
	to->nspecs += of->nspecs;
}

/* ---- layouts ----------------------------------------------------------- */

static int shards_of(const plan *p, const cuts *c, int dim)
{
	int n = 1;
	for (int a = 0; a < p->mesh.naxes; a++)
		if (c->dim[a] == dim)
			n *= p->mesh.size[a];
	return n;
}

/* The number of the shard on a device.  The last dimension changes fastest;
 * within a dimension the outermost axis changes slowest. */
static int shard_of(const plan *p, const plan_tensor *t, int device)
{
	int coords[MAX_AXES], shard = 0;
	mesh_coords(&p->mesh, device, coords);
	for (int d = 0; d < t->ndim; d++)
		for (int a = 0; a < p->mesh.naxes; a++)
			if (t->cuts.dim[a] == d)
				shard = shard * p->mesh.size[a] + coords[a];
	return shard;
}

/* Writes the devices of each shard: one device, or a group with a negative
 * number. */
static void put_devices(onnx_bytes *to, const plan *p, const plan_tensor *t,
			int nshards)
{
	int n = mesh_workers(&p->mesh);
	for (int s = 0; s < nshards; s++) {
		int first = 0;
		while (shard_of(p, t, first) != s)
			first++;
		put_int(to, 2, nshards == n ? first : -1 - s);
	}
	for (int s = 0; s < nshards && nshards < n; s++) {
		onnx_bytes group = { .a = to->a };
		put_int(&group, 1, -1 - s);
		for (int w = 0; w < n; w++)
			if (shard_of(p, t, w) == s)
				put_int(&group, 2, w);
		put_message(to, 3, &group);
	}
}

static void put_dim(onnx_bytes *to, const plan_tensor *t, int d, int nshards)
{
	onnx_bytes dim = { .a = to->a }, simple = { .a = to->a };
	put_int(&simple, 1, t->dims[d]);
	put_int(&simple, 3, nshards);
	put_int(&dim, 1, d);
	put_message(&dim, 2, &simple);
	put_message(to, 4, &dim);
}

/* Writes a ShardingSpecProto. */
static void put_spec(onnx_bytes *to, const plan *p, const plan_tensor *t)
{
	onnx_bytes spec = { .a = to->a, .nspecs = 1 };
	int nshards = 1;
	for (int d = 0; d < t->ndim; d++)
		nshards *= shards_of(p, &t->cuts, d);
	put_field(&spec, 1, t->name, strlen(t->name));
	put_devices(&spec, p, t, nshards);
	for (int d = 0; d < t->ndim; d++) {
		int n = shards_of(p, &t->cuts, d);
		if (n > 1)
			put_dim(&spec, t, d, n);
	}
	put_message(to, 2, &spec);
}

/* ---- reading ----------------------------------------------------------- */

typedef struct field {
	uint64_t number, wire;
	const uint8_t *from, *value, *end; /* of WIRE_LEN, after its length */
} field;

static bool take_varint(const uint8_t **at, const uint8_t *end, uint64_t *v)
{
	*v = 0;
	for (int shift = 0; shift < 64 && *at < end; shift += 7) {
		uint8_t byte = *(*at)++;
		*v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

static bool take_field(const uint8_t **at, const uint8_t *end, field *f)
{
	uint64_t tag, n = 0;
	f->from = *at;
	if (!take_varint(at, end, &tag))
		return false;
	f->number = tag >> 3;
	f->wire = tag & 7;
	f->value = *at;
	if (f->wire == WIRE_VARINT)
		return take_varint(at, end, &n) && (f->end = *at);
	if (f->wire == WIRE_LEN && !take_varint(at, end, &n))
		return false;
	if (f->wire != WIRE_LEN && f->wire != WIRE_64 && f->wire != WIRE_32)
		return false;
	f->value = *at;
	n = f->wire == WIRE_64 ? 8 : f->wire == WIRE_32 ? 4 : n;
	if (n > (uint64_t)(end - *at))
		return false;
	*at += n;
	f->end = *at;
	return true;
}

/* ---- editing ----------------------------------------------------------- */

typedef struct editor {
	const plan *p;
	strmap *tensors; /* by name */
} editor;

/* Adds the layout of a tensor, once, if the plan stores it and the format can
 * express it. */
static void annotate(const editor *e, onnx_bytes *to, strmap *done,
		     const field *name)
{
	const char *s = arena_strndup(to->a, (const char *)name->value,
				      (size_t)(name->end - name->value));
	plan_tensor *t = strmap_get(e->tensors, s);
	if (!t || strmap_get(done, s) ||
	    cuts_partial(&t->cuts, e->p->mesh.naxes))
		return;
	strmap_put(done, s, t);
	put_spec(to, e->p, t);
}

static bool edit_node(const editor *e, onnx_bytes *to, const field *node)
{
	onnx_bytes own = { .a = to->a }, specs = { .a = to->a };
	strmap *done = strmap_new(to->a);
	field f;
	put_field(&specs, 1, onnx_configuration, strlen(onnx_configuration));
	for (const uint8_t *at = node->value; at < node->end;) {
		if (!take_field(&at, node->end, &f))
			return false;
		if (f.number == NODE_CONFIGURATIONS)
			continue;
		put_bytes(&own, f.from, (size_t)(f.end - f.from));
		if (f.wire == WIRE_LEN &&
		    (f.number == NODE_INPUT || f.number == NODE_OUTPUT))
			annotate(e, &specs, done, &f);
	}
	if (specs.nspecs)
		put_message(&own, NODE_CONFIGURATIONS, &specs);
	put_message(to, GRAPH_NODE, &own);
	return true;
}

static bool edit_graph(const editor *e, onnx_bytes *to, const field *graph)
{
	onnx_bytes own = { .a = to->a };
	field f;
	for (const uint8_t *at = graph->value; at < graph->end;) {
		if (!take_field(&at, graph->end, &f))
			return false;
		if (f.number != GRAPH_NODE || f.wire != WIRE_LEN)
			put_bytes(&own, f.from, (size_t)(f.end - f.from));
		else if (!edit_node(e, &own, &f))
			return false;
	}
	put_message(to, MODEL_GRAPH, &own);
	return true;
}

bool onnx_annotate(onnx_bytes *to, const uint8_t *data, size_t n,
		   const plan *p)
{
	editor e = { p, strmap_new(to->a) };
	onnx_bytes configuration = { .a = to->a };
	const uint8_t *end = data + n;
	uint64_t version = 0;
	field f;
	for (int t = 0; t < p->ntensors; t++)
		if (p->tensors[t].buffer >= 0)
			strmap_put(e.tensors, p->tensors[t].name,
				   &p->tensors[t]);
	for (const uint8_t *at = data; at < end;) {
		if (!take_field(&at, end, &f))
			return false;
		if (f.number == MODEL_IR_VERSION && f.wire == WIRE_VARINT)
			take_varint(&f.value, f.end, &version);
		else if (f.number == MODEL_GRAPH && f.wire == WIRE_LEN) {
			if (!edit_graph(&e, to, &f))
				return false;
		} else if (f.number != MODEL_CONFIGURATION)
			put_bytes(to, f.from, (size_t)(f.end - f.from));
	}
	put_int(to, MODEL_IR_VERSION, version > ONNX_ANNOTATED_IR ?
		(int64_t)version : ONNX_ANNOTATED_IR);
	put_field(&configuration, 1, onnx_configuration,
		  strlen(onnx_configuration));
	put_int(&configuration, 2, mesh_workers(&p->mesh));
	put_message(to, MODEL_CONFIGURATION, &configuration);
	return true;
}
