#include "config.h"

#include "runtime/run/inputs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "kernel/eval.h"
#include "runtime/exec/invent.h"

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

/* ---- inputs and states of a run ---------------------------------------- */

/* Reads values for inputs that the plan itself has. */
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
		invent_inputs(p, x->inputs);
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

/* By name: the number of an input, plus 1; states are numbered after the
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
