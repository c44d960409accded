/* Mutations of ONNX models that keep them messages of onnx.proto: any field of
 * any message, through the descriptors of protobuf-c. */
#include "config.h"

#include <string.h>

#include "compiler/onnx/onnx-ml.pb-c.h"
#include "tests/fuzz/tokens.h"

enum { MAX_BYTES = 4096 };

/* A field of a message, with its descriptor. */
typedef struct place {
	ProtobufCMessage *message;
	const ProtobufCFieldDescriptor *field;
} place;

typedef struct model {
	arena *a;
	fuzz_random *r;
	VEC(place) places;
	VEC(char *) strings;
	VEC(ProtobufCMessage *) messages;
} model;

static void *allocate(void *a, size_t n)
{
	return arena_alloc(a, n);
}

static void keep(void *a, void *p)
{
	(void)a;
	(void)p;
}

static ProtobufCMessage *unpack(arena *a,
				const ProtobufCMessageDescriptor *type,
				const uint8_t *data, size_t size)
{
	ProtobufCAllocator in = { allocate, keep, a };
	return protobuf_c_message_unpack(type, &in, size, data);
}

static ProtobufCMessage *copy(arena *a, const ProtobufCMessage *m)
{
	size_t n = protobuf_c_message_get_packed_size(m);
	uint8_t *data = arena_alloc(a, n + 1);
	protobuf_c_message_pack(m, data);
	return unpack(a, m->descriptor, data, n);
}

/* ---- fields ------------------------------------------------------------- */

static void *member(const place *p)
{
	return (char *)p->message + p->field->offset;
}

static void *quantifier(const place *p)
{
	return (char *)p->message + p->field->quantifier_offset;
}

static bool is_oneof(const place *p)
{
	return p->field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF;
}

static bool is_there(const place *p)
{
	if (p->field->label == PROTOBUF_C_LABEL_REPEATED)
		return *(size_t *)quantifier(p) > 0;
	if (is_oneof(p))
		return *(uint32_t *)quantifier(p) == p->field->id;
	if (p->field->type == PROTOBUF_C_TYPE_MESSAGE ||
	    p->field->type == PROTOBUF_C_TYPE_STRING)
		return *(void **)member(p) &&
		       *(const void **)member(p) != p->field->default_value;
	return *(protobuf_c_boolean *)quantifier(p);
}

static size_t element_size(const ProtobufCFieldDescriptor *f)
{
	switch (f->type) {
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_DOUBLE:
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_MESSAGE:
		return 8;
	case PROTOBUF_C_TYPE_BYTES:
		return sizeof(ProtobufCBinaryData);
	default:
		return 4;
	}
}

/* The first element of a field that is there. */
static void *elements(const place *p)
{
	return p->field->label == PROTOBUF_C_LABEL_REPEATED ?
		       *(void **)member(p) : member(p);
}

static size_t count(const place *p)
{
	return p->field->label == PROTOBUF_C_LABEL_REPEATED ?
		       *(size_t *)quantifier(p) : is_there(p);
}

static void collect(model *m, ProtobufCMessage *message)
{
	vec_push(m->a, &m->messages, message);
	for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
		place p = { message, &message->descriptor->fields[i] };
		vec_push(m->a, &m->places, p);
		size_t n = count(&p);
		void **at = n ? elements(&p) : NULL;
		for (size_t j = 0; j < n; j++)
			if (p.field->type == PROTOBUF_C_TYPE_MESSAGE)
				collect(m, at[j]);
			else if (p.field->type == PROTOBUF_C_TYPE_STRING)
				vec_push(m->a, &m->strings, at[j]);
	}
}

/* ---- values ------------------------------------------------------------- */

/* Names of operators that have a mapping, and words that attributes take. */
static char *other_word(arena *a, fuzz_random *r)
{
	static arena *own;
	static tdl_modules *library;
	static const char *const words[] = {
		"", "x", "axis", "axes", "perm", "to", "value", "keepdims",
		"shape", "k", "mode", "pads", "strides", "body", "then_branch",
		"constant", "nearest", "linear", "SAME_UPPER", "VALID", "ii,i",
		"ij,jk->ik", "...ij,...jk->...ik", "NHWC", "ai.onnx", "none",
		"com.microsoft", "Constant", "Identity", "If", "Loop", "Scan",
		"Shape", "ConstantOfShape", "Cast", "Reshape", "location",
	};
	const int n = sizeof(words) / sizeof(*words);
	if (!library) {
		own = arena_new();
		library = fuzz_library(own);
	}
	int i = fuzz_below(r, 2) ? fuzz_below(r, n) : n;
	return arena_strdup(a, i < n ? words[i] :
		library->onnx[fuzz_below(r, library->nonnx)]->op_type);
}

static char *change_string(model *m, const char *s)
{
	if (m->strings.n && fuzz_below(m->r, 2))
		return m->strings.at[fuzz_below(m->r, m->strings.n)];
	if (fuzz_below(m->r, 4))
		return other_word(m->a, m->r);
	size_t n = s ? strlen(s) : 0;
	uint8_t *to = arena_alloc(m->a, n + 16);
	if (n)
		memcpy(to, s, n);
	to[LLVMFuzzerMutate(to, n, n + 8)] = '\0';
	return (char *)to;
}

static ProtobufCBinaryData change_bytes(model *m, ProtobufCBinaryData b)
{
	size_t n = b.len < MAX_BYTES ? b.len : MAX_BYTES;
	uint8_t *to = arena_alloc(m->a, n + 64);
	if (n)
		memcpy(to, b.data, n);
	if (fuzz_below(m->r, 3) == 0 && n >= 8) {
		int64_t v = fuzz_integer(m->r);
		memcpy(to + 8 * fuzz_below(m->r, (int)(n / 8)), &v, 8);
	} else {
		size_t most = fuzz_below(m->r, 2) && n ? n : n + 64;
		n = LLVMFuzzerMutate(to, n, most);
	}
	return (ProtobufCBinaryData){ n, to };
}

/* A copy of a message of a type from anywhere in the model; an empty one. */
static ProtobufCMessage *other_message(model *m,
				       const ProtobufCMessageDescriptor *type)
{
	int first = fuzz_below(m->r, m->messages.n);
	for (int i = 0; i < m->messages.n && fuzz_below(m->r, 50); i++) {
		int at = (first + i) % m->messages.n;
		if (m->messages.at[at]->descriptor == type)
			return copy(m->a, m->messages.at[at]);
	}
	ProtobufCMessage *empty = arena_alloc(m->a,
					      type->sizeof_message);
	type->message_init(empty);
	return empty;
}

/* Gives one element another value. */
static void change_element(model *m, const ProtobufCFieldDescriptor *f,
			   void *at)
{
	const ProtobufCEnumDescriptor *e = f->descriptor;
	switch (f->type) {
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_UINT64:
		if (fuzz_below(m->r, 3))
			*(int64_t *)at = fuzz_integer(m->r);
		else
			*(uint64_t *)at += (uint64_t)fuzz_below(m->r, 5) - 2;
		break;
	case PROTOBUF_C_TYPE_DOUBLE:
		*(double *)at = fuzz_real(m->r);
		break;
	case PROTOBUF_C_TYPE_FLOAT:
		*(float *)at = fuzz_below(m->r, 4) ?
				       (float)fuzz_below(m->r, 9) / 2 :
				       __builtin_nanf("");
		break;
	case PROTOBUF_C_TYPE_STRING:
		*(char **)at = change_string(m, *(char **)at);
		break;
	case PROTOBUF_C_TYPE_BYTES:
		*(ProtobufCBinaryData *)at =
			change_bytes(m, *(ProtobufCBinaryData *)at);
		break;
	case PROTOBUF_C_TYPE_MESSAGE:
		*(ProtobufCMessage **)at = other_message(m, f->descriptor);
		break;
	case PROTOBUF_C_TYPE_ENUM:
		*(int *)at = e->values[fuzz_below(m->r, (int)e->n_values)]
				     .value;
		break;
	default:
		*(int32_t *)at = fuzz_below(m->r, 4) ?
					 fuzz_below(m->r, 20) :
					 (int32_t)fuzz_integer(m->r);
	}
}

/* ---- changes of fields -------------------------------------------------- */

/* An element more, in the middle: a copy of another, or a new one. */
static void insert(model *m, const place *p)
{
	size_t size = element_size(p->field), n = count(p);
	size_t at = (size_t)fuzz_below(m->r, (int)n + 1);
	char *old = *(char **)member(p);
	char *to = arena_alloc(m->a, (n + 1) * size);
	if (n) {
		memcpy(to, old, at * size);
		memcpy(to + (at + 1) * size, old + at * size, (n - at) * size);
	}
	size_t from = (size_t)fuzz_below(m->r, (int)n);
	if (n && fuzz_below(m->r, 2) &&
	    p->field->type != PROTOBUF_C_TYPE_MESSAGE)
		memcpy(to + at * size, old + from * size, size);
	else
		change_element(m, p->field, to + at * size);
	*(char **)member(p) = to;
	*(size_t *)quantifier(p) = n + 1;
}

static void delete(model *m, const place *p)
{
	size_t size = element_size(p->field), n = count(p);
	size_t at = (size_t)fuzz_below(m->r, (int)n);
	char *to = *(char **)member(p);
	memmove(to + at * size, to + (at + 1) * size, (n - at - 1) * size);
	*(size_t *)quantifier(p) = n - 1;
}

static void swap(model *m, const place *p)
{
	size_t size = element_size(p->field);
	int n = (int)count(p);
	char *at = *(char **)member(p), tmp[sizeof(ProtobufCBinaryData)];
	char *x = at + (size_t)fuzz_below(m->r, n) * size;
	char *y = at + (size_t)fuzz_below(m->r, n) * size;
	memcpy(tmp, x, size);
	memmove(x, y, size);
	memcpy(y, tmp, size);
}

static void change_repeated(model *m, const place *p)
{
	size_t n = count(p), size = element_size(p->field);
	int what = n ? fuzz_below(m->r, 8) : 0;
	if (what < 2)
		insert(m, p);
	else if (what < 4)
		delete(m, p);
	else if (what < 5)
		swap(m, p);
	else
		change_element(m, p->field, *(char **)member(p) +
			       (size_t)fuzz_below(m->r, (int)n) * size);
}

static void change_single(model *m, const place *p)
{
	bool has_quantifier = is_oneof(p) ||
			      (p->field->type != PROTOBUF_C_TYPE_MESSAGE &&
			       p->field->type != PROTOBUF_C_TYPE_STRING);
	bool drop = is_there(p) && fuzz_below(m->r, 8) == 0;
	if (is_oneof(p) && !is_there(p))
		memset(member(p), 0, element_size(p->field));
	if (is_oneof(p))
		*(uint32_t *)quantifier(p) = drop ? 0 : p->field->id;
	else if (has_quantifier)
		*(protobuf_c_boolean *)quantifier(p) = !drop;
	if (!drop)
		change_element(m, p->field, member(p));
	else if (!has_quantifier)
		*(void **)member(p) = NULL;
}

/* Changes a random field, sooner one that is there, and of what is there
 * sooner one of many messages than of few. */
static void change(model *m)
{
	const place *p = NULL;
	for (int i = 0; i < 20; i++) {
		p = &m->places.at[fuzz_below(m->r, m->places.n)];
		if (is_there(p) || fuzz_below(m->r, 12) == 0)
			break;
	}
	if (p->field->label == PROTOBUF_C_LABEL_REPEATED)
		change_repeated(m, p);
	else
		change_single(m, p);
}

/* ---- libFuzzer's interface ---------------------------------------------- */

/* The root is the first message. */
static bool read_model(model *m, const uint8_t *data, size_t size)
{
	ProtobufCMessage *root =
		unpack(m->a, &onnx__model_proto__descriptor, data, size);
	if (root)
		collect(m, root);
	return root != NULL;
}

static size_t write_model(const model *m, uint8_t *out, size_t max)
{
	const ProtobufCMessage *root = m->messages.at[0];
	size_t n = protobuf_c_message_get_packed_size(root);
	if (n <= max)
		protobuf_c_message_pack(root, out);
	return n <= max ? n : 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned seed)
{
	arena *a = arena_new();
	fuzz_random r = fuzz_seed(seed);
	model m = { .a = a, .r = &r };
	size_t n = 0;
	if (fuzz_below(&r, 32) && read_model(&m, data, size)) {
		for (int i = 1 + fuzz_below(&r, 4); i > 0; i--) {
			change(&m);
			m.places.n = m.strings.n = 0;
			ProtobufCMessage *root = m.messages.at[0];
			m.messages.n = 0;
			collect(&m, root);
		}
		n = write_model(&m, data, max);
	}
	arena_free(a);
	return n ? n : LLVMFuzzerMutate(data, size, max);
}

/* A message of the one in the place of one of the other. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1,
				 const uint8_t *data2, size_t size2,
				 uint8_t *out, size_t max, unsigned seed)
{
	arena *a = arena_new();
	fuzz_random r = fuzz_seed(seed);
	model m = { .a = a, .r = &r }, donor = { .a = a, .r = &r };
	size_t n = 0;
	if (read_model(&m, data1, size1) && read_model(&donor, data2, size2)) {
		for (int i = 0; i < donor.messages.n; i++)
			vec_push(a, &m.messages, donor.messages.at[i]);
		for (int i = 1 + fuzz_below(&r, 4); i > 0; i--)
			change(&m);
		n = write_model(&m, out, max);
	}
	arena_free(a);
	if (n == 0) {
		n = size1 < max ? size1 : max;
		memcpy(out, data1, n);
	}
	return n;
}
