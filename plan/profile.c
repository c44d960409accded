#include "config.h"

#include "plan/profile.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

profile *profile_new(arena *a)
{
	profile *p = ARENA_NEW(a, profile);
	*p = (profile){ .a = a, .made = "" };
	return p;
}

/* ---- adding up --------------------------------------------------------- */

static void add_time(profile_time *to, const profile_time *x)
{
	double m = (double)to->samples, n = (double)x->samples;
	to->seconds = (m * to->seconds + n * x->seconds) / (m + n);
	to->spread = fmax(to->spread, x->spread);
	to->samples += x->samples;
	if (to->samples > PROFILE_MOST_SAMPLES)
		to->samples = PROFILE_MOST_SAMPLES;
}

static bool is_same_kernel(const profile_kernel *x, const profile_kernel *y)
{
	bool same = x->structure == y->structure &&
		    x->devices == y->devices && x->nextents == y->nextents;
	for (int i = 0; same && i < x->nextents; i++)
		same = x->extents[i] == y->extents[i];
	return same;
}

static uint64_t hash_kernel(const profile_kernel *x)
{
	uint64_t h = hash_i64((uint64_t)x->devices, (int64_t)x->structure);
	return hash_bytes(h, x->extents,
			  (size_t)x->nextents * sizeof(*x->extents));
}

void profile_add_kernel(profile *p, const profile_kernel *x)
{
	uint32_t at = 0;
	uint64_t hash = hash_kernel(x);
	for (int i; (i = hash_table_next(&p->by_kernel, hash, &at)) >= 0;)
		if (is_same_kernel(&p->kernels.at[i], x)) {
			add_time(&p->kernels.at[i].time, &x->time);
			return;
		}
	hash_table_add(p->a, &p->by_kernel, hash, p->kernels.n);
	vec_push(p->a, &p->kernels, *x);
	p->kernels.at[p->kernels.n - 1].name = arena_strdup(p->a, x->name);
}

static uint64_t hash_transfer(const profile_transfer *x)
{
	const int64_t all[] = { (int64_t)x->collective, x->devices,
				x->received, x->written };
	return hash_bytes(HASH_SEED, all, sizeof(all));
}

void profile_add_transfer(profile *p, const profile_transfer *x)
{
	uint32_t at = 0;
	uint64_t hash = hash_transfer(x);
	for (int i; (i = hash_table_next(&p->by_transfer, hash, &at)) >= 0;) {
		profile_transfer *y = &p->transfers.at[i];
		if (y->collective == x->collective &&
		    y->devices == x->devices && y->received == x->received &&
		    y->written == x->written) {
			add_time(&y->time, &x->time);
			return;
		}
	}
	hash_table_add(p->a, &p->by_transfer, hash, p->transfers.n);
	vec_push(p->a, &p->transfers, *x);
}

static profile_run copy_run(arena *a, const profile_run *x)
{
	profile_run to = *x;
	to.model = arena_strdup(a, x->model);
	to.workers = ARENA_COPY(a, x->workers, x->devices);
	to.instrs = ARENA_COPY(a, x->instrs, x->ninstrs);
	for (int i = 0; i < to.ninstrs; i++) {
		profile_instr *in = &to.instrs[i];
		in->name = arena_strdup(a, in->name);
		in->kind = arena_strdup(a, in->kind);
		in->workers = ARENA_COPY(a, in->workers, in->nworkers);
		in->nbytes = ARENA_COPY(a, in->nbytes, in->nworkers);
	}
	return to;
}

void profile_add_run(profile *p, const profile_run *x)
{
	const profile_run own = copy_run(p->a, x);
	for (int i = 0; i < p->runs.n; i++)
		if (p->runs.at[i].plan == x->plan) {
			p->runs.at[i] = own;
			return;
		}
	vec_push(p->a, &p->runs, own);
}

/* ---- writing ----------------------------------------------------------- */

/* Rounds to six digits; measurements have no more. */
static json_t *rounded(double x)
{
	double unit = x > 0 ? pow(10, floor(log10(x)) - 5) : 1;
	return json_real(round(x / unit) * unit);
}

static void set_time(json_t *j, const profile_time *t)
{
	json_object_set_new(j, "seconds", rounded(t->seconds));
	json_object_set_new(j, "spread", rounded(t->spread));
	json_object_set_new(j, "samples", json_integer(t->samples));
}

static json_t *hex(arena *a, uint64_t x)
{
	return json_string(arena_printf(a, "%016" PRIx64, x));
}

static json_t *kernel_json(arena *a, const profile_kernel *x)
{
	const kernel_load *l = &x->load;
	json_t *extents = json_array();
	for (int i = 0; i < x->nextents; i++)
		json_array_append_new(extents, json_integer(x->extents[i]));
	json_t *j = json_pack(
		"{s:o,s:s,s:s,s:s,s:i,s:o,s:[f,f,f,f,f],s:f,s:f}", "kernel",
		hex(a, x->structure), "name", x->name, "class",
		kernel_class_name(x->class), "type", dtype_name(x->type),
		"devices", x->devices, "extents", extents, "work", l->work,
		l->count, l->extent[SIDE_ROWS], l->extent[SIDE_COLUMNS],
		l->extent[SIDE_DEPTH], "flops", x->work.flops, "bytes",
		x->work.bytes);
	set_time(j, &x->time);
	return j;
}

static json_t *transfer_json(const profile_transfer *x)
{
	json_t *j = json_pack("{s:s,s:i,s:I,s:I}", "collective",
			      collective_name(x->collective), "devices",
			      x->devices, "received", (json_int_t)x->received,
			      "written", (json_int_t)x->written);
	set_time(j, &x->time);
	return j;
}

static json_t *instr_json(const profile_instr *x)
{
	json_t *workers = json_array();
	for (int w = 0; w < x->nworkers; w++) {
		json_t *j = json_pack("{s:I}", "bytes",
				      (json_int_t)x->nbytes[w]);
		set_time(j, &x->workers[w]);
		json_array_append_new(workers, j);
	}
	return json_pack("{s:s,s:s,s:i,s:o,s:o}", "name", x->name, "kind",
			 x->kind, "instruction", x->instruction,
			 "micro_batch", x->turn < 0 ? json_null() :
						      json_integer(x->turn),
			 "workers", workers);
}

static json_t *run_json(arena *a, const profile_run *x)
{
	json_t *workers = json_array(), *instrs = json_array();
	for (int w = 0; w < x->devices; w++) {
		const profile_worker *v = &x->workers[w];
		json_array_append_new(
			workers, json_pack("{s:i,s:I}", "stage", v->stage,
					   "arena_bytes",
					   (json_int_t)v->arena));
	}
	for (int i = 0; i < x->ninstrs; i++)
		json_array_append_new(instrs, instr_json(&x->instrs[i]));
	json_t *j = json_pack("{s:s,s:o,s:i,s:i,s:o,s:o}", "model", x->model,
			      "plan", hex(a, x->plan), "devices", x->devices,
			      "warm_up", x->warm, "workers", workers,
			      "instructions", instrs);
	set_time(j, &x->step);
	return j;
}

const char *profile_text(arena *a, const profile *p)
{
	json_t *kernels = json_array(), *transfers = json_array();
	json_t *runs = json_array();
	for (int i = 0; i < p->kernels.n; i++)
		json_array_append_new(kernels,
				      kernel_json(a, &p->kernels.at[i]));
	for (int i = 0; i < p->transfers.n; i++)
		json_array_append_new(transfers,
				      transfer_json(&p->transfers.at[i]));
	for (int i = 0; i < p->runs.n; i++)
		json_array_append_new(runs, run_json(a, &p->runs.at[i]));
	json_t *j = json_pack("{s:s,s:i,s:s,s:o,s:o,s:o}", "format",
			      "tdl-profile", "version", 1, "made", p->made,
			      "kernels", kernels, "transfers", transfers,
			      "runs", runs);
	const char *text =
		json_text(a, j, JSON_COMPACT | JSON_REAL_PRECISION(6));
	json_decref(j);
	return arena_printf(a, "%s\n", text);
}
