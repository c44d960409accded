/* Reads profiles from files, none of which is trusted. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_reader.h"
#include "layout/mesh.h"
#include "plan/plan.h"
#include "plan/profile.h"

enum {
	MOST_BYTES = 1 << 28,  /* per file */
	MOST_ROWS = 1 << 16,   /* per list */
	MOST_INSTRS = 1 << 20, /* per run */
	MOST_STEPS = 1 << 30,
};

typedef json_reader reader;

/* ---- members of all ---------------------------------------------------- */

#define TIME_KEYS "seconds", "spread", "samples"

static bool read_time(const reader *r, const json_t *of, profile_time *to)
{
	if (!json_reader_number(r, of, "seconds", 1e-12, -1, &to->seconds) ||
	    !json_reader_number(r, of, "spread", 0, -1, &to->spread) ||
	    !json_reader_whole(r, of, "samples", 1, PROFILE_MOST_SAMPLES,
			       &to->samples))
		return false;
	return to->seconds <= 1e9 ||
	       json_reader_wrong(r, "'seconds' are at most 1e9");
}

/* Reads sixteen hexadecimal digits. */
static bool read_hex(const reader *r, const json_t *of, const char *key,
		     uint64_t *to)
{
	const char *text = json_string_value(json_object_get(of, key));
	if (text && strlen(text) == 16 &&
	    strspn(text, "0123456789abcdef") == 16) {
		*to = strtoull(text, NULL, 16);
		return true;
	}
	return json_reader_wrong(r, arena_printf(r->a, "'%s' is a text of 16 "
						 "hexadecimal digits", key));
}

static bool read_devices(const reader *r, const json_t *of, int *to)
{
	return json_reader_count(r, of, "devices", MESH_MAX_WORKERS, to);
}

/* ---- kernels ----------------------------------------------------------- */

static bool read_class(const reader *r, const json_t *of, profile_kernel *to)
{
	const char *class, *type;
	if (!json_reader_string(r, of, "class", &class) ||
	    !json_reader_string(r, of, "type", &type))
		return false;
	to->class = kernel_class_parse(class);
	to->type = dtype_parse(type);
	if (to->class >= KERNEL_CLASSES)
		return json_reader_wrong(r, arena_printf(
			r->a, "there is no class '%.100s' of kernels", class));
	return to->type != DT_NONE ||
	       json_reader_wrong(r, arena_printf(
			r->a, "'%.100s' is not an element type", type));
}

static bool read_extents(const reader *r, const json_t *of, profile_kernel *to)
{
	const json_t *all;
	if (!json_reader_list(r, of, "extents", 0, MAX_NVARS, &all))
		return false;
	to->nextents = (int)json_array_size(all);
	for (int i = 0; i < to->nextents; i++) {
		const json_t *x = json_array_get(all, (size_t)i);
		to->extents[i] = json_integer_value(x);
		if (!json_is_integer(x) || to->extents[i] < 0 ||
		    to->extents[i] > PLAN_MAX_BYTES)
			return json_reader_wrong(r, "an extent is a whole "
						 "number of at least 0");
	}
	return true;
}

/* [operations, number of products, rows, columns, depth] */
static bool read_work(const reader *r, const json_t *of, profile_kernel *to)
{
	const json_t *all;
	double v[2 + KERNEL_SIDES];
	size_t n = sizeof(v) / sizeof(*v);
	if (!json_reader_list(r, of, "work", n, n, &all))
		return false;
	for (size_t i = 0; i < n; i++) {
		const json_t *x = json_array_get(all, i);
		v[i] = json_number_value(x);
		if (!json_is_number(x) || !(v[i] >= 0) || v[i] > 1e30)
			return json_reader_wrong(r, "'work' has numbers of at "
						 "least 0");
	}
	to->load = (kernel_load){ .work = v[0], .count = v[1] };
	for (int s = 0; s < KERNEL_SIDES; s++)
		to->load.extent[s] = v[2 + s];
	return json_reader_number(r, of, "flops", 0, -1, &to->work.flops) &&
	       json_reader_number(r, of, "bytes", 0, -1, &to->work.bytes);
}

static bool read_kernel(const reader *r, const json_t *of, profile *to)
{
	static const char *const keys[] = { "kernel", "name", "class", "type",
					    "devices", "extents", "work",
					    "flops", "bytes", TIME_KEYS, NULL };
	profile_kernel x = { 0 };
	if (!json_reader_keys(r, of, keys) ||
	    !read_hex(r, of, "kernel", &x.structure) ||
	    !json_reader_string(r, of, "name", &x.name) ||
	    !read_class(r, of, &x) || !read_devices(r, of, &x.devices) ||
	    !read_extents(r, of, &x) || !read_work(r, of, &x) ||
	    !read_time(r, of, &x.time))
		return false;
	profile_add_kernel(to, &x);
	return true;
}

/* ---- transfers --------------------------------------------------------- */

static bool read_transfer(const reader *r, const json_t *of, profile *to)
{
	static const char *const keys[] = { "collective", "devices",
					    "received", "written", TIME_KEYS,
					    NULL };
	const char *name;
	profile_transfer x = { 0 };
	if (!json_reader_keys(r, of, keys) ||
	    !json_reader_string(r, of, "collective", &name) ||
	    !read_devices(r, of, &x.devices) ||
	    !json_reader_whole(r, of, "received", 0, PLAN_MAX_BYTES,
			       &x.received) ||
	    !json_reader_whole(r, of, "written", 0, PLAN_MAX_BYTES,
			       &x.written) ||
	    !read_time(r, of, &x.time))
		return false;
	int c = collective_parse(name);
	if (c < 0)
		return json_reader_wrong(r, arena_printf(
			r->a, "'%.100s' is not a collective", name));
	x.collective = (collective)c;
	profile_add_transfer(to, &x);
	return true;
}

/* ---- runs -------------------------------------------------------------- */

static bool read_worker(const reader *r, const json_t *of, profile_worker *to)
{
	static const char *const keys[] = { "stage", "arena_bytes", NULL };
	int64_t stage;
	if (!json_reader_keys(r, of, keys) ||
	    !json_reader_whole(r, of, "stage", 0, MESH_MAX_WORKERS, &stage) ||
	    !json_reader_whole(r, of, "arena_bytes", 0, PLAN_MAX_BYTES,
			       &to->arena))
		return false;
	to->stage = (int)stage;
	return true;
}

static bool read_turn(const reader *r, const json_t *of, int *to)
{
	int64_t turn = -1;
	bool none = json_is_null(json_object_get(of, "micro_batch"));
	bool good = none || json_reader_whole(r, of, "micro_batch", 0,
					      PLAN_MAX_TURNS, &turn);
	*to = (int)turn;
	return good;
}

static bool read_measured(const reader *r, const json_t *of, profile_time *to,
			  int64_t *nbytes)
{
	static const char *const keys[] = { "bytes", TIME_KEYS, NULL };
	return json_reader_keys(r, of, keys) &&
	       json_reader_whole(r, of, "bytes", 0, PLAN_MAX_BYTES, nbytes) &&
	       read_time(r, of, to);
}

static bool read_instr(const reader *r, const json_t *of, int devices,
		       profile_instr *to)
{
	static const char *const keys[] = { "name", "kind", "instruction",
					    "micro_batch", "workers", NULL };
	const json_t *all;
	int64_t row;
	if (!json_reader_keys(r, of, keys) ||
	    !json_reader_string(r, of, "name", &to->name) ||
	    !json_reader_string(r, of, "kind", &to->kind) ||
	    !json_reader_whole(r, of, "instruction", 0, INT32_MAX, &row) ||
	    !read_turn(r, of, &to->turn) ||
	    !json_reader_list(r, of, "workers", 1, (size_t)devices, &all))
		return false;
	to->instruction = (int)row;
	to->nworkers = (int)json_array_size(all);
	to->workers = ARENA_ARRAY(r->a, profile_time, to->nworkers);
	to->nbytes = ARENA_ARRAY(r->a, int64_t, to->nworkers);
	for (int w = 0; w < to->nworkers; w++) {
		const reader in = json_reader_inside(r, "workers", (size_t)w);
		if (!read_measured(&in, json_array_get(all, (size_t)w),
				   &to->workers[w], &to->nbytes[w]))
			return false;
	}
	return true;
}

static bool read_lists(const reader *r, const json_t *of, profile_run *to)
{
	const json_t *workers, *instrs;
	if (!json_reader_list(r, of, "workers", (size_t)to->devices,
			      (size_t)to->devices, &workers) ||
	    !json_reader_list(r, of, "instructions", 0, MOST_INSTRS, &instrs))
		return false;
	to->ninstrs = (int)json_array_size(instrs);
	to->workers = ARENA_ARRAY(r->a, profile_worker, to->devices);
	to->instrs = ARENA_ARRAY(r->a, profile_instr, to->ninstrs);
	for (int w = 0; w < to->devices; w++) {
		const reader in = json_reader_inside(r, "workers", (size_t)w);
		if (!read_worker(&in, json_array_get(workers, (size_t)w),
				 &to->workers[w]))
			return false;
	}
	for (int i = 0; i < to->ninstrs; i++) {
		const reader in = json_reader_inside(r, "instructions",
						     (size_t)i);
		if (!read_instr(&in, json_array_get(instrs, (size_t)i),
				to->devices, &to->instrs[i]))
			return false;
	}
	return true;
}

static bool read_run(const reader *r, const json_t *of, profile *to)
{
	static const char *const keys[] = { "model", "plan", "devices",
					    "warm_up", "workers",
					    "instructions", TIME_KEYS, NULL };
	profile_run x = { 0 };
	int64_t warm;
	if (!json_reader_keys(r, of, keys) ||
	    !json_reader_string(r, of, "model", &x.model) ||
	    !read_hex(r, of, "plan", &x.plan) ||
	    !read_devices(r, of, &x.devices) ||
	    !json_reader_whole(r, of, "warm_up", 0, MOST_STEPS, &warm))
		return false;
	x.warm = (int)warm;
	if (!read_time(r, of, &x.step) || !read_lists(r, of, &x))
		return false;
	profile_add_run(to, &x);
	return true;
}

/* ---- all --------------------------------------------------------------- */

static bool read_rows(const reader *r, const json_t *of, const char *key,
		      bool (*read)(const reader *r, const json_t *of,
				   profile *to),
		      profile *to)
{
	const json_t *all;
	if (!json_reader_list(r, of, key, 0, MOST_ROWS, &all))
		return false;
	for (size_t i = 0; i < json_array_size(all); i++) {
		const reader in = json_reader_inside(r, key, i);
		if (!read(&in, json_array_get(all, i), to))
			return false;
	}
	return true;
}

static bool read_profile(const reader *r, const json_t *j, profile *to)
{
	static const char *const keys[] = { "format", "version", "made",
					    "kernels", "transfers", "runs",
					    NULL };
	const char *format = json_string_value(json_object_get(j, "format"));
	const json_t *version = json_object_get(j, "version");
	if (!format || strcmp(format, "tdl-profile"))
		return json_reader_wrong(r, "this is not a profile: 'format' "
					 "is not \"tdl-profile\"");
	if (!json_is_integer(version) || json_integer_value(version) != 1)
		return json_reader_wrong(r, "the version of the format is not "
					 "1");
	return json_reader_keys(r, j, keys) &&
	       json_reader_string(r, j, "made", &to->made) &&
	       read_rows(r, j, "kernels", read_kernel, to) &&
	       read_rows(r, j, "transfers", read_transfer, to) &&
	       read_rows(r, j, "runs", read_run, to);
}

static bool take(const reader *r, json_t *j, profile *to)
{
	bool good = j && read_profile(r, j, to);
	json_decref(j);
	return good;
}

bool profile_read(profile *p, diag_sink *s, const char *path)
{
	const reader r = { p->a, s, DIAG_BAD_PROFILE, path, "" };
	return take(&r, json_reader_file(&r, MOST_BYTES), p);
}

bool profile_parse(profile *p, diag_sink *s, const char *path,
		   const char *text, size_t len)
{
	const reader r = { p->a, s, DIAG_BAD_PROFILE, path, "" };
	return take(&r, json_reader_text(&r, text, len), p);
}
