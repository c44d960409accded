/* A kernel's CUDA text on its own: all bindings are words of its parameter. */
#include "config.h"

#include "compiler/codegen/codegen.h"

typedef struct writer {
	arena *a;
	char *text;
	int nwords;
} writer;

/* Declares NAME as the next word, converted to this type. */
static void word(writer *w, const char *name, const char *cast)
{
	w->text = arena_printf(w->a, "%s#undef %s\n#define %s (%sp.w[%d])\n",
			       w->text, name, name, cast, w->nwords++);
}

static void place(writer *w, const char *name, const char *cast, int ndim)
{
	word(w, name, cast);
	for (int d = 0; d < ndim; d++)
		word(w, arena_printf(w->a, "%s_STRIDE_%d", name, d), "");
}

char *codegen_cuda_words(arena *a, const kernel *k, const char *name, int bits)
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
			    "#undef TDL_KERNEL\n#define TDL_KERNEL %s\n"
			    "#undef TDL_PART\n#define TDL_PART(x) %s_##x\n",
			    w.text, w.nwords, bits, name, name);
}
