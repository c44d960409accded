/* Compiles the kernels of all operators and of plans with NVRTC, which needs no
 * GPU:
 *
 *	nvrtc INCLUDE OPDEFS PLAN...
 *
 * Some of those of the plans are compiled for all of the architectures, the
 * others for one of them each; CHECK_ALL=yes compiles all for all.  Every
 * message of the compiler is an error, and so are more registers that are kept
 * in memory than a few.  A table says what the kernels take.  $TDL_NVRTC is the
 * library, which is found by the loader otherwise; without one the exit status
 * is 77. */
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

enum {
	PER_PROGRAM = 64, /* kernels */
	SHAPES = 1,	  /* of each operator */
	SKIPPED = 77,
	FEW_BYTES = 64, /* of registers that are kept in memory */
	MAX_HEADER = 1 << 20,
};

static const char *const archs[] = {"sm_80", "sm_90", "sm_100"};
enum { NARCHS = 3 };

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

/* The resources of a multiprocessor that an architecture's kernels take. */
typedef struct taken {
	int nkernels;
	int within[4];	/* that use at most 32, 64, 128, 255 registers */
	int registers;	/* the most */
	int shared;	/* bytes, the most, of those that are declared */
	int stack;	/* kernels with arrays in memory of a thread */
	int spilled;	/* kernels whose registers did not quite suffice */
} taken;

static const int limits[4] = {32, 64, 128, 255};

enum { NHEADERS = 4 };

typedef struct builder {
	nvrtc rtc;
	taken taken[NARCHS];
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

/* The number in front of a word of a line; 0 where it has none. */
static int number_before(const char *line, const char *word)
{
	const char *at = strstr(line, word);
	while (at && at > line && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return at ? atoi(at) : 0;
}

static void count_registers(const char *line, taken *t)
{
	int n = number_before(line, " registers");
	int shared = number_before(line, " bytes smem");
	t->nkernels++;
	for (int i = 0; i < 4; i++)
		t->within[i] += n <= limits[i];
	if (n > t->registers)
		t->registers = n;
	if (shared > t->shared)
		t->shared = shared;
}

/* Whether a line is what the assembler always says, which is counted. */
static bool is_harmless(const char *line, taken *t)
{
	if (strstr(line, "bytes stack frame, ")) {
		int stores = number_before(line, " bytes spill stores");
		int loads = number_before(line, " bytes spill loads");
		t->stack += number_before(line, " bytes stack frame") > 0;
		t->spilled += stores + loads > 0;
		return stores <= FEW_BYTES && loads <= FEW_BYTES;
	}
	if (strstr(line, ": Used "))
		count_registers(line, t);
	return !*line || !strncmp(line, "ptxas", 5);
}

static bool check_log(arena *a, const builder *b, void *program, taken *t)
{
	size_t n;
	bool ok = true;
	b->rtc.log_size(program, &n);
	char *log = arena_alloc(a, n + 1), *save = NULL;
	const char *which = "";
	b->rtc.log(program, log);
	for (char *l = strtok_r(log, "\n", &save); l;
	     l = strtok_r(NULL, "\n", &save)) {
		if (strstr(l, "Function properties for"))
			which = l;
		if (is_harmless(l, t))
			continue;
		printf("%s\n%s\n", which, l);
		ok = false;
	}
	return ok;
}

static void compile(builder *b, arena *a, const char *text, int n)
{
	const char *arch = archs[n];
	/* Drawn attributes may make a constant 0, or a type unsigned. */
	const char *options[] = {
		arena_printf(a, "--gpu-architecture=%s", arch), "--std=c++17",
		"--fmad=false", "--ptxas-options=-v",
		"--diag-suppress=39,186",
	};
	void *program;
	double begin = now();
	if (b->rtc.create(&program, text, "kernels.cu", NHEADERS,
			  b->headers,
			  b->names)) {
		b->nfailed++;
		return;
	}
	bool ok = b->rtc.compile(program, 5, options) == 0;
	ok &= check_log(a, b, program, &b->taken[n]);
	if (!ok) {
		const char *keep = getenv("TDL_KEEP");
		FILE *f = keep ? fopen(keep, "w") : NULL;
		printf("for %s\n", arch);
		if (f) {
			fputs(text, f);
			fclose(f);
		}
	}
	b->nfailed += !ok;
	b->nprograms++;
	b->rtc.destroy(&program);
	b->seconds += now() - begin;
}

/* A number in the environment, that is not negative. */
static int setting(const char *name, int otherwise)
{
	const char *s = getenv(name);
	return s && *s ? abs(atoi(s)) : otherwise;
}

/* Programs of some of the kernels each, the first one for all architectures
 * where this is a sample of what they are used for.  Every SAMPLEth of them is
 * compiled, from number SAMPLE_FROM on. */
static void compile_all(builder *b, const kernel_list *all, bool is_sample)
{
	int every = setting("SAMPLE", 1), from = setting("SAMPLE_FROM", 0);
	const char *check = getenv("CHECK_ALL");
	bool each = check && !strcmp(check, "yes");
	for (int i = 0; i < all->n; i += PER_PROGRAM) {
		if (every > 1 && i / PER_PROGRAM % every != from % every)
			continue;
		arena *a = arena_new();
		char *text = arena_strdup(a, "#include \"tdl/cuda.h\"\n");
		for (int j = i; j < all->n && j < i + PER_PROGRAM; j++) {
			plan_launch launch;
			text = arena_printf(
				a, "%s%s%s", text,
				codegen_cuda_words(
					a, all->at[j],
					arena_printf(a, "tdl_kernel_%d", j),
					j % 4 ? 32 : 64),
				codegen_cuda(a, all->at[j], &launch));
			b->nkernels++;
		}
		for (int n = 0; n < NARCHS; n++)
			if (each || (is_sample && i == 0) ||
			    n == i / PER_PROGRAM % NARCHS)
				compile(b, a, text, n);
		arena_free(a);
	}
}

/* The kernels whose texts differ in more than their first line, which is a
 * comment. */
static kernel_list distinct(arena *a, const kernel_list *all, strmap *seen)
{
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

static void print_table(const builder *b)
{
	printf("| architecture | kernels | to 32 registers | 64 | 128 | 255 | "
	       "most | shared memory, most | with a stack | spilled |\n"
	       "|---|---|---|---|---|---|---|---|---|---|\n");
	for (int n = 0; n < NARCHS; n++) {
		const taken *t = &b->taken[n];
		printf("| `%s` | %d |", archs[n], t->nkernels);
		for (int i = 0; i < 4; i++)
			printf(" %d |", t->within[i]);
		printf(" %d | %d B | %d | %d |\n", t->registers, t->shared,
		       t->stack, t->spilled);
	}
}

int main(int argc, char **argv)
{
	arena *a = arena_new();
	builder b = {.nfailed = 0};
	kernel_list of_operators = {0}, of_plans = {0};
	int major, minor, nops;
	if (argc < 3)
		return 2;
	if (!open_nvrtc(&b.rtc)) {
		printf("SKIP: NVRTC is not here; TDL_NVRTC may name it\n");
		return SKIPPED;
	}
	if (!read_headers(a, argv[1], &b))
		return 1;
	nops = operators_list(a, argv[2], SHAPES, 1, &of_operators);
	for (int i = 3; i < argc; i++)
		if (!add_plan(a, argv[i], &of_plans))
			return 1;
	strmap *seen = strmap_new(a);
	of_operators = distinct(a, &of_operators, seen);
	of_plans = distinct(a, &of_plans, seen);
	compile_all(&b, &of_operators, false);
	compile_all(&b, &of_plans, true);
	b.rtc.version(&major, &minor);
	printf("NVRTC %d.%d: %d kernels, those of %d operators and %d plans, "
	       "in %d programs, %.0f s\n", major, minor, b.nkernels, nops,
	       argc - 3, b.nprograms, b.seconds);
	print_table(&b);
	arena_free(a);
	return nops <= 0 || b.nfailed > 0;
}
