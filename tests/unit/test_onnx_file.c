/* Tests: compiler/onnx */
/* compiler/onnx/onnx_file.c: what is refused before protobuf-c sees it, and
 * where payloads are found. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "base/vec.h"
#include "compiler/onnx/onnx_file.h"
#include "tests/unit/suite.h"

typedef VEC(char) bytes;

static arena *a;
static diag_sink *sink;

static void setup(void)
{
	a = arena_new();
	sink = diag_sink_new(a);
}

static void teardown(void)
{
	arena_free(a);
}

/* ---- writing the encoding ---------------------------------------------- */

static void put(bytes *to, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		vec_push(a, to, ((const char *)p)[i]);
}

static void put_varint(bytes *to, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		vec_push(a, to, (char)(v | 0x80));
	vec_push(a, to, (char)v);
}

static void put_number(bytes *to, int field, uint64_t v)
{
	put_varint(to, (uint64_t)field << 3);
	put_varint(to, v);
}

static void put_block(bytes *to, int field, const void *p, size_t n)
{
	put_varint(to, (uint64_t)field << 3 | 2);
	put_varint(to, n);
	put(to, p, n);
}

static void put_message(bytes *to, int field, const bytes *m)
{
	put_block(to, field, m->at, (size_t)m->n);
}

/* Message in message in message: fields[i] holds the next. */
static bytes nest(const int *fields, int n, int repeat)
{
	bytes m = { 0 };
	for (int i = 0; i < repeat; i++)
		for (int j = n - 1; j >= 0; j--) {
			bytes outer = { 0 };
			put_message(&outer, fields[j], &m);
			m = outer;
		}
	return m;
}

static const Onnx__ModelProto *unpack(const bytes *m)
{
	onnx_file f = { .path = "test.onnx", .data = (const uint8_t *)m->at,
			.size = (size_t)m->n };
	return onnx_file_unpack(a, sink, &f);
}

/* ---- tests ------------------------------------------------------------- */

START_TEST(nesting)
{
	static const int branch[] = { 1, 5, 6 }; /* node, attribute, graph */
	for (int repeat = 1; repeat < 40; repeat++) {
		bytes inner = nest(branch, 3, repeat), model = { 0 };
		put_message(&model, 7, &inner);
		bool deep = 1 + 3 * repeat > ONNX_MAX_NESTING;
		ck_assert_msg((unpack(&model) == NULL) == deep, "%d", repeat);
	}
}
END_TEST

/* A model whose graph holds one initializer w of the given fields. */
static bytes with_tensor(const bytes *t)
{
	bytes graph = { 0 }, model = { 0 };
	put_message(&graph, 5, t);
	put_number(&model, 1, 8);
	put_message(&model, 7, &graph);
	return model;
}

START_TEST(payloads)
{
	static const int fields[] = { ONNX_FIELD_FLOAT_DATA,
				      ONNX_FIELD_RAW_DATA,
				      ONNX_FIELD_DOUBLE_DATA };
	char data[5000];
	memset(data, 'x', sizeof(data));
	for (int i = 0; i < 3; i++) {
		bytes t = { 0 };
		put_number(&t, 1, 1250);
		put_block(&t, fields[i], data, sizeof(data));
		put_block(&t, 8, "w", 1);
		bytes model = with_tensor(&t);
		const Onnx__ModelProto *m = unpack(&model);
		ck_assert_ptr_nonnull(m);
		const Onnx__TensorProto *w = m->graph->initializer[0];
		onnx_payload p;
		ck_assert(onnx_payload_of(w, &p));
		ck_assert_int_eq(p.field, fields[i]);
		ck_assert_int_eq(p.nbytes, sizeof(data));
		ck_assert_int_eq(memcmp(model.at + p.offset, data,
					sizeof(data)), 0);
		ck_assert_str_eq(w->name, "w");
		ck_assert_int_eq(w->dims[0], 1250);
	}
}
END_TEST

START_TEST(two_payloads)
{
	bytes t = { 0 };
	put_block(&t, ONNX_FIELD_RAW_DATA, "abcd", 4);
	put_block(&t, ONNX_FIELD_FLOAT_DATA, "abcd", 4);
	bytes model = with_tensor(&t);
	ck_assert_ptr_null(unpack(&model));
	ck_assert_int_eq(diag_errors(sink), 1);
}
END_TEST

/* raw_data of the length of a record is no record of somebody else's. */
START_TEST(forged_record)
{
	bytes t = { 0 };
	char data[17];
	memset(data, 0xff, sizeof(data));
	put_block(&t, ONNX_FIELD_RAW_DATA, data, sizeof(data));
	bytes model = with_tensor(&t);
	const Onnx__ModelProto *m = unpack(&model);
	onnx_payload p;
	ck_assert(onnx_payload_of(m->graph->initializer[0], &p));
	ck_assert_int_eq(p.nbytes, sizeof(data));
	ck_assert(p.offset + p.nbytes <= (uint64_t)model.n);
}
END_TEST

/* Every cut of a sound file, and every byte of it replaced, is taken or
 * refused with one error. */
START_TEST(damage)
{
	bytes t = { 0 };
	put_number(&t, 1, 2);
	put_block(&t, ONNX_FIELD_RAW_DATA, "12345678", 8);
	put_block(&t, 8, "weight", 6);
	bytes model = with_tensor(&t);
	for (int n = 0; n < model.n; n++) {
		bytes cut = { model.at, n, n };
		unpack(&cut);
	}
	for (int i = 0; i < model.n; i++)
		for (int v = 0; v < 256; v++) {
			char old = model.at[i];
			int before = diag_errors(sink);
			model.at[i] = (char)v;
			bool taken = unpack(&model) != NULL;
			ck_assert_int_eq(diag_errors(sink), before + !taken);
			model.at[i] = old;
		}
}
END_TEST

START_TEST(memory)
{
	bytes nodes = { 0 }, model = { 0 };
	for (int i = 0; i < 1000000; i++)
		put(&nodes, "\x0a\x00", 2);
	put_message(&model, 7, &nodes);
	ck_assert_ptr_null(unpack(&model));
	ck_assert_uint_lt(arena_used(a), 32u << 20);
}
END_TEST

/* Lists of numbers are packed or not; unknown fields are skipped. */
START_TEST(packing)
{
	bytes t = { 0 };
	put_number(&t, 1, 7);
	put_block(&t, 1, "\x08\x09", 2);
	put_number(&t, 1, 10);
	put_number(&t, 999, 1);
	put_block(&t, 998, "unknown", 7);
	bytes model = with_tensor(&t);
	const Onnx__TensorProto *w = unpack(&model)->graph->initializer[0];
	ck_assert_int_eq(w->n_dims, 4);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(w->dims[i], 7 + i);
}
END_TEST

START_TEST(strings)
{
	bytes t = { 0 };
	put_block(&t, 8, "a\0b", 3);
	bytes model = with_tensor(&t);
	ck_assert_ptr_null(unpack(&model));
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("onnx_file");
	TCase *t = tcase_create("onnx_file");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, nesting);
	tcase_add_test(t, payloads);
	tcase_add_test(t, two_payloads);
	tcase_add_test(t, forged_record);
	tcase_add_test(t, damage);
	tcase_add_test(t, memory);
	tcase_add_test(t, packing);
	tcase_add_test(t, strings);
	suite_add_tcase(s, t);
	return s;
}
