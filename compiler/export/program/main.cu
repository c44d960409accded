/* Runs the plan that is in plan.cu: all workers in this process, on the GPUs
 * that there are, in turn.
 *
 *	plan [--steps N] [INPUTS [OUTPUTS]]
 *
 * INPUTS is a folder with an array NAME.npy for each input of the model; without
 * it, or without the file, floats are element / number of elements, and integers
 * 0.  A state may be there, too.  The outputs, and the states, are written to the
 * folder OUTPUTS. */
#include "program.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct worker {
	int gpu;
	char *arena;
	cudaStream_t stream;
	cudaEvent_t event;
};

static worker *workers;
static int ngpus, nprocessors;
static tdl_fault *faults; /* by instruction; memory of the host */

/* ---- errors ------------------------------------------------------------ */

[[noreturn]] static void fail(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	exit(4);
}

#define CHECK(call)                                                  \
	do {                                                         \
		cudaError_t e_ = (call);                             \
		if (e_ != cudaSuccess)                               \
			fail(#call, cudaGetErrorString(e_));         \
	} while (0)

static void *allocate(size_t n)
{
	void *p = malloc(n ? n : 1);
	if (!p)
		fail("malloc", "out of memory");
	return p;
}

/* ---- what plan.cu calls ------------------------------------------------ */

void launch(int instr, int number, const void *kernel, int64_t items,
	    int threads, int shared, const int64_t *words, int nwords,
	    const int *addresses, int fault)
{
	const worker *w = &workers[number];
	int64_t most = (int64_t)nprocessors * 16, own[512] = { 0 };
	void *parameters[] = { own };
	if (items == 0)
		return;
	memcpy(own, words, (size_t)nwords * sizeof(*own));
	for (int i = 0; addresses[i] >= 0; i++)
		own[addresses[i]] += (int64_t)(uintptr_t)w->arena;
	if (fault >= 0)
		own[fault] = (int64_t)(uintptr_t)&faults[instr];
	CHECK(cudaSetDevice(w->gpu));
	CHECK(cudaLaunchKernel(kernel, dim3((unsigned)(items < most ? items
								      : most)),
			       dim3((unsigned)threads), parameters,
			       (size_t)shared, w->stream));
}

static const void *copier(int size)
{
	switch (size) {
	case 1: return (const void *)copy_1;
	case 2: return (const void *)copy_2;
	case 4: return (const void *)copy_4;
	default: return (const void *)copy_8;
	}
}

static const void *combiner(reducer r, type t)
{
#define ROW(R, T) \
	if (r == RED_##R && t == TYPE_##T) \
		return (const void *)combine_##R##_##T;
	COMBINERS(ROW)
#undef ROW
	fail("transfer", "there is no such reducer");
}

/* No worker goes on before all have come here. */
static void join(void)
{
	if (ngpus == 1)
		return;
	for (int i = 0; i < nworkers; i++) {
		CHECK(cudaSetDevice(workers[i].gpu));
		CHECK(cudaEventRecord(workers[i].event, workers[i].stream));
	}
	for (int i = 0; i < nworkers; i++) {
		CHECK(cudaSetDevice(workers[i].gpu));
		for (int j = 0; j < nworkers; j++)
			CHECK(cudaStreamWaitEvent(workers[i].stream,
						  workers[j].event, 0));
	}
}

static void take_piece(const piece *p, int size, reducer r, type t)
{
	const worker *to = &workers[p->to_worker];
	boxes b = { to->arena + p->to, workers[p->from_worker].arena + p->from,
		    *p, 1 };
	for (int d = 0; d < p->ndim; d++)
		b.n *= p->count[d];
	if (b.n == 0)
		return;
	const void *kernel = p->kind == PIECE_ADD ? combiner(r, t)
					   : copier(size);
	int64_t blocks = (b.n + 255) / 256, most = (int64_t)nprocessors * 16;
	void *parameters[] = { &b };
	CHECK(cudaSetDevice(to->gpu));
	CHECK(cudaLaunchKernel(kernel,
			       dim3((unsigned)(blocks < most ? blocks : most)),
			       dim3(256), parameters, 0, to->stream));
}

void transfer(const piece *pieces, int n, int size, reducer r, type t)
{
	join();
	for (int i = 0; i < n; i++)
		take_piece(&pieces[i], size, r, t);
	join();
}

/* ---- GPUs -------------------------------------------------------------- */

/* As many of them as read each other's memory: workers do. */
static int count_peers(int n)
{
	for (int i = 1; i < n; i++)
		for (int j = 0; j < i; j++) {
			int to = 0, from = 0;
			CHECK(cudaDeviceCanAccessPeer(&to, i, j));
			CHECK(cudaDeviceCanAccessPeer(&from, j, i));
			if (to && from)
				continue;
			fprintf(stderr, "note: GPUs %d and %d do not read each "
				"other's memory: %d of %d are used\n", j, i, i,
				n);
			return i;
		}
	return n;
}

/* Workers of one GPU share its stream, so that their order is the program's. */
static void open_workers(void)
{
	int visible = 0;
	CHECK(cudaGetDeviceCount(&visible));
	ngpus = count_peers(visible < nworkers ? visible : nworkers);
	workers = (worker *)allocate((size_t)nworkers * sizeof(*workers));
	for (int i = 0; i < nworkers; i++) {
		worker *w = &workers[i];
		w->gpu = i % ngpus;
		CHECK(cudaSetDevice(w->gpu));
		if (i < ngpus)
			CHECK(cudaStreamCreate(&w->stream));
		else
			w->stream = workers[w->gpu].stream;
		CHECK(cudaEventCreateWithFlags(&w->event,
					       cudaEventDisableTiming));
		CHECK(cudaMalloc((void **)&w->arena,
				 (size_t)(arena_bytes ? arena_bytes : 1)));
		CHECK(cudaMemset(w->arena, 0, (size_t)arena_bytes));
	}
	for (int i = 0; i < ngpus; i++)
		for (int j = 0; j < ngpus; j++)
			if (i != j) {
				CHECK(cudaSetDevice(i));
				CHECK(cudaDeviceEnablePeerAccess(j, 0));
			}
	CHECK(cudaDeviceGetAttribute(&nprocessors,
				     cudaDevAttrMultiProcessorCount, 0));
	size_t nbytes = (size_t)ninstrs * sizeof(*faults);
	CHECK(cudaHostAlloc((void **)&faults, nbytes ? nbytes : 1,
			    cudaHostAllocPortable));
	memset(faults, 0, nbytes);
}

static void finish(void)
{
	for (int i = 0; i < ngpus; i++) {
		CHECK(cudaSetDevice(i));
		CHECK(cudaDeviceSynchronize());
	}
	for (int i = 0; i < ninstrs; i++)
		if (faults[i].found) {
			fprintf(stderr, "instruction %d: input %d is read at "
				"index %" PRId64 " of dimension %d, which is "
				"outside\n", i, faults[i].input,
				(int64_t)faults[i].value, faults[i].dim);
			exit(1);
		}
}

/* ---- tensors ----------------------------------------------------------- */

static int64_t nelem(const tensor *t)
{
	int64_t n = 1;
	for (int d = 0; d < t->ndim; d++)
		n *= t->dims[d];
	return n;
}

/* Copies a worker's part of a tensor between the whole, in row-major order, and
 * memory where it is dense.  Returns its elements. */
static int64_t copy_part(const tensor *t, int number, char *whole, char *part,
			 bool out)
{
	const int64_t *at = t->parts + (int64_t)number * 2 * t->ndim;
	int64_t n = 1;
	for (int d = 0; d < t->ndim; d++)
		n *= at[2 * d + 1] - at[2 * d];
	for (int64_t i = 0; i < n; i++) {
		int64_t left = i, to = 0, step = 1;
		for (int d = t->ndim - 1; d >= 0; d--) {
			int64_t size = at[2 * d + 1] - at[2 * d];
			to += (at[2 * d] + left % size) * step;
			left /= size;
			step *= t->dims[d];
		}
		char *x = whole + to * t->size, *y = part + i * t->size;
		memcpy(out ? y : x, out ? x : y, (size_t)t->size);
	}
	return n;
}

static void put(const tensor *t, char *whole)
{
	size_t size = (size_t)(nelem(t) * t->size);
	char *part = (char *)allocate(size);
	for (int i = 0; i < nworkers; i++) {
		int64_t n = copy_part(t, i, whole, part, true);
		CHECK(cudaSetDevice(workers[i].gpu));
		CHECK(cudaMemcpy(workers[i].arena + t->offset, part,
				 (size_t)(n * t->size),
				 cudaMemcpyHostToDevice));
	}
	free(part);
}

static void get(const tensor *t, char *whole)
{
	size_t size = (size_t)(nelem(t) * t->size);
	char *part = (char *)allocate(size);
	for (int i = 0; i < nworkers; i++) {
		int64_t n = copy_part(t, i, whole, part, true);
		CHECK(cudaSetDevice(workers[i].gpu));
		CHECK(cudaMemcpy(part, workers[i].arena + t->offset,
				 (size_t)(n * t->size),
				 cudaMemcpyDeviceToHost));
		copy_part(t, i, whole, part, false);
	}
	free(part);
}

static uint32_t bits_of(float x)
{
	uint32_t bits;
	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

/* Without the lowest n bits, rounded to nearest, ties to even. */
static uint16_t cut(uint32_t bits, int n)
{
	return (uint16_t)((bits + (1u << (n - 1)) - 1 + (bits >> n & 1)) >> n);
}

/* x, from 0 to 1, as IEEE's binary16, whose exponents begin 112 later and which
 * counts by 2^-24 below the smallest of them. */
static uint16_t to_f16(float x)
{
	if (x < 1.0f / 16384)
		return (uint16_t)lrintf(x * 16777216);
	return cut(bits_of(x) - (112u << 23), 13);
}

/* element / number of elements, for a float; else 0 */
static void invent(const tensor *t, char *whole)
{
	int64_t n = nelem(t);
	memset(whole, 0, (size_t)(n * t->size));
	for (int64_t i = 0; i < n; i++) {
		double v = (double)i / (double)n;
		float f = (float)v;
		switch (t->is_float) {
		case 8:
			((double *)whole)[i] = v;
			break;
		case 4:
			((float *)whole)[i] = f;
			break;
		case 3:
			((uint16_t *)whole)[i] = cut(bits_of(f), 16);
			break;
		case 2:
			((uint16_t *)whole)[i] = to_f16(f);
			break;
		default:
			break;
		}
	}
}

/* ---- NumPy's .npy files ------------------------------------------------ */

static void header(const tensor *t, char *to, size_t size)
{
	size_t n = (size_t)snprintf(to, size, "{'descr': '%s', "
				    "'fortran_order': False, 'shape': (",
				    t->descr);
	for (int d = 0; d < t->ndim; d++)
		n += (size_t)snprintf(to + n, size - n, "%" PRId64 "%s",
				      t->dims[d],
				      t->ndim == 1 ? "," :
				      d + 1 < t->ndim ? ", " : "");
	snprintf(to + n, size - n, "), }");
}

static FILE *open_in(const char *folder, const tensor *t, const char *mode,
		     char *path, size_t size)
{
	snprintf(path, size, "%s/%s.npy", folder, t->file);
	return fopen(path, mode);
}

/* False if there is no such file. */
static bool read_npy(const char *folder, const tensor *t, char *whole)
{
	char path[4096], want[1024];
	unsigned char head[12];
	FILE *f = open_in(folder, t, "rb", path, sizeof(path));
	if (!f)
		return false;
	header(t, want, sizeof(want));
	if (fread(head, 1, 10, f) != 10 || memcmp(head, "\x93NUMPY", 6))
		fail(path, "this is no .npy file");
	size_t len = head[8] + 256u * head[9];
	if (head[6] > 1) {
		if (fread(head + 10, 1, 2, f) != 2)
			fail(path, "it ends early");
		len += 65536u * head[10] + 16777216u * (size_t)head[11];
	}
	char *text = (char *)allocate(len + 1);
	size_t n = (size_t)(nelem(t) * t->size);
	if (fread(text, 1, len, f) != len)
		fail(path, "it ends early");
	text[len] = 0;
	if (strncmp(text, want, strlen(want)))
		fail(path, want);
	if (fread(whole, 1, n, f) != n)
		fail(path, "it ends early");
	free(text);
	fclose(f);
	return true;
}

static void write_npy(const char *folder, const tensor *t, const char *whole)
{
	char path[4096], text[1024];
	FILE *f = open_in(folder, t, "wb", path, sizeof(path));
	header(t, text, sizeof(text));
	size_t len = strlen(text), all = (len + 1 + 10 + 63) / 64 * 64 - 10;
	size_t n = (size_t)(nelem(t) * t->size);
	unsigned char head[10] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0,
				   (unsigned char)(all % 256),
				   (unsigned char)(all / 256) };
	if (!f)
		fail(path, "it cannot be written");
	fwrite(head, 1, sizeof(head), f);
	fprintf(f, "%s%*s\n", text, (int)(all - len - 1), "");
	if (fwrite(whole, 1, n, f) != n || fclose(f))
		fail(path, "it cannot be written");
}

/* ---- running ----------------------------------------------------------- */

static void read_constant(FILE *f, const tensor *t, char *whole)
{
	size_t n = (size_t)(nelem(t) * t->size);
	if (!f || fseek(f, (long)t->constant, SEEK_SET) ||
	    fread(whole, 1, n, f) != n)
		fail("constants.bin", "it cannot be read; run this program in "
		     "its own folder");
}

/* What each tensor begins with; an input keeps it. */
static char **load(const char *inputs)
{
	FILE *f = fopen("constants.bin", "rb");
	char **wholes = (char **)allocate((size_t)ntensors * sizeof(*wholes));
	for (int i = 0; i < ntensors; i++) {
		const tensor *t = &tensors[i];
		char *whole;
		wholes[i] = NULL;
		if (t->is == ROLE_RESULT)
			continue;
		whole = (char *)allocate((size_t)(nelem(t) * t->size));
		if (!inputs || t->is == ROLE_CONSTANT ||
		    !read_npy(inputs, t, whole)) {
			if (t->constant >= 0)
				read_constant(f, t, whole);
			else
				invent(t, whole);
		}
		if (t->is == ROLE_INPUT) {
			wholes[i] = whole;
		} else {
			put(t, whole);
			free(whole);
		}
	}
	if (f)
		fclose(f);
	return wholes;
}

/* A step may write where its inputs were. */
static void feed(char *const *wholes)
{
	for (int i = 0; i < ntensors; i++)
		if (wholes[i])
			put(&tensors[i], wholes[i]);
}

static void save(const char *outputs)
{
	for (int i = 0; i < ntensors; i++) {
		const tensor *t = &tensors[i];
		if (!t->output && t->is != ROLE_STATE)
			continue;
		char *whole = (char *)allocate((size_t)(nelem(t) * t->size));
		get(t, whole);
		write_npy(outputs, t, whole);
		free(whole);
	}
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	int steps = 1, first = 1;
	if (argc > 2 && !strcmp(argv[1], "--steps")) {
		steps = atoi(argv[2]);
		first = 3;
	}
	if (argc - first > 2 || steps < 1 ||
	    (argc > first && argv[first][0] == '-')) {
		fprintf(stderr, "usage: %s [--steps N] [INPUTS [OUTPUTS]]\n",
			argv[0]);
		return 2;
	}
	open_workers();
	char **inputs = load(argc > first ? argv[first] : NULL);
	double seconds = 0;
	for (int i = 0; i < steps; i++) {
		feed(inputs);
		double begun = now();
		step();
		finish();
		seconds += now() - begun;
	}
	printf("%s: %d workers on %d GPUs, %d steps, %g s each\n", plan_name,
	       nworkers, ngpus, steps, seconds / steps);
	if (argc - first == 2)
		save(argv[first + 1]);
	return 0;
}
