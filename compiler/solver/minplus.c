#include "config.h"

#include "compiler/solver/minplus.h"

#include <stdbool.h>

/* gcc at -O2 does not vectorise loops that must test a length first. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

/* Compiles a function once per instruction set, chosen when the program is
 * loaded.  Not with sanitizers, which are not initialised at that time. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && \
	!defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&           \
	!defined(__SANITIZE_THREAD__)
#define FOR_EACH_ISA                                                  \
	__attribute__((target_clones("default", "arch=x86-64-v3",     \
				     "arch=x86-64-v4")))
#else
#define FOR_EACH_ISA
#endif

static inline int64_t least(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

typedef int64_t lanes
	__attribute__((vector_size(MINPLUS_LANES * sizeof(int64_t))));

typedef int64_t unaligned
	__attribute__((vector_size(MINPLUS_LANES * sizeof(int64_t)),
		       aligned(sizeof(int64_t)), may_alias));

/* A macro, because functions that take and return vectors have a different ABI
 * for each instruction set. */
#define LESSER(x, y)                                  \
	({                                            \
		lanes less = (x) < (y);               \
		((x) & less) | ((y) & ~less);         \
	})

/* x with its lanes in another order. */
#ifdef __clang__
#define SHUFFLE(x, ...) __builtin_shufflevector((x), (x), __VA_ARGS__)
#else
#define SHUFFLE(x, ...) __builtin_shuffle((x), (lanes){ __VA_ARGS__ })
#endif

/* The least of all lanes. */
#define LEAST(x)                                                       \
	({                                                             \
		lanes all = (x), other;                                \
		other = SHUFFLE(all, 4, 5, 6, 7, 0, 1, 2, 3);          \
		all = LESSER(all, other);                              \
		other = SHUFFLE(all, 2, 3, 0, 1, 6, 7, 4, 5);          \
		all = LESSER(all, other);                              \
		least(all[0], all[1]);                                 \
	})

#define LOAD(at) (*(const unaligned *)(at))

#define STORE(at, x) (*(unaligned *)(at) = (x))

/* A tile of 4 rows stays in registers while x advances.  Columns beyond a row's
 * end spill over into the next row, which is written later. */
enum { TILE = 4 };

FOR_EACH_ISA
void minplus_product(int64_t *restrict to, const int64_t *restrict rows,
		     int64_t nr, const int64_t *restrict columns, int64_t ny,
		     int64_t nx, int64_t most)
{
	const int64_t width = minplus_padded(nr), step = minplus_padded(ny);
	const lanes limit = (lanes){ 0 } + most;
	for (int64_t r = 0; r < nr; r += TILE)
		for (int64_t y = step; (y -= MINPLUS_LANES) >= 0;) {
			const int64_t *c = rows + r, *v = columns + y;
			lanes m[TILE] = { limit, limit, limit, limit }, s;
			for (int64_t x = 0; x < nx; x++) {
				lanes t = *(const lanes *)v;
				for (int k = 0; k < TILE; k++) {
					s = t + c[k];
					m[k] = LESSER(m[k], s);
				}
				c += width;
				v += step;
			}
			for (int k = 0; k < TILE && r + k < nr; k++)
				STORE(to + (r + k) * ny + y, m[k]);
		}
}

FOR_EACH_ISA
void minplus_add(int64_t *restrict sum, const int64_t *restrict cost,
		 int64_t nx, int64_t stride, int64_t n, int64_t step,
		 int64_t most)
{
	for (int64_t x = 0; x < nx; x++) {
		const int64_t *c = cost + x * stride;
		for (int64_t i = 0; step == 1 && i < n; i++)
			sum[i] = least(sum[i] + c[i], most);
		for (int64_t i = 0; step != 1 && i < n; i++)
			sum[i] = least(sum[i] + c[i * step], most);
		sum += minplus_padded(n);
	}
}

FOR_EACH_ISA
void minplus_rows_sum(int64_t *restrict to, const int64_t *restrict c,
		      int64_t step, const int64_t *restrict rows,
		      int64_t stride, const int64_t *restrict columns,
		      int64_t ny, int64_t nx)
{
	for (int64_t y = 0; y < ny; y++)
		to[y] = c[0] + rows[y] + columns[y];
	for (int64_t x = 1; x < nx; x++) {
		const int64_t *row = rows + x * stride;
		const int64_t *v = columns + x * minplus_padded(ny);
		for (int64_t y = 0; y < ny; y++)
			to[y] = least(to[y], c[x * step] + row[y] + v[y]);
	}
}

/* ---- tables with costs of their own -------------------------------------- */

/* The same for rows of fewer than MINPLUS_LANES columns. */
static void few_columns(int64_t *restrict to, const int64_t *restrict cost,
			int64_t nx, int64_t ny, const int64_t *restrict own,
			minplus_scale s)
{
	for (int64_t y = 0; y < ny; y++)
		to[y] = INT64_MAX;
	for (int64_t x = 0; x < nx; x++)
		for (int64_t y = 0; y < ny; y++)
			to[y] = least(to[y],
				      own[x] + minplus_scaled(*cost++, s));
}

static void few_rows(int64_t *restrict to, const int64_t *restrict cost,
		     int64_t nx, int64_t ny, const int64_t *restrict own,
		     minplus_scale s)
{
	for (int64_t x = 0; x < nx; x++) {
		to[x] = INT64_MAX;
		for (int64_t y = 0; y < ny; y++)
			to[x] = least(to[x],
				      own[y] + minplus_scaled(*cost++, s));
	}
}

#define SCALED(at) (LESSER(LOAD(at), cap) << s.shift)

/* Several vectors of columns side by side.  The last one ends with the row, and
 * may repeat columns done before. */
FOR_EACH_ISA
void minplus_columns(int64_t *restrict to, const int64_t *restrict cost,
		     int64_t nx, int64_t ny, const int64_t *restrict own,
		     minplus_scale s)
{
	if (ny < MINPLUS_LANES) {
		few_columns(to, cost, nx, ny, own, s);
		return;
	}
	const lanes cap = (lanes){ 0 } + s.cap;
	int64_t last = ny - MINPLUS_LANES;
	for (int64_t y = 0; y < ny; y += TILE * MINPLUS_LANES) {
		lanes m[TILE], t;
		int64_t at[TILE];
		for (int k = 0; k < TILE; k++) {
			at[k] = least(y + k * MINPLUS_LANES, last);
			m[k] = (lanes){ 0 } + INT64_MAX;
		}
		for (int64_t x = 0; x < nx; x++) {
			const int64_t *row = cost + x * ny;
			for (int k = 0; k < TILE; k++) {
				t = own[x] + SCALED(row + at[k]);
				m[k] = LESSER(m[k], t);
			}
		}
		for (int k = 0; k < TILE; k++)
			STORE(to + at[k], m[k]);
	}
}

/* Several rows at a time. */
FOR_EACH_ISA
void minplus_rows(int64_t *restrict to, const int64_t *restrict cost,
		  int64_t nx, int64_t ny, const int64_t *restrict own,
		  minplus_scale s)
{
	if (ny < MINPLUS_LANES) {
		few_rows(to, cost, nx, ny, own, s);
		return;
	}
	const lanes cap = (lanes){ 0 } + s.cap;
	int64_t last = ny - MINPLUS_LANES;
	for (int64_t x = 0; x < nx; x += TILE) {
		const int64_t *row[TILE];
		lanes m[TILE], t;
		for (int k = 0; k < TILE; k++) {
			row[k] = cost + least(x + k, nx - 1) * ny;
			m[k] = (lanes){ 0 } + INT64_MAX;
		}
		for (int64_t y = 0; y < ny; y += MINPLUS_LANES) {
			int64_t at = least(y, last);
			lanes o = LOAD(own + at);
			for (int k = 0; k < TILE; k++) {
				t = o + SCALED(row[k] + at);
				m[k] = LESSER(m[k], t);
			}
		}
		for (int k = 0; k < TILE && x + k < nx; k++)
			to[x + k] = LEAST(m[k]);
	}
}

/* ---- costs of values ----------------------------------------------------- */

FOR_EACH_ISA
int64_t minplus_least(const int64_t *cost, int64_t n)
{
	int64_t m = cost[0];
	for (int64_t x = 1; x < n; x++)
		m = least(m, cost[x]);
	return m;
}

FOR_EACH_ISA
int64_t minplus_prune(int64_t *cost, int64_t n, int64_t less, int64_t most,
		      int64_t cap, int64_t gone)
{
	int64_t nlive = 0;
	for (int64_t x = 0; x < n; x++) {
		int64_t c = cost[x] - less;
		bool goes = c >= most || cost[x] >= gone;
		cost[x] = goes ? gone : least(c, cap);
		nlive += !goes;
	}
	return nlive;
}

FOR_EACH_ISA
void minplus_share(int64_t *restrict give, int64_t *restrict cost, int64_t n,
		   double part, int64_t times, int64_t gone)
{
	for (int64_t x = 0; x < n; x++) {
		give[x] = (int64_t)((double)cost[x] * part);
		cost[x] -= cost[x] < gone ? times * give[x] : 0;
	}
}

FOR_EACH_ISA
void minplus_choose(int64_t *restrict own, const int64_t *restrict cost,
		    int64_t step, const int64_t *restrict moved, int64_t n,
		    minplus_scale s, int64_t gone)
{
	for (int64_t x = 0; step == 1 && x < n; x++)
		own[x] = least(own[x] - moved[x] + minplus_scaled(cost[x], s),
			       gone);
	for (int64_t x = 0; step != 1 && x < n; x++)
		own[x] = least(own[x] - moved[x] +
			       minplus_scaled(cost[x * step], s), gone);
}

FOR_EACH_ISA
void minplus_give(int64_t *restrict moved, int64_t *restrict own,
		  const int64_t *restrict give, const int64_t *restrict cost,
		  int64_t n, int64_t gone)
{
	for (int64_t x = 0; x < n; x++) {
		int64_t m = moved[x] - give[x];
		moved[x] = cost[x] < gone ? m : moved[x];
		own[x] = cost[x] < gone ? -m : gone;
	}
}

FOR_EACH_ISA
void minplus_take(int64_t *restrict cost, int64_t *restrict moved,
		  const int64_t *restrict new, int64_t n, int64_t gone)
{
	for (int64_t x = 0; x < n; x++) {
		cost[x] = least(cost[x] + new[x] - moved[x], gone);
		moved[x] = new[x];
	}
}
