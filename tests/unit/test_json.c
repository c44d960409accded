/* Tests: base */
/* base/json: text that is UTF-8 by base/utf8.h stays; in other text all that is
 * not ASCII is replaced. */
#include "config.h"

#include <check.h>
#include <stdbool.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "tests/unit/draw.h"
#include "tests/unit/suite.h"

static bool is_utf8(const char *s, size_t n)
{
	for (size_t i = 0, k; i < n; i += k)
		if (!(k = utf8_length(s + i, n - i)))
			return false;
	return true;
}

static void check_text(const char *text)
{
	char want[64];
	size_t n = strlen(text);
	bool whole = is_utf8(text, n);
	for (size_t i = 0; i <= n; i++)
		want[i] = !whole && (unsigned char)text[i] >= 0x80 ? '?'
								   : text[i];
	json_t *j = json_of_text(text);
	ck_assert_ptr_nonnull(j);
	ck_assert_str_eq(json_string_value(j), want);
	json_decref(j);
}

START_TEST(random_bytes)
{
	static const char *const pieces[] = {
		"a", "\\", "\"", "\n", "\303\244", "\342\202\254",
		"\360\237\230\200", "\300\200", "\355\240\200",
		"\364\220\200\200", "\200", "\377", "\342\202",
	};
	enum { NPIECES = sizeof(pieces) / sizeof(pieces[0]), NVALID = 7 };
	draw d = { (uint64_t)_i };
	for (int trial = 0; trial < 500; trial++) {
		char text[64] = "";
		int last = trial % 2 ? NPIECES : NVALID;
		int n = draw_int(&d, 0, 12);
		for (int i = 0; i < n; i++)
			strcat(text, pieces[draw_int(&d, 0, last - 1)]);
		check_text(text);
	}
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("json");
	TCase *c = tcase_create("json");
	tcase_add_loop_test(c, random_bytes, 0, 4);
	suite_add_tcase(s, c);
	return s;
}
