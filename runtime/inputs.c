#include "config.h"

#include "runtime/inputs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "plan/eval.h"
#include "runtime/machine.h"

array *arrays_of(arena *a, const plan *p, const int *tensors, int n, failure *f)
{
	array *x = ARENA_ARRAY(a, array, n);
	for (int i = 0; i < n; i++) {
		x[i] = machine_array(p, tensors[i]);
		int64_t nbytes = plan_tensor_nbytes(&p->tensors[tensors[i]]);
		x[i].data = calloc(nbytes > 0 ? (size_t)nbytes : 1, 1);
		if (x[i].data)
			continue;
		fail_with(f, CLI_MACHINE, "no memory for the %" PRId64
			  " bytes of '%s'", nbytes, x[i].name);
		arrays_free(x, i);
		return NULL;
	}
	return x;
}

void arrays_free(array *x, int n)
{
	for (int i = 0; x && i < n; i++)
		free(x[i].data);
}

/* ---- from a file ------------------------------------------------------- */

static bool is_input(const array *inputs, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(inputs[i].name, name))
			return true;
	return false;
}

bool inputs_read(arena *a, const array *inputs, int n, const char *path,
		 failure *f)
{
	npz *z = npz_open(a, path, f);
	bool good = z != NULL;
	for (int i = 0; good && npz_name(z, i); i++)
		if (!is_input(inputs, n, npz_name(z, i)))
			good = fail_with(f, CLI_INPUT, "%s: the model has no "
					 "input '%.200s'", path,
					 npz_name(z, i));
	for (int i = 0; good && i < n; i++)
		good = npz_read(z, &inputs[i], f);
	if (z)
		npz_close(z);
	return good;
}

/* ---- made up ----------------------------------------------------------- */

enum { NO_LIMIT = 128 };

static bool reads(const kexpr *e, int input)
{
	if (e->kind == KX_READ && e->input == input)
		return true;
	for (int i = 0; i < e->nargs; i++)
		if (reads(e->args[i], input))
			return true;
	return false;
}

/* The extent of the smallest dimension that input `of` of a kernel indexes,
 * at most `limit`. */
static int64_t indexed(const kernel *k, const kexpr *e, int of, int64_t limit)
{
	for (int d = 0; e->kind == KX_READ && d < kx_ndim(e); d++) {
		int64_t n = k->inputs[e->input].dims[d];
		if (n < limit && reads(e->args[d], of))
			limit = n;
	}
	for (int i = 0; i < e->nargs; i++)
		limit = indexed(k, e->args[i], of, limit);
	return limit;
}

/* limits[t]: below this the integers of tensor t have to stay, for what they
 * index directly or through nodes that pass integers on. */
static void find_limits(const plan *p, int64_t *limits)
{
	for (int t = 0; t < p->ntensors; t++)
		limits[t] = INT64_MAX;
	for (int n = p->nnodes; n-- > 0;) {
		const plan_node *node = &p->nodes[n];
		const kernel *k = p->kernels[node->kernel].kernel;
		for (int i = 0; i < k->ninputs; i++) {
			int64_t *limit = &limits[node->inputs[i]];
			if (k->body)
				*limit = indexed(k, k->body, i, *limit);
			if (dtype_is_int(k->inputs[i].type) &&
			    dtype_is_int(k->type) &&
			    limits[node->output] < *limit)
				*limit = limits[node->output];
		}
	}
}

static void count_up(const array *x, int64_t limit)
{
	int64_t n = array_nelem(x);
	if (x->type == DT_BOOL)
		limit = 2;
	else if (limit == INT64_MAX)
		limit = NO_LIMIT;
	for (int64_t i = 0; i < n; i++)
		if (dtype_is_float(x->type))
			elem_set_f64(x->type, x->data, i,
				     (double)i / (double)n);
		else
			elem_set_i64(x->type, x->data, i,
				     limit > 0 ? i % limit : 0);
}

void inputs_invent(const plan *p, const array *inputs)
{
	arena *work = arena_new();
	int64_t *limits = ARENA_ARRAY(work, int64_t, p->ntensors);
	find_limits(p, limits);
	for (int i = 0; i < p->ninputs; i++)
		count_up(&inputs[i], limits[p->inputs[i]]);
	arena_free(work);
}
