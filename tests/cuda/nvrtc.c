/* Compiles the kernels of all operators and of plans with NVRTC, which needs no
 * GPU:
 *
 *	nvrtc INCLUDE OPDEFS PLAN...
 *
 * Some are compiled for all of the architectures, the others for one of them
 * each; CHECK_ALL=yes compiles all for all.  Those that --tf32 concerns are
 * compiled for it, too.  Every message of the compiler is an error, and so are
 * registers that are kept in memory.  A table says what the kernels take, and
 * $TDL_REPORT, a file, gets a line for each.  $TDL_NVRTC is the library, which
 * is found by the loader otherwise; without one the exit status is 77. */
#include "config.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/intern.h"
#include "compiler/codegen/codegen.h"
#include "tests/cuda/operators.h"
#include "tests/cuda/resources.h"

enum {
	PER_PROGRAM = 64, /* kernels */
	SHAPES = 1,	  /* of each operator */
	SKIPPED = 77,
	MAX_HEADER = 1 << 20,
};

/* ---- the library ------------------------------------------------------- */

/* As nvrtc.h declares them, which need not be here. */
typedef struct nvrtc {
	int (*create)(void **program, const char *text, const char *name,
		      int nheaders, const char *const *headers,
		      const char *const *names);
	int (*compile)(void *program, int noptions, const char *const *options);
	int (*log_size)(void *program, size_t *n);
	int (*log)(void *program, char *to);
	int (*destroy)(void **program);
	int (*version)(int *major, int *minor);
} nvrtc;

static void *open_library(void)
{
	static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12",
					    "libnvrtc.so"};
	const char *given = getenv("TDL_NVRTC");
	void *library = NULL;
	if (given)
		return dlopen(given, RTLD_NOW);
	for (int i = 0; i < 3 && !library; i++)
		library = dlopen(names[i], RTLD_NOW);
	return library;
}

static bool find(void *library, const char *name, void *to)
{
	*(void **)to = dlsym(library, name);
	return *(void **)to != NULL;
}

static bool open_nvrtc(nvrtc *n)
{
	void *l = open_library();
	return l && find(l, "nvrtcCreateProgram", &n->create) &&
	       find(l, "nvrtcCompileProgram", &n->compile) &&
	       find(l, "nvrtcGetProgramLogSize", &n->log_size) &&
	       find(l, "nvrtcGetProgramLog", &n->log) &&
	       find(l, "nvrtcDestroyProgram", &n->destroy) &&
	       find(l, "nvrtcVersion", &n->version);
}

/* ---- compiling --------------------------------------------------------- */

enum { NHEADERS = 4 };

typedef struct builder {
	nvrtc rtc;
	resources taken;
	const char *names[NHEADERS], *headers[NHEADERS];
	int nkernels, nprograms, nfailed;
	double seconds;
} builder;

static bool read_headers(arena *a, const char *include, builder *b)
{
	static const char *const names[] = {"tdl/cuda.h", "tdl/functions.h",
					    "tdl/scalar.h",
					    "tdl/tensor_cores.h"};
	diag_sink *s = diag_sink_new(a);
	for (int i = 0; i < NHEADERS; i++) {
		size_t len;
		b->names[i] = names[i];
		b->headers[i] = file_read(
			a, s, arena_printf(a, "%s/%s", include, names[i]),
			MAX_HEADER, &len);
		if (!b->headers[i])
			return false;
	}
	return true;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The kernels of a program. */
typedef struct program {
	const char *text;
	compiled kernels[PER_PROGRAM];
	int n;
	bool tf32;
} program;

static char *log_of(const builder *b, arena *a, void *made)
{
	size_t n;
	b->rtc.log_size(made, &n);
	char *log = arena_alloc(a, n + 1);
	b->rtc.log(made, log);
	return log;
}

/* Leaves a program's text where $TDL_KEEP says. */
static void keep(const program *p)
{
	const char *path = getenv("TDL_KEEP");
	FILE *f = path ? fopen(path, "w") : NULL;
	if (f) {
		fputs(p->text, f);
		fclose(f);
	}
}

static void compile(builder *b, arena *a, const program *p, int arch)
{
	/* Drawn attributes may make a constant 0, or a type unsigned. */
	const char *options[] = {
		arena_printf(a, "--gpu-architecture=%s", archs[arch]),
		"--std=c++17",
		"--fmad=false",
		"--ptxas-options=-v",
		"--diag-suppress=39,186",
		p->tf32 ? "-DTDL_TF32=1" : "-DTDL_TF32=0",
	};
	void *made;
	double begin = now();
	b->nprograms++;
	if (b->rtc.create(&made, p->text, "kernels.cu", NHEADERS, b->headers,
			  b->names)) {
		b->nfailed++;
		return;
	}
	bool ok = b->rtc.compile(made, 6, options) == 0;
	ok &= resources_add(&b->taken, log_of(b, a, made), p->kernels, p->n,
			    arch);
	if (!ok)
		keep(p);
	b->nfailed += !ok;
	b->rtc.destroy(&made);
	b->seconds += now() - begin;
}

/* A number in the environment, that is not negative. */
static int setting(const char *name, int otherwise)
{
	const char *s = getenv(name);
	return s && *s ? abs(atoi(s)) : otherwise;
}

/* Adds a kernel to a program; indices have 32 bits, of every fourth 64. */
static void add_kernel(builder *b, arena *a, program *p, const kernel *k)
{
	plan_launch launch;
	const char *text = codegen_cuda(a, k, &launch);
	const char *name = arena_printf(a, "tdl_kernel_%d", p->n);
	const char *words = codegen_cuda_words(a, k, name, p->n % 4 ? 32 : 64);
	kernel_class class = class_of(k, text, p->tf32);
	p->text = arena_printf(a, "%s%s%s", p->text, words, text);
	p->kernels[p->n++] = (compiled){k, class};
	b->taken.nkernels[class]++;
	b->nkernels++;
}

/* Programs of `per_program' kernels each; the first one is compiled for all
 * architectures, the others for one of them each, or for all where CHECK_ALL is
 * yes.  Every SAMPLEth of them is compiled, from number SAMPLE_FROM on. */
static void compile_all(builder *b, const kernel_list *all, int per_program,
			bool tf32)
{
	int every = setting("SAMPLE", 1), from = setting("SAMPLE_FROM", 0);
	const char *check = getenv("CHECK_ALL");
	bool each = check && !strcmp(check, "yes");
	for (int i = 0; i < all->n; i += per_program) {
		int number = i / per_program;
		if (every > 1 && number % every != from % every)
			continue;
		arena *a = arena_new();
		program *p = ARENA_NEW(a, program);
		p->text = "#include \"tdl/cuda.h\"\n";
		p->tf32 = tf32;
		for (int j = i; j < all->n && j < i + per_program; j++)
			add_kernel(b, a, p, all->at[j]);
		for (int n = 0; n < NARCHS; n++)
			if (each || i == 0 || n == number % NARCHS)
				compile(b, a, p, n);
		arena_free(a);
	}
}

/* Those to which it makes a difference how factors of f32 may be rounded. */
static kernel_list tf32_of(arena *a, const kernel_list *all)
{
	kernel_list some = {0};
	for (int i = 0; i < all->n; i++) {
		plan_launch launch;
		if (may_be_tf32(codegen_cuda(a, all->at[i], &launch)))
			vec_push(a, &some, all->at[i]);
	}
	return some;
}

/* The kernels whose texts differ in more than their first line, which is a
 * comment. */
static kernel_list distinct(arena *a, const kernel_list *all)
{
	strmap *seen = strmap_new(a);
	kernel_list some = {0};
	for (int i = 0; i < all->n; i++) {
		plan_launch launch;
		const char *text = strchr(codegen_cuda(a, all->at[i], &launch),
					  '\n');
		if (strmap_get(seen, text))
			continue;
		strmap_put(seen, text, seen);
		vec_push(a, &some, all->at[i]);
	}
	return some;
}

static bool add_plan(arena *a, const char *path, kernel_list *to)
{
	diag_sink *s = diag_sink_new(a);
	plan *p = plan_read(a, s, path);
	for (int i = 0; p && i < p->nkernels; i++) {
		const kernel *k = p->kernels[i].kernel;
		bool known = !k->body;
		for (int j = 0; j < to->n && !known; j++)
			known = kernel_equal(to->at[j], k);
		if (!known)
			vec_push(a, to, k);
	}
	if (!p)
		diag_print(s, stderr, false);
	return p != NULL;
}

/* The kernels of operators and plans whose texts differ. */
static bool list_kernels(arena *a, const char *opdefs, char **plans, int nplans,
			 int *nops, kernel_list *all)
{
	kernel_list some = {0};
	*nops = operators_list(a, opdefs, SHAPES, 1, &some);
	for (int i = 0; i < nplans; i++)
		if (!add_plan(a, plans[i], &some))
			return false;
	*all = distinct(a, &some);
	return *nops > 0;
}

int main(int argc, char **argv)
{
	arena *a = arena_new();
	builder b = {.nfailed = 0};
	kernel_list all = {0};
	const char *report = getenv("TDL_REPORT");
	int major, minor, nops;
	if (argc < 3)
		return 2;
	if (!open_nvrtc(&b.rtc)) {
		printf("SKIP: NVRTC is not here; TDL_NVRTC may name it\n");
		return SKIPPED;
	}
	if (!read_headers(a, argv[1], &b) ||
	    !list_kernels(a, argv[2], argv + 3, argc - 3, &nops, &all))
		return 1;
	b.taken.report = report ? fopen(report, "w") : NULL;
	kernel_list short_factors = tf32_of(a, &all);
	compile_all(&b, &all, PER_PROGRAM, false);
	compile_all(&b, &short_factors, PER_PROGRAM / 4, true);
	b.rtc.version(&major, &minor);
	printf("NVRTC %d.%d: %d kernels, those of %d operators and %d plans, "
	       "in %d programs, %.0f s\n", major, minor, b.nkernels, nops,
	       argc - 3, b.nprograms, b.seconds);
	resources_print(&b.taken);
	if (b.taken.report)
		fclose(b.taken.report);
	arena_free(a);
	return b.nfailed > 0;
}
