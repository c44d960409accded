#include "config.h"

#include "kernel/kernel_class.h"

#include <math.h>
#include <string.h>

#include "kernel/contraction.h"

static const char *const classes[] = {
	[KERNEL_ELEMENTWISE] = "elementwise",
	[KERNEL_TURNED] = "transposition",
	[KERNEL_FUNCTION] = "function",
	[KERNEL_LONG] = "long function",
	[KERNEL_BRANCH] = "branched function",
	[KERNEL_INNER] = "inner reduction",
	[KERNEL_OUTER] = "outer reduction",
	[KERNEL_CHOICE] = "choice",
	[KERNEL_POOL] = "pooling",
	[KERNEL_PRODUCT] = "product",
	[KERNEL_WINDOW] = "convolution",
	[KERNEL_TURNED_PRODUCT] = "turned product",
	[KERNEL_TURNED_WINDOW] = "turned convolution",
	[KERNEL_GATHER] = "gather",
	[KERNEL_OPAQUE] = "opaque",
};

static const char *const sides[] = {
	[SIDE_ROWS] = "rows",
	[SIDE_COLUMNS] = "columns",
	[SIDE_DEPTH] = "depth",
};

/* The index of a name among n; n if it is not among them. */
static int find(const char *const *names, int n, const char *name)
{
	int i = 0;
	while (i < n && strcmp(names[i], name))
		i++;
	return i;
}

const char *kernel_class_name(kernel_class c)
{
	return classes[c];
}

kernel_class kernel_class_parse(const char *name)
{
	return (kernel_class)find(classes, KERNEL_CLASSES, name);
}

bool kernel_class_has_sides(kernel_class c)
{
	return c == KERNEL_PRODUCT || c == KERNEL_WINDOW ||
	       c == KERNEL_TURNED_PRODUCT || c == KERNEL_TURNED_WINDOW;
}

const char *kernel_side_name(kernel_side s)
{
	return sides[s];
}

kernel_side kernel_side_parse(const char *name)
{
	return (kernel_side)find(sides, KERNEL_SIDES, name);
}

/* ---- what a body has --------------------------------------------------- */

enum {
	MOST_READS = 2, /* the first reads, which are distinguished */
	MOST_SEEN = 32,
};

typedef struct findings {
	const kernel *k;
	int nreads;
	const kexpr *reads[MOST_READS];
	uint32_t vars[MOST_READS]; /* of the first reads' indices */
	uint32_t inner;	 /* of the last indices of all reads */
	bool windows;	 /* some index has several variables */
	/* .. the last index has a reduced one and one of the result: neighbours
	 * share what they read */
	bool pools;
	bool gathers;	 /* .. an index depends on data */
	/* .. some read has the result's last variable, but not in its last
	 * index */
	bool turned;
	int nseen;
	/* functions found; each is evaluated once */
	const kexpr *seen[MOST_SEEN];
	double functions; /* evaluated per point */
	double longs;	  /* .. not on floats, and taking many operations */
	double branched;  /* .. that an index decides on */
	/* The fraction of points at which the current expression is computed,
	 * as far as an index that must have one value decides; less than 1
	 * there. */
	double chance;
	uint32_t bound;	 /* variables of which each term has one value */
	/* fraction of the terms that are not 0 by divisibility */
	double part;
} findings;

static uint32_t vars_of(const kexpr *e)
{
	uint32_t vars = e->kind == KX_VAR ? 1u << e->var : 0;
	for (int i = 0; i < e->nargs; i++)
		vars |= vars_of(e->args[i]);
	return vars;
}

/* Variables of extent 1 do not move anything. */
static uint32_t moving(const kernel *k, uint32_t vars)
{
	for (int v = 0; v < k->nvars; v++)
		if (k->vars[v].extent <= 1)
			vars &= ~(1u << v);
	return vars;
}

static uint32_t last_output(const kernel *k)
{
	for (int v = k->nout; v-- > 0;)
		if (k->vars[v].extent > 1)
			return 1u << v;
	return 0;
}

static uint32_t range(int first, int end)
{
	uint32_t bits = 0;
	for (int v = first; v < end; v++)
		bits |= 1u << v;
	return bits;
}

static void look_at_read(findings *f, const kexpr *e)
{
	uint32_t all = 0, inner = 0, outputs = range(0, f->k->nout);
	for (int d = 0; d < kx_ndim(e); d++) {
		uint32_t here = moving(f->k, vars_of(e->args[d]));
		f->windows |= (here & (here - 1)) != 0;
		f->gathers |= kx_has_read(e->args[d]);
		all |= here;
		if (here)
			inner = here;
	}
	uint32_t last = last_output(f->k);
	f->turned |= (all & last) && !(inner & last);
	f->inner |= inner;
	f->pools |= (inner & outputs) && (inner & ~outputs);
	if (f->nreads < MOST_READS) {
		f->reads[f->nreads] = e;
		f->vars[f->nreads] = all;
	}
	f->nreads++;
}

/* The n of `(i - r) % n == 0' for a variable i of the result and a reduced one
 * r: one in n terms is not 0.  The product of these if several hold at once; 1
 * for any other condition. */
static double divisor_of(const kernel *k, const kexpr *e)
{
	uint32_t outputs = range(0, k->nout), vars;
	if (e->kind == KX_FN && e->fn == FN_AND)
		return divisor_of(k, e->args[0]) * divisor_of(k, e->args[1]);
	if (e->kind != KX_FN || e->fn != FN_EQ || e->args[0]->kind != KX_FN ||
	    e->args[0]->fn != FN_MOD || e->args[0]->args[1]->kind != KX_INT)
		return 1;
	vars = moving(k, vars_of(e->args[0]->args[0]));
	int64_t n = e->args[0]->args[1]->i;
	return (vars & outputs) && (vars & ~outputs) && n > 1 ? (double)n : 1;
}

/* Looks at `if ids[k] == i then .. else 0': each term is for one i.  The
 * reduction is a scatter that does not loop over i. */
static void look_at_choice(findings *f, const kexpr *e)
{
	const kexpr *c = e->args[0], *other = e->args[2];
	bool nothing = (other->kind == KX_FLOAT && other->f == 0) ||
		       (other->kind == KX_INT && other->i == 0);
	if (f->k->reducer != RED_SUM || !nothing)
		return;
	f->part /= divisor_of(f->k, c);
	if (c->kind != KX_FN || fn_table[c->fn].rule != FN_EQUALITY ||
	    c->nargs != 2)
		return;
	for (int i = 0; i < 2; i++) {
		const kexpr *v = c->args[i];
		if (v->kind == KX_VAR && v->var < f->k->nout &&
		    kx_has_read(c->args[1 - i]))
			f->bound |= 1u << v->var;
	}
}

/* Whether the same function of the same arguments was found before. */
static bool was_seen(findings *f, const kexpr *e)
{
	for (int i = 0; i < f->nseen; i++)
		if (kx_equal(f->seen[i], e))
			return true;
	if (f->nseen < MOST_SEEN)
		f->seen[f->nseen++] = e;
	return false;
}

static void look_at_function(findings *f, const kexpr *e)
{
	enum { MANY = 32 };
	bool of_floats = fn_is_transcendental(e->fn) &&
			 dtype_is_float(e->args[0]->type);
	bool takes_long = !of_floats && fn_flops(e->fn) >= MANY;
	if ((!of_floats && !takes_long) || was_seen(f, e))
		return;
	if (of_floats && f->chance < 1)
		f->branched += f->chance;
	else
		f->functions += of_floats;
	f->longs += takes_long;
}

/* The fraction of points at which `i == n' holds for a variable i; 1 for any
 * other condition. */
static double chance_of(const kernel *k, const kexpr *e)
{
	double part = 1;
	if (e->kind != KX_FN || e->fn != FN_EQ || kx_has_read(e))
		return 1;
	for (int i = 0; i < e->nargs; i++)
		if (e->args[i]->kind == KX_VAR)
			part = 1 / fmax((double)k->vars[e->args[i]->var].extent,
					1);
	return part;
}

static void look_at(findings *f, const kexpr *e);

/* Looks at the side of a choice that is computed at a fraction of the
 * points. */
static void look_at_side(findings *f, const kexpr *e, double part)
{
	const double chance = f->chance;
	const int nseen = f->nseen;
	f->chance *= part;
	look_at(f, e);
	f->chance = chance;
	if (part < 1)
		f->nseen = nseen;
}

/* Looks at an expression; of a choice at both sides. */
static void look_at(findings *f, const kexpr *e)
{
	if (e->kind == KX_READ)
		look_at_read(f, e);
	if (e->kind == KX_SELECT)
		look_at_choice(f, e);
	if (e->kind == KX_FN)
		look_at_function(f, e);
	for (int i = 0; i < e->nargs; i++)
		if (e->kind == KX_SELECT && i == 1)
			look_at_side(f, e->args[i],
				     chance_of(f->k, e->args[0]));
		else
			look_at(f, e->args[i]);
}

/* ---- classes ----------------------------------------------------------- */

/* Whether one of two reads moves along a dimension of the result that the other
 * lacks.  Otherwise each element is read once, and the sum of products is like
 * any other sum. */
static bool has_sides(const kernel *k, const findings *f)
{
	return ((f->vars[0] ^ f->vars[1]) & range(0, k->nout)) != 0;
}

static double extent_of(const kernel *k, uint32_t vars)
{
	double n = 1;
	for (int v = 0; v < k->nvars; v++)
		if (vars >> v & 1)
			n *= (double)k->vars[v].extent;
	return n;
}

/* For a product: whether the factor that does not run along the result's last
 * dimension has more of the summed extent in the dimensions outside of its own
 * than inside. */
static bool is_turned(const kernel *k, const findings *f)
{
	uint32_t outputs = range(0, k->nout), last = last_output(k);
	int nth = f->vars[0] & last ? 1 : 0;
	uint32_t own = f->vars[nth] & ~f->vars[1 - nth] & outputs;
	double side[2] = { 1, 1 }; /* outside, inside */
	bool within = false;
	for (int d = 0; d < kx_ndim(f->reads[nth]); d++) {
		uint32_t here = moving(k, vars_of(f->reads[nth]->args[d]));
		side[within] *= extent_of(k, here & ~outputs);
		within |= (here & own) != 0;
	}
	return within && side[0] > side[1];
}

static kernel_class product_class(const kernel *k, const findings *f)
{
	if (is_turned(k, f))
		return f->windows ? KERNEL_TURNED_WINDOW :
				    KERNEL_TURNED_PRODUCT;
	return f->windows ? KERNEL_WINDOW : KERNEL_PRODUCT;
}

/* The class of a reduction of some variables, without functions. */
static kernel_class reduction_class(const kernel *k, const findings *f,
				    uint32_t reduced)
{
	bool chooses = reducer_table[k->reducer].choice != FN_NO_CHOICE;
	if (f->pools)
		return KERNEL_POOL;
	if (!(f->inner & reduced))
		return KERNEL_OUTER;
	return chooses ? KERNEL_CHOICE : KERNEL_INNER;
}

static kernel_class class_of(const kernel *k, const findings *f)
{
	uint32_t reduced = moving(k, range(k->nout, k->nvars - k->nderived));
	if (f->gathers || k->nderived > 0 || f->bound)
		return KERNEL_GATHER;
	if (f->longs > 0)
		return KERNEL_LONG;
	if (kernel_sums_products(k) && f->nreads >= MOST_READS && reduced &&
	    has_sides(k, f))
		return product_class(k, f);
	if (k->reducer != RED_NONE && reduced && f->functions == 0 &&
	    f->branched == 0)
		return reduction_class(k, f, reduced);
	if (f->branched > 0)
		return KERNEL_BRANCH;
	if (f->functions > 0)
		return KERNEL_FUNCTION;
	return f->turned ? KERNEL_TURNED : KERNEL_ELEMENTWISE;
}

static void set_sides(kernel_form *to, const kernel *k, const findings *f)
{
	uint32_t left = f->vars[0], right = f->vars[1];
	uint32_t outputs = range(0, k->nout);
	to->side[SIDE_ROWS] = left & ~right & outputs;
	to->side[SIDE_COLUMNS] = right & ~left & outputs;
	to->side[SIDE_DEPTH] = range(k->nout, k->nvars - k->nderived);
}

/* Work per point.  A term of a reduction waits for the one before it; that
 * takes the time, not its arithmetic. */
static double work_of(const kernel *k, const kernel_form *form,
		      const findings *f)
{
	switch (form->class) {
	case KERNEL_FUNCTION:
	case KERNEL_LONG:
		return fmax(f->functions + f->longs, 1);
	case KERNEL_BRANCH:
		return f->branched + f->functions;
	case KERNEL_INNER:
	case KERNEL_OUTER:
	case KERNEL_CHOICE:
	case KERNEL_POOL:
		return 1;
	default:
		return fmax((double)kernel_flops_per_point(k), 1);
	}
}

kernel_form kernel_form_of(const kernel *k)
{
	findings f = { .k = k, .part = 1, .chance = 1 };
	kernel_form form = { .class = KERNEL_OPAQUE, .type = k->type,
			     .work = 1,
			     .structure = kernel_structure_hash(k) };
	if (!k->body)
		return form;
	look_at(&f, k->body);
	form.class = class_of(k, &f);
	form.bound = f.bound;
	form.work = work_of(k, &form, &f);
	if (kernel_class_has_sides(form.class)) {
		form.work *= f.part;
		set_sides(&form, k, &f);
	}
	return form;
}

kernel_load kernel_load_of(const kernel *k, const kernel_form *f,
			   const box *part)
{
	kernel_load l = { .work = f->work, .count = 1,
			  .extent = { 1, 1, 1 } };
	bool product = f->side[SIDE_DEPTH] != 0;
	for (int v = 0; v < k->nvars; v++) {
		double n = (double)(part->hi[v] - part->lo[v]);
		bool found = false;
		for (int s = 0; s < KERNEL_SIDES; s++)
			if (f->side[s] >> v & 1) {
				l.extent[s] *= n;
				found = true;
			}
		if (k->vars[v].kind == KVAR_DERIVED || f->bound >> v & 1)
			continue;
		if (product && !found)
			l.count *= n;
		else
			l.work *= n;
	}
	return l;
}

kernel_work kernel_work_of(const kernel *k, const box *part)
{
	box made = kernel_produces(k, part);
	double points = 1;
	double bytes = (double)box_volume(&made) * (double)dtype_size(k->type);
	for (int i = 0; i < k->nvars; i++)
		if (k->vars[i].kind != KVAR_DERIVED)
			points *= (double)(part->hi[i] - part->lo[i]);
	for (int i = 0; i < k->ninputs; i++) {
		box need = kernel_need(k, part, i);
		bytes += (double)box_volume(&need) *
			 (double)dtype_size(k->inputs[i].type);
	}
	return (kernel_work){ points * (double)kernel_flops_per_point(k),
			      bytes };
}

kernel_side kernel_least_side(const kernel_load *l)
{
	kernel_side least = SIDE_ROWS;
	for (int s = 1; s < KERNEL_SIDES; s++)
		if (l->extent[s] < l->extent[least])
			least = (kernel_side)s;
	return least;
}
