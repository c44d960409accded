/* The loop of products of matrices beside the processor's peak.
 *
 *	tiles [SECONDS]
 *
 * prints the rate of a loop of fused multiply-adds in registers, and those of
 * products of f32 whose factors lie as the tiles read them, or have to be packed,
 * and their ratios to it, in processor time of one thread: the medians of turns
 * of each for about SECONDS in all, 10 if not given. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tdl/kernels.h"

enum { MOST_TURNS = 1000 };

typedef struct matrices {
	float *a, *b, *c;
	int64_t n[3]; /* rows, columns, depth */
	bool packed;
} matrices;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the peak ---------------------------------------------------------- */

/* Returns the operations of a loop that depends on nothing but registers. */
static double run_peak(float *out)
{
	enum { CHAINS = 12, TURNS = 1 << 20 };
	typedef float vector __attribute__((vector_size(TDL_VECTOR)));
	vector x[CHAINS], y = (vector){ 0 } + 1, half = y / 2;
#pragma GCC unroll 12
	for (int i = 0; i < CHAINS; i++)
		x[i] = y + (float)i; /* nears 2 */
	for (int t = 0; t < TURNS; t++) {
#pragma GCC unroll 12
		for (int i = 0; i < CHAINS; i++)
			x[i] = tdl_fma_vectors_f32(half, x[i], y);
	}
#pragma GCC unroll 12
	for (int i = 0; i < CHAINS; i++)
		y += x[i];
	*out = y[0];
	return 2.0 * CHAINS * TURNS * (TDL_VECTOR / sizeof(float));
}

/* ---- products ---------------------------------------------------------- */

static void pack_a(const tdl_product *p, int64_t depth, int64_t ndepth,
		   int64_t first, int64_t n, void *to)
{
	const float *a = p->args->in[0].data;
	for (int64_t i = 0; i < n; i++)
		for (int64_t d = 0; d < ndepth; d++)
			((float *)to)[d * TDL_ROWS + i] =
				a[(first + i) * p->depth + depth + d];
}

static void pack_b(const tdl_product *p, int64_t depth, int64_t ndepth,
		   int64_t first, int64_t n, void *to)
{
	const float *b = p->args->in[1].data;
	for (int64_t d = 0; d < ndepth; d++)
		for (int64_t i = 0; i < n; i++)
			((float *)to)[d * TDL_COLS(float) + i] =
				b[(depth + d) * p->cols + first + i];
}

static void store_c(const tdl_product *p, int64_t row, int64_t nrows,
		    int64_t col, int64_t ncols, const void *tile)
{
	float *c = p->args->out.data;
	for (int64_t i = 0; i < nrows; i++)
		memcpy(&c[(row + i) * p->cols + col],
		       (const float *)tile + i * TDL_COLS(float),
		       (size_t)ncols * sizeof(float));
}

/* Returns the operations of a product. */
static double run_product(const matrices *m, void *scratch)
{
	tdl_block in[2] = { { .data = m->a }, { .data = m->b } };
	tdl_args args = { .in = in, .out = { .data = m->c },
			  .scratch = scratch };
	tdl_product p = { .args = &args, .rows = m->n[0], .cols = m->n[1],
			  .depth = m->n[2], .left = { .pack = pack_a },
			  .right = { .pack = pack_b }, .store = store_c };
	if (!m->packed) {
		p.left = (tdl_factor){ pack_a, m->a, 1, m->n[2] };
		p.right = (tdl_factor){ pack_b, m->b, m->n[1], 1 };
	}
	tdl_product_f32(&p);
	return 2.0 * (double)m->n[0] * (double)m->n[1] * (double)m->n[2];
}

static float *made(int64_t n)
{
	float *x = aligned_alloc(64, ((size_t)n * sizeof(*x) + 63) / 64 * 64);
	if (!x)
		exit(EXIT_FAILURE);
	for (int64_t i = 0; i < n; i++)
		x[i] = (float)(i % 17) / 16;
	return x;
}

/* ---- the table --------------------------------------------------------- */

static int by_size(const void *x, const void *y)
{
	const double *a = x, *b = y;
	return (*a > *b) - (*a < *b);
}

static double median(double *x, int n)
{
	qsort(x, (size_t)n, sizeof(*x), by_size);
	return x[n / 2];
}

/* A product in turns with the peak. */
static void compare(matrices m, double seconds, void *scratch)
{
	static double peaks[MOST_TURNS], rates[MOST_TURNS];
	double begin = now();
	int n = 0;
	m.a = made(m.n[0] * m.n[2]);
	m.b = made(m.n[2] * m.n[1]);
	m.c = made(m.n[0] * m.n[1]);
	run_product(&m, scratch);
	while (n < MOST_TURNS && (n < 3 || now() - begin < seconds)) {
		double at = now();
		peaks[n] = run_peak(m.c);
		peaks[n] /= now() - at;
		at = now();
		rates[n] = run_product(&m, scratch);
		rates[n++] /= now() - at;
	}
	double peak = median(peaks, n), rate = median(rates, n);
	printf("%6d x %6d x %6d, %-10s %8.1f GFLOP/s, peak %8.1f, %5.1f %%\n",
	       (int)m.n[0], (int)m.n[1], (int)m.n[2],
	       m.packed ? "packed" : "as it lies", rate * 1e-9, peak * 1e-9,
	       100 * rate / peak);
	free(m.a);
	free(m.b);
	free(m.c);
}

int main(int argc, char **argv)
{
	static const int64_t sizes[][3] = { { 1024, 1024, 1024 },
					    { 2048, 2048, 2048 },
					    { 128, 3072, 768 },
					    { 128, 768, 3072 },
					    { 1, 3072, 768 },
					    { 8, 3072, 768 } };
	enum { SIZES = sizeof(sizes) / sizeof(*sizes) };
	double seconds = argc > 1 ? atof(argv[1]) : 10;
	void *scratch = aligned_alloc(64, TDL_SCRATCH);
	if (!scratch)
		return EXIT_FAILURE;
	for (int i = 0; i < SIZES; i++)
		for (int packed = 0; packed < 2; packed++) {
			matrices m = { .packed = packed };
			memcpy(m.n, sizes[i], sizeof(m.n));
			compare(m, seconds / (2 * SIZES), scratch);
		}
	free(scratch);
	return EXIT_SUCCESS;
}
