/* Factors of products that can be kept in packed form, plan/kept.h. */
#include "config.h"

#include "compiler/codegen/schedule.h"

/* Whether the indices of all reads in e are sums of loops. */
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

/* The number of uses of each element of a factor, up to the number that
 * matters. */
static int64_t uses_of(const nest *n, loop_set others)
{
	int64_t uses = 1;
	for (; others && uses <= KEPT_MOST_USES; others &= others - 1) {
		int64_t one = n->loops[set_first(others)].extent;
		uses = one > KEPT_MOST_USES ? one : uses * one;
	}
	return uses;
}

/* The bytes of the type in which a product is computed. */
static int size_of(const kernel *k)
{
	dtype t = k->body->type;
	return dtype_is_float(t) && t != DT_F64 ? 4 : 8;
}

/* Whether a factor is stored in the order in which tiles read it, and is read
 * once, so that it need not be packed.  Tiles of 2 to 16 rows take 1.2 to 3.6
 * times as long with a large matrix that is stored so: each row of a tile's
 * columns is in another page. */
static bool lies_so(const schedule *s, const kernel *k, const kexpr *e,
		    loop_set own)
{
	loop_set others = own == s->rows ? s->cols : s->rows;
	return e->kind == KX_READ &&
	       step_of(&s->nest, e, set_last(own)) == 1 &&
	       (int)dtype_size(k->inputs[e->input].type) == size_of(k) &&
	       uses_of(&s->nest, others) <= 1;
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
