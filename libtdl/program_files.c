#include "config.h"

#include "libtdl/program_files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "compiler/export/program.h"

/* Makes a folder and the folders in it that a file needs. */
static bool make_folders(arena *a, const char *folder, const char *name)
{
	const char *slash = strchr(name, '/');
	if (mkdir(folder, 0777) && errno != EEXIST)
		return false;
	if (!slash)
		return true;
	const char *inner = arena_strndup(a, name, (size_t)(slash - name));
	return make_folders(a, path_join(a, folder, inner), slash + 1);
}

cli_status program_write(job *d, const plan *p, const char *folder)
{
	program source;
	if (!program_of(d->arena, p, d->sink, &source))
		return CLI_INPUT;
	for (int i = 0; i < source.nfiles; i++) {
		const program_file *f = &source.files[i];
		const char *path = path_join(d->arena, folder, f->name);
		if (!make_folders(d->arena, folder, f->name))
			return cli_failed(&d->program, "%s: %s", folder,
					  strerror(errno));
		if (!file_write(path, f->data, f->len))
			return cli_failed(&d->program, "%s: %s", path,
					  strerror(errno));
	}
	return CLI_OK;
}
