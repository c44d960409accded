#include "config.h"

#include "compiler/search/minplus.h"

/* -O2 of gcc does not vectorise what has to test a length first. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

/* A copy of a function per instruction set, chosen when the program is loaded.
 * Not where a sanitizer has to be awake first. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && \
	!defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
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

FOR_EACH_ISA
void minplus_row(int64_t *restrict to, const int64_t *restrict row, int64_t c,
		 int64_t n)
{
	for (int64_t y = 0; y < n; y++)
		to[y] = least(to[y], c + row[y]);
}

FOR_EACH_ISA
void minplus_columns(int64_t *restrict to, const int64_t *restrict cost,
		     int64_t nx, int64_t ny, const int64_t *own,
		     minplus_scale s)
{
	for (int64_t y = 0; y < ny; y++)
		to[y] = own[0] + minplus_scaled(cost[y], s);
	for (int64_t x = 1; x < nx; x++) {
		const int64_t *row = cost + x * ny;
		int64_t c = own[x];
		for (int64_t y = 0; y < ny; y++)
			to[y] = least(to[y], c + minplus_scaled(row[y], s));
	}
}

FOR_EACH_ISA
void minplus_rows(int64_t *restrict to, const int64_t *restrict cost,
		  int64_t nx, int64_t ny, const int64_t *restrict own,
		  minplus_scale s)
{
	for (int64_t x = 0; x < nx; x++) {
		const int64_t *row = cost + x * ny;
		int64_t m = INT64_MAX;
		for (int64_t y = 0; y < ny; y++)
			m = least(m, own[y] + minplus_scaled(row[y], s));
		to[x] = m;
	}
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
