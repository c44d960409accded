/* A fake NVRTC: compiles for the host, with emulate.sh.
 *
 *	CXX, CC			compilers, "c++" and "cc"
 *	FAKE_NVRTC_KEEP		the folders in /tmp where they worked stay */
#include <nvrtc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAKE_EXPORT __attribute__((visibility("default")))

enum {
	MAJOR = 13,
	MINOR = 0,
};

static const int archs[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120,
			    121};
enum {
	NARCHS = sizeof archs / sizeof archs[0],
};

struct _nvrtcProgram {
	char *text, *name;
	int nheaders;
	char **headers, **header_names;
	char *image, *log;
	size_t size;
	bool is_text; /* compute_..: PTX alone */
};

FAKE_EXPORT const char *nvrtcGetErrorString(nvrtcResult result)
{
	static const char *const names[] = {
		"NVRTC_SUCCESS",
		"NVRTC_ERROR_OUT_OF_MEMORY",
		"NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
		"NVRTC_ERROR_INVALID_INPUT",
		"NVRTC_ERROR_INVALID_PROGRAM",
		"NVRTC_ERROR_INVALID_OPTION",
		"NVRTC_ERROR_COMPILATION",
		"NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
	};
	return result >= 0 && result < sizeof names / sizeof names[0]
		       ? names[result]
		       : "NVRTC_ERROR unknown";
}

FAKE_EXPORT nvrtcResult nvrtcVersion(int *major, int *minor)
{
	*major = MAJOR;
	*minor = MINOR;
	return NVRTC_SUCCESS;
}

FAKE_EXPORT nvrtcResult nvrtcGetNumSupportedArchs(int *n)
{
	*n = NARCHS;
	return NVRTC_SUCCESS;
}

FAKE_EXPORT nvrtcResult nvrtcGetSupportedArchs(int *to)
{
	memcpy(to, archs, sizeof archs);
	return NVRTC_SUCCESS;
}

/* ---- programs ------------------------------------------------------------ */

static void *take(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);
	if (!p)
		abort();
	return p;
}

static char *copy(const char *s)
{
	char *p = strdup(s);
	if (!p)
		abort();
	return p;
}

FAKE_EXPORT nvrtcResult nvrtcCreateProgram(nvrtcProgram *program,
					   const char *text, const char *name,
					   int nheaders,
					   const char *const *headers,
					   const char *const *header_names)
{
	if (!program || !text || nheaders < 0 ||
	    (nheaders > 0 && (!headers || !header_names)))
		return NVRTC_ERROR_INVALID_INPUT;
	nvrtcProgram p = take(1, sizeof *p);
	p->text = copy(text);
	p->name = copy(name ? name : "default_program");
	p->nheaders = nheaders;
	p->headers = take((size_t)nheaders, sizeof(char *));
	p->header_names = take((size_t)nheaders, sizeof(char *));
	for (int i = 0; i < nheaders; i++) {
		p->headers[i] = copy(headers[i]);
		p->header_names[i] = copy(header_names[i]);
	}
	*program = p;
	return NVRTC_SUCCESS;
}

FAKE_EXPORT nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
	if (!program || !*program)
		return NVRTC_ERROR_INVALID_PROGRAM;
	nvrtcProgram p = *program;
	for (int i = 0; i < p->nheaders; i++) {
		free(p->headers[i]);
		free(p->header_names[i]);
	}
	free(p->headers);
	free(p->header_names);
	free(p->text);
	free(p->name);
	free(p->image);
	free(p->log);
	free(p);
	*program = NULL;
	return NVRTC_SUCCESS;
}

/* ---- files --------------------------------------------------------------- */

/* Writes a file, and the folders that its name has. */
static bool put(const char *folder, const char *name, const char *text)
{
	char path[4096];
	const int n = snprintf(path, sizeof path, "%s/%s", folder, name);
	if (n < 0 || (size_t)n >= sizeof path || strstr(name, ".."))
		return false;
	for (char *c = path + strlen(folder) + 1; (c = strchr(c, '/')); c++) {
		*c = '\0';
		mkdir(path, 0700);
		*c = '/';
	}
	FILE *f = fopen(path, "w");
	if (!f)
		return false;
	const bool good = fputs(text, f) >= 0;
	return fclose(f) == 0 && good;
}

static char *get(const char *folder, const char *name, size_t *size)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "r");
	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	*size = (size_t)ftell(f);
	rewind(f);
	char *text = take(*size + 1, 1);
	if (fread(text, 1, *size, f) != *size)
		abort();
	fclose(f);
	return text;
}

static void delete_folder(const char *folder)
{
	const pid_t child = fork();
	if (child == 0) {
		execlp("rm", "rm", "-rf", folder, (char *)NULL);
		_exit(127);
	}
	waitpid(child, NULL, 0);
}

/* ---- options ------------------------------------------------------------- */

typedef struct options {
	int arch;
	bool is_text, fmad;
	char defines[2000];
} options;

static bool begins(const char *s, const char *with, const char **rest)
{
	const size_t n = strlen(with);
	*rest = s + n;
	return !strncmp(s, with, n);
}

static bool is_arch(int arch)
{
	for (int i = 0; i < NARCHS; i++)
		if (archs[i] == arch)
			return true;
	return false;
}

static bool read_arch(const char *s, options *o)
{
	const char *number;
	o->is_text = begins(s, "compute_", &number);
	if (!o->is_text && !begins(s, "sm_", &number))
		return false;
	char *end;
	o->arch = (int)strtol(number, &end, 10);
	if (*end == 'a' || *end == 'f')
		end++;
	return *end == '\0' && is_arch(o->arch);
}

/* Whether NVRTC has an option. */
static bool read_option(const char *s, options *o)
{
	const char *rest;
	static const char *const plain[] = {
		"--device-as-default-execution-space",
		"-default-device",
		"--disable-warnings",
		"-w",
		"--use_fast_math",
		"--restrict",
		"-restrict",
		"--generate-line-info",
		"-lineinfo",
		"--extra-device-vectorization",
		"--ftz=false",
		"--prec-div=true",
		"--prec-sqrt=true",
	};
	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
		if (!strcmp(s, plain[i]))
			return true;
	if (begins(s, "--gpu-architecture=", &rest) ||
	    begins(s, "-arch=", &rest))
		return read_arch(rest, o);
	if (begins(s, "--fmad=", &rest) || begins(s, "-fmad=", &rest)) {
		o->fmad = strcmp(rest, "false");
		return !o->fmad || !strcmp(rest, "true");
	}
	if (begins(s, "--std=c++", &rest) || begins(s, "-std=c++", &rest))
		return !strcmp(rest, "11") || !strcmp(rest, "14") ||
		       !strcmp(rest, "17") || !strcmp(rest, "20");
	if (begins(s, "-D", &rest) && !strpbrk(rest, " '\"()")) {
		const size_t n = strlen(o->defines);
		snprintf(o->defines + n, sizeof o->defines - n, " %s", s);
		return true;
	}
	return begins(s, "--maxrregcount=", &rest) ||
	       begins(s, "--diag-suppress=", &rest) ||
	       begins(s, "-diag-suppress=", &rest);
}

/* ---- compiling ----------------------------------------------------------- */

static char *to_text(const char *image, size_t *size)
{
	static const char head[] = "// fake PTX\n";
	static const char digit[] = "0123456789abcdef";
	char *text = take(sizeof head + 2 * *size, 1);
	strcpy(text, head);
	char *p = text + strlen(head);
	for (size_t i = 0; i < *size; i++) {
		*p++ = digit[(unsigned char)image[i] >> 4];
		*p++ = digit[(unsigned char)image[i] & 15];
	}
	*size = (size_t)(p - text) + 1; /* PTX ends with a null character */
	return text;
}

static int run_compiler(const char *folder, const options *o)
{
	char line[8192];
	/* The compiler sees the text under a name that does not change, for
	 * ccache.  What the tests run is small, and takes less time than to
	 * optimize it would; but without that nothing is contracted. */
	snprintf(line, sizeof line,
		 "cd '%s' && LD_LIBRARY_PATH= EMULATE_ENGINE='%s' "
		 "EMULATE_CXXFLAGS=\"%s ${EMULATE_CXXFLAGS:-}\" "
		 "sh '%s' -I. -D__CUDA_ARCH__=%d -DEMU_ARCH=%d%s -o image.so "
		 "kernels.cu >log 2>&1",
		 folder, ENGINE, o->fmad ? "-O1 -ffp-contract=fast" : "-O0",
		 EMULATE, o->arch * 10, o->arch, o->defines);
	return system(line);
}

static nvrtcResult compile_in(const char *folder, nvrtcProgram p,
			      const options *o)
{
	for (int i = 0; i < p->nheaders; i++)
		if (!put(folder, p->header_names[i], p->headers[i]))
			return NVRTC_ERROR_PROGRAM_CREATION_FAILURE;
	if (!put(folder, "kernels.cu", p->text))
		return NVRTC_ERROR_PROGRAM_CREATION_FAILURE;
	const int status = run_compiler(folder, o);
	size_t size = 0;
	free(p->log);
	p->log = get(folder, "log", &size);
	if (status != 0)
		return NVRTC_ERROR_COMPILATION;
	free(p->image);
	p->image = get(folder, "image.so", &p->size);
	p->is_text = o->is_text;
	if (!p->image)
		return NVRTC_ERROR_COMPILATION;
	if (p->is_text) {
		char *text = to_text(p->image, &p->size);
		free(p->image);
		p->image = text;
	}
	return NVRTC_SUCCESS;
}

FAKE_EXPORT nvrtcResult nvrtcCompileProgram(nvrtcProgram p, int noptions,
					    const char *const *texts)
{
	options o = {.arch = 75, .is_text = true, .fmad = true};
	if (!p)
		return NVRTC_ERROR_INVALID_PROGRAM;
	free(p->log);
	p->log = copy("");
	for (int i = 0; i < noptions; i++)
		if (!read_option(texts[i], &o)) {
			char text[400];
			snprintf(text, sizeof text,
				 "nvrtc: error: invalid value or option: %s\n",
				 texts[i]);
			free(p->log);
			p->log = copy(text);
			return NVRTC_ERROR_INVALID_OPTION;
		}
	char folder[] = "/tmp/fake-nvrtc.XXXXXX";
	if (!mkdtemp(folder))
		return NVRTC_ERROR_OUT_OF_MEMORY;
	const nvrtcResult result = compile_in(folder, p, &o);
	if (!getenv("FAKE_NVRTC_KEEP"))
		delete_folder(folder);
	return result;
}

/* ---- results ------------------------------------------------------------- */

FAKE_EXPORT nvrtcResult nvrtcGetCUBINSize(nvrtcProgram p, size_t *size)
{
	if (!p || !p->image)
		return NVRTC_ERROR_INVALID_PROGRAM;
	*size = p->is_text ? 0 : p->size;
	return NVRTC_SUCCESS;
}

FAKE_EXPORT nvrtcResult nvrtcGetCUBIN(nvrtcProgram p, char *cubin)
{
	if (!p || !p->image || p->is_text)
		return NVRTC_ERROR_INVALID_PROGRAM;
	memcpy(cubin, p->image, p->size);
	return NVRTC_SUCCESS;
}

/* The real one has PTX for sm_.. as well. */
FAKE_EXPORT nvrtcResult nvrtcGetPTXSize(nvrtcProgram p, size_t *size)
{
	if (!p || !p->image || !p->is_text)
		return NVRTC_ERROR_INVALID_PROGRAM;
	*size = p->size;
	return NVRTC_SUCCESS;
}

FAKE_EXPORT nvrtcResult nvrtcGetPTX(nvrtcProgram p, char *ptx)
{
	if (!p || !p->image || !p->is_text)
		return NVRTC_ERROR_INVALID_PROGRAM;
	memcpy(ptx, p->image, p->size);
	return NVRTC_SUCCESS;
}

FAKE_EXPORT nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram p, size_t *size)
{
	if (!p)
		return NVRTC_ERROR_INVALID_PROGRAM;
	*size = p->log ? strlen(p->log) + 1 : 1;
	return NVRTC_SUCCESS;
}

FAKE_EXPORT nvrtcResult nvrtcGetProgramLog(nvrtcProgram p, char *log)
{
	if (!p)
		return NVRTC_ERROR_INVALID_PROGRAM;
	strcpy(log, p->log ? p->log : "");
	return NVRTC_SUCCESS;
}
