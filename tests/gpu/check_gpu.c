/* Kernels in CUDA, check_kernel.h: on a GPU.  Each run has its operands at
 * places of its own in the GPU's memory, poison around the result, and a grid
 * by chance. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/codegen/codegen.h"
#include "runtime/cuda/module.h"
#include "tests/cuda/binding.h"
#include "tests/unit/check_kernel.h"

enum { TEXT_KERNELS = 24, POISON = 0xcb, MARGIN = 256, MOST = 1 << 26 };

struct built {
	cuda c;
	const kernels *all;
	plan_launch *launch;
	int nmodules;
	cuda_module *modules;
	CUdeviceptr memory; /* MOST bytes */
	char *host;	    /* as many */
	int64_t used;
};

static failure why;

/* A call that has to work. */
#define DO(b, function, ...)                                                 \
	ck_assert_msg(CUDA_CALL(&(b)->c.api, &why, function, __VA_ARGS__),   \
		      "%s", why.text)

/* ---- building ---------------------------------------------------------- */

static const char *name_of(int i)
{
	return arena_printf(mem, "tdl_kernel_%d", i);
}

static const char *text_of(built *b, int first)
{
	const char *text = "#include \"tdl/cuda.h\"\n";
	int end = first + TEXT_KERNELS;
	for (int i = first; i < end && i < b->all->n; i++) {
		const kernel *k = b->all->at[i];
		/* Every other one has indices of 32 bits. */
		text = arena_printf(mem, "%s%s%s", text,
				    codegen_cuda_words(mem, k, name_of(i),
						       i % 2 ? 32 : 64),
				    codegen_cuda(mem, k, &b->launch[i]));
	}
	return text;
}

built *built_open(const kernels *all)
{
	built *b = ARENA_NEW(mem, built);
	*b = (built){ .c = { .a = mem, .nworkers = 1 }, .all = all };
	b->launch = ARENA_ARRAY(mem, plan_launch, all->n);
	b->nmodules = (all->n + TEXT_KERNELS - 1) / TEXT_KERNELS;
	b->modules = ARENA_ARRAY(mem, cuda_module, b->nmodules);
	const char **texts = ARENA_ARRAY(mem, const char *, b->nmodules);
	for (int i = 0; i < b->nmodules; i++)
		texts[i] = text_of(b, i * TEXT_KERNELS);
	ck_assert_msg(cuda_gpus_open(&b->c, 0, &why) &&
		      cuda_modules_load(&b->c, b->nmodules, texts,
					"the kernels", b->modules, &why) &&
		      cuda_enter(&b->c, 0, &why), "%s", why.text);
	b->host = calloc(1, MOST);
	ck_assert_ptr_nonnull(b->host);
	DO(b, cuMemAlloc, &b->memory, MOST);
	return b;
}

bool built_keeps(void)
{
	return false;
}

int built_products(void)
{
	return 256;
}

void built_close(built *b)
{
	DO(b, cuMemFree, b->memory);
	for (int i = 0; i < b->nmodules; i++)
		cuda_module_unload(&b->c, &b->modules[i]);
	cuda_gpus_close(&b->c);
	free(b->host);
}

const char *built_text(const kernel *k)
{
	plan_launch launch;
	return codegen_cuda(mem, k, &launch);
}

/* ---- running ----------------------------------------------------------- */

/* A place for n elements, aligned for one or for many; its poison lasts on both
 * sides. */
static int64_t take(built *b, int64_t n, int64_t size)
{
	int64_t at = b->used + MARGIN + pick(0, 2) * pick(0, 16) * size;
	b->used = (at + n * size + 2 * MARGIN - 1) / MARGIN * MARGIN;
	ck_assert_int_le(b->used, MOST);
	return at;
}

static tdl_block place(const built *b, const tdl_block *host, int64_t at)
{
	tdl_block on = *host;
	on.data = (void *)(uintptr_t)(b->memory + (CUdeviceptr)at);
	return on;
}

static void up(built *b, CUstream s)
{
	DO(b, cuMemcpyHtoDAsync, b->memory, b->host, (size_t)b->used, s);
}

static void down(built *b, CUstream s)
{
	DO(b, cuMemcpyDtoHAsync, b->host, b->memory, (size_t)b->used, s);
	DO(b, cuStreamSynchronize, s);
}

/* Everything but the result is as it was; `before` is what there was. */
static void check_rest(const built *b, const char *before, int64_t at,
		       int64_t nbytes, const kernel *k)
{
	ck_assert_msg(!memcmp(before, b->host, (size_t)at) &&
		      !memcmp(before + at + nbytes, b->host + at + nbytes,
			      (size_t)(b->used - at - nbytes)),
		      "%s writes elsewhere:\n%s", k->name, built_text(k));
}

static void launch_kernel(built *b, int i, const box *space,
			  const tdl_args *on, CUdeviceptr fault, CUstream s)
{
	const plan_kernel pk = { .kernel = b->all->at[i],
				 .launch = b->launch[i] };
	int64_t items = plan_launch_items(&pk, space);
	int64_t w[BINDING_WORDS];
	void *params[] = { w };
	if (items == 0)
		return;
	CUfunction f = cuda_function(&b->c, &b->modules[i / TEXT_KERNELS], 0,
				     name_of(i), &why);
	ck_assert_msg(f != NULL, "%s", why.text);
	binding_words(pk.kernel, on, (tdl_fault *)(uintptr_t)fault, w);
	DO(b, cuLaunchKernel, f,
	   (unsigned)pick(1, items < 1000 ? items + 2 : 1000), 1, 1,
	   (unsigned)pk.launch.threads, 1, 1, (unsigned)pk.launch.shared, s,
	   params, NULL);
}

int built_run(built *b, int i, tdl_args *args)
{
	const kernel *k = b->all->at[i];
	CUstream s = b->c.gpus[0].compute;
	box space = { .n = k->nvars }, needs[MAX_NINPUTS], out;
	tdl_block in[MAX_NINPUTS];
	tdl_args on = *args;
	int64_t size = (int64_t)dtype_size(k->type), at;
	memcpy(space.lo, args->lo, sizeof(space.lo));
	memcpy(space.hi, args->hi, sizeof(space.hi));
	kernel_needs(k, &space, needs);
	out = kernel_produces(k, &space);
	memset(b->host, POISON, (size_t)(b->used > 0 ? b->used : MOST));
	b->used = 0;
	/* The fault comes first, at 0. */
	take(b, 1, sizeof(tdl_fault));
	memset(b->host, 0, sizeof(tdl_fault));
	for (int n = 0; n < k->ninputs; n++) {
		int64_t each = (int64_t)dtype_size(k->inputs[n].type);
		at = take(b, box_volume(&needs[n]), each);
		memcpy(b->host + at, args->in[n].data,
		       (size_t)(box_volume(&needs[n]) * each));
		in[n] = place(b, &args->in[n], at);
	}
	at = take(b, box_volume(&out), size);
	on.in = in;
	on.out = place(b, &args->out, at);
	up(b, s);
	launch_kernel(b, i, &space, &on, b->memory, s);
	char *before = malloc((size_t)b->used);
	ck_assert_ptr_nonnull(before);
	memcpy(before, b->host, (size_t)b->used);
	down(b, s);
	int32_t found;
	memcpy(&found, b->host, sizeof(found));
	memcpy(before, b->host, sizeof(tdl_fault));
	check_rest(b, before, at, box_volume(&out) * size, k);
	memcpy(args->out.data, b->host + at,
	       (size_t)(box_volume(&out) * size));
	free(before);
	return found ? TDL_INDEX_OUTSIDE : 0;
}
