#include "config.h"

#include "runtime/cpu/build.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/jobs.h"
#include "base/memory.h"
#include "base/vec.h"
#include "runtime/cpu/chunks.h"
#include "runtime/cpu/headers.h"
#include "runtime/exec/build_cache.h"

extern char **environ;

/* -fwrapv: integers of TDL wrap around.  -ffp-contract=off: the text says which
 * multiply-adds are fused, so results do not depend on the compiler.  The other
 * -f flags change no results. */
static const char *const usual_flags[] = {
	"-std=gnu11",
	"-O3",
	"-march=native",
	"-fPIC",
	"-fwrapv",
	"-ffp-contract=off",
	"-fno-math-errno",
	"-fno-trapping-math",
	"-w",
};

enum { NUSUAL = sizeof(usual_flags) / sizeof(*usual_flags) };

/* Nanoseconds between two looks whether a compiler has ended. */
enum { LOOK_NANOSECONDS = 2000000 };

/* Seconds before compilation is reported. */
#define SILENT_SECONDS 1.0

typedef VEC(char *) words;

typedef struct builder {
	arena *a;
	failure *f;
	words cc; /* compiler command */
	words flags;
	int n;
	const char *const *sources;
	const char *folder;
	const build_progress *progress; /* NULL: not reported */
	chunks chunks;
	int processors;
	pid_t *running; /* by chunk; 0: none */
	pid_t one; /* a process beside the chunks, likewise */
} builder;

/* ---- processes --------------------------------------------------------- */

/* Starts a command with output to file `out'.  Returns -1 on failure. */
static pid_t start(builder *b, const words *argv, const char *out)
{
	posix_spawn_file_actions_t files;
	pid_t pid = -1;
	int error;
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, 1, out,
					 O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_adddup2(&files, 1, 2);
	error = posix_spawnp(&pid, argv->at[0], &files, NULL, argv->at,
			     environ);
	posix_spawn_file_actions_destroy(&files);
	if (!error)
		return pid;
	fail_with(b->f, CLI_MACHINE,
		  "cannot run the C compiler '%s': %s; install "
		  "one, or name it in CC",
		  argv->at[0], strerror(error));
	return -1;
}

/* Whether the process has ended.  Waits for it unless options say otherwise.
 * *good: it exited with 0. */
static bool has_ended(pid_t *running, int options, bool *good)
{
	int status;
	pid_t pid;
	*good = false;
	do
		pid = waitpid(*running, &status, options);
	while (pid < 0 && errno == EINTR);
	if (pid == 0)
		return false;
	*running = 0;
	*good = pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
	return true;
}

/* Waits for the process.  Returns whether it exited with 0. */
static bool finish(pid_t *running)
{
	bool good;
	has_ended(running, 0, &good);
	return good;
}

/* The beginning of a file; "" if it cannot be read. */
static char *head_of(arena *a, const char *path, size_t limit)
{
	char *s = arena_alloc(a, limit + 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, s, limit);
	if (fd >= 0)
		close(fd);
	s[n > 0 ? n : 0] = '\0';
	return s;
}

static words command(builder *b)
{
	words w = {0};
	for (int i = 0; i < b->cc.n; i++)
		vec_push(b->a, &w, b->cc.at[i]);
	return w;
}

static void add(builder *b, words *w, const char *s)
{
	vec_push(b->a, w, arena_strdup(b->a, s));
}

/* Adds the words of a string, which it changes. */
static void add_split(builder *b, words *w, char *s)
{
	char *save = NULL;
	for (s = strtok_r(s, " \t", &save); s; s = strtok_r(NULL, " \t", &save))
		vec_push(b->a, w, s);
}

/* The usual flags, and those in TDL_KERNEL_CFLAGS. */
static void find_flags(builder *b)
{
	const char *more = getenv("TDL_KERNEL_CFLAGS");
	for (int i = 0; i < NUSUAL; i++)
		add(b, &b->flags, usual_flags[i]);
	if (more)
		add_split(b, &b->flags, arena_strdup(b->a, more));
}

/* ---- the key ----------------------------------------------------------- */

static bool is_program(const char *path)
{
	struct stat st;
	return strchr(path, '/') && access(path, X_OK) == 0 &&
	       stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The length of the longest beginning of a command, up to a blank or the end,
 * that is the path of a program; 0 if there is none. */
static size_t program_length(arena *a, const char *command)
{
	const char *blanks = " \t"; /* and the end */
	for (size_t n = strlen(command); n > 0; n--)
		if (strchr(blanks, command[n]) &&
		    is_program(arena_strndup(a, command, n)))
			return n;
	return 0;
}

/* Finds the compiler in CC.  A path may contain blanks; further words are
 * arguments. */
static void find_compiler(builder *b)
{
	const char *cc = getenv("CC");
	char *s = arena_strdup(b->a, cc && *cc ? cc : "cc");
	size_t n = program_length(b->a, s);
	if (n > 0)
		vec_push(b->a, &b->cc, arena_strndup(b->a, s, n));
	add_split(b, &b->cc, s + n);
	if (!b->cc.n)
		add(b, &b->cc, "cc");
}

/* The version that the compiler reports. */
static char *compiler_version(builder *b)
{
	words w = command(b);
	char *out = arena_printf(b->a, "%s/version", b->folder);
	add(b, &w, "--version");
	vec_push(b->a, &w, NULL);
	b->one = start(b, &w, out);
	if (b->one < 0)
		return NULL;
	if (!finish(&b->one)) {
		fail_with(b->f, CLI_MACHINE,
			  "the C compiler '%s' does not work", b->cc.at[0]);
		return NULL;
	}
	return head_of(b->a, out, 4096);
}

/* The properties of the processor on which -march=native depends. */
static char *processor(arena *a)
{
	struct utsname u;
	char *s = head_of(a, "/proc/cpuinfo", 16384), *end;
	const char *model = strstr(s, "model name"),
		   *has = strstr(s, "\nflags");
	if (uname(&u))
		strcpy(u.machine, "?");
	if (!model || !has)
		return arena_printf(a, "%s %.4000s", u.machine, s);
	end = strchr(has + 1, '\n');
	return arena_printf(a, "%s %.*s%.*s", u.machine,
			    (int)strcspn(model, "\n"), model,
			    (int)(end ? end - has : (long)strlen(has)), has);
}

typedef VEC(char) bytes;

static void append(arena *a, bytes *to, const char *s)
{
	for (; *s; s++)
		vec_push(a, to, *s);
}

static char *make_key(builder *b)
{
	bytes key = {0};
	char *version = compiler_version(b);
	if (!version)
		return NULL;
	for (int i = 0; i < b->cc.n; i++)
		append(b->a, &key, b->cc.at[i]);
	append(b->a, &key, version);
	append(b->a, &key, processor(b->a));
	for (int i = 0; i < b->flags.n; i++) {
		append(b->a, &key, b->flags.at[i]);
		append(b->a, &key, " ");
	}
	for (int i = 0; i < header_count; i++)
		append(b->a, &key, headers[i].text);
	for (int i = 0; i < b->n; i++) {
		int first = b->chunks.same[i];
		append(b->a, &key, "\n\f\n");
		append(b->a, &key, first < 0 ? "" : first == i ?
		       b->sources[i] : arena_printf(b->a, "\f%d", first));
	}
	vec_push(b->a, &key, '\0');
	return key.at;
}

static char *hash_of(arena *a, const char *key)
{
	return arena_printf(a, "%016" PRIx64 "%016" PRIx64,
			    hash_str(HASH_SEED, key), hash_str(1, key));
}

/* ---- compiling --------------------------------------------------------- */

static bool write_text(builder *b, const char *name, const char *text)
{
	const char *path = arena_printf(b->a, "%s/%s", b->folder, name);
	if (file_write(path, text, strlen(text)))
		return true;
	return fail_with(b->f, CLI_MACHINE, "cannot write '%s': %s", path,
			 strerror(errno));
}

static bool write_headers(builder *b)
{
	const char *dir = arena_printf(b->a, "%s/tdl", b->folder);
	if (mkdir(dir, 0700) && errno != EEXIST)
		return fail_with(b->f, CLI_MACHINE, "cannot make '%s': %s", dir,
				 strerror(errno));
	for (int i = 0; i < header_count; i++)
		if (!write_text(b, headers[i].name, headers[i].text))
			return false;
	return true;
}

/* Starts compiling the file NAME.c. */
static pid_t start_compiler(builder *b, const char *file)
{
	words w = command(b);
	for (int i = 0; i < b->flags.n; i++)
		vec_push(b->a, &w, b->flags.at[i]);
	add(b, &w, arena_printf(b->a, "-I%s", b->folder));
	add(b, &w, "-c");
	add(b, &w, arena_printf(b->a, "%s/%s.c", b->folder, file));
	add(b, &w, "-o");
	add(b, &w, arena_printf(b->a, "%s/%s.o", b->folder, file));
	vec_push(b->a, &w, NULL);
	return start(b, &w, arena_printf(b->a, "%s/%s.log", b->folder, file));
}

static pid_t start_chunk(builder *b, int c)
{
	const char *name = arena_printf(b->a, "%d", c);
	if (!write_text(b, arena_printf(b->a, "%s.c", name),
			b->chunks.at[c].text))
		return -1;
	return start_compiler(b, name);
}

/* Whether the compiler compiles a file without the plan's text. */
static bool compiler_works(builder *b)
{
	if (!write_text(b, "check.c", "#include \"tdl/kernels.h\"\n"))
		return false;
	b->one = start_compiler(b, "check");
	return b->one >= 0 && finish(&b->one);
}

/* Reports a failure.  If the compiler works, it is the plan's fault. */
static bool compiler_failed(builder *b, const char *log)
{
	char *text = head_of(b->a, arena_printf(b->a, "%s/%s", b->folder, log),
			     1500);
	return fail_with(b->f, compiler_works(b) ? CLI_INPUT : CLI_MACHINE,
			 "the C compiler '%s' failed on the generated "
			 "kernels:\n%s", b->cc.at[0], text);
}

/* The chunks while they are compiled. */
typedef struct compilation {
	int begun, running; /* chunks */
	int done, told;	    /* kernels; -1: nothing reported yet */
	double start;
	bool good;
} compilation;

/* Starts as many chunks at a time as there are processors, and none after a
 * failure. */
static void start_chunks(builder *b, compilation *x)
{
	while (x->good && x->begun < b->chunks.n &&
	       x->running < b->processors) {
		pid_t *pid = &b->running[x->begun];
		*pid = start_chunk(b, x->begun++);
		x->good = *pid > 0;
		x->running += x->good;
	}
}

static void end_chunks(builder *b, compilation *x)
{
	for (int c = 0; c < x->begun; c++) {
		bool good;
		if (b->running[c] <= 0 ||
		    !has_ended(&b->running[c], WNOHANG, &good))
			continue;
		x->running--;
		x->done += b->chunks.at[c].n;
		if (!good && x->good)
			x->good = compiler_failed(
				b, arena_printf(b->a, "%d.log", c));
	}
}

static void tell(const builder *b, compilation *x)
{
	if (!b->progress || x->told == x->done ||
	    clock_seconds() - x->start < SILENT_SECONDS)
		return;
	x->told = x->done;
	b->progress->compiled(b->progress->arg, x->done, b->chunks.nkernels);
}

static bool compile(builder *b)
{
	const struct timespec wait = { 0, LOOK_NANOSECONDS };
	compilation x = { .told = -1, .start = clock_seconds(), .good = true };
	b->running = ARENA_ARRAY(b->a, pid_t, b->chunks.n);
	for (start_chunks(b, &x); x.running > 0; start_chunks(b, &x)) {
		nanosleep(&wait, NULL);
		end_chunks(b, &x);
		tell(b, &x);
	}
	return x.good;
}

static bool link_chunks(builder *b)
{
	words w = command(b);
	add(b, &w, "-shared");
	for (int c = 0; c < b->chunks.n; c++)
		add(b, &w, arena_printf(b->a, "%s/%d.o", b->folder, c));
	add(b, &w, "-o");
	add(b, &w, arena_printf(b->a, "%s/kernels.so", b->folder));
	add(b, &w, "-lm");
	vec_push(b->a, &w, NULL);
	b->one = start(b, &w, arena_printf(b->a, "%s/link.log", b->folder));
	if (b->one < 0)
		return false;
	if (!finish(&b->one))
		return compiler_failed(b, "link.log");
	for (int c = 0; c < b->chunks.n; c++)
		unlink(arena_printf(b->a, "%s/%d.o", b->folder, c));
	return true;
}

/* ---- loading ----------------------------------------------------------- */

static void *load(builder *b, const char *path, cpu_kernel **kernels)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!lib) {
		fail_with(b->f, CLI_MACHINE,
			  "cannot load the compiled kernels: %s", dlerror());
		return NULL;
	}
	for (int i = 0; i < b->n; i++) {
		char name[32];
		kernels[i] = NULL;
		if (!b->sources[i])
			continue;
		snprintf(name, sizeof(name), "tdl_k%d", b->chunks.same[i]);
		void *at = dlsym(lib, name);
		if (!at) {
			fail_with(b->f, CLI_INPUT,
				  "the source of kernel %d "
				  "defines no kernel",
				  i);
			dlclose(lib);
			return NULL;
		}
		memcpy(&kernels[i], &at, sizeof(at));
	}
	return lib;
}

/* Builds in b->folder, which becomes the cache's if possible. */
static void *build_new(builder *b, const char *cache, const char *key,
		       const char *hash, cpu_kernel **kernels)
{
	if (!write_headers(b) || !compile(b) || !link_chunks(b))
		return NULL;
	const char *at = cache_commit(b->a, cache, b->folder, hash, key,
				      "kernels.so");
	return load(b, arena_printf(b->a, "%s/kernels.so", at), kernels);
}

/* Waits for running processes and removes the folder. */
static void end_build(void *of)
{
	builder *b = of;
	for (int c = 0; b->running && c < b->chunks.n; c++)
		if (b->running[c] > 0)
			finish(&b->running[c]);
	if (b->one > 0)
		finish(&b->one);
	if (b->folder)
		cache_remove(b->folder);
}

void *cpu_build(int n, const char *const *sources, cpu_kernel **kernels,
		const build_progress *progress, failure *f)
{
	builder b = { .a = arena_new(), .f = f, .n = n, .sources = sources,
		      .progress = progress, .processors = processors(NULL) };
	const char *cache;
	char *key = NULL;
	void *lib = NULL;
	memory_guard g;
	memory_guard_on(&g, end_build, &b);
	find_compiler(&b);
	find_flags(&b);
	b.chunks = chunks_of(b.a, n, sources, b.processors);
	if (cache_open(b.a, &cache, f))
		b.folder = cache_begin(b.a, cache, f);
	if (b.folder)
		key = make_key(&b);
	if (key) {
		char *hash = hash_of(b.a, key);
		char *found = cache_find(b.a, cache, hash, key, "kernels.so");
		lib = found ? load(&b, found, kernels) : NULL;
		if (!lib) {
			*f = (failure){0};
			lib = build_new(&b, cache, key, hash, kernels);
		}
	}
	memory_guard_off(&g);
	end_build(&b);
	arena_free(b.a);
	return lib;
}

void cpu_close(void *library)
{
	if (library)
		dlclose(library);
}
