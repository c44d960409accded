#include "config.h"

#include "compiler/onnx/onnx_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/* ---- the bytes --------------------------------------------------------- */

static bool map(diag_sink *s, onnx_file *f, int fd, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED) {
		diag_error_in(s, DIAG_CANNOT_READ, f->path, "cannot map: %s",
			      strerror(errno));
		return false;
	}
	f->data = p;
	f->size = size;
	f->mapped = true;
	return true;
}

bool onnx_file_open(arena *a, diag_sink *s, const char *path, onnx_file *f)
{
	struct stat st;
	*f = (onnx_file){ .path = path };
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size > 0) {
		bool ok = map(s, f, fd, (size_t)st.st_size);
		close(fd);
		return ok;
	}
	if (fd >= 0)
		close(fd);
	f->data = (uint8_t *)file_read(a, s, path, ONNX_MAX_STREAM, &f->size);
	return f->data != NULL;
}

void onnx_file_close(onnx_file *f)
{
	if (f->mapped)
		munmap((void *)(uintptr_t)f->data, f->size);
	f->mapped = false;
}

/* ---- the walk ------------------------------------------------------------
 *
 * Source: protobuf's encoding, protobuf.dev/programming-guides/encoding. */

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_LEN = 2, WIRE_32 = 5 };

/* A length is written with this many bytes, padded, so that it can be filled in
 * later.  A payload is replaced by a record of RECORD bytes. */
enum { LENGTH_BYTES = 5, RECORD = 17 };

typedef struct walk {
	const uint8_t *data;
	uint8_t *out; /* NULL if only the size is wanted */
	size_t nout;
	size_t memory; /* bytes needed for unpacking */
	const char *fault;
	size_t fault_at;
} walk;

typedef struct field {
	uint32_t number;
	enum wire wire;
	size_t beg;	   /* offset of the tag */
	size_t value, end; /* of the payload, for WIRE_LEN without its length */
} field;

static bool fail(walk *w, size_t at, const char *fault)
{
	if (!w->fault) {
		w->fault = fault;
		w->fault_at = at;
	}
	return false;
}

static bool read_varint(walk *w, size_t *at, size_t end, uint64_t *v)
{
	*v = 0;
	for (int shift = 0; shift < 64; shift += 7) {
		if (*at >= end)
			return fail(w, *at, "a number runs beyond its message");
		uint8_t byte = w->data[(*at)++];
		*v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return fail(w, *at, "a number has more than 64 bits");
}

/* Reads the field at *at and moves *at after it. */
static bool next_field(walk *w, size_t *at, size_t end, field *f)
{
	uint64_t tag, n;
	f->beg = *at;
	if (!read_varint(w, at, end, &tag))
		return false;
	if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
		return fail(w, f->beg, "a field number is out of range");
	f->number = (uint32_t)(tag >> 3);
	f->wire = (enum wire)(tag & 7);
	f->value = *at;
	switch (f->wire) {
	case WIRE_VARINT:
		if (!read_varint(w, at, end, &n))
			return false;
		f->end = *at;
		return true;
	case WIRE_64:
	case WIRE_32:
		n = f->wire == WIRE_64 ? 8 : 4;
		break;
	case WIRE_LEN:
		if (!read_varint(w, at, end, &n))
			return false;
		f->value = *at;
		break;
	default:
		return fail(w, f->beg, "a field has an unknown wire type");
	}
	if (n > end - *at)
		return fail(w, f->beg, "a length runs beyond its message");
	*at += n;
	f->end = *at;
	return true;
}

static void emit(walk *w, const void *p, size_t n)
{
	if (w->out)
		memcpy(w->out + w->nout, p, n);
	w->nout += n;
}

static size_t put_varint(uint8_t *p, uint64_t v)
{
	size_t n = 0;
	for (; v >= 0x80; v >>= 7)
		p[n++] = (uint8_t)(v | 0x80);
	p[n++] = (uint8_t)v;
	return n;
}

static void emit_tag(walk *w, uint32_t number)
{
	uint8_t tag[5];
	emit(w, tag, put_varint(tag, (uint64_t)number << 3 | WIRE_LEN));
}

/* Writes a length into the LENGTH_BYTES bytes at `at'. */
static void patch_length(walk *w, size_t at, size_t n)
{
	if (!w->out)
		return;
	for (int i = 0; i < LENGTH_BYTES; i++, n >>= 7)
		w->out[at + (size_t)i] =
			(uint8_t)((n & 0x7f) |
				  (i < LENGTH_BYTES - 1 ? 0x80 : 0));
}

static bool is_packable(ProtobufCType t)
{
	return t != PROTOBUF_C_TYPE_STRING && t != PROTOBUF_C_TYPE_BYTES &&
	       t != PROTOBUF_C_TYPE_MESSAGE;
}

static enum wire wire_of(ProtobufCType t)
{
	switch (t) {
	case PROTOBUF_C_TYPE_FIXED32:
	case PROTOBUF_C_TYPE_SFIXED32:
	case PROTOBUF_C_TYPE_FLOAT:
		return WIRE_32;
	case PROTOBUF_C_TYPE_FIXED64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_DOUBLE:
		return WIRE_64;
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_BYTES:
	case PROTOBUF_C_TYPE_MESSAGE:
		return WIRE_LEN;
	default:
		return WIRE_VARINT;
	}
}

/* Handles a field with a value.  Packed varints of one byte each become eight
 * bytes each. */
static bool walk_value(walk *w, const field *f,
		       const ProtobufCFieldDescriptor *d)
{
	size_t n = f->end - f->value;
	bool packed = f->wire == WIRE_LEN && is_packable(d->type) &&
		      d->label == PROTOBUF_C_LABEL_REPEATED;
	if (!packed && f->wire != wire_of(d->type))
		return fail(w, f->beg, "a field has the wrong wire type");
	if (d->type == PROTOBUF_C_TYPE_STRING &&
	    memchr(w->data + f->value, 0, n))
		return fail(w, f->beg, "a string holds a zero byte");
	w->memory += packed ? 8 * n : n + 32;
	emit(w, w->data + f->beg, f->end - f->beg);
	return true;
}

/* Whether a field is a payload.  Payloads are recorded; a tensor has at most
 * one. */
static bool is_payload(const ProtobufCMessageDescriptor *d, const field *f)
{
	return d == &onnx__tensor_proto__descriptor && f->wire == WIRE_LEN &&
	       (f->number == ONNX_FIELD_RAW_DATA ||
		f->number == ONNX_FIELD_FLOAT_DATA ||
		f->number == ONNX_FIELD_DOUBLE_DATA);
}

static void walk_payload(walk *w, const field *f)
{
	uint64_t offset = f->value, n = f->end - f->value;
	uint8_t record[RECORD], length = RECORD;
	memcpy(record, &offset, 8);
	memcpy(record + 8, &n, 8);
	record[16] = (uint8_t)f->number;
	emit_tag(w, ONNX_FIELD_RAW_DATA);
	emit(w, &length, 1);
	emit(w, record, RECORD);
	w->memory += RECORD + 32;
}

/* Whether a field is ignored: of what exporters note, everything except notes
 * on values. */
static bool is_ignored(const ProtobufCMessageDescriptor *of,
		       const ProtobufCFieldDescriptor *d)
{
	static const char *const names[] = {
		"doc_string", "metadata_props", "quantization_annotation",
		"training_info",
		"producer_name", "producer_version", "domain_version",
	};
	if (of == &onnx__value_info_proto__descriptor &&
	    !strcmp(d->name, "metadata_props"))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(d->name, names[i]))
			return true;
	return false;
}

static bool walk_message(walk *w, const ProtobufCMessageDescriptor *d,
			 size_t at, size_t end, int depth);

static bool walk_field(walk *w, const field *f,
		       const ProtobufCFieldDescriptor *d, int depth)
{
	if (d->type != PROTOBUF_C_TYPE_MESSAGE)
		return walk_value(w, f, d);
	if (f->wire != WIRE_LEN)
		return fail(w, f->beg, "a field has the wrong wire type");
	if (depth == ONNX_MAX_NESTING)
		return fail(w, f->beg, "messages are nested too deeply");
	emit_tag(w, f->number);
	size_t length_at = w->nout;
	w->nout += LENGTH_BYTES;
	if (!walk_message(w, d->descriptor, f->value, f->end, depth + 1))
		return false;
	patch_length(w, length_at, w->nout - length_at - LENGTH_BYTES);
	return true;
}

/* protobuf-c merges a message that occurs twice.  Nobody writes that, and
 * merging many takes quadratic time, so it is refused. */
static bool walk_message(walk *w, const ProtobufCMessageDescriptor *d,
			 size_t at, size_t end, int depth)
{
	uint64_t seen = 0;
	bool payload = false;
	w->memory += d->sizeof_message + 64;
	while (at < end) {
		field f;
		if (!next_field(w, &at, end, &f))
			return false;
		const ProtobufCFieldDescriptor *fd =
			protobuf_c_message_descriptor_get_field(d, f.number);
		w->memory += 64;
		if (w->memory > ONNX_MAX_MEMORY || w->nout > ONNX_MAX_SLIM)
			return fail(w, f.beg, "the model is too large");
		if (!fd || is_ignored(d, fd))
			continue;
		if (is_payload(d, &f)) {
			if (payload)
				return fail(w, f.beg, "the elements of a "
						      "tensor are given twice");
			payload = true;
			walk_payload(w, &f);
			continue;
		}
		uint64_t bit = 1ull << ((fd - d->fields) & 63);
		if (fd->type == PROTOBUF_C_TYPE_MESSAGE &&
		    fd->label != PROTOBUF_C_LABEL_REPEATED && (seen & bit))
			return fail(w, f.beg, "a message is given twice");
		seen |= bit;
		if (!walk_field(w, &f, fd, depth))
			return false;
	}
	return true;
}

/* ---- unpacking --------------------------------------------------------- */

static void *alloc(void *a, size_t n)
{
	return arena_alloc(a, n);
}

static void release(void *a, void *p)
{
	(void)a;
	(void)p;
}

const Onnx__ModelProto *onnx_file_unpack(arena *a, diag_sink *s,
					 const onnx_file *f)
{
	const ProtobufCMessageDescriptor *d = &onnx__model_proto__descriptor;
	walk w = { .data = f->data };
	if (f->size > 0 && f->data[0] == '{') {
		diag_error_in(s, DIAG_ONNX_MALFORMED, f->path,
			      "this is JSON and not a model; 'tdlc show' and "
			      "'tdlrun' take plans");
		return NULL;
	}
	if (!walk_message(&w, d, 0, f->size, 0)) {
		diag_error_in(s, DIAG_ONNX_MALFORMED, f->path,
			      "this is not an ONNX model that can be read: %s, "
			      "at byte %zu",
			      w.fault, w.fault_at);
		return NULL;
	}
	arena *tmp = arena_new();
	w = (walk){ .data = f->data, .out = arena_alloc(tmp, w.nout + 1) };
	walk_message(&w, d, 0, f->size, 0);
	ProtobufCAllocator allocator = { alloc, release, a };
	const Onnx__ModelProto *m =
		onnx__model_proto__unpack(&allocator, w.nout, w.out);
	arena_free(tmp);
	if (!m)
		diag_error_in(s, DIAG_ONNX_MALFORMED, f->path,
			      "this is not an ONNX model that can be read: "
			      "protobuf-c refuses it");
	return m;
}

bool onnx_payload_of(const Onnx__TensorProto *t, onnx_payload *p)
{
	if (!t->has_raw_data || t->raw_data.len != RECORD)
		return false;
	memcpy(&p->offset, t->raw_data.data, 8);
	memcpy(&p->nbytes, t->raw_data.data + 8, 8);
	p->field = t->raw_data.data[16];
	return true;
}
