/* Factors of products that can be kept in packed form, plan/kept.h. */
#include "config.h"

#include "compiler/codegen/schedule.h"

/* Whether the indices of all that e reads are sums of loops. */
static bool is_affine(const nest *n, const kexpr *e)
{
	for (int d = 0; e->kind == KX_READ && d < kx_ndim(e); d++)
		if (!linear_of(n, e->args[d]).affine)
			return false;
	for (int i = 0; i < e->nargs; i++)
		if (!is_affine(n, e->args[i]))
			return false;
	return true;
}

static uint32_t inputs_of(const kexpr *e)
{
	uint32_t s = e->kind == KX_READ ? (uint32_t)1 << e->input : 0;
	for (int i = 0; i < e->nargs; i++)
		s |= inputs_of(e->args[i]);
	return s;
}

static uint32_t vars_of(const nest *n, loop_set s)
{
	uint32_t vars = 0;
	for (; s; s &= s - 1)
		vars |= (uint32_t)1 << n->loops[set_first(s)].var;
	return vars;
}

/* The number of times that each element of a factor is used, as far as it
 * counts. */
static int64_t uses_of(const nest *n, loop_set others)
{
	int64_t uses = 1;
	for (; others && uses <= KEPT_MOST_USES; others &= others - 1) {
		int64_t one = n->loops[set_first(others)].extent;
		uses = one > KEPT_MOST_USES ? one : uses * one;
	}
	return uses;
}

/* The type that a product is computed in has as many bytes. */
static int size_of(const kernel *k)
{
	dtype t = k->body->type;
	return dtype_is_float(t) && t != DT_F64 ? 4 : 8;
}

/* A factor that lies as tiles read it is read there by few of them, and need
 * not be packed: more than a few copy it in each run. */
static bool lies_so(const schedule *s, const kernel *k, const kexpr *e,
		    loop_set own)
{
	int last = set_last(own), size = size_of(k);
	int tile = own == s->rows ? KEPT_TILE_BYTES / size : KEPT_TILE_ROWS;
	loop_set others = own == s->rows ? s->cols : s->rows;
	return e->kind == KX_READ && step_of(&s->nest, e, last) == 1 &&
	       (int)dtype_size(k->inputs[e->input].type) == size &&
	       uses_of(&s->nest, others) < KEPT_FEW_TILES * tile;
}

static bool is_whole(const nest *n)
{
	for (int l = 0; l < n->n; l++)
		if (n->loops[l].part != LOOP_WHOLE)
			return false;
	return true;
}

static kept_factor keeps(const schedule *s, const kernel *k, const kexpr *e,
			 loop_set own, loop_set others)
{
	const nest *n = &s->nest;
	if (!own || !is_affine(n, e) || (s->outer & ~loops_of(n, e)) ||
	    uses_of(n, others) > KEPT_MOST_USES || lies_so(s, k, e, own))
		return (kept_factor){ 0 };
	return (kept_factor){ inputs_of(e), vars_of(n, s->outer),
			      vars_of(n, own), vars_of(n, s->depth),
			      size_of(k) };
}

void schedule_keeps(const schedule *s, const kernel *k,
		    kept_factor to[KEPT_SIDES])
{
	to[KEPT_ROWS] = to[KEPT_COLS] = (kept_factor){ 0 };
	if (s->kind != SCHEDULE_PRODUCT || !is_whole(&s->nest))
		return;
	to[KEPT_ROWS] = keeps(s, k, s->left, s->rows, s->cols);
	to[KEPT_COLS] = keeps(s, k, s->right, s->cols, s->rows);
}
