#include "config.h"

#include "compiler/export/jax_layout.h"

static jax_spec nothing(int ndim)
{
	jax_spec x = { .ndim = ndim };
	for (int a = 0; a < MAX_AXES; a++)
		x.dim[a] = -1;
	return x;
}

jax_spec jax_stored(const plan *p, int tensor)
{
	const plan_tensor *t = &p->tensors[tensor];
	jax_spec x = nothing(t->ndim);
	for (int a = 0; a < p->mesh.naxes; a++) {
		int d = t->cuts.dim[a];
		x.dim[a] = (signed char)(d >= 0 ? d : -1);
		x.partial = x.partial || d < CUT_NONE;
	}
	return x;
}

/* The dimension of an input that goes along a variable, or follows it with
 * halos or strides; -1 if there is none or several. */
static int follows(const kernel *k, int input, int var)
{
	int spans[MAX_NDIM], found = -1, exact = -1;
	uint32_t vars[MAX_NDIM];
	kernel_need_spans(k, input, spans);
	kernel_need_vars(k, input, vars);
	for (int i = 0; i < k->nderived; i++)
		if (k->derived[i].var == var)
			return k->derived[i].input == input ?
				k->derived[i].dim : -1;
	for (int d = 0; d < k->inputs[input].ndim; d++) {
		if (spans[d] == var)
			exact = exact == -1 ? d : -2;
		if (vars[d] >> var & 1)
			found = found == -1 ? d : -2;
	}
	int d = exact == -1 ? found : exact;
	return d < 0 ? -1 : d;
}

jax_spec jax_needed(const plan *p, const plan_node *n, int tensor)
{
	const kernel *k = p->kernels[n->kernel].kernel;
	jax_spec x = nothing(p->tensors[tensor].ndim);
	for (int a = 0; a < p->mesh.naxes; a++) {
		int v = n->cuts.dim[a], found = -2;
		for (int i = 0; i < k->ninputs && v >= 0; i++) {
			if (n->inputs[i] != tensor)
				continue;
			int d = follows(k, i, v);
			found = found == -2 || found == d ? d : -1;
		}
		x.dim[a] = (signed char)(found < 0 ? -1 : found);
	}
	return x;
}

/* Whether an axis after a divides dimension d, too. */
static bool divided_inside(const plan *p, const jax_spec *x, int a, int d)
{
	for (int i = a + 1; i < p->mesh.naxes; i++)
		if (x->dim[i] == d)
			return true;
	return false;
}

/* A share is inside the blocks that are computed.  A spec has the axes of a
 * dimension in the mesh's order, so it cannot express a share along an axis
 * before those of the blocks. */
jax_spec jax_combined(const plan *p, const plan_node *n)
{
	const kernel *k = p->kernels[n->kernel].kernel;
	jax_spec stored = jax_stored(p, n->output), x = nothing(k->nout);
	for (int a = 0; a < p->mesh.naxes; a++) {
		int v = n->cuts.dim[a];
		if (v >= 0 && v < k->nout)
			x.dim[a] = (signed char)v;
	}
	for (int a = 0; a < p->mesh.naxes; a++) {
		int v = n->cuts.dim[a], d = stored.dim[a];
		bool combined = v != CUT_NONE && x.dim[a] < 0;
		if (combined && d >= 0 && !divided_inside(p, &x, a, d))
			x.dim[a] = (signed char)d;
	}
	return x;
}

bool jax_same(const plan *p, const jax_spec *x, const jax_spec *y)
{
	bool same = x->ndim == y->ndim;
	for (int a = 0; a < p->mesh.naxes; a++)
		same = same && x->dim[a] == y->dim[a];
	return same;
}

const char *jax_spec_text(arena *a, const plan *p, const jax_spec *x)
{
	const char *s = "";
	for (int d = 0; d < x->ndim; d++) {
		const char *names = "";
		int n = 0;
		for (int i = 0; i < p->mesh.naxes; i++)
			if (x->dim[i] == d)
				names = arena_printf(a, "%s%s\"a%d\"", names,
						     n++ ? ", " : "", i);
		s = arena_printf(a, n > 1 ? "%s%s(%s)" : "%s%s%s", s,
				 d ? ", " : "", n ? names : "None");
	}
	return s;
}
