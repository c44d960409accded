/* Finds a library of NVIDIA's, or the GPUs:
 *
 *	probe cuda|nvrtc|cublasLt|cudnn|nccl
 *
 * prints JSON: the library's version and file, and for cuda, which is the
 * driver, the visible GPUs.  Status 77, and a line, where it is not installed.
 * It shares no code with tdlrun, whose output is compared with it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { SKIPPED = 77, MAJOR = 75, MINOR = 76, PROCESSORS = 16 };

static void *library;

static void *find(const char *name)
{
	return dlsym(library, name);
}

/* ---- versions ------------------------------------------------------------ */

static long of_int_pointer(const char *name)
{
	int (*f)(int *) = (int (*)(int *))find(name), version = -1;
	return f && f(&version) == 0 ? version : -1;
}

static long of_size(const char *name)
{
	size_t (*f)(void) = (size_t (*)(void))find(name);
	return f ? (long)f() : -1;
}

static long of_nvrtc(const char *name)
{
	int (*f)(int *, int *) = (int (*)(int *, int *))find(name);
	int major, minor;
	return f && f(&major, &minor) == 0 ? 1000L * major + 10L * minor : -1;
}

typedef struct kind {
	const char *name, *files[3];
	long (*version)(const char *function);
	const char *function;
} kind;

static const kind kinds[] = {
	{"cuda", {"libcuda.so.1"}, of_int_pointer, "cuDriverGetVersion"},
	{"nvrtc", {"libnvrtc.so.13", "libnvrtc.so.12"}, of_nvrtc,
	 "nvrtcVersion"},
	{"cublasLt", {"libcublasLt.so.13", "libcublasLt.so.12"}, of_size,
	 "cublasLtGetVersion"},
	{"cudnn", {"libcudnn.so.9"}, of_size, "cudnnGetVersion"},
	{"nccl", {"libnccl.so.2"}, of_int_pointer, "ncclGetVersion"},
};

/* ---- GPUs ---------------------------------------------------------------- */

static int attribute(int what, int device)
{
	int (*f)(int *, int, int) =
		(int (*)(int *, int, int))find("cuDeviceGetAttribute");
	int value = -1;
	return f && f(&value, what, device) == 0 ? value : -1;
}

static int print_gpus(void)
{
	int (*init)(unsigned) = (int (*)(unsigned))find("cuInit");
	int (*count)(int *) = (int (*)(int *))find("cuDeviceGetCount");
	int (*name)(char *, int, int) =
		(int (*)(char *, int, int))find("cuDeviceGetName");
	int (*total)(size_t *, int) =
		(int (*)(size_t *, int))find("cuDeviceTotalMem_v2");
	int n = 0, status = init ? init(0) : -1;
	if (status != 0 || !count || count(&n) != 0 || n < 1) {
		printf("SKIP: there is no GPU: cuInit gives %d\n", status);
		return SKIPPED;
	}
	printf("{\"gpus\": [");
	for (int i = 0; i < n; i++) {
		char text[200] = "";
		size_t nbytes = 0;
		if (name)
			name(text, (int)sizeof(text), i);
		if (total)
			total(&nbytes, i);
		printf("%s{\"name\": \"%s\", \"arch\": %d, "
		       "\"multiprocessors\": %d, \"memory_bytes\": %zu}",
		       i ? ", " : "", text,
		       10 * attribute(MAJOR, i) + attribute(MINOR, i),
		       attribute(PROCESSORS, i), nbytes);
	}
	printf("], ");
	return 0;
}

static int probe(const kind *k)
{
	Dl_info where = {0};
	int status = 0;
	for (int i = 0; i < 3 && k->files[i] && !library; i++)
		library = dlopen(k->files[i], RTLD_NOW);
	if (!library) {
		printf("SKIP: there is no library %s: %s\n", k->files[0],
		       dlerror());
		return SKIPPED;
	}
	if (!strcmp(k->name, "cuda"))
		status = print_gpus();
	else
		printf("{");
	if (status)
		return status;
	dladdr(find(k->function), &where);
	printf("\"version\": %ld, \"file\": \"%s\"}\n",
	       k->version(k->function),
	       where.dli_fname ? where.dli_fname : "");
	return 0;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, argv[1]))
			return probe(&kinds[i]);
	fprintf(stderr, "usage: probe cuda|nvrtc|cublasLt|cudnn|nccl\n");
	return 2;
}
