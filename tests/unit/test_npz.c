/* Tests: runtime/exec runtime/cpu runtime/run */
/* The reader and the writer of .npz files, and the inputs that come from
 * them. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "runtime/exec/invent.h"
#include "runtime/run/inputs.h"
#include "tests/unit/folder.h"
#include "tests/unit/random_plan.h"
#include "tests/unit/suite.h"

/* ---- workers ----------------------------------------------------------- */

/* ---- files ------------------------------------------------------------- */

START_TEST(npz_round_trip)
{
	static const int64_t shapes[][3] = { { 2, 3, 4 }, { 5, 0, 2 } };
	array x[DT_COUNT];
	failure f = { 0 };
	for (int t = 0; t < DT_COUNT; t++) {
		x[t] = (array){ .type = (dtype)t, .ndim = t % 4,
				.name = arena_printf(mem, "a/%d", t) };
		memcpy(x[t].dims, shapes[t == 7], sizeof(shapes[0]));
		x[t].data = arena_alloc(mem, 1 + (size_t)array_nbytes(&x[t]));
		for (int64_t i = 0; i < array_nelem(&x[t]); i++)
			elem_set_f64((dtype)t, x[t].data, i, (double)(i % 2));
	}
	ck_assert(npz_write(file("x.npz"), DT_COUNT, x, &f));
	npz *z = npz_open(mem, file("x.npz"), &f);
	ck_assert_msg(z != NULL, "%s", f.text);
	for (int t = 0; t < DT_COUNT; t++) {
		array y = x[t];
		size_t n = (size_t)array_nbytes(&y);
		ck_assert_str_eq(npz_name(z, t), x[t].name);
		y.data = arena_alloc(mem, 1 + n);
		ck_assert_msg(npz_read(z, &y, &f), "%s", f.text);
		ck_assert_mem_eq(y.data, x[t].data, n);
	}
	ck_assert_ptr_null(npz_name(z, DT_COUNT));
	array wrong = x[2];
	wrong.dims[0] = 7;
	ck_assert(!npz_read(z, &wrong, &f));
	f = (failure){ 0 };
	wrong = x[2];
	wrong.type = DT_U32;
	ck_assert(!npz_read(z, &wrong, &f));
	ck_assert_int_eq(f.status, CLI_INPUT);
	npz_close(z);
}
END_TEST

static void write_zip(const char *path, const char *name, const void *data,
		      size_t n)
{
	zip_t *z = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
	ck_assert_ptr_nonnull(z);
	zip_file_add(z, name, zip_source_buffer(z, data, n, 0), 0);
	ck_assert_int_eq(zip_close(z), 0);
}

/* A .npy with this dictionary and n bytes of elements. */
static size_t make_npy(char *to, const char *dict, size_t n)
{
	size_t len = strlen(dict);
	memcpy(to, "\x93NUMPY\1", 8);
	to[8] = (char)len;
	to[9] = 0;
	memcpy(to + 10, dict, len);
	memset(to + 10 + len, 0, n);
	return 10 + len + n;
}

static const struct {
	const char *dict;
	size_t nbytes;
	bool good;
} headers[] = {
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24,
	  true },
	{ "{'shape':(2,3),'descr':'<f4','fortran_order':False}", 24, true },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 23,
	  false },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 25,
	  false },
	{ "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }", 24,
	  false },
	{ "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", 24,
	  false },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", 24,
	  false },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (6), }", 24,
	  false },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3), }", 24,
	  false },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': "
	  "(99999999999999999999, 3), }", 24, false },
	{ "{'descr': '<f4', 'fortran_order': False}", 24, false },
	{ "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, "
	  "'shape': (2, 3)}", 24, false },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} x", 24,
	  false },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)", 24,
	  false },
	{ "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", 4,
	  false },
	{ "", 24, false },
};

START_TEST(npz_headers)
{
	char npy[512], data[24];
	array x = { .name = "x", .type = DT_F32, .ndim = 2, .dims = { 2, 3 },
		    .data = data };
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++) {
		failure f = { 0 };
		size_t n = make_npy(npy, headers[i].dict, headers[i].nbytes);
		write_zip(file("h.npz"), "x.npy", npy, n);
		npz *z = npz_open(mem, file("h.npz"), &f);
		ck_assert_msg(z != NULL, "%s", f.text);
		ck_assert_msg(npz_read(z, &x, &f) == headers[i].good,
			      "header %d: %s", (int)i, f.text);
		npz_close(z);
	}
}
END_TEST

START_TEST(npz_that_are_none)
{
	static const char *const texts[] = { "", "PK\3\4", "no zip at all" };
	for (int i = 0; i < 3; i++) {
		failure f = { 0 };
		FILE *to = fopen(file("n.npz"), "w");
		fputs(texts[i], to);
		fclose(to);
		npz *z = npz_open(mem, file("n.npz"), &f);
		ck_assert(!z || !npz_name(z, 0));
		if (z)
			npz_close(z);
	}
	failure f = { 0 };
	ck_assert_ptr_null(npz_open(mem, file("absent.npz"), &f));
	ck_assert_int_eq(f.status, CLI_INPUT);
	f = (failure){ 0 };
	write_zip(file("t.npz"), "x.txt", "x", 1);
	ck_assert_ptr_null(npz_open(mem, file("t.npz"), &f));
	ck_assert_int_eq(f.status, CLI_INPUT);
	array x = { .name = "x", .type = DT_U8, .data = mem };
	f = (failure){ 0 };
	ck_assert(!npz_write(file("no/folder.npz"), 1, &x, &f));
	ck_assert_int_eq(f.status, CLI_MACHINE);
}
END_TEST

/* ---- inputs ------------------------------------------------------------ */

START_TEST(inputs_have_to_match)
{
	plan *p = random_parallel_plan(mem);
	failure f = { 0 };
	int n = p->ninputs;
	array *in = arrays_of(mem, p, p->inputs, n, &f);
	invent_inputs(p, in);
	ck_assert(npz_write(file("in.npz"), n, in, &f));
	feed *x = feed_new(mem, p, false, &f);
	ck_assert(!feed_is_complete(x, "nothing", &f));
	f = (failure){ 0 };
	ck_assert(feed_read(x, file("in.npz"), &f));
	ck_assert(feed_is_complete(x, "in.npz", &f));
	for (int i = 0; i < n; i++)
		ck_assert_mem_eq(x->inputs[i].data, in[i].data,
				 (size_t)array_nbytes(&in[i]));
	feed_free(x);
	/* An input is missing; an input has an unknown name. */
	x = feed_new(mem, p, false, &f);
	ck_assert(npz_write(file("few.npz"), n - 1, in, &f));
	ck_assert(feed_read(x, file("few.npz"), &f));
	ck_assert(!feed_is_complete(x, "few.npz", &f));
	ck_assert_int_eq(f.status, CLI_INPUT);
	f = (failure){ 0 };
	in[0].name = "nobody";
	ck_assert(npz_write(file("nobody.npz"), n, in, &f));
	ck_assert(!feed_read(x, file("nobody.npz"), &f));
	ck_assert_int_eq(f.status, CLI_INPUT);
	feed_free(x);
	arrays_free(in, n);
}
END_TEST

/* ---- the whole --------------------------------------------------------- */

Suite *suite(void)
{
	Suite *s = suite_create("npz");
	TCase *c = tcase_create("npz");
	tcase_add_checked_fixture(c, begin_test, end_test);
	tcase_add_test(c, npz_round_trip);
	tcase_add_test(c, npz_headers);
	tcase_add_test(c, npz_that_are_none);
	tcase_add_test(c, inputs_have_to_match);
	suite_add_tcase(s, c);
	return s;
}
