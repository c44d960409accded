/* Modules and kernels of the fake driver: an image is a library for the host,
 * which the fake NVRTC made of a text with emulate.sh. */
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "queue.h"

typedef struct emu_kernel { /* as in ../emulate.c */
	const char *name;
	int nparams;
	const size_t *sizes;
	void (*call)(void **params);
} emu_kernel;

typedef const char *emu_launch(const emu_kernel *k, const unsigned grid[3],
			       const unsigned block[3], size_t shared,
			       void **params);

struct CUfunc_st {
	const emu_kernel *kernel;
	CUmodule module;
	size_t most_shared;
	struct CUfunc_st *next;
};

struct CUmod_st {
	void *library;
	int device;
	const emu_kernel *kernels;
	emu_launch *launch;
	CUfunction functions;
};

enum {
	/* Static shared memory, which nobody here has much of, counts as none:
	 * how much a kernel has is not known. */
	DYNAMIC_SHARED = 48 << 10,
	OPT_IN_SHARED = 227 << 10,
};

/* ---- images -------------------------------------------------------------- */

/* An ELF file's section headers are its end. */
static size_t image_size(const unsigned char *image)
{
	Elf64_Ehdr h;
	memcpy(&h, image, sizeof h);
	return h.e_shoff + (size_t)h.e_shnum * h.e_shentsize;
}

/* The fake PTX: the hexadecimal digits after the first line. */
static unsigned char *image_of_text(const char *text)
{
	const char *digits = strchr(text, '\n');
	if (strncmp(text, "// fake PTX", 11) || !digits)
		return NULL;
	unsigned char *image =
		malloc(strlen(++digits) / 2 + sizeof(Elf64_Ehdr));
	if (!image)
		abort();
	unsigned byte;
	for (int i = 0; sscanf(digits, "%2x", &byte) == 1; i++, digits += 2)
		image[i] = (unsigned char)byte;
	return image;
}

/* Under a name that no other had: dlopen() knows libraries by that. */
static void *open_image(const unsigned char *image)
{
	char path[] = "/tmp/fake-cuda.XXXXXX";
	const int file = mkstemp(path);
	const size_t n = image_size(image);
	if (file < 0)
		return NULL;
	void *library = NULL;
	if (write(file, image, n) == (ssize_t)n)
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		note("%s", dlerror());
	close(file);
	unlink(path);
	return library;
}

static CUresult load(CUmodule *module, void *library, bool is_text)
{
	const emu_kernel *(*kernels)(void) = NULL;
	emu_launch *launch = NULL;
	const int *arch = NULL;
	*(void **)&kernels = dlsym(library, "emu_kernels");
	*(void **)&launch = dlsym(library, "emu_launch");
	arch = dlsym(library, "emu_arch");
	if (!kernels || !launch || !arch)
		return CUDA_ERROR_INVALID_IMAGE;
	/* Code runs on its generation, text on what is newer. */
	if (*arch > device_arch() ||
	    (!is_text && *arch / 10 != device_arch() / 10))
		return CUDA_ERROR_NO_BINARY_FOR_GPU;
	*module = calloc(1, sizeof **module);
	if (!*module)
		abort();
	**module = (struct CUmod_st){.library = library,
				     .device = current()->device,
				     .kernels = kernels(),
				     .launch = launch};
	return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	ENTER(NEEDS_CONTEXT);
	const CUresult refused = refuse_in_capture();
	if (refused)
		return leave(refused);
	unsigned char *of_text = NULL;
	if (memcmp(image, ELFMAG, SELFMAG))
		of_text = image_of_text(image);
	if (!of_text && memcmp(image, ELFMAG, SELFMAG))
		return leave(CUDA_ERROR_INVALID_IMAGE);
	void *library = open_image(of_text ? of_text : image);
	const bool is_text = of_text;
	free(of_text);
	if (!library)
		return leave(CUDA_ERROR_INVALID_IMAGE);
	const CUresult result = load(module, library, is_text);
	if (result)
		dlclose(library);
	return leave(result);
}

FAKE_EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image,
					unsigned n, CUjit_option *options,
					void **values)
{
	(void)options;
	(void)values;
	return n > 0 ? CUDA_ERROR_NOT_SUPPORTED
		     : cuModuleLoadData(module, image);
}

FAKE_EXPORT CUresult cuModuleUnload(CUmodule module)
{
	ENTER(NEEDS_CONTEXT);
	if (!module)
		return leave(CUDA_ERROR_INVALID_HANDLE);
	const CUresult result = finish_device(module->device);
	while (module->functions) {
		CUfunction f = module->functions;
		module->functions = f->next;
		free(f);
	}
	dlclose(module->library);
	free(module);
	return leave(result);
}

FAKE_EXPORT CUresult cuModuleGetFunction(CUfunction *f, CUmodule module,
					 const char *name)
{
	ENTER(NEEDS_CONTEXT);
	if (!module || module->device != current()->device)
		return leave(CUDA_ERROR_INVALID_HANDLE);
	const emu_kernel *k = module->kernels;
	while (k->name && strcmp(k->name, name))
		k++;
	if (!k->name)
		return leave(CUDA_ERROR_NOT_FOUND);
	*f = calloc(1, sizeof **f);
	if (!*f)
		abort();
	**f = (struct CUfunc_st){k, module,
				 DYNAMIC_SHARED, module->functions};
	module->functions = *f;
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuFuncGetAttribute(int *value, CUfunction_attribute a,
					CUfunction f)
{
	ENTER(NEEDS_CONTEXT);
	if (!f)
		return leave(CUDA_ERROR_INVALID_HANDLE);
	switch ((int)a) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = 1024; break;
	case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
	case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
	case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = 0; break;
	case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = 32; break;
	case CU_FUNC_ATTRIBUTE_PTX_VERSION:
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = device_arch(); break;
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		*value = (int)f->most_shared;
		break;
	default: return leave(CUDA_ERROR_INVALID_VALUE);
	}
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute a,
					int value)
{
	ENTER(NEEDS_CONTEXT);
	if (!f)
		return leave(CUDA_ERROR_INVALID_HANDLE);
	if (a != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
	    value > OPT_IN_SHARED)
		return leave(CUDA_ERROR_INVALID_VALUE);
	f->most_shared = (size_t)value;
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(
	int *blocks, CUfunction f, int block_size, size_t shared)
{
	ENTER(NEEDS_CONTEXT);
	if (!f)
		return leave(CUDA_ERROR_INVALID_HANDLE);
	if (block_size < 1 || block_size > 1024)
		return leave(CUDA_ERROR_INVALID_VALUE);
	*blocks = 2048 / block_size;
	if (shared > 0 && OPT_IN_SHARED / shared < (size_t)*blocks)
		*blocks = (int)(OPT_IN_SHARED / shared);
	return leave(CUDA_SUCCESS);
}

/* ---- launches ------------------------------------------------------------ */

typedef struct launch {
	CUfunction f;
	unsigned grid[3], block[3];
	size_t shared;
	void *params[]; /* followed by what they point to */
} launch;

static CUresult step_kernel(void *arg, bool first)
{
	launch *l = arg;
	(void)first;
	const char *wrong = l->f->module->launch(l->f->kernel, l->grid,
						 l->block, l->shared,
						 l->params);
	if (!wrong)
		return CUDA_SUCCESS;
	fprintf(stderr, "fake GPU: %s: %s\n", l->f->kernel->name, wrong);
	return strstr(wrong, "misaligned") ? CUDA_ERROR_MISALIGNED_ADDRESS
	       : strstr(wrong, "illegal")  ? CUDA_ERROR_ILLEGAL_ADDRESS
					   : CUDA_ERROR_LAUNCH_FAILED;
}

/* Copies the parameters, which the call's memory need not outlive. */
static launch *new_launch(CUfunction f, void **params)
{
	const emu_kernel *k = f->kernel;
	const size_t n = (size_t)k->nparams;
	size_t bytes = 0;
	for (size_t i = 0; i < n; i++)
		bytes += (k->sizes[i] + 15) & ~(size_t)15;
	const size_t head =
		(sizeof(launch) + n * sizeof(void *) + 15) & ~(size_t)15;
	launch *l = calloc(1, head + bytes);
	if (!l)
		abort();
	l->f = f;
	char *at = (char *)l + head;
	for (size_t i = 0; i < n; i++) {
		l->params[i] = memcpy(at, params[i], k->sizes[i]);
		at += (k->sizes[i] + 15) & ~(size_t)15;
	}
	return l;
}

static bool is_grid(const unsigned g[3])
{
	return g[0] > 0 && g[1] > 0 && g[2] > 0 && g[0] <= 0x7fffffff &&
	       g[1] <= 65535 && g[2] <= 65535;
}

static bool is_block(const unsigned b[3])
{
	return b[0] > 0 && b[1] > 0 && b[2] > 0 && b[0] <= 1024 &&
	       b[1] <= 1024 && b[2] <= 64 &&
	       (size_t)b[0] * b[1] * b[2] <= 1024;
}

FAKE_EXPORT CUresult cuLaunchKernel(CUfunction f, unsigned grid_x,
				    unsigned grid_y, unsigned grid_z,
				    unsigned block_x, unsigned block_y,
				    unsigned block_z, unsigned shared,
				    CUstream s, void **params, void **extra)
{
	ENTER(NEEDS_CONTEXT);
	const unsigned grid[3] = {grid_x, grid_y, grid_z};
	const unsigned block[3] = {block_x, block_y, block_z};
	if (!f || f->module->device != current()->device ||
	    stream_device(s) != f->module->device)
		return leave(CUDA_ERROR_INVALID_HANDLE);
	if (extra) /* parameters in one piece: nobody here does that */
		return leave(CUDA_ERROR_NOT_SUPPORTED);
	if (!is_grid(grid) || !is_block(block) || shared > f->most_shared ||
	    (!params && f->kernel->nparams > 0))
		return leave(CUDA_ERROR_INVALID_VALUE);
	launch *l = new_launch(f, params);
	memcpy(l->grid, grid, sizeof grid);
	memcpy(l->block, block, sizeof block);
	l->shared = shared;
	const fake_work w = {.what = f->kernel->name,
			     .step = step_kernel,
			     .release = free,
			     .arg = l,
			     .of_kernel = true};
	return leave(enqueue(s, &w));
}

typedef struct call {
	CUhostFn f;
	void *data;
} call;

static CUresult step_call(void *arg, bool first)
{
	const call *c = arg;
	(void)first;
	c->f(c->data);
	return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuLaunchHostFunc(CUstream s, CUhostFn f, void *data)
{
	ENTER(NEEDS_CONTEXT);
	if (!f)
		return leave(CUDA_ERROR_INVALID_VALUE);
	call *c = malloc(sizeof *c);
	if (!c)
		abort();
	*c = (call){f, data};
	const fake_work w = {.what = "a host function",
			     .step = step_call,
			     .release = free,
			     .arg = c,
			     .of_host = true};
	return leave(enqueue(s, &w));
}
