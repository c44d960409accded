/* The part of a program that depends on its plan: tables of the tensors, and
 * the instructions as functions in the program's order. */
#include "config.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/intern.h"
#include "compiler/codegen/text.h"
#include "compiler/export/program.h"
#include "layout/layout_text.h"
#include "plan/cuda_binding.h"

typedef struct writer {
	text t;
	const plan *p;
	binding *bindings; /* by kernel */
	int nworkers;
} writer;

#define SAY(...)  text_line(&w->t, __VA_ARGS__)
#define OPEN(...) text_open(&w->t, __VA_ARGS__)
#define CLOSE()	  text_close(&w->t)
/* Ends a table. */
#define CLOSE_TABLE() (w->t.depth--, SAY("};"))

/* ---- kernels ----------------------------------------------------------- */

enum { KERNELS_IN_A_FILE = 16 };

static binding *bindings_of(arena *a, const plan *p)
{
	return bind_kernels(a, p, 0, mesh_workers(&p->mesh));
}

char *program_kernels(arena *a, const plan *p, int n)
{
	binding *b = bindings_of(a, p);
	VEC(char) s = { 0 };
	int used = 0;
	const char *head = "#include \"tdl/cuda.h\"\n";
	for (const char *c = head; *c; c++)
		vec_push(a, &s, *c);
	for (int i = 0; i < p->nkernels; i++) {
		if (!b[i].used || used++ / KERNELS_IN_A_FILE != n)
			continue;
		const char *name = arena_printf(a, "tdl_kernel_%d", i);
		const char *bound = bind_text(a, &b[i], name,
					      p->kernels[i].cuda);
		for (const char *c = bound; *c; c++)
			vec_push(a, &s, *c);
	}
	if (n > 0 && n * KERNELS_IN_A_FILE >= used)
		return NULL;
	vec_push(a, &s, '\0');
	return s.at;
}

static void declare_kernels(writer *w)
{
	for (int i = 0; i < w->p->nkernels; i++)
		if (w->bindings[i].used)
			SAY("extern \"C\" __global__ void tdl_kernel_%d(const "
			    "tdl_words<%d>);", i, w->bindings[i].nwords);
	SAY("%s", "");
}

/* ---- comments ---------------------------------------------------------- */

/* Text made safe for a comment or a string. */
static const char *clean(arena *a, const char *s)
{
	char *to = arena_strdup(a, s);
	for (char *c = to; *c; c++)
		if (iscntrl((unsigned char)*c) || *c == '"' || *c == '\\' ||
		    (*c == '*' && c[1] == '/'))
			*c = '_';
	return to;
}

static const char *print_cuts(arena *a, const plan *p, const cuts *c,
			      const kernel *k)
{
	const char *s = "";
	for (int i = 0; i < p->mesh.naxes; i++) {
		int d = c->dim[i];
		const char *what = "whole";
		if (d != CUT_NONE)
			what = k ? layout_division_text(a, k, d) :
			       d < 0 ? layout_axis_text(a, d) :
				       arena_printf(a, "%d", d);
		s = arena_printf(a, "%s%s%s", s, i ? ", " : "", what);
	}
	return s;
}

/* ---- tensors ----------------------------------------------------------- */

static const char *descr_of(dtype t)
{
	switch (t) {
	case DT_F64:
		return "<f8";
	case DT_F32:
		return "<f4";
	case DT_F16:
		return "<f2";
	case DT_I64:
		return "<i8";
	case DT_I32:
		return "<i4";
	case DT_I16:
		return "<i2";
	case DT_I8:
	case DT_I4:
	case DT_I2:
		return "|i1";
	case DT_U64:
		return "<u8";
	case DT_U32:
		return "<u4";
	case DT_BF16:
	case DT_U16:
		return "<u2";
	case DT_BOOL:
		return "|b1";
	default:
		return "|u1";
	}
}

static int float_of(dtype t)
{
	switch (t) {
	case DT_F64:
		return 8;
	case DT_F32:
		return 4;
	case DT_BF16:
		return 3;
	case DT_F16:
		return 2;
	default:
		return 0;
	}
}

/* Whether a tensor exists before or after a step. */
static bool stays(const plan_tensor *t)
{
	return t->buffer >= 0 && (t->role != PLAN_RESULT || t->output);
}

/* Bytes of a name; with its suffix it has to be within the 255 of file
 * systems. */
enum { LONGEST_FILE = 200 };

static const char *file_of(arena *a, strmap *taken, const char *name)
{
	char *s = arena_strndup(a, name, strnlen(name, LONGEST_FILE));
	for (char *c = s; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
			*c = '_';
	if (*s == '.')
		*s = '_';
	const char *file = s;
	for (int i = 2; strmap_get(taken, file); i++)
		file = arena_printf(a, "%s-%d", s, i);
	strmap_put(taken, file, taken);
	return file;
}

static void write_parts(writer *w, int tensor)
{
	const plan_tensor *t = &w->p->tensors[tensor];
	OPEN("static const int64_t parts_%d[] =", tensor);
	for (int i = 0; i < w->nworkers; i++) {
		region r = plan_region(w->p, t->buffer, i);
		const char *line = "";
		for (int d = 0; d < t->ndim; d++)
			line = arena_printf(w->t.a, "%s%s%" PRId64 ", %" PRId64
					    ",", line, d ? " " : "",
					    r.at.lo[d], r.at.hi[d]);
		SAY("%s", t->ndim ? line : "0,");
	}
	CLOSE_TABLE();
}

static void write_tensor(writer *w, int tensor, strmap *taken, int64_t *at)
{
	static const char *const roles[] = { "INPUT", "CONSTANT", "RESULT",
					     "STATE" };
	const plan_tensor *t = &w->p->tensors[tensor];
	bool has = t->constant.kind != PLAN_CONST_NONE;
	const char *dims = "";
	for (int d = 0; d < t->ndim; d++)
		dims = arena_printf(w->t.a, "%s%s%" PRId64, dims,
				    d ? ", " : "", t->dims[d]);
	SAY("{ \"%s\", \"%s\", \"%s\", %d, %d,", clean(w->t.a, t->name),
	    file_of(w->t.a, taken, t->name), descr_of(t->type),
	    float_of(t->type), (int)dtype_size(t->type));
	SAY("  ROLE_%s, %s, %d, { %s }, %" PRId64 ", %" PRId64 ", parts_%d },",
	    roles[t->role], t->output ? "true" : "false", t->ndim, dims,
	    w->p->buffers[t->buffer].offset, has ? *at : -1, tensor);
}

static void write_tensors(writer *w)
{
	strmap *taken = strmap_new(w->t.a);
	int64_t at = 0;
	int n = 0;
	for (int t = 0; t < w->p->ntensors; t++)
		if (stays(&w->p->tensors[t]))
			write_parts(w, t);
	SAY("%s", "");
	OPEN("extern const tensor tensors[] =");
	for (int t = 0; t < w->p->ntensors; t++) {
		const plan_tensor *x = &w->p->tensors[t];
		if (stays(x)) {
			write_tensor(w, t, taken, &at);
			n++;
		}
		if (x->buffer >= 0 && x->constant.kind != PLAN_CONST_NONE)
			at += plan_tensor_nbytes(x);
	}
	if (!n)
		SAY("{ 0 }");
	CLOSE_TABLE();
	SAY("extern const int ntensors = %d;", n);
}

/* ---- kernels' runs ----------------------------------------------------- */

static void write_words(writer *w, int instr, const binding *b)
{
	const char *addresses = "", *fault = "-1";
	int64_t *words = ARENA_ARRAY(w->t.a, int64_t, b->nwords + 1);
	for (int i = 0; i < b->nwords; i++) {
		if (b->words[i].kind == BIND_ADDRESS)
			addresses = arena_printf(w->t.a, "%s%d, ", addresses,
						 i);
		if (b->words[i].kind == BIND_FAULT)
			fault = arena_printf(w->t.a, "%d", i);
	}
	SAY("static const int addresses[] = { %s-1 }, fault = %s;", addresses,
	    fault);
	OPEN("static const int64_t words[][%d] =", b->nwords ? b->nwords : 1);
	for (int i = 0; i < w->nworkers; i++) {
		bind_run r = bind_run_of(w->p, instr, i, 0);
		const char *line = b->nwords ? "" : "0";
		bind_words(b, &r, words);
		for (int j = 0; j < b->nwords; j++)
			line = arena_printf(w->t.a, "%s%s%" PRId64, line,
					    j ? ", " : "", words[j]);
		SAY("{ %s },", line);
	}
	CLOSE_TABLE();
}

static void write_items(writer *w, const plan_instr *in, const plan_kernel *k)
{
	const char *line = "";
	for (int i = 0; i < w->nworkers; i++) {
		box space = plan_space(w->p, in, i);
		line = arena_printf(w->t.a, "%s%s%" PRId64, line, i ? ", " : "",
				    plan_launch_items(k, &space));
	}
	SAY("static const int64_t items[] = { %s };", line);
}

static void write_run(writer *w, int instr)
{
	const plan_instr *in = &w->p->program[instr];
	const plan_node *n = &w->p->nodes[in->node];
	const plan_kernel *k = &w->p->kernels[n->kernel];
	const binding *b = &w->bindings[n->kernel];
	SAY("/* %s: %s", clean(w->t.a, n->name),
	    clean(w->t.a, kernel_text(w->t.a, k->kernel)));
	SAY(" * divided by: %s */", clean(w->t.a, print_cuts(
		    w->t.a, w->p, &n->cuts, k->kernel)));
	OPEN("static void instr_%d()", instr);
	write_words(w, instr, b);
	write_items(w, in, k);
	SAY("for (int w = 0; w < nworkers; w++)");
	SAY("\tlaunch(%d, w, (const void *)tdl_kernel_%d, items[w], %d, "
	    "%" PRId64 ", words[w], %d, addresses, fault);",
	    instr, n->kernel, k->launch.threads, k->launch.shared, b->nwords);
	CLOSE();
	SAY("%s", "");
}

/* ---- transfers --------------------------------------------------------- */

/* The offset of a box in a region that contains it, and its steps, in bytes. */
static int64_t place_of(const region *r, const box *at, int64_t size,
			int64_t *step)
{
	int64_t stride = 1, first = -r->first;
	for (int d = at->n - 1; d >= 0; d--) {
		first += (at->lo[d] - r->at.lo[d]) * stride;
		step[d] = stride * size;
		stride *= r->at.hi[d] - r->at.lo[d];
	}
	return first * size;
}

static const char *print_numbers(arena *a, const int64_t *x, int n)
{
	const char *s = "";
	for (int i = 0; i < n; i++)
		s = arena_printf(a, "%s%s%" PRId64, s, i ? ", " : "", x[i]);
	return s;
}

static void write_piece(writer *w, const plan_instr *in, int worker,
			const piece *q)
{
	const plan *p = w->p;
	const plan_buffer *to = &p->buffers[in->to];
	const plan_buffer *from = &p->buffers[in->from];
	int64_t size = (int64_t)dtype_size(p->tensors[to->tensor].type);
	int64_t count[MAX_NDIM], to_step[MAX_NDIM], from_step[MAX_NDIM];
	region r = plan_region(p, in->to, worker);
	region s = plan_region(p, in->from, q->peer);
	int64_t to_at = to->offset + place_of(&r, &q->at, size, to_step);
	int64_t from_at = from->offset + place_of(&s, &q->at, size, from_step);
	for (int d = 0; d < q->at.n; d++)
		count[d] = q->at.hi[d] - q->at.lo[d];
	SAY("{ %d, %d, PIECE_%s, %" PRId64 ", %" PRId64 ", %d, { %s }, { %s }, "
	    "{ %s } },", worker, q->peer,
	    q->zeros ? "ZEROS" : q->add ? "ADD" : "COPY", to_at,
	    from_at, q->at.n, print_numbers(w->t.a, count, q->at.n),
	    print_numbers(w->t.a, to_step, q->at.n),
	    print_numbers(w->t.a, from_step, q->at.n));
}

static const char *reducer_word(reducer r)
{
	static const char *const words[RED_COUNT] = {
		[RED_NONE] = "NONE", [RED_SUM] = "SUM", [RED_PROD] = "PROD",
		[RED_MAX] = "MAX",   [RED_MIN] = "MIN", [RED_AND] = "AND",
		[RED_OR] = "OR",
	};
	return words[r] ? words[r] : "NONE";
}

static const char *type_word(arena *a, dtype t)
{
	char *s = arena_strdup(a, dtype_name(t));
	for (char *c = s; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return s;
}

static void write_transfer(writer *w, int instr)
{
	const plan *p = w->p;
	const plan_instr *in = &p->program[instr];
	const plan_tensor *t = &p->tensors[p->buffers[in->to].tensor];
	reducer r = in->op == PLAN_COMBINE ? plan_partial(p, in->node) :
					     RED_NONE;
	int n = 0;
	SAY("/* %s of %s, stored cut along: %s */",
	    collective_name(in->collective), clean(w->t.a, t->name),
	    print_cuts(w->t.a, p, &t->cuts, NULL));
	OPEN("static void instr_%d()", instr);
	OPEN("static const piece pieces[] =");
	for (int i = 0; i < w->nworkers; i++) {
		piece *pieces;
		int npieces = plan_pieces(w->t.a, p, in, i, &pieces);
		for (int j = 0; j < npieces; j++)
			write_piece(w, in, i, &pieces[j]);
		n += npieces;
	}
	if (!n)
		SAY("{ 0 }");
	CLOSE_TABLE();
	SAY("transfer(pieces, %d, %d, RED_%s, TYPE_%s);", n,
	    (int)dtype_size(t->type), reducer_word(r),
	    r == RED_NONE ? "U8" : type_word(w->t.a, t->type));
	CLOSE();
	SAY("%s", "");
}

/* ---- the file ---------------------------------------------------------- */

static void write_program(writer *w)
{
	for (int i = 0; i < w->p->ninstrs; i++) {
		if (w->p->program[i].op == PLAN_RUN)
			write_run(w, i);
		else
			write_transfer(w, i);
	}
	OPEN("void step()");
	for (int i = 0; i < w->p->ninstrs; i++)
		SAY("instr_%d();", i);
	CLOSE();
}

char *program_plan(arena *a, const plan *p)
{
	writer own = { .t = { .a = a }, .p = p,
		       .bindings = bindings_of(a, p),
		       .nworkers = mesh_workers(&p->mesh) };
	writer *w = &own;
	SAY("/* The plan of '%s' by '%s': %d workers, an arena of %" PRId64
	    " bytes each,", clean(a, p->model), clean(a, p->algorithm),
	    w->nworkers, p->arena_bytes);
	SAY(" * %" PRId64 " bytes moved in a step. */",
	    p->communication_bytes);
	SAY("#include \"program.h\"");
	SAY("%s", "");
	SAY("extern const char plan_name[] = \"%s\";", clean(a, p->model));
	SAY("extern const int nworkers = %d, ninstrs = %d;", w->nworkers,
	    p->ninstrs);
	SAY("extern const int64_t arena_bytes = %" PRId64 ";",
	    p->arena_bytes);
	SAY("%s", "");
	declare_kernels(w);
	write_tensors(w);
	SAY("%s", "");
	write_program(w);
	return text_end(&w->t);
}
