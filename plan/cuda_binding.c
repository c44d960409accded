#include "config.h"

#include "plan/cuda_binding.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/vec.h"

/* ---- a run ------------------------------------------------------------- */

bind_run bind_run_of(const plan *p, int instr, int worker, uint64_t base)
{
	const plan_instr *in = &p->program[instr];
	const kernel *k = p->kernels[p->nodes[in->node].kernel].kernel;
	bind_run r = { .k = k, .space = plan_space(p, in, worker) };
	for (int i = 0; i <= k->ninputs; i++) {
		int buffer = i < k->ninputs ? in->inputs[i] : in->to;
		r.at[i] = plan_region(p, buffer, worker).at;
		r.data[i] = base + (uint64_t)p->buffers[buffer].offset;
	}
	return r;
}

static dtype type_of(const kernel *k, int operand)
{
	return operand < k->ninputs ? k->inputs[operand].type : k->type;
}

static int64_t stride_of(const box *at, int dim)
{
	int64_t stride = 1;
	for (int d = at->n - 1; d > dim; d--)
		stride *= at->hi[d] - at->lo[d];
	return stride;
}

/* The address of element 0, 0, .., which may be outside of the buffer and wrap
 * around. */
static int64_t origin(const bind_run *r, int i)
{
	const box *at = &r->at[i];
	uint64_t before = 0;
	for (int d = 0; d < at->n; d++)
		before += (uint64_t)at->lo[d] * (uint64_t)stride_of(at, d);
	return (int64_t)(r->data[i] - before * dtype_size(type_of(r->k, i)));
}

int64_t bind_value(const bind_run *r, bind_slot s)
{
	switch (s.kind) {
	case BIND_LO:
		return r->space.lo[s.i];
	case BIND_COUNT:
		return r->space.hi[s.i] - r->space.lo[s.i];
	case BIND_ADDRESS:
		return origin(r, s.i);
	case BIND_STRIDE:
		return stride_of(&r->at[s.i], s.d);
	case BIND_FAULT:
		return (int64_t)r->fault;
	}
	return 0;
}

void bind_words(const binding *b, const bind_run *r, int64_t *w)
{
	for (int i = 0; i < b->nwords; i++)
		w[i] = bind_value(r, b->words[i]);
}

/* ---- how large indices become ------------------------------------------ */

/* An upper bound of |e|, an index.  An element read from a tensor is bounded
 * only by its check. */
static double greatest(const kernel *k, const kexpr *e)
{
	double x[3] = { 0 };
	for (int i = 0; i < e->nargs && i < 3; i++)
		x[i] = greatest(k, e->args[i]);
	switch (e->kind) {
	case KX_INT:
		return fabs((double)e->i);
	case KX_VAR:
		return (double)k->vars[e->var].extent;
	case KX_SELECT:
		return fmax(x[1], x[2]);
	case KX_FN:
		if (e->fn == FN_MUL)
			return x[0] * x[1];
		if (e->fn == FN_DIV)
			return x[0];
		return fn_gives_bool(e->fn) ? fmax(x[0], x[1]) : x[0] + x[1];
	default:
		return 0;
	}
}

/* The largest index expression in e, or number with which one is compared. */
static double greatest_index(const kernel *k, const kexpr *e)
{
	double most = e->type == DT_I64 ? greatest(k, e) : 0;
	for (int i = 0; i < e->nargs; i++)
		most = fmax(most, greatest_index(k, e->args[i]));
	return most;
}

/* The number of elements from element 0, 0, .. to the last one in memory. */
static double reach(const box *at)
{
	double n = 0;
	for (int d = 0; d < at->n; d++)
		n += (double)at->hi[d] * (double)stride_of(at, d);
	return n;
}

static bool is_large(const bind_run *r)
{
	/* Kernels count slightly beyond the ends. */
	const double limit = 0x1p31 - 0x1p20;
	double result = 1, terms = 1;
	for (int v = 0; v < r->k->nvars; v++) {
		double n = (double)(r->space.hi[v] - r->space.lo[v]);
		if ((double)r->space.hi[v] > limit)
			return true;
		if (r->k->vars[v].kind == KVAR_OUTPUT)
			result *= n;
		else
			terms *= n;
	}
	for (int i = 0; i <= r->k->ninputs; i++)
		if (reach(&r->at[i]) > limit)
			return true;
	return result > limit || terms > limit;
}

/* ---- what runs have in common ------------------------------------------ */

typedef struct entry {
	bind_slot slot;
	int64_t value;
	bool varies;
} entry;

typedef VEC(entry) entries;

typedef struct binder {
	arena *a;
	const plan *p; /* any of those that share the kernels */
	binding *bindings;
	entries *entries; /* by kernel */
} binder;

static bool is_number(bind_kind k)
{
	return k != BIND_ADDRESS && k != BIND_FAULT;
}

static void add(binder *b, entries *to, bind_kind kind, int i, int d)
{
	entry e = { .slot = { kind, i, d }, .varies = !is_number(kind) };
	vec_push(b->a, to, e);
}

static void list_slots(binder *b, const kernel *k, entries *to)
{
	for (int v = 0; v < k->nvars; v++) {
		add(b, to, BIND_LO, v, 0);
		add(b, to, BIND_COUNT, v, 0);
	}
	for (int i = 0; i <= k->ninputs; i++) {
		int ndim = i < k->ninputs ? k->inputs[i].ndim : k->nout;
		add(b, to, BIND_ADDRESS, i, 0);
		for (int d = 0; d < ndim; d++)
			add(b, to, BIND_STRIDE, i, d);
	}
	add(b, to, BIND_FAULT, 0, 0);
}

static void note_run(binder *b, const plan *p, int instr, int worker)
{
	const plan_node *n = &p->nodes[p->program[instr].node];
	binding *to = &b->bindings[n->kernel];
	entries *list = &b->entries[n->kernel];
	bind_run r = bind_run_of(p, instr, worker, 0);
	bool is_new = !to->used;
	if (is_new) {
		const kexpr *body = r.k->body;
		list_slots(b, r.k, list);
		to->used = true;
		to->wide = body && greatest_index(r.k, body) > 0x1p31 - 0x1p20;
	}
	to->wide = to->wide || is_large(&r);
	for (int i = 0; i < list->n; i++) {
		entry *e = &list->at[i];
		int64_t value = bind_value(&r, e->slot);
		if (is_new)
			e->value = value;
		else if (e->value != value)
			e->varies = true;
	}
}

/* ---- text -------------------------------------------------------------- */

static const char *element(dtype t)
{
	switch (t) {
	case DT_F64:
		return "double";
	case DT_F32:
		return "float";
	case DT_F16:
	case DT_BF16:
	case DT_U16:
		return "uint16_t";
	case DT_I64:
		return "int64_t";
	case DT_I32:
		return "int32_t";
	case DT_I16:
		return "int16_t";
	case DT_I8:
	case DT_I4:
	case DT_I2:
		return "int8_t";
	case DT_U64:
		return "uint64_t";
	case DT_U32:
		return "uint32_t";
	default:
		return "uint8_t";
	}
}

static const char *operand(const binder *b, const kernel *k, int i)
{
	return i < k->ninputs ? arena_printf(b->a, "IN_%d", i) : "OUT";
}

static const char *name_of(const binder *b, const kernel *k, bind_slot s)
{
	switch (s.kind) {
	case BIND_LO:
		return arena_printf(b->a, "TDL_LO_%d", s.i);
	case BIND_COUNT:
		return arena_printf(b->a, "TDL_COUNT_%d", s.i);
	case BIND_ADDRESS:
		return arena_printf(b->a, "TDL_%s", operand(b, k, s.i));
	case BIND_STRIDE:
		return arena_printf(b->a, "TDL_%s_STRIDE_%d",
				    operand(b, k, s.i), s.d);
	case BIND_FAULT:
		break;
	}
	return "TDL_FAULT";
}

/* A cast to a pointer's type, or to that of an index. */
static const char *cast_of(const binder *b, const kernel *k, bind_slot s)
{
	if (s.kind == BIND_FAULT)
		return "tdl_fault *";
	if (s.kind == BIND_ADDRESS)
		return arena_printf(b->a, "%s%s *",
				    s.i < k->ninputs ? "const " : "",
				    element(type_of(k, s.i)));
	return "TDL_INT";
}

typedef VEC(char) bytes;

static void append(arena *a, bytes *to, const char *s)
{
	for (; *s; s++)
		vec_push(a, to, *s);
}

static void append_slot(const binder *b, const kernel *k, binding *to,
			const entry *e, bytes *define, bytes *undefine)
{
	const char *name = name_of(b, k, e->slot);
	const char *cast = cast_of(b, k, e->slot), *line;
	if (e->varies)
		line = arena_printf(b->a, "#define %s ((%s)p.w[%d])\n", name,
				    cast, to->nwords);
	else
		line = arena_printf(b->a, "#define %s ((%s)%" PRId64 ")\n",
				    name, cast, e->value);
	if (e->varies)
		to->words[to->nwords++] = e->slot;
	append(b->a, define, line);
	append(b->a, undefine, arena_printf(b->a, "#undef %s\n", name));
}

static void write_text(const binder *b, int i)
{
	const kernel *k = b->p->kernels[i].kernel;
	const entries *list = &b->entries[i];
	binding *to = &b->bindings[i];
	bytes define = { 0 }, undefine = { 0 };
	to->words = ARENA_ARRAY(b->a, bind_slot, list->n);
	for (int e = 0; e < list->n; e++)
		append_slot(b, k, to, &list->at[e], &define, &undefine);
	vec_push(b->a, &define, '\0');
	vec_push(b->a, &undefine, '\0');
	to->define = arena_printf(b->a, "#define TDL_INT %s\n"
				  "#define TDL_NWORDS %d\n%s",
				  to->wide ? "int64_t" : "int32_t", to->nwords,
				  define.at);
	to->undefine = arena_printf(b->a, "#undef TDL_INT\n"
				    "#undef TDL_NWORDS\n%s", undefine.at);
}

char *bind_text(arena *a, const binding *b, const char *name,
		const char *source)
{
	return arena_printf(a, "\n#define TDL_KERNEL %s\n"
			    "#define TDL_PART(x) %s_##x\n%s%s%s"
			    "#undef TDL_KERNEL\n#undef TDL_PART\n", name, name,
			    b->define, source, b->undefine);
}

/* ---- all kernels ------------------------------------------------------- */

enum { SAMPLE = 16 };

static void note_part(binder *b, const bind_part *x)
{
	const plan *p = x->p;
	int all = mesh_workers(&p->mesh), sample = all < SAMPLE ? all : SAMPLE;
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		if (in->op != PLAN_RUN ||
		    !p->kernels[p->nodes[in->node].kernel].cuda)
			continue;
		for (int w = 0; w < sample; w++)
			note_run(b, p, i, (int)((int64_t)w * all / sample));
		for (int w = x->first; w < x->first + x->nworkers; w++)
			note_run(b, p, i, w);
	}
}

binding *bind_all_kernels(arena *a, int n, const bind_part *parts)
{
	const plan *p = parts[0].p;
	binder b = { .a = a, .p = p };
	b.bindings = ARENA_ARRAY(a, binding, p->nkernels);
	b.entries = ARENA_ARRAY(a, entries, p->nkernels);
	for (int i = 0; i < n; i++)
		note_part(&b, &parts[i]);
	for (int i = 0; i < p->nkernels; i++)
		if (b.bindings[i].used)
			write_text(&b, i);
	return b.bindings;
}

binding *bind_kernels(arena *a, const plan *p, int first, int nworkers)
{
	const bind_part all = { p, first, nworkers };
	return bind_all_kernels(a, 1, &all);
}
