#include "config.h"

#include "libtdl/onnx_layouts.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "compiler/export/onnx_annotate.h"
#include "compiler/onnx/onnx_file.h"

/* Whether weights are in files whose names are relative to the model's folder.
 * A copy in another folder would not find them. */
static bool has_files(const Onnx__ModelProto *m)
{
	for (size_t i = 0; m->graph && i < m->graph->n_initializer; i++)
		if (m->graph->initializer[i]->n_external_data)
			return true;
	return false;
}

static bool same_folder(arena *a, const char *x, const char *y)
{
	const char *p = path_real(a, path_folder(a, x));
	const char *q = path_real(a, path_folder(a, y));
	return p && q && !strcmp(p, q);
}

static cli_status refuse(job *d, const char *model, const char *why)
{
	diag_error_in(d->sink, DIAG_NO_LAYOUTS, model, "%s", why);
	return CLI_INPUT;
}

static cli_status write_file(job *d, const plan *p, const onnx_file *f,
			     const char *path)
{
	onnx_bytes to = { .a = d->arena };
	const Onnx__ModelProto *m = onnx_file_unpack(d->arena, d->sink, f);
	if (!m)
		return CLI_INPUT;
	if (has_files(m) && !same_folder(d->arena, f->path, path))
		return refuse(d, f->path, "its weights lie in files beside it: "
			      "the annotated model has to go to that folder");
	if (f->size > INT32_MAX || !onnx_annotate(&to, f->data, f->size, p))
		return refuse(d, f->path, "the file cannot be edited");
	if (!to.nspecs)
		return refuse(d, f->path, "it has no tensor of the plan, which "
			      "was made of another model");
	if (!file_write(path, to.b.at, (size_t)to.b.n))
		return cli_failed(&d->program, "%s: %s", path, strerror(errno));
	return CLI_OK;
}

static void close_file(void *f)
{
	onnx_file_close(f);
}

cli_status onnx_layouts_write(job *d, const plan *p, const char *model,
			      const char *path)
{
	onnx_file f;
	memory_guard g;
	if (!onnx_file_open(d->arena, d->sink, model, &f))
		return CLI_INPUT;
	memory_guard_on(&g, close_file, &f);
	cli_status status = write_file(d, p, &f, path);
	memory_guard_off(&g);
	onnx_file_close(&f);
	return status;
}
