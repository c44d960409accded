#include "config.h"

#include "runtime/exec/backend.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <string.h>

#include "runtime/exec/builtin.h"

bool backend_at(const plan *p, int worker, int instr, failure *f)
{
	const plan_instr *in = &p->program[instr];
	failure why = *f;
	*f = (failure){ 0 };
	if (in->op == PLAN_RUN) {
		const plan_node *n = &p->nodes[in->node];
		return fail_with(f, why.status, "worker %d: node '%s' (%s): %s",
				 worker, n->name, n->op, why.text);
	}
	return fail_with(f, why.status, "worker %d: %s of '%s': %s", worker,
			 in->op == PLAN_FEED ? "feed"
					     : collective_name(in->collective),
			 p->tensors[p->buffers[in->to].tensor].name, why.text);
}

bool backend_explain(const kernel *k, eval_status status,
		     const eval_fault *fault, failure *f)
{
	switch (status) {
	case EVAL_OK:
		return true;
	case EVAL_INDEX_OUTSIDE:
		return fail_with(f, CLI_INPUT, "'%s' is read at index %" PRId64
				 " of dimension %d, which has %" PRId64
				 " elements", k->inputs[fault->input].name,
				 fault->value, fault->dim,
				 k->inputs[fault->input].dims[fault->dim]);
	case EVAL_KERNEL_FAILED:
		return fail_with(f, CLI_INPUT, "the opaque function '%s' (%s) "
				 "failed", k->opaque, k->opaque_symbol);
	case EVAL_NO_KERNEL:
		break;
	}
	return fail_with(f, CLI_INPUT, "the opaque function '%s' has no kernel",
			 k->opaque ? k->opaque : "");
}

/* ---- opaque functions -------------------------------------------------- */

static bool find_opaque(const kernel *k, void *library, opaque_fn *to,
			failure *f)
{
	void *at = library ? dlsym(library, k->opaque_symbol) : NULL;
	if (at)
		memcpy(to, &at, sizeof(at));
	else
		*to = builtin_kernel(k->opaque_symbol);
	if (*to)
		return true;
	return fail_with(f, CLI_INPUT, "the kernel '%s' of the opaque function "
			 "'%s' in '%s' is missing; a library that has it is "
			 "given as kernels-from", k->opaque_symbol, k->opaque,
			 k->name);
}

opaque_fn *backend_opaque(arena *a, const plan *p, const char *path,
			  void **library, failure *f)
{
	opaque_fn *list = ARENA_ARRAY(a, opaque_fn, p->nkernels);
	/* A name without a slash is a file, not a library of the system. */
	if (path && !strchr(path, '/'))
		path = arena_printf(a, "./%s", path);
	*library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	if (path && !*library) {
		fail_with(f, CLI_INPUT, "cannot load the kernels: %s",
			  dlerror());
		return NULL;
	}
	for (int i = 0; i < p->nkernels; i++)
		if (p->kernels[i].kernel->opaque &&
		    !find_opaque(p->kernels[i].kernel, *library, &list[i], f))
			return NULL;
	return list;
}
