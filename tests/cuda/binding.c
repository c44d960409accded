#include "config.h"

#include "tests/cuda/binding.h"

typedef struct writer {
	arena *a;
	char *text;
	int nwords;
} writer;

/* NAME is the next word, as a value of this type. */
static void word(writer *w, const char *name, const char *type)
{
	w->text = arena_printf(w->a, "%s#undef %s\n#define %s (%sp.w[%d])\n",
			       w->text, name, name, type, w->nwords++);
}

static void place(writer *w, const char *name, const char *type, int ndim)
{
	word(w, name, type);
	for (int d = 0; d < ndim; d++)
		word(w, arena_printf(w->a, "%s_STRIDE_%d", name, d), "");
}

const char *binding_text(arena *a, const kernel *k, int number, int bits)
{
	writer w = {a, arena_strdup(a, ""), 0};
	for (int v = 0; v < k->nvars; v++) {
		word(&w, arena_printf(a, "TDL_LO_%d", v), "");
		word(&w, arena_printf(a, "TDL_COUNT_%d", v), "");
	}
	for (int i = 0; i < k->ninputs; i++)
		place(&w, arena_printf(a, "TDL_IN_%d", i), "(const void *)",
		      k->inputs[i].ndim);
	place(&w, "TDL_OUT", "(void *)", k->nout);
	place(&w, "TDL_FAULT", "(tdl_fault *)", 0);
	return arena_printf(a, "%s#undef TDL_NWORDS\n#define TDL_NWORDS %d\n"
			    "#undef TDL_INT\n#define TDL_INT int%d_t\n"
			    "#undef TDL_KERNEL\n"
			    "#define TDL_KERNEL tdl_kernel_%d\n"
			    "#undef TDL_PART\n"
			    "#define TDL_PART(x) tdl_kernel_%d_##x\n",
			    w.text, w.nwords, bits, number, number);
}

static int64_t origin(const tdl_block *b, int ndim, size_t size)
{
	return (int64_t)(intptr_t)b->data +
	       tdl_start(b, ndim) * (int64_t)size;
}

void binding_words(const kernel *k, const tdl_args *args, tdl_fault *fault,
		   int64_t *w)
{
	for (int v = 0; v < k->nvars; v++) {
		*w++ = args->lo[v];
		*w++ = args->hi[v] - args->lo[v];
	}
	for (int i = 0; i < k->ninputs; i++) {
		int ndim = k->inputs[i].ndim;
		*w++ = origin(&args->in[i], ndim,
			      dtype_size(k->inputs[i].type));
		for (int d = 0; d < ndim; d++)
			*w++ = args->in[i].stride[d];
	}
	*w++ = origin(&args->out, k->nout, dtype_size(k->type));
	for (int d = 0; d < k->nout; d++)
		*w++ = args->out.stride[d];
	*w = (int64_t)(intptr_t)fault;
}
