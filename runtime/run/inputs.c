#include "config.h"

#include "runtime/run/inputs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "kernel/eval.h"

static bool alloc_array(array *x, failure *f)
{
	int64_t nbytes = array_nbytes(x);
	x->data = calloc(nbytes > 0 ? (size_t)nbytes : 1, 1);
	return x->data ||
	       fail_with(f, CLI_MACHINE, "no memory for the %" PRId64
			 " bytes of '%s'", nbytes, x->name);
}

array *arrays_of(arena *a, const plan *p, const int *tensors, int n, failure *f)
{
	array *x = ARENA_ARRAY(a, array, n);
	for (int i = 0; i < n; i++) {
		x[i] = executor_array(p, tensors[i]);
		if (!alloc_array(&x[i], f)) {
			arrays_free(x, i);
			return NULL;
		}
	}
	return x;
}

void arrays_free(array *x, int n)
{
	for (int i = 0; x && i < n; i++)
		free(x[i].data);
}

/* ---- invented inputs --------------------------------------------------- */

enum { USUAL_LIMIT = 128 }; /* of integers that are no indices */

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

/* Sets limits[t]: the integers of tensor t have to be less than this, because
 * they index a dimension of that extent, directly or after other nodes have
 * computed integers from them. */
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

/* Fills an array with 0, 1, 2, .. modulo the limit; floats from 0 up to 1. */
static void count_up(const array *x, int64_t limit)
{
	int64_t n = array_nelem(x);
	if (x->type == DT_BOOL)
		limit = 2;
	else if (limit == INT64_MAX)
		limit = USUAL_LIMIT;
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

/* ---- inputs and states of a run ---------------------------------------- */

/* The values that the plan itself has for inputs. */
static bool read_defaults(feed *x, failure *f)
{
	arena *work = arena_new();
	diag_sink *s = diag_sink_new(work);
	bool good = true;
	for (int i = 0; good && i < x->p->ninputs; i++) {
		int tensor = x->p->inputs[i];
		const plan_tensor *t = &x->p->tensors[tensor];
		x->fed[i] = t->constant.kind != PLAN_CONST_NONE;
		if (x->fed[i])
			good = plan_constant_read(x->p, tensor,
						  x->inputs[i].data, s);
	}
	good = fail_of(f, s) && good;
	arena_free(work);
	return good;
}

feed *feed_new(arena *a, const plan *p, bool invented, failure *f)
{
	feed *x = ARENA_NEW(a, feed);
	x->p = p;
	x->fed = ARENA_ARRAY(a, bool, p->ninputs);
	x->tensors = plan_states(a, p, &x->nstates);
	x->states = ARENA_ARRAY(a, array, x->nstates);
	for (int i = 0; i < x->nstates; i++)
		x->states[i] = executor_array(p, x->tensors[i]);
	x->inputs = arrays_of(a, p, p->inputs, p->ninputs, f);
	if (x->inputs && invented)
		inputs_invent(p, x->inputs);
	if (x->inputs && read_defaults(x, f))
		return x;
	feed_free(x);
	return NULL;
}

void feed_free(feed *x)
{
	if (!x)
		return;
	arrays_free(x->inputs, x->p->ninputs);
	arrays_free(x->states, x->nstates);
}

/* By name: the number of an input, plus 1, or that of a state, behind the
 * inputs. */
static strmap *name_arrays(arena *a, const feed *x)
{
	strmap *names = strmap_new(a);
	uintptr_t number = 0;
	for (int i = 0; i < x->p->ninputs; i++)
		strmap_put(names, x->inputs[i].name, (void *)++number);
	for (int i = 0; i < x->nstates; i++)
		strmap_put(names, x->states[i].name, (void *)++number);
	return names;
}

static bool feed_array(feed *x, npz *z, strmap *names, const char *name,
		       const char *path, failure *f)
{
	int i = (int)(uintptr_t)strmap_get(names, name) - 1;
	if (i < 0)
		return fail_with(f, CLI_INPUT, "%s: the model has no input "
				 "'%.200s'", path, name);
	if (i < x->p->ninputs) {
		x->fed[i] = true;
		return npz_read(z, &x->inputs[i], f);
	}
	array *state = &x->states[i - x->p->ninputs];
	return (state->data || alloc_array(state, f)) && npz_read(z, state, f);
}

bool feed_read(feed *x, const char *path, failure *f)
{
	arena *work = arena_new();
	strmap *names = name_arrays(work, x);
	npz *z = npz_open(work, path, f);
	bool good = z != NULL;
	for (int i = 0; good && npz_name(z, i); i++)
		good = feed_array(x, z, names, npz_name(z, i), path, f);
	if (z)
		npz_close(z);
	arena_free(work);
	return good;
}

bool feed_is_complete(const feed *x, const char *from, failure *f)
{
	for (int i = 0; i < x->p->ninputs; i++)
		if (!x->fed[i])
			return fail_with(f, CLI_INPUT, "%s: there is no array "
					 "'%s'", from, x->inputs[i].name);
	return true;
}

int feed_learning_rate(const feed *x)
{
	for (int i = 0; i < x->p->ninputs; i++)
		if (x->p->inputs[i] == x->p->learning_rate)
			return i;
	return -1;
}

bool feed_set_learning_rate(feed *x, double v, failure *f)
{
	int i = feed_learning_rate(x);
	if (i < 0)
		return fail_with(f, CLI_INPUT, "the plan has no learning rate "
				 "to set");
	x->fed[i] = true;
	elem_set_f64(x->inputs[i].type, x->inputs[i].data, 0, v);
	return true;
}

bool feed_states(const feed *x, executor *m, failure *f)
{
	bool good = true;
	for (int i = 0; good && i < x->nstates; i++)
		if (x->states[i].data)
			good = executor_state_set(m, &x->states[i], f);
	return good;
}
