/* Tests: libtdl base */
/* tdl.h: each function, with each of its allocations failing in turn. */
#include "config.h"

#include <check.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/library_calls.h"
#include "tests/unit/suite.h"

/* ---- an allocator that fails ------------------------------------------- */

typedef struct counter {
	atomic_int calls, live;
	int fails;     /* the number of the call that fails; -1: none */
	bool for_good; /* all after it fail, too */
} counter;

static void *count(void *user, size_t n)
{
	counter *c = user;
	int i = atomic_fetch_add(&c->calls, 1);
	if (i == c->fails || (c->for_good && c->fails >= 0 && i > c->fails))
		return NULL;
	void *p = malloc(n);
	if (p)
		atomic_fetch_add(&c->live, 1);
	return p;
}

static void uncount(void *user, void *p)
{
	atomic_fetch_sub(&((counter *)user)->live, 1);
	free(p);
}

/* ---- a small library ----------------------------------------------------- */

/* A folder with those of the library's files that the calls need.  Most calls
 * read the library, and are made as often as they allocate: of a tenth of its
 * text all is a hundredth of the work. */
typedef struct library {
	char folder[100];
} library;

static const char *const files[] = { "elementwise.tdl", "linear.tdl" };

static library library_new(void)
{
	library l = { "/tmp/tdl-opdefs-XXXXXX" };
	const char *from = getenv("TDL_OPDEFS");
	ck_assert_ptr_nonnull(mkdtemp(l.folder));
	for (int i = 0; i < 2; i++) {
		char whole[4096], *path = realpath(from ? from : "opdefs",
						   whole);
		char target[4200], link[200];
		ck_assert_ptr_nonnull(path);
		snprintf(target, sizeof(target), "%s/%s", whole, files[i]);
		snprintf(link, sizeof(link), "%s/%s", l.folder, files[i]);
		ck_assert_int_eq(symlink(target, link), 0);
	}
	ck_assert_int_eq(setenv("TDL_OPDEFS", l.folder, 1), 0);
	return l;
}

static void library_end(const library *l)
{
	for (int i = 0; i < 2; i++) {
		char link[200];
		snprintf(link, sizeof(link), "%s/%s", l->folder, files[i]);
		ck_assert_int_eq(unlink(link), 0);
	}
	ck_assert_int_eq(rmdir(l->folder), 0);
}

/* ---- each call ----------------------------------------------------------- */

/* The next allocation to fail.  CHECK_ALL=yes: each; else all of the first,
 * then ever fewer, and with SAMPLE=N every Nth of these. */
static int after(int i)
{
	const char *all = getenv("CHECK_ALL");
	if (i < 40 || (all && !strcmp(all, "yes")))
		return i + 1;
	return i + 1 + i / 8 * sample_every() / 4;
}

/* Whether the call is made once more after allocation number i failed: that
 * takes longer than all that went before, and failures leave mostly the same
 * behind. */
static bool is_repeated(int i)
{
	return i < 40 || i % 16 == 0;
}

/* Makes a call whose allocation number i fails, and all after it if for_good;
 * false if it does not get so far. */
static bool fails_at(const library_call *f, library_world *w, counter *k, int i)
{
	size_t n, used = tdl_context_used(w->c);
	int live = atomic_load(&k->live);
	atomic_store(&k->calls, 0);
	k->fails = i;
	bool good = f->run(w);
	k->fails = -1;
	const tdl_diagnostic *d = tdl_diagnostics(w->c, &n);
	if (good && atomic_load(&k->calls) <= i)
		return false;
	ck_assert_msg(!good, "%s: %d", f->name, i);
	ck_assert_int_eq(tdl_last_status(w->c), TDL_NO_MEMORY);
	ck_assert_uint_eq(n, 1);
	ck_assert_str_eq(d->name, "no-memory");
	/* Diagnostics of the call before may be gone by now. */
	ck_assert_msg(atomic_load(&k->live) <= live,
		      "%s: %d: %d blocks are left", f->name, i,
		      atomic_load(&k->live) - live);
	ck_assert_uint_le(tdl_context_used(w->c), used);
	ck_assert_msg(!is_repeated(i) || f->run(w), "%s, after %d", f->name,
		      i);
	return true;
}

/* The tests are numbered: a call, and whether its memory is gone for good.
 * CASES=N CASES_FROM=F takes N of them, from number F on. */
START_TEST(each_failure_is_a_diagnostic)
{
	const library_call *f = &library_calls[_i / 2];
	counter k = { .fails = -1 };
	const tdl_allocator a = { count, uncount, &k };
	library small = library_new();
	library_world w = library_world_new(&a);
	k.for_good = _i % 2;
	ck_assert_msg(f->run(&w), "%s", f->name);
	int i = 0, tried = 0;
	while (fails_at(f, &w, &k, i)) {
		i = after(i);
		tried++;
	}
	ck_assert_msg(tried > 0, "%s takes no memory", f->name);
	library_world_end(&w);
	library_end(&small);
	ck_assert_int_eq(atomic_load(&k.live), 0);
}
END_TEST

START_TEST(no_memory_for_a_context)
{
	counter k = { .fails = 0 };
	const tdl_allocator a = { count, uncount, &k };
	ck_assert_ptr_null(tdl_context_new(&a));
	tdl_context_free(NULL);
	tdl_module_free(NULL);
	tdl_model_free(NULL);
	tdl_plan_free(NULL);
	tdl_placement_free(NULL);
	tdl_run_free(NULL);
	tdl_text_free(NULL);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("library_memory");
	TCase *c = tcase_create("memory");
	int all = 2 * library_ncalls, from = cases_from();
	int n = cases_asked(all);
	tcase_set_timeout(c, 1200);
	tcase_add_loop_test(c, each_failure_is_a_diagnostic, from,
			    n < all - from ? from + n : all);
	tcase_add_test(c, no_memory_for_a_context);
	suite_add_tcase(s, c);
	return s;
}
