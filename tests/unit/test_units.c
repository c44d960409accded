/* Tests: base */
/* base/units: three digits, prefixes and units; sizes that are read. */
#include "config.h"

#include <check.h>

#include "base/units.h"
#include "tests/unit/suite.h"

START_TEST(bytes)
{
	static const struct {
		double v;
		const char *text;
	} cases[] = {
		{ 0, "0 B" },		 { 1, "1 B" },
		{ 999, "999 B" },	 { 1000, "1.00 kB" },
		{ 1499, "1.50 kB" },	 { 9994, "9.99 kB" },
		{ 9996, "10.0 kB" },	 { 99940, "99.9 kB" },
		{ 99960, "100 kB" },	 { 999499, "999 kB" },
		{ 999500, "1.00 MB" },	 { 16e9, "16.0 GB" },
		{ 9e18, "9.00 EB" },	 { 9e22, "90000 EB" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_str_eq(units_bytes(cases[i].v).text, cases[i].text);
	ck_assert_str_eq(units_scaled(8.17e9, "FLOP").text, "8.17 GFLOP");
	ck_assert_str_eq(units_scaled(2, "").text, "2");
	ck_assert_str_eq(units_bytes(-48).text, "-48 B");
	ck_assert_str_eq(units_bytes(-1.5e6).text, "-1.50 MB");
	ck_assert_str_eq(units_scaled(2e6, "").text, "2.00 M");
}
END_TEST

START_TEST(told_apart)
{
	quantity texts[3];
	units_bytes_apart(2, (double[]){ 1050, 1046 }, texts);
	ck_assert_str_eq(texts[0].text, "1050 B");
	ck_assert_str_eq(texts[1].text, "1046 B");
	units_bytes_apart(3, (double[]){ 1050, 1060, 1046 }, texts);
	ck_assert_str_eq(texts[0].text, "1050 B");
	ck_assert_str_eq(texts[1].text, "1.06 kB");
	ck_assert_str_eq(texts[2].text, "1046 B");
	units_bytes_apart(2, (double[]){ 1050, 1050 }, texts);
	ck_assert_str_eq(texts[0].text, "1.05 kB");
	ck_assert_str_eq(texts[1].text, "1.05 kB");
	units_bytes_apart(2, (double[]){ 0x1p62, 0x1p62 - 1024 }, texts);
	ck_assert_str_eq(texts[0].text, "4611686018427387904 B");
	ck_assert_str_eq(texts[1].text, "4611686018427386880 B");
}
END_TEST

START_TEST(seconds)
{
	static const struct {
		double v;
		const char *text;
	} cases[] = {
		{ 0, "0 s" },		  { 1e-9, "0.00 µs" },
		{ 5.93e-5, "59.3 µs" },	  { 1e-6, "1.00 µs" },
		{ 9.9949e-4, "999 µs" },  { 9.996e-4, "1.00 ms" },
		{ 0.0375876, "37.6 ms" }, { 0.99949, "999 ms" },
		{ 0.9996, "1.00 s" },	  { 37.5876, "37.6 s" },
		{ 1250, "1250 s" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_str_eq(units_seconds(cases[i].v).text,
				 cases[i].text);
}
END_TEST

START_TEST(columns)
{
	ck_assert_str_eq(units_right(units_seconds(5.93e-5), 10).text,
			 "   59.3 µs");
	ck_assert_str_eq(units_right(units_seconds(5.93e-2), 10).text,
			 "   59.3 ms");
	ck_assert_str_eq(units_right(units_bytes(5), 2).text, "5 B");
}
END_TEST

START_TEST(sizes)
{
	static const struct {
		const char *text;
		int64_t v;
	} good[] = {
		{ "0", 0 },
		{ "17", 17 },
		{ "17B", 17 },
		{ "64K", 65536 },
		{ "2G", INT64_C(2) << 30 },
		{ "2GiB", INT64_C(2) << 30 },
		{ "3TiB", INT64_C(3) << 40 },
		{ "80GB", 80000000000 },
		{ "1kB", 1000 },
		{ "1.5G", INT64_C(3) << 29 },
		{ "1.5GB", 1500000000 },
		{ "0.0001K", 0 },
		{ "4194303T", INT64_C(4194303) << 40 },
	};
	static const char *const bad[] = {
		"", "G", "-1", "+1", " 1", "1 ", "1 G", "1g", "1KB", "1Ki",
		"1GiBs", "1BB", "1iB", "1.", "1.G", ".5G", "1.5.5", "1e3",
		"0x10", "nan", "4194304T", "99999999999999999999", "1E", "1PB",
	};
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		int64_t v = -1;
		ck_assert_msg(units_read_size(good[i].text, &v), "%s",
			      good[i].text);
		ck_assert_int_eq(v, good[i].v);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int64_t v = -1;
		ck_assert_msg(!units_read_size(bad[i], &v), "%s", bad[i]);
		ck_assert_int_eq(v, -1);
	}
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("units");
	TCase *t = tcase_create("units");
	tcase_add_test(t, bytes);
	tcase_add_test(t, told_apart);
	tcase_add_test(t, seconds);
	tcase_add_test(t, columns);
	tcase_add_test(t, sizes);
	suite_add_tcase(s, t);
	return s;
}
