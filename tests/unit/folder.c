#include "config.h"

#include "tests/unit/folder.h"

#include <check.h>
#include <stdlib.h>

arena *mem;
char *folder;

char *file(const char *name)
{
	return arena_printf(mem, "%s/%s", folder, name);
}

void begin_test(void)
{
	const char *tmp = getenv("TMPDIR");
	mem = arena_new();
	folder = arena_printf(mem, "%s/tdl-unit-XXXXXX", tmp ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	setenv("TDL_CACHE", file("cache"), 1);
}

void end_test(void)
{
	ck_assert_int_eq(system(arena_printf(mem, "rm -rf '%s'", folder)), 0);
	arena_free(mem);
}
