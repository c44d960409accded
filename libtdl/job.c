#include "config.h"

#include "libtdl/job.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"

const char *job_option(const job *d, const char *name)
{
	return diag_option(d->sink, name);
}

const char *job_option_of(const job *d, const char *name, const char *arg)
{
	const char *option = job_option(d, name);
	return *option == '-' ? arena_printf(d->arena, "%s %s", option, arg) :
				option;
}

/* ---- the operator library ---------------------------------------------- */

cli_status job_no_operator(const job *d, const tdl_modules *m,
			   const char *name, const char *where)
{
	return cli_usage(&d->program, "there is no operator '%s' in %s%s",
			 name, where, dsl_operator_hint(m, d->arena, name));
}

const char *job_opdefs(job *d)
{
	static const char *const beside[] = { "opdefs", "../share/tdlc/opdefs",
					      "../../share/tdlc/opdefs" };
	const char *given = d->opdefs ? d->opdefs : getenv("TDL_OPDEFS");
	if (given && *given)
		return given;
	for (int i = 0; d->here && i < 3; i++) {
		const char *dir = path_join(d->arena, d->here, beside[i]);
		if (file_exists(dir))
			return dir;
	}
	return PKGDATADIR "/opdefs";
}

static int is_tdl(const struct dirent *e)
{
	return e->d_name[0] != '.' && path_ends_in(e->d_name, ".tdl");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void close_folder(void *of)
{
	closedir(of);
}

/* Adds the paths of a folder's .tdl files in order.  Returns false with errno
 * set if the folder cannot be read. */
static bool find_tdl(arena *a, const char *dir, cli_words *paths)
{
	DIR *of = opendir(dir);
	int first = paths->n;
	memory_guard g;
	if (!of)
		return false;
	memory_guard_on(&g, close_folder, of);
	for (const struct dirent *e; (e = readdir(of));)
		if (is_tdl(e))
			vec_push(a, paths, path_join(a, dir, e->d_name));
	memory_guard_off(&g);
	closedir(of);
	if (paths->n > first)
		qsort(paths->at + first, (size_t)(paths->n - first),
		      sizeof(*paths->at), by_name);
	return true;
}

/* Loads the .tdl files of a folder.  If the folder may be absent, an absent one
 * counts as empty. */
static void load_folder(tdl_modules *m, const char *dir, bool may_be_absent)
{
	cli_words paths = { 0 };
	if (!find_tdl(m->arena, dir, &paths) &&
	    !(may_be_absent && errno == ENOENT))
		diag_error_in(m->sink, DIAG_CANNOT_READ, dir, "%s",
			      strerror(errno));
	for (int i = 0; i < paths.n; i++)
		dsl_load(m, paths.at[i]);
}

tdl_modules *job_modules(job *d)
{
	cli_words folders = { 0 };
	for (int i = 0; i < d->folders.n; i++)
		vec_push(d->arena, &folders, d->folders.at[i]);
	vec_push(d->arena, &folders, job_opdefs(d));
	tdl_modules *m =
		dsl_new(d->arena, d->sink, folders.at, folders.n);
	cli_words library = { 0 };
	find_tdl(d->arena, job_opdefs(d), &library);
	dsl_set_library(m, library.at, library.n);
	m->texts = d->texts;
	return m;
}

static tdl_modules *load_library(job *d, bool onnx)
{
	const char *dir = job_opdefs(d);
	tdl_modules *m = job_modules(d);
	load_folder(m, dir, false);
	if (onnx)
		load_folder(m, path_join(d->arena, dir, "onnx"), true);
	return m;
}

static tdl_modules *load_more(job *d, tdl_modules *m, int errors)
{
	for (int i = 0; i < d->load.n; i++)
		dsl_load(m, d->load.at[i]);
	return diag_errors(d->sink) == errors ? m : NULL;
}

tdl_modules *job_load_library(job *d)
{
	int errors = diag_errors(d->sink);
	return load_more(d, load_library(d, true), errors);
}

tdl_modules *job_load_needed(job *d, const char *model)
{
	int errors = diag_errors(d->sink);
	tdl_modules *m = load_library(d, !model_is_tdl(model));
	if (m->nmodules > 0)
		diag_forgive(d->sink, errors);
	return load_more(d, m, errors);
}

const ast_module *job_module(const tdl_modules *m, const char *path)
{
	arena *tmp = arena_new();
	const char *real = path_real(tmp, path);
	const ast_module *found = NULL;
	for (int i = 0; i < m->nmodules && !found; i++) {
		const char *other = path_real(tmp, m->modules[i]->path);
		if (!strcmp(m->modules[i]->path, path) ||
		    (real && other && !strcmp(real, other)))
			found = m->modules[i];
	}
	arena_free(tmp);
	return found;
}

/* ---- options for models ------------------------------------------------ */

/* Whether the last of n names equals an earlier one.  Prints a message if
 * so. */
static bool given_twice(job *d, const char *option,
			const char *const *names, int n)
{
	for (int i = 0; i < n - 1; i++)
		if (!strcmp(names[i], names[n - 1])) {
			cli_usage(&d->program, "%s %s is given twice",
				  job_option(d, option), names[i]);
			return true;
		}
	return false;
}

static cli_status read_sizes(job *d, const char *model,
			     const cli_words *defines, model_options *o)
{
	arena *a = d->arena;
	const char **names = ARENA_ARRAY(a, const char *, defines->n);
	const char **texts = ARENA_ARRAY(a, const char *, defines->n);
	int64_t *sizes = ARENA_ARRAY(a, int64_t, defines->n);
	bool tdl = model_is_tdl(model);
	for (int i = 0; i < defines->n; i++) {
		bool ok = cli_setting(a, defines->at[i], &names[i], &texts[i]);
		if (ok && !cli_int(texts[i], 0, INT64_MAX, &sizes[i])) {
			sizes[i] = -1;
			ok = tdl;
		}
		if (!ok)
			return cli_usage(&d->program,
					 "%s takes NAME=%s, not '%s'",
					 job_option(d, "D"),
					 tdl ? "VALUE" : "N with N >= 0",
					 defines->at[i]);
		if (given_twice(d, "D", names, i + 1))
			return CLI_USAGE;
	}
	o->nsizes = defines->n;
	o->size_names = names;
	o->sizes = sizes;
	o->size_texts = texts;
	o->size_used = ARENA_ARRAY(a, bool, defines->n);
	return CLI_OK;
}

static cli_status read_shapes(job *d, const cli_words *words,
			      model_options *o)
{
	arena *a = d->arena;
	const char **names = ARENA_ARRAY(a, const char *, words->n);
	tensor_type *shapes = ARENA_ARRAY(a, tensor_type, words->n);
	for (int i = 0; i < words->n; i++) {
		shapes[i].type = DT_NONE;
		shapes[i].ndim = cli_shape(a, words->at[i], &names[i],
					   shapes[i].dims, MAX_NDIM);
		if (shapes[i].ndim < 0)
			return cli_usage(&d->program,
					 "%s takes NAME=AxBxC with at most %d "
					 "sizes, not '%s'",
					 job_option(d, "shape"), MAX_NDIM,
					 words->at[i]);
		if (given_twice(d, "shape", names, i + 1))
			return CLI_USAGE;
	}
	o->nshapes = words->n;
	o->shape_names = names;
	o->shapes = shapes;
	o->shape_used = ARENA_ARRAY(a, bool, words->n);
	return CLI_OK;
}

cli_status job_model_options(job *d, const char *model,
				const cli_words *defines,
				const cli_words *shapes, model_options *o)
{
	cli_status status = read_sizes(d, model, defines, o);
	return status == CLI_OK ? read_shapes(d, shapes, o) : status;
}

cli_status job_check_used(job *d, const model_options *o)
{
	for (int i = 0; i < o->nsizes; i++)
		if (!o->size_used[i])
			return cli_usage(&d->program,
					 "the model has no size or argument "
					 "'%s' for %s", o->size_names[i],
					 job_option(d, "D"));
	for (int i = 0; i < o->nshapes; i++)
		if (!o->shape_used[i])
			return cli_usage(&d->program,
					 "the model has no input '%s' for %s",
					 o->shape_names[i],
					 job_option(d, "shape"));
	return CLI_OK;
}
