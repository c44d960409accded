#include "config.h"

#include "compiler/driver/driver.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

const char *const driver_diagnostics[] = { "text", "json", NULL };

/* The folder that this program lies in; NULL where the system has no
 * /proc/self/exe. */
char *driver_folder(arena *a)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
	if (n <= 0 || n == sizeof(path))
		return NULL;
	return path_folder(a, arena_strndup(a, path, (size_t)n));
}

/* ---- output ------------------------------------------------------------ */

cli_status driver_print_json(driver *d, json_t *json)
{
	int failed = json_dumpf(json, stdout, JSON_INDENT(2));
	json_decref(json);
	putchar('\n');
	return failed ? cli_failed(&d->program, "cannot print the JSON result")
		      : CLI_OK;
}

cli_status driver_write(driver *d, const char *path, const void *data,
			size_t len)
{
	if (file_write(path, data, len))
		return CLI_OK;
	return cli_failed(&d->program, "%s: %s", path, strerror(errno));
}
