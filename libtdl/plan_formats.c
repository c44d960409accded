#include "config.h"

#include "libtdl/plan_formats.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "compiler/export/jax_module.h"
#include "libtdl/program_files.h"

static cli_status write_jax_stages(job *d, const plan_pipeline *p,
				   const char *path)
{
	const char *s = jax_module(d->arena, p, path_folder(d->arena, path),
				   d->sink);
	if (!s)
		return CLI_INPUT;
	if (!file_write(path, s, strlen(s)))
		return cli_failed(&d->program, "%s: %s", path, strerror(errno));
	return CLI_OK;
}

static cli_status write_jax(job *d, const plan *p, const char *path)
{
	return write_jax_stages(d, pipeline_of_plan(d->arena, p), path);
}

/* Refuses the format shardy: lowering the module takes JAX, which tdlc does not
 * run. */
static cli_status refuse_shardy(job *d, const plan *p, const char *path)
{
	(void)p;
	(void)path;
	return cli_usage(&d->program, "StableHLO with Shardy's shardings is "
			 "written by the module for JAX, format jax, when it "
			 "is run as a program");
}

static const plan_format formats[] = {
	{ "cuda", program_write, NULL },
	{ "jax", write_jax, write_jax_stages },
	{ "shardy", refuse_shardy, NULL },
};

const plan_format *plan_format_of(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}
