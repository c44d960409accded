#include "config.h"

#include "plan/chain.h"

#include "kernel/contraction.h"
#include "kernel/region.h"
#include "plan/lifetimes.h"

/* ---- which instructions ------------------------------------------------ */

int plan_chain_end(const plan *p, int i)
{
	const plan_instr *first = &p->program[i];
	int end = i + 1;
	while (first->chain > 0 && end < p->ninstrs &&
	       p->program[end].chain == first->chain &&
	       p->program[end].turn == first->turn)
		end++;
	return end;
}

static const kernel *kernel_of(const plan *p, int instr)
{
	return p->kernels[p->nodes[p->program[instr].node].kernel].kernel;
}

/* Marks the buffers that instructions outside of chains [begin, end) read. */
typedef struct reads {
	bool *unseen;
	const int *writer; /* by buffer: 1 + the instruction */
	int begin, end;
} reads;

static void see(void *to, int buffer)
{
	const reads *r = to;
	if (r->writer[buffer] <= r->begin || r->writer[buffer] > r->end)
		r->unseen[buffer] = false;
}

/* Whether a result is used outside of the chain in any case: it lasts, or goes
 * from turn to turn. */
static bool is_of_program(const plan *p, const bool *carried, int buffer)
{
	const plan_buffer *b = &p->buffers[buffer];
	return plan_is_kept(p, buffer) || carried[b->tensor] || b->slots != 0;
}

bool *plan_chain_buffers(arena *a, const plan *p)
{
	bool *unseen = ARENA_ARRAY(a, bool, p->nbuffers);
	bool *carried = ARENA_ARRAY(a, bool, p->ntensors);
	int *writer = ARENA_ARRAY(a, int, p->nbuffers);
	for (int t = 0; t < p->ntensors; t++)
		if (p->tensors[t].then >= 0)
			carried[t] = carried[p->tensors[t].then] = true;
	for (int i = 0; i < p->ninstrs; i++) {
		int to = p->program[i].to;
		writer[to] = i + 1;
		unseen[to] = p->program[i].chain > 0 &&
			     !is_of_program(p, carried, to);
	}
	for (int i = 0, end; i < p->ninstrs; i = end) {
		end = plan_chain_end(p, i);
		reads r = { unseen, writer, i, end };
		for (int j = i; j < end; j++)
			plan_reads(p, &p->program[j], see, &r);
	}
	return unseen;
}

/* ---- axes -------------------------------------------------------------- */

enum { NOT_READ = -1, NOT_ALONG = -2 };

/* The variable of the result that alone indexes dimension d in all reads of an
 * input; NOT_ALONG if there is none. */
static int var_along(const kernel *k, const kexpr *e, int input, int d)
{
	int found = NOT_READ;
	if (e->kind == KX_READ && e->input == input) {
		const kexpr *x = e->args[d];
		found = x->kind == KX_VAR && x->var < k->nout &&
					k->vars[x->var].extent ==
						k->inputs[input].dims[d]
				? x->var
				: NOT_ALONG;
	}
	for (int i = 0; i < e->nargs; i++) {
		int v = var_along(k, e->args[i], input, d);
		if (found == NOT_READ)
			found = v;
		else if (v != NOT_READ && v != found)
			found = NOT_ALONG;
	}
	return found;
}

/* The dimension of an input that variable v alone indexes; -1 for none. */
static int dim_along(const kernel *k, int input, int v)
{
	for (int d = 0; d < k->inputs[input].ndim; d++)
		if (var_along(k, k->body, input, d) == v)
			return d;
	return -1;
}

/* Sets a run's variable; false if it has another one. */
static bool set_var(chain_axis *x, int run, int v, bool *more)
{
	if (v < 0 || (x->vars[run] >= 0 && x->vars[run] != v))
		return false;
	*more |= x->vars[run] < 0;
	x->vars[run] = v;
	return true;
}

/* Propagates an axis from run r to the runs whose results it reads, and from
 * these to it. */
static bool follow_reads(const plan *p, const plan_chain *c, int r,
			 chain_axis *x, bool *more)
{
	const kernel *k = kernel_of(p, c->instr[r]);
	for (int i = 0; i < k->ninputs; i++) {
		int q = c->from[r][i];
		if (q < 0)
			continue;
		if (x->vars[q] >= 0 &&
		    !set_var(x, r, var_along(k, k->body, i, x->vars[q]), more))
			return false;
		if (x->vars[r] >= 0 &&
		    !set_var(x, q, dim_along(k, i, x->vars[r]), more))
			return false;
	}
	return true;
}

/* Follows variable v of the first run through all others, which are connected
 * by their reads; false if one lacks it. */
static bool follow(const plan *p, const plan_chain *c, int v, chain_axis *x)
{
	bool more = true;
	for (int r = 0; r < c->n; r++)
		x->vars[r] = r == 0 ? v : -1;
	while (more) {
		more = false;
		for (int r = 1; r < c->n; r++)
			if (!follow_reads(p, c, r, x, &more))
				return false;
	}
	for (int r = 0; r < c->n; r++)
		if (x->vars[r] < 0)
			return false;
	return true;
}

/* Whether all runs are divided along an axis, over the mesh and over time, or
 * none of them. */
static bool divided_alike(const plan *p, const plan_chain *c,
			  const chain_axis *x)
{
	for (int a = 0; a <= p->mesh.naxes; a++) {
		int along = 0;
		for (int r = 0; r < c->n; r++) {
			const plan_node *of =
				&p->nodes[p->program[c->instr[r]].node];
			int v = a < p->mesh.naxes ? of->cuts.dim[a] : of->time;
			along += v == x->vars[r];
		}
		if (along != 0 && along != c->n)
			return false;
	}
	return true;
}

static bool reads_var(const kexpr *e, int var)
{
	if (e->kind == KX_VAR && e->var == var)
		return true;
	for (int i = 0; i < e->nargs; i++)
		if (reads_var(e->args[i], var))
			return true;
	return false;
}

/* Whether a tensor keeps its value in each run of the plan. */
static bool lasts(const plan *p, int buffer)
{
	plan_role r = p->tensors[p->buffers[buffer].tensor].role;
	return r == PLAN_CONSTANT || r == PLAN_STATE;
}

static const kexpr *factor_of(const kernel *k, int side)
{
	const kexpr *e = k->body->args[side];
	while (e->kind == KX_CAST)
		e = e->args[0];
	return e;
}

/* Sets x->rows if a factor of a product lacks the axis. */
static void find_rows(const plan *p, const plan_chain *c, chain_axis *x)
{
	for (int r = 0; r < c->n; r++) {
		const kernel *k = kernel_of(p, c->instr[r]);
		for (int side = 0; side < 2; side++)
			x->rows |= kernel_multiplies_matrices(k) &&
				   !reads_var(factor_of(k, side), x->vars[r]);
	}
}

/* Whether a run multiplies by a weight.  In a chain the weight would be packed
 * for each part; otherwise it is packed once, or kept. */
static bool has_weight(const plan *p, const plan_instr *in, const kernel *k)
{
	for (int side = 0; side < 2 && kernel_multiplies_matrices(k); side++) {
		int b = in->inputs[factor_of(k, side)->input];
		if (lasts(p, b))
			return true;
	}
	return false;
}

static bool find_axes(const plan *p, plan_chain *c)
{
	const kernel *k = kernel_of(p, c->instr[0]);
	c->naxes = 0;
	for (int v = 0; v < k->nout && c->naxes < MAX_CHAIN_AXES; v++) {
		chain_axis x = { .rows = false };
		if (k->vars[v].extent > 1 && follow(p, c, v, &x) &&
		    divided_alike(p, c, &x)) {
			find_rows(p, c, &x);
			c->axes[c->naxes++] = x;
		}
	}
	return c->naxes > 0;
}

/* ---- chains ------------------------------------------------------------ */

static bool is_plain(const kernel *k)
{
	return k->body && !k->opaque && !k->nderived;
}

/* Finds which results of other runs run r reads. */
static void find_sources(const plan *p, plan_chain *c, int r)
{
	const plan_instr *in = &p->program[c->instr[r]];
	int ninputs = kernel_of(p, c->instr[r])->ninputs;
	for (int i = 0; i < ninputs; i++) {
		c->from[r][i] = -1;
		for (int q = 0; q < r; q++)
			if (p->program[c->instr[q]].to == in->inputs[i])
				c->from[r][i] = q;
	}
}

bool plan_chain_find(const plan *p, plan_chain *c)
{
	for (int r = 0; r < c->n; r++) {
		const plan_instr *in = &p->program[c->instr[r]];
		if (in->op != PLAN_RUN ||
		    !is_plain(kernel_of(p, c->instr[r])) ||
		    has_weight(p, in, kernel_of(p, c->instr[r])))
			return false;
		find_sources(p, c, r);
		c->inner[r] = false;
	}
	return find_axes(p, c);
}

bool plan_chain_at(const plan *p, int i, const bool *unseen, plan_chain *c)
{
	int n = plan_chain_end(p, i) - i;
	c->n = n < MAX_CHAIN ? n : MAX_CHAIN;
	for (int r = 0; r < c->n; r++)
		c->instr[r] = i + r;
	if (n < 2 || n > MAX_CHAIN || !plan_chain_find(p, c))
		return false;
	for (int r = 0; r < n; r++) {
		int to = p->program[i + r].to;
		c->inner[r] = unseen[to] && p->buffers[to].nbytes == 0;
	}
	return true;
}

bool plan_chain_fits(const plan *p, const plan_chain *c, int worker)
{
	box first = plan_space(p, &p->program[c->instr[0]], worker);
	for (int r = 1; r < c->n; r++) {
		box own = plan_space(p, &p->program[c->instr[r]], worker);
		for (int a = 0; a < c->naxes; a++) {
			int v = c->axes[a].vars[0], w = c->axes[a].vars[r];
			if (first.lo[v] != own.lo[w] ||
			    first.hi[v] != own.hi[w])
				return false;
		}
	}
	return true;
}

/* ---- parts ------------------------------------------------------------- */

int64_t plan_chain_link_bytes(const plan *p, const plan_chain *c, int r,
			      const box *space, const int64_t *length)
{
	const kernel *k = kernel_of(p, c->instr[r]);
	box own = *space;
	if (!c->inner[r])
		return 0;
	for (int a = 0; a < c->naxes; a++) {
		int v = c->axes[a].vars[r];
		if (own.hi[v] - own.lo[v] > length[a])
			own.hi[v] = own.lo[v] + length[a];
	}
	box made = kernel_produces(k, &own);
	return box_volume(&made) * (int64_t)dtype_size(k->type);
}

int64_t plan_chain_bytes(const plan *p, const plan_chain *c, const box *spaces,
			 const int64_t *length)
{
	int64_t bytes = 0;
	for (int r = 0; r < c->n; r++)
		bytes += plan_chain_link_bytes(p, c, r, &spaces[r], length);
	return bytes;
}

static int64_t range_of(const plan_chain *c, const box *spaces, int axis)
{
	int v = c->axes[axis].vars[0];
	return spaces[0].hi[v] - spaces[0].lo[v];
}

static int64_t count_parts(const plan_chain *c, const box *spaces,
			   const int64_t *length)
{
	int64_t n = 1;
	for (int a = 0; a < c->naxes; a++)
		n *= (range_of(c, spaces, a) + length[a] - 1) / length[a];
	return n;
}

/* Lengthens a part along an axis as long as it is small and there are parts for
 * all threads. */
static void lengthen(const plan *p, const plan_chain *c, const box *spaces,
		     int threads, int axis, int64_t *length)
{
	enum { PARTS_OF_A_THREAD = 4 };
	int64_t all = range_of(c, spaces, axis);
	while (length[axis] < all) {
		int64_t before = length[axis], bytes;
		length[axis] = 2 * before < all ? 2 * before : all;
		bytes = plan_chain_bytes(p, c, spaces, length);
		if (bytes <= CHAIN_PART_BYTES &&
		    (threads == 1 || count_parts(c, spaces, length) >=
					     PARTS_OF_A_THREAD * threads))
			continue;
		length[axis] = before;
		return;
	}
}

void plan_chain_parts(const plan *p, const plan_chain *c, const box *spaces,
		      int threads, int64_t length[MAX_CHAIN_AXES])
{
	for (int a = 0; a < c->naxes; a++) {
		int64_t all = range_of(c, spaces, a);
		length[a] = !c->axes[a].rows	     ? 1
			    : all < CHAIN_LEAST_ROWS ? all
						     : CHAIN_LEAST_ROWS;
		length[a] = length[a] > 0 ? length[a] : 1;
	}
	for (int rows = 1; rows >= 0; rows--)
		for (int a = c->naxes - 1; a >= 0; a--)
			if (c->axes[a].rows == rows)
				lengthen(p, c, spaces, threads, a, length);
}
