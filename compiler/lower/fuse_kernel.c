/* Fusion: one kernel made of two. */
#include "config.h"

#include <string.h>

#include "base/hash.h"
#include "compiler/lower/fuse_parts.h"

typedef struct rewriter {
	arena *a;
	const kernel *first; /* replaces the read of `slot' */
	int slot;
	const int *inputs;   /* numbers of the first kernel's inputs, and .. */
	kexpr *const *index; /* .. the values of its variables */
} rewriter;

static kexpr *copy_of(const rewriter *w, const kexpr *e)
{
	kexpr *to = ARENA_NEW(w->a, kexpr);
	*to = *e;
	to->args = ARENA_ARRAY(w->a, kexpr *, e->nargs);
	return to;
}

/* The body of the first kernel in variables of the second. */
static kexpr *rewrite_first(const rewriter *w, const kexpr *e)
{
	if (e->kind == KX_VAR)
		return w->index[e->var];
	kexpr *to = copy_of(w, e);
	if (e->kind == KX_READ)
		to->input = w->inputs[e->input];
	for (int i = 0; i < e->nargs; i++)
		to->args[i] = rewrite_first(w, e->args[i]);
	return to;
}

/* Whether the interpreter computes an expression with more bits than its type
 * has.  It does not for reads, casts and choices among such values. */
static bool is_wider_than_stored(const kexpr *e)
{
	bool chosen = e->kind == KX_FN && fn_table[e->fn].exact;
	if (e->kind == KX_READ || e->kind == KX_CAST || e->kind == KX_BITCAST)
		return false;
	if (e->kind != KX_SELECT && !chosen)
		return true;
	for (int i = e->kind == KX_SELECT; i < e->nargs; i++)
		if (is_wider_than_stored(e->args[i]))
			return true;
	return false;
}

/* Whether storing a value of type t rounds or truncates what an expression is
 * computed as.  The interpreter computes f32 in f64.  If the value were
 * recomputed in a fused kernel, it would differ from the stored one, and a test
 * for equality with a maximum would fail. */
static bool storing_matters(const kexpr *e, dtype t)
{
	return t != DT_F64 && t != DT_BOOL && dtype_bits(t) < 64 &&
	       (t != DT_F32 || is_wider_than_stored(e));
}

static kexpr *rewrite(const rewriter *w, const kexpr *e)
{
	if (e->kind == KX_READ && e->input == w->slot) {
		rewriter inner = *w;
		inner.index = e->args;
		kexpr *x = rewrite_first(&inner, w->first->body);
		bool cast = storing_matters(x, w->first->type) ||
			    x->type != w->first->type;
		return cast ? kx_cast(w->a, x, w->first->type) : x;
	}
	kexpr *to = copy_of(w, e);
	if (e->kind == KX_READ)
		to->input = e->input - (e->input > w->slot);
	for (int i = 0; i < e->nargs; i++)
		to->args[i] = rewrite(w, e->args[i]);
	return to;
}

static const kernel *make_kernel(fuser *x, const pairing *p)
{
	const kernel *first = p->first, *second = p->second;
	kernel *k = ARENA_NEW(x->a, kernel);
	rewriter w = { x->a, first, p->slot, p->inputs, NULL };
	*k = *second;
	k->name = arena_printf(x->a, "%.*s+%.*s", FUSE_LONGEST_NAME,
			       first->name, FUSE_LONGEST_NAME, second->name);
	k->inputs = ARENA_ARRAY(x->a, kinput,
				first->ninputs + second->ninputs);
	k->ninputs = 0;
	for (int i = 0; i < second->ninputs; i++)
		if (i != p->slot)
			k->inputs[k->ninputs++] = second->inputs[i];
	for (int i = 0; i < first->ninputs; i++)
		if (p->inputs[i] == k->ninputs)
			k->inputs[k->ninputs++] = first->inputs[i];
	k->body = rewrite(&w, second->body);
	kernel_finish(x->a, k);
	return k;
}

/* ---- pairs that were made before --------------------------------------- */

static bool same_pairing(const pairing *p, const pairing *q)
{
	return p->first == q->first && p->second == q->second &&
	       p->slot == q->slot &&
	       !memcmp(p->inputs, q->inputs,
		       (size_t)p->first->ninputs * sizeof(*p->inputs));
}

const kernel *fuse_kernel(fuser *x, pairing *p)
{
	uint64_t hash = hash_bytes(HASH_SEED, &p->first, sizeof(p->first));
	hash = hash_bytes(hash, &p->second, sizeof(p->second));
	uint32_t at = 0;
	for (int i; (i = hash_table_next(&x->by_kernels, hash, &at)) >= 0;)
		if (same_pairing(p, &x->pairs.at[i]))
			return x->pairs.at[i].made;
	p->made = make_kernel(x, p);
	hash_table_add(x->tmp, &x->by_kernels, hash, x->pairs.n);
	vec_push(x->tmp, &x->pairs, *p);
	return p->made;
}
