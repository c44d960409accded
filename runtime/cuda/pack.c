#include "config.h"

#include "runtime/cuda/pack.h"

#include <string.h>

#include "base/vec.h"
#include "runtime/cuda/module.h"
#include "runtime/cuda/pack_text.h"

/* The same values as in pack.cu. */
enum {
	THREADS = 256,
	TILE = 4 * THREADS, /* units */
	HEAD = 4,
	WIDEST = 4, /* log2 of the bytes of the largest unit */
	MOST_BLOCKS = 2048, /* 8 of these fit on a multiprocessor */
	MOST_UNITS = 1 << 30, /* units of a job */
};

typedef VEC(int64_t) words;

/* The jobs of a list that one kernel executes. */
typedef struct group {
	reducer reducer; /* RED_NONE: copies */
	dtype type;	 /* of combined elements */
	int njobs;
	int64_t ntiles;
	words first_tiles; /* by job */
	words job_offsets; /* by job, in `jobs' */
	words jobs;
	CUdeviceptr list;
} group;

struct pack_list {
	packer *k;
	int gpu;
	VEC(group) groups;
};

typedef struct combiner {
	reducer reducer;
	dtype type;
	CUfunction *on; /* by GPU */
} combiner;

struct packer {
	arena *a;
	cuda *c;
	cuda_module module;
	CUfunction *copy, *reached; /* by GPU */
	VEC(combiner) combiners;
	VEC(pack_list *) lists;
	CUdeviceptr *memory; /* by GPU */
};

/* ---- the text ---------------------------------------------------------- */

static void note_combiner(packer *k, reducer r, dtype t)
{
	combiner x = { .reducer = r, .type = t };
	for (int i = 0; i < k->combiners.n; i++)
		if (k->combiners.at[i].reducer == r &&
		    k->combiners.at[i].type == t)
			return;
	vec_push(k->a, &k->combiners, x);
}

static void note_combiners(packer *k, const plan *p)
{
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		if (in->op == PLAN_COMBINE)
			note_combiner(k, plan_partial(p, in->node),
				      p->tensors[p->buffers[in->to].tensor]
					      .type);
	}
}

/* The source text of the kernels needed for transfers. */
static const char *text_of(packer *k)
{
	const char *text = arena_printf(k->a, "#include \"tdl/cuda.h\"\n%s",
					headers[0].text);
	for (int i = 0; i < k->combiners.n; i++) {
		const combiner *x = &k->combiners.at[i];
		text = arena_printf(k->a, "%s\nTDL_COMBINE(%s, %s)\n", text,
				    reducer_name(x->reducer),
				    dtype_name(x->type));
	}
	return text;
}

/* ---- opening ----------------------------------------------------------- */

static bool find_kernels(packer *k, int gpu, failure *f)
{
	k->copy[gpu] = cuda_function(k->c, &k->module, gpu, "tdl_copy", f);
	k->reached[gpu] = cuda_function(k->c, &k->module, gpu, "tdl_reached",
					f);
	for (int i = 0; k->reached[gpu] && i < k->combiners.n; i++) {
		combiner *x = &k->combiners.at[i];
		const char *name = arena_printf(k->a, "tdl_combine_%s_%s",
						reducer_name(x->reducer),
						dtype_name(x->type));
		x->on[gpu] = cuda_function(k->c, &k->module, gpu, name, f);
		if (!x->on[gpu])
			return false;
	}
	return k->copy[gpu] && k->reached[gpu];
}

packer *pack_open(cuda *c, bool combines, failure *f)
{
	arena *a = arena_new();
	packer *k = ARENA_NEW(a, packer);
	*k = (packer){ .a = a, .c = c };
	k->copy = ARENA_ARRAY(a, CUfunction, c->ngpus);
	k->reached = ARENA_ARRAY(a, CUfunction, c->ngpus);
	k->memory = ARENA_ARRAY(a, CUdeviceptr, c->ngpus);
	for (int i = 0; combines && i < c->nparts; i++)
		note_combiners(k, c->parts[i].p);
	const char *text = text_of(k);
	bool good = cuda_modules_load(c, 1, &text, "transfers", &k->module, f);
	for (int i = 0; i < k->combiners.n; i++)
		k->combiners.at[i].on = ARENA_ARRAY(a, CUfunction, c->ngpus);
	for (int gpu = 0; good && gpu < c->ngpus; gpu++)
		good = find_kernels(k, gpu, f);
	if (good)
		return k;
	pack_close(k);
	return NULL;
}

void pack_close(packer *k)
{
	failure ignored = { 0 };
	for (int gpu = 0; gpu < k->c->ngpus; gpu++)
		if (k->memory[gpu] && cuda_enter(k->c, gpu, &ignored))
			k->c->api.cuMemFree(k->memory[gpu]);
	if (k->module.on)
		cuda_module_unload(k->c, &k->module);
	arena_free(k->a);
}

pack_list *pack_new(packer *k, int gpu)
{
	pack_list *l = ARENA_NEW(k->a, pack_list);
	*l = (pack_list){ .k = k, .gpu = gpu };
	vec_push(k->a, &k->lists, l);
	return l;
}

/* ---- jobs -------------------------------------------------------------- */

/* The address of a box in a block, and its steps by dimension. */
typedef struct strided_block {
	int64_t at; /* address */
	int64_t step[MAX_NDIM];
} strided_block;

/* A box in as few dimensions as possible.  blocks[0] is the destination. */
typedef struct job {
	int ndim, nblocks;
	int64_t count[MAX_NDIM];
	strided_block *blocks;
} job;

static strided_block strides_of(const box *at, const pack_block *b,
				int64_t size)
{
	strided_block s = { 0 };
	int64_t step = 1, start = -b->held.first;
	for (int d = at->n - 1; d >= 0; d--) {
		s.step[d] = step;
		start += (at->lo[d] - b->held.at.lo[d]) * step;
		step *= b->held.at.hi[d] - b->held.at.lo[d];
	}
	s.at = (int64_t)b->data + start * size;
	return s;
}

static void drop_dim(job *j, int d)
{
	for (int i = d; i < j->ndim - 1; i++) {
		j->count[i] = j->count[i + 1];
		for (int s = 0; s < j->nblocks; s++)
			j->blocks[s].step[i] = j->blocks[s].step[i + 1];
	}
	j->ndim--;
}

/* Whether dimensions d and d + 1 are contiguous in all blocks. */
static bool is_contiguous(const job *j, int d)
{
	for (int s = 0; s < j->nblocks; s++)
		if (j->blocks[s].step[d] !=
		    j->blocks[s].step[d + 1] * j->count[d + 1])
			return false;
	return true;
}

static void simplify(job *j)
{
	for (int d = j->ndim - 1; d >= 0; d--)
		if (j->count[d] == 1)
			drop_dim(j, d);
	for (int d = j->ndim - 2; d >= 0; d--) {
		if (!is_contiguous(j, d))
			continue;
		j->count[d + 1] *= j->count[d];
		drop_dim(j, d);
	}
}

/* Whether the job can be done in units of n elements with nbytes together. */
static bool has_units(const job *j, int64_t n, int64_t nbytes)
{
	int last = j->ndim - 1;
	if (n > 1 && (last < 0 || j->count[last] % n != 0))
		return false;
	for (int s = 0; s < j->nblocks; s++) {
		const strided_block *x = &j->blocks[s];
		if (x->at % nbytes != 0 || (n > 1 && x->step[last] != 1))
			return false;
		for (int d = 0; d < last; d++)
			if (x->step[d] % n != 0)
				return false;
	}
	return true;
}

static void use_units(job *j, int64_t n)
{
	int last = j->ndim - 1;
	if (n == 1)
		return;
	j->count[last] /= n;
	for (int s = 0; s < j->nblocks; s++)
		for (int d = 0; d < last; d++)
			j->blocks[s].step[d] /= n;
}

static int log2_of(int64_t n)
{
	int log = 0;
	while (n >> (log + 1))
		log++;
	return log;
}

/* Chooses the units of a job.  Copies use the largest possible ones, at most 16
 * bytes; reductions use 16 bytes or one element.  Returns the job's first word:
 * log2 of a unit's bytes for a copy, of its elements for a reduction. */
static int64_t choose_width(job *j, bool copies, int64_t size)
{
	int least = log2_of(size);
	for (int w = WIDEST; w > least; w--) {
		int64_t n = (int64_t)1 << (w - least);
		if ((!copies && w < WIDEST) ||
		    !has_units(j, n, (int64_t)1 << w))
			continue;
		use_units(j, n);
		return copies ? w : w - least;
	}
	return copies ? least : 0;
}

static group *group_of(pack_list *l, reducer r, dtype t)
{
	group g = { .reducer = r, .type = t };
	for (int i = 0; i < l->groups.n; i++) {
		group *old = &l->groups.at[i];
		if (old->reducer == r && (r == RED_NONE || old->type == t))
			return old;
	}
	vec_push(l->k->a, &l->groups, g);
	return &l->groups.at[l->groups.n - 1];
}

static void write_job(arena *a, group *g, const job *j, int64_t width,
		      int64_t unit);

/* Writes a job as two, halving the outermost dimension.  After simplify() no
 * dimension has extent 1. */
static void write_halves(arena *a, group *g, const job *j, int64_t width,
			 int64_t unit)
{
	arena *work = arena_new();
	job half = *j;
	int64_t n = j->count[0] / 2;
	half.count[0] = n;
	write_job(a, g, &half, width, unit);
	half.count[0] = j->count[0] - n;
	half.blocks = ARENA_COPY(work, j->blocks, j->nblocks);
	for (int s = 0; s < j->nblocks; s++)
		half.blocks[s].at += n * j->blocks[s].step[0] * unit;
	write_job(a, g, &half, width, unit);
	arena_free(work);
}

/* Writes a job.  Kernels count units in 32 bits, so a job with more units is
 * halved. */
static void write_job(arena *a, group *g, const job *j, int64_t width,
		      int64_t unit)
{
	int64_t n = 1;
	for (int d = 0; d < j->ndim; d++)
		n *= j->count[d];
	if (n > MOST_UNITS) {
		write_halves(a, g, j, width, unit);
		return;
	}
	vec_push(a, &g->first_tiles, g->ntiles);
	vec_push(a, &g->job_offsets, g->jobs.n);
	g->njobs++;
	g->ntiles += (n + TILE - 1) / TILE;
	vec_push(a, &g->jobs, width);
	vec_push(a, &g->jobs, j->ndim);
	vec_push(a, &g->jobs, n);
	vec_push(a, &g->jobs, j->nblocks - 1);
	for (int d = 0; d < j->ndim; d++)
		vec_push(a, &g->jobs, j->count[d]);
	for (int s = 0; s < j->nblocks; s++) {
		vec_push(a, &g->jobs, j->blocks[s].at);
		for (int d = 0; d < j->ndim; d++)
			vec_push(a, &g->jobs, j->blocks[s].step[d]);
	}
}

void pack_combine(pack_list *l, dtype t, reducer r, const box *at,
		  const pack_block *to, int nfrom, const pack_block *from)
{
	arena *work;
	int64_t size = (int64_t)dtype_size(t);
	job j = { .ndim = at->n, .nblocks = nfrom + 1 };
	if (box_is_empty(at))
		return;
	work = arena_new();
	j.blocks = ARENA_ARRAY(work, strided_block, j.nblocks);
	j.blocks[0] = strides_of(at, to, size);
	for (int i = 0; i < nfrom; i++)
		j.blocks[i + 1] = strides_of(at, &from[i], size);
	for (int d = 0; d < at->n; d++)
		j.count[d] = at->hi[d] - at->lo[d];
	if (nfrom == 1)
		r = RED_NONE;
	simplify(&j);
	int64_t width = choose_width(&j, r == RED_NONE, size);
	write_job(l->k->a, group_of(l, r, t), &j, width,
		  r == RED_NONE ? (int64_t)1 << width : size << width);
	arena_free(work);
}

void pack_zeros(pack_list *l, dtype t, const box *at, const pack_block *to)
{
	pack_combine(l, t, RED_NONE, at, to, 0, NULL);
}

void pack_copy(pack_list *l, dtype t, const box *at, const pack_block *to,
	       const pack_block *from)
{
	pack_combine(l, t, RED_NONE, at, to, 1, from);
}

void pack_strided(pack_list *l, dtype t, int ndim, const int64_t *count,
		  CUdeviceptr to, const int64_t *to_step, CUdeviceptr from,
		  const int64_t *from_step)
{
	int64_t size = (int64_t)dtype_size(t);
	strided_block blocks[] = { { .at = (int64_t)to },
				   { .at = (int64_t)from } };
	job j = { .ndim = ndim, .nblocks = 2, .blocks = blocks };
	for (int d = 0; d < ndim; d++) {
		j.count[d] = count[d];
		blocks[0].step[d] = to_step[d];
		blocks[1].step[d] = from_step[d];
	}
	simplify(&j);
	int64_t width = choose_width(&j, true, size);
	write_job(l->k->a, group_of(l, RED_NONE, t), &j, width,
		  (int64_t)1 << width);
}

bool pack_is_empty(const pack_list *l)
{
	return l->groups.n == 0;
}

/* ---- running ----------------------------------------------------------- */

/* Writes the words of a group in the form that the kernel reads. */
static void write_group(arena *a, const group *g, words *to)
{
	int64_t jobs = 2 * (int64_t)g->njobs + 1;
	for (int i = 0; i < g->njobs; i++)
		vec_push(a, to, g->first_tiles.at[i]);
	vec_push(a, to, g->ntiles);
	for (int i = 0; i < g->njobs; i++)
		vec_push(a, to, jobs + g->job_offsets.at[i]);
	for (int i = 0; i < g->jobs.n; i++)
		vec_push(a, to, g->jobs.at[i]);
}

static bool upload(packer *k, int gpu, failure *f)
{
	const cuda_api *api = &k->c->api;
	arena *work = arena_new();
	words all = { 0 };
	for (int i = 0; i < k->lists.n; i++) {
		pack_list *l = k->lists.at[i];
		for (int g = 0; l->gpu == gpu && g < l->groups.n; g++) {
			l->groups.at[g].list = (CUdeviceptr)all.n *
					       sizeof(int64_t);
			write_group(work, &l->groups.at[g], &all);
		}
	}
	size_t n = (size_t)all.n * sizeof(int64_t);
	CUdeviceptr *memory = &k->memory[gpu];
	bool good = n == 0 ||
		    (cuda_enter(k->c, gpu, f) &&
		     CUDA_CALL(api, f, cuMemAlloc, memory, n) &&
		     CUDA_CALL(api, f, cuMemcpyHtoDAsync, *memory, all.at, n,
			       k->c->gpus[gpu].compute) &&
		     CUDA_CALL(api, f, cuStreamSynchronize,
			       k->c->gpus[gpu].compute));
	for (int i = 0; i < k->lists.n; i++) {
		pack_list *l = k->lists.at[i];
		for (int g = 0; l->gpu == gpu && g < l->groups.n; g++)
			l->groups.at[g].list += *memory;
	}
	arena_free(work);
	return good;
}

bool pack_upload(packer *k, failure *f)
{
	for (int gpu = 0; gpu < k->c->ngpus; gpu++)
		if (!upload(k, gpu, f))
			return false;
	return true;
}

static CUfunction kernel_of(const packer *k, const group *g, int gpu)
{
	for (int i = 0; i < k->combiners.n; i++) {
		const combiner *x = &k->combiners.at[i];
		if (x->reducer == g->reducer && x->type == g->type)
			return x->on[gpu];
	}
	return k->copy[gpu];
}

bool pack_run(packer *k, const pack_list *l, CUstream s, failure *f)
{
	for (int i = 0; i < l->groups.n; i++) {
		group *g = &l->groups.at[i];
		unsigned int blocks = g->ntiles < MOST_BLOCKS
					      ? (unsigned int)g->ntiles
					      : MOST_BLOCKS;
		void *args[] = { &g->list, &g->njobs };
		if (!CUDA_CALL(&k->c->api, f, cuLaunchKernel,
			       kernel_of(k, g, l->gpu), blocks, 1, 1, THREADS,
			       1, 1, 0, s, args, NULL))
			return false;
	}
	return true;
}

bool pack_reached(packer *k, int gpu, CUdeviceptr at, int instr, CUstream s,
		  failure *f)
{
	void *args[] = { &at, &instr };
	return CUDA_CALL(&k->c->api, f, cuLaunchKernel, k->reached[gpu], 1, 1,
			 1, 1, 1, 1, 0, s, args, NULL);
}
