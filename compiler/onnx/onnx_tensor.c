/* TensorProto: element type, shape, and location of the elements. */
#include "config.h"

#include "compiler/onnx/onnx_import.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "compiler/model/eval.h"
#include "kernel/eval.h"

/* Fewer bytes than this are copied, more are referred to. */
enum { COPY_BELOW = 1024 };

dtype mapping_onnx_type(int64_t type)
{
	static const signed char types[] = {
		DT_NONE, DT_F32, DT_U8, DT_I8, DT_U16, DT_I16, DT_I32, DT_I64,
		DT_NONE, DT_BOOL, DT_F16, DT_F64, DT_U32, DT_U64, DT_NONE,
		DT_NONE, DT_BF16, DT_F8E4M3FN, DT_F8E4M3FNUZ, DT_F8E5M2,
		DT_F8E5M2FNUZ, DT_U4, DT_I4, DT_F4E2M1, DT_F8E8M0, DT_U2,
		DT_I2, DT_F6E2M3, DT_F6E3M2,
	};
	if (type < 0 || type >= (int64_t)sizeof(types))
		return DT_NONE;
	return (dtype)types[type];
}

/* ONNX's name of an element type, for messages. */
static const char *onnx_type_name(importer *im, int64_t type)
{
	const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(
		&onnx__tensor_proto__data_type__descriptor, (int)type);
	return v ? v->name : arena_printf(im->tmp, "%" PRId64, type);
}

bool onnx_dims(importer *im, const int64_t *dims, size_t n, dtype t,
	       const char *place, tensor_type *type)
{
	*type = (tensor_type){ .type = t };
	if (n > MAX_NDIM) {
		diag_error_in(im->sink, DIAG_ONNX_SHAPE, place,
			      "%zu dimensions, a tensor has at most %d", n,
			      MAX_NDIM);
		return false;
	}
	type->ndim = (int)n;
	for (size_t d = 0; d < n; d++) {
		type->dims[d] = dims[d];
		if (dims[d] < 0) {
			diag_error_in(im->sink, DIAG_ONNX_SHAPE, place,
				      "dimension %zu is %" PRId64, d, dims[d]);
			return false;
		}
	}
	if (tensor_type_ok(type))
		return true;
	diag_error_in(im->sink, DIAG_ONNX_SHAPE, place,
		      "the elements take more than 2^50 bytes");
	return false;
}

static bool wrong_count(importer *im, const char *place, uint64_t have,
			uint64_t want, const char *unit)
{
	diag_error_in(im->sink, DIAG_ONNX_DATA, place,
		      "%" PRIu64 " %s of data, %" PRIu64 " expected", have,
		      unit, want);
	return false;
}

/* ---- packed elements --------------------------------------------------- */

int64_t onnx_packed_nbytes(const tensor_type *type)
{
	int64_t n = tensor_nelem(type), bits = dtype_bits(type->type);
	return bits < 8 ? n / 8 * bits + (n % 8 * bits + 7) / 8
			: tensor_nbytes(type);
}

void *onnx_unpack(arena *a, const tensor_type *type, const unsigned char *from)
{
	int64_t n = tensor_nelem(type), bits = dtype_bits(type->type);
	unsigned char *to = arena_alloc(a, (size_t)n + 1);
	for (int64_t i = 0; i < n; i++) {
		int64_t at = i * bits;
		int shift = (int)(at % 8);
		unsigned both = from[at / 8];
		if (shift + bits > 8)
			both |= (unsigned)from[at / 8 + 1] << 8;
		to[i] = (unsigned char)(both >> shift);
	}
	elem_clean(type->type, to, n);
	return to;
}

/* ---- elements that lie in the file ------------------------------------- */

static bool payload(importer *im, const onnx_payload *p, const char *place,
		    const tensor_type *type, constant *c)
{
	uint64_t want = (uint64_t)onnx_packed_nbytes(type);
	dtype t = type->type;
	if ((p->field == ONNX_FIELD_FLOAT_DATA && t != DT_F32) ||
	    (p->field == ONNX_FIELD_DOUBLE_DATA && t != DT_F64)) {
		diag_error_in(im->sink, DIAG_ONNX_DATA, place,
			      "the data of a tensor of type %s is in a field "
			      "for other types",
			      dtype_name(t));
		return false;
	}
	if (p->nbytes != want)
		return wrong_count(im, place, p->nbytes, want, "bytes");
	const unsigned char *from = im->file.data + p->offset;
	if (dtype_bits(t) < 8) {
		*c = (constant){ .data = onnx_unpack(im->arena, type, from) };
		return true;
	}
	if (want >= COPY_BELOW && im->file.mapped) {
		*c = (constant){ .path = arena_strdup(im->arena, im->path),
				 .offset = (int64_t)p->offset };
		return true;
	}
	unsigned char *data = arena_alloc(im->arena, want + 1);
	memcpy(data, from, want);
	elem_clean(t, data, tensor_nelem(type));
	*c = (constant){ .data = data };
	return true;
}

/* ---- elements that are numbers of the message -------------------------- */

static void put(dtype t, void *data, int64_t i, int64_t v)
{
	size_t size = dtype_size(t);
	memcpy((char *)data + size * (size_t)i, &v, size);
}

/* Whether type t has an element with value v.  Small floats are given as
 * bits. */
static bool in_range(dtype t, int64_t v)
{
	switch (t) {
	case DT_I16:
		return v >= INT16_MIN && v <= INT16_MAX;
	case DT_I8:
		return v >= INT8_MIN && v <= INT8_MAX;
	case DT_U16:
	case DT_F16:
	case DT_BF16:
		return v >= 0 && v <= UINT16_MAX;
	case DT_U32:
		return v >= 0 && v <= UINT32_MAX;
	case DT_BOOL:
		return v == 0 || v == 1;
	default: /* one byte, or several elements in one byte */
		return dtype_size(t) > 1 || (v >= 0 && v <= UINT8_MAX);
	}
}

/* The field for elements of a type: their number, and element i as bits. */
typedef struct numbers {
	size_t n;
	const int32_t *i32;
	const int64_t *i64;
	const uint64_t *u64;
	const float *f32;
	const double *f64;
} numbers;

static numbers field_for(const Onnx__TensorProto *p, dtype t)
{
	if (t == DT_I64)
		return (numbers){ p->n_int64_data, .i64 = p->int64_data };
	if (t == DT_F32)
		return (numbers){ p->n_float_data, .f32 = p->float_data };
	if (t == DT_F64)
		return (numbers){ p->n_double_data, .f64 = p->double_data };
	if (t == DT_U64 || t == DT_U32)
		return (numbers){ p->n_uint64_data, .u64 = p->uint64_data };
	return (numbers){ p->n_int32_data, .i32 = p->int32_data };
}

/* The number of numbers that hold the elements.  Each holds one element, or a
 * byte of elements of four or two bits. */
static int64_t count_numbers(const tensor_type *type)
{
	return dtype_bits(type->type) <= 4 ? onnx_packed_nbytes(type)
					   : tensor_nelem(type);
}

static bool typed(importer *im, const Onnx__TensorProto *p, const char *place,
		  const tensor_type *type, constant *c)
{
	dtype t = type->type;
	numbers x = field_for(p, t);
	int64_t n = count_numbers(type);
	if ((uint64_t)n != x.n)
		return wrong_count(im, place, x.n, (uint64_t)n, "elements");
	void *data = arena_alloc(im->arena, (size_t)tensor_nbytes(type) + 1);
	*c = (constant){ .data = data };
	if (x.n && (x.f32 || x.f64))
		memcpy(data, x.f32 ? (const void *)x.f32 : x.f64,
		       (size_t)tensor_nbytes(type));
	for (int64_t i = 0; i < n && !x.f32 && !x.f64; i++) {
		int64_t v = x.i32   ? x.i32[i]
			    : x.i64 ? x.i64[i]
				    : (int64_t)x.u64[i];
		if (!in_range(t, v)) {
			diag_error_in(im->sink, DIAG_ONNX_DATA, place,
				      "element %" PRId64 " is %" PRId64
				      ", which is no %s",
				      i, v, dtype_name(t));
			return false;
		}
		put(t, data, i, v);
	}
	if (dtype_bits(t) <= 4)
		c->data = onnx_unpack(im->arena, type, data);
	else
		elem_clean(t, data, n);
	return true;
}

/* Whether there are numbers besides a payload; it would be unclear which
 * counts. */
static bool has_numbers(const Onnx__TensorProto *p)
{
	return p->n_float_data || p->n_int32_data || p->n_int64_data ||
	       p->n_double_data || p->n_uint64_data || p->n_string_data;
}

bool onnx_tensor(importer *im, const Onnx__TensorProto *p, const char *place,
		 tensor_type *type, constant *c)
{
	dtype t = mapping_onnx_type(p->has_data_type ? p->data_type : 0);
	onnx_payload where;
	if (t == DT_NONE) {
		diag_error_in(im->sink, DIAG_ONNX_TYPE, place,
			      "tdlc does not have the element type %s",
			      onnx_type_name(im, p->data_type));
		return false;
	}
	if (!onnx_dims(im, p->dims, p->n_dims, t, place, type))
		return false;
	if (p->segment) {
		diag_error_in(im->sink, DIAG_ONNX_DATA, place,
			      "a tensor in segments is not supported");
		return false;
	}
	bool found = onnx_payload_of(p, &where);
	bool external = p->has_data_location &&
			p->data_location ==
				ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
	if (found + external + has_numbers(p) > 1) {
		diag_error_in(im->sink, DIAG_ONNX_DATA, place,
			      "the elements of a tensor are given twice");
		return false;
	}
	if (external)
		return onnx_external(im, p, place, type, c);
	if (found)
		return payload(im, &where, place, type, c);
	return typed(im, p, place, type, c);
}
