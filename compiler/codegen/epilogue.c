/* Epilogues: kernels that take the elements of a reduction one by one before
 * they are stored. */
#include "config.h"

#include <string.h>

#include "compiler/codegen/codegen.h"
#include "compiler/codegen/emit.h"

/* ---- which kernels ------------------------------------------------------- */

/* Whether a kernel reduces floats in their own type and gets each finished
 * element once.  Its variables have one loop each. */
static bool is_reduction(const kernel *k)
{
	if (k->opaque || k->nderived || k->reducer == RED_NONE ||
	    (k->type != DT_F32 && k->type != DT_F64) ||
	    k->body->type != k->type)
		return false;
	schedule s = schedule_on_cpu(k);
	if (s.nturns || s.kind == SCHEDULE_SCATTER || s.kind == SCHEDULE_SCAN)
		return false;
	for (int l = 0; l < s.nest.n; l++)
		if (!s.nest.loops[l].reduced &&
		    s.nest.loops[l].part != LOOP_WHOLE)
			return false;
	return true;
}

/* Whether all reads are unconditional, at indices that do not depend on
 * data. */
static bool reads_plainly(const kexpr *e)
{
	if (e->kind == KX_READ && (e->guarded || e->nargs > kx_ndim(e)))
		return false;
	for (int i = 0; i < e->nargs; i++)
		if (!reads_plainly(e->args[i]) ||
		    (e->kind == KX_READ && kx_has_read(e->args[i])))
			return false;
	return true;
}

static bool is_epilogue(const kernel *k, int input)
{
	return !k->opaque && !k->nderived && kernel_in_place(k, input) &&
	       reads_plainly(k->body);
}

/* ---- all as one ---------------------------------------------------------- */

typedef struct joining {
	arena *a;
	kernel *k;	/* the first kernel, with the inputs of all */
	int numbers[MAX_NINPUTS]; /* of the current kernel's inputs */
	int input;	/* its input that is the kernel before, .. */
	/* .. whose value this is; NULL: the first kernel, .. */
	const kexpr *before;
	/* .. and the form of all reads of it; NULL: none yet */
	const kexpr *own;
} joining;

/* An expression of the current kernel, with the inputs of all.  Reads of the
 * kernel before count as equal even if some have 0 for a variable of extent
 * 1. */
static const kexpr *rewrite(joining *x, const kexpr *e)
{
	bool own = e->kind == KX_READ && e->input == x->input;
	if (own && (x->before || x->own))
		return x->before ? x->before : x->own;
	kexpr *to = ARENA_COPY(x->a, e, 1);
	to->args = ARENA_ARRAY(x->a, kexpr *, e->nargs);
	for (int i = 0; i < e->nargs; i++)
		to->args[i] = (kexpr *)rewrite(x, e->args[i]);
	if (e->kind == KX_READ)
		to->input = x->numbers[e->input];
	if (own)
		x->own = to;
	return to;
}

/* Adds a kernel's inputs, except for the kernel before it.  The input for the
 * first kernel comes last in the end. */
static void add_inputs(joining *x, const next_kernel *next)
{
	kernel *k = x->k;
	for (int i = 0; i < next->k->ninputs; i++)
		if (i != next->input) {
			x->numbers[i] = k->ninputs;
			k->inputs[k->ninputs++] = next->k->inputs[i];
		}
	x->numbers[next->input] = MAX_NINPUTS - 1;
	x->input = next->input;
	k->name = arena_printf(x->a, "%s+%s", k->name, next->k->name);
}

/* Whether there is room for all inputs; the last one is the result. */
static bool have_room(const kernel *first, int n, const next_kernel *next)
{
	int inputs = first->ninputs + 1;
	for (int i = 0; i < n; i++)
		inputs += next[i].k->ninputs - 1;
	return inputs <= MAX_NINPUTS;
}

static void join(emitter *g, const kernel *first, int n,
		 const next_kernel *next)
{
	joining x = { .a = g->t.a, .k = ARENA_COPY(g->t.a, first, 1) };
	x.k->inputs = ARENA_ARRAY(x.a, kinput, MAX_NINPUTS);
	memcpy(x.k->inputs, first->inputs,
	       (size_t)first->ninputs * sizeof(kinput));
	for (int i = 0; i < n; i++) {
		add_inputs(&x, &next[i]);
		x.before = rewrite(&x, next[i].k->body);
	}
	x.k->ninputs = MAX_NINPUTS;
	x.k->inputs[MAX_NINPUTS - 1] = next[0].k->inputs[next[0].input];
	g->k = x.k;
	g->epilogue = x.before;
	g->own = x.own;
}

const char *print_reduced(emitter *g, const char *sum, dtype type)
{
	if (!g->epilogue)
		return print_element(&g->p, sum, type, g->k->type);
	int known = g->p.loaded.n;
	vec_push(g->p.a, &g->p.loaded, ((named){ g->own, sum }));
	const char *s = print_stored(&g->p, g->epilogue, g->k->type);
	g->p.loaded.n = known;
	return s;
}

static int64_t count_reads(const kexpr *e, int input)
{
	int64_t n = e->kind == KX_READ && e->input == input;
	for (int i = 0; i < e->nargs; i++)
		n += count_reads(e->args[i], input);
	return n;
}

/* Whether each kernel is written only a few times: once for each read of it by
 * all that follow. */
static bool is_short(int n, const next_kernel *next)
{
	enum { MOST_COPIES = 32 };
	int64_t copies = 1;
	for (int i = 1; i < n && copies <= MOST_COPIES; i++)
		copies *= count_reads(next[i].k->body, next[i].input);
	return copies <= MOST_COPIES;
}

char *codegen_epilogue(arena *a, const kernel *first, int n,
		       const next_kernel *next)
{
	if (!have_room(first, n, next) || !is_reduction(first) ||
	    !is_short(n, next))
		return NULL;
	for (int i = 0; i < n; i++)
		if (!is_epilogue(next[i].k, next[i].input))
			return NULL;
	arena *work = arena_new();
	emitter g = { .t = { .a = work } };
	join(&g, first, n, next);
	char *s = g.own ? emit_kernel(a, &g) : NULL;
	arena_free(work);
	return s;
}

/* ---- of a plan ----------------------------------------------------------- */

/* The C text of an epilogue, from its first kernel on; NULL if there is
 * none. */
static char *source_of(arena *a, const plan *p, int number,
		       const plan_epilogue *e)
{
	next_kernel next[PLAN_MOST_JOINED];
	int at = PLAN_MOST_JOINED;
	for (;; e = &p->kernels[number].epilogues[e->after]) {
		next[--at] = (next_kernel){ p->kernels[number].kernel,
					    e->input };
		number = e->of;
		if (e->after < 0)
			break;
	}
	return codegen_epilogue(a, p->kernels[number].kernel,
				PLAN_MOST_JOINED - at, next + at);
}

typedef struct adding {
	arena *a;
	plan *p;
} adding;

/* The number of an epilogue, added if it is new. */
static int add_epilogue(void *arg, int number, const plan_epilogue *e)
{
	const adding *x = arg;
	plan_kernel *k = &x->p->kernels[number];
	int n = k->nepilogues;
	for (int i = 0; i < n; i++)
		if (k->epilogues[i].of == e->of &&
		    k->epilogues[i].after == e->after &&
		    k->epilogues[i].input == e->input)
			return i;
	const char *c = source_of(x->a, x->p, number, e);
	if (!c)
		return -1;
	plan_epilogue *all = ARENA_ARRAY(x->a, plan_epilogue, n + 1);
	if (n > 0)
		memcpy(all, k->epilogues, (size_t)n * sizeof(*all));
	all[n] = *e;
	all[n].c = c;
	k->epilogues = all;
	return k->nepilogues++;
}

void codegen_epilogues(arena *a, plan *p)
{
	adding x = { a, p };
	arena *work = arena_new();
	plan_joined(work, p, add_epilogue, &x);
	arena_free(work);
}
