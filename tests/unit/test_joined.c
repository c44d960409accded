/* Tests: compiler/codegen */
/* Reductions and their epilogues in one function: the bits are those of one
 * after the other. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/codegen/codegen.h"
#include "kernel/eval.h"
#include "runtime/cpu/build.h"
#include "tests/unit/check_kernel.h"
#include "tests/unit/codegen_kinds.h"
#include "tests/unit/suite.h"

/* Kinds of epilogues. */
typedef enum after { SCALED, DOUBLED, BENT, AFTERS } after;

/* A reduction, and its epilogue, perhaps with one more of that; compiled. */
enum { MOST = 3 };
typedef struct pair {
	kernel *first;
	int n;
	next_kernel next[MOST - 1];
	cpu_kernel *apart[MOST], *joined;
} pair;

typedef VEC(pair) pairs;
typedef VEC(const char *) texts;

enum { NOTHING = 0x7a }; /* bytes of what no kernel has written */

/* out[n, f, i, j] = Sum(c, r, s) of an image with a border of 1, in steps of
 * `step', in as many groups. */
static kernel *conv(int n, int c, int size, int filters, int step, int groups,
		    dtype t)
{
	kernel *k = begin("conv", RED_SUM, t);
	int each = c / groups, out = (size - 1) / step + 1;
	kexpr *b = add_var(k, "n", KVAR_OUTPUT, n);
	kexpr *f = add_var(k, "f", KVAR_OUTPUT, filters);
	kexpr *i = add_var(k, "i", KVAR_OUTPUT, out);
	kexpr *j = add_var(k, "j", KVAR_OUTPUT, out);
	kexpr *d = add_var(k, "c", KVAR_REDUCE, each);
	kexpr *r = add_var(k, "r", KVAR_REDUCE, 3);
	kexpr *s = add_var(k, "s", KVAR_REDUCE, 3);
	int x = add_input(k, "x", t, 4, n, c, size, size);
	int w = add_input(k, "w", t, 4, filters, each, 3, 3);
	kexpr *at = groups == 1 ? d : groups == c ? f :
		add(mul(kx_fn2(mem, FN_DIV, f, num(filters / groups)),
			num(each)), d);
	k->body = mul(READ(k, x, constant(t, 0), b, at,
			   sub(add(mul(num(step), i), r), num(1)),
			   sub(add(mul(num(step), j), s), num(1))),
		      READ(k, w, NULL, f, d, r, s));
	return k;
}

/* An input of the result's shape, or of one dimension of it. */
static kexpr *read_like(kernel *k, const char *name, int only)
{
	kexpr *at[MAX_NDIM];
	int ndim = only < 0 ? k->nout : 1;
	int in = add_input(k, name, k->type, 0);
	k->inputs[in].ndim = ndim;
	for (int d = 0; d < ndim; d++) {
		int v = only < 0 ? d : only;
		at[d] = kx_var(mem, v);
		k->inputs[in].dims[d] = k->vars[v].extent;
	}
	return kx_read(mem, in, k->type, ndim, at, NULL);
}

/* max(x * along, 0) + beside, 2 * x, or max(x, -|x|^3) of an element x and, as
 * names say, of the same place, or of a place along one dimension. */
static kernel *epilogue(const kernel *first, after a, int *own)
{
	kernel *k = begin("after", RED_NONE, first->type);
	kexpr *zero = constant(k->type, 0);
	for (int d = 0; d < first->nout; d++)
		add_var(k, first->vars[d].name, KVAR_OUTPUT,
			first->vars[d].extent);
	kexpr *beside = a == SCALED ? read_like(k, "beside", -1) : NULL;
	*own = k->ninputs;
	kexpr *x = read_like(k, "x", -1);
	if (a == DOUBLED) {
		k->body = mul(x, constant(k->type, 2));
	} else if (a == BENT) {
		kexpr *y = kx_fn1(mem, FN_ABS, x);
		k->body = kx_fn2(mem, FN_MAX, x,
				 kx_fn1(mem, FN_NEG, mul(y, mul(y, y))));
	} else {
		if (k->nout > 0)
			x = mul(x, read_like(k, "along",
					     (int)pick(0, k->nout)));
		k->body = add(kx_fn2(mem, FN_MAX, x, zero), beside);
	}
	return k;
}

/* ---- running ------------------------------------------------------------- */

typedef struct memory_of {
	double *in[MOST][MAX_NINPUTS]; /* of each kernel; 8 bytes an element */
} memory_of;

static int64_t count(const int64_t *dims, int n)
{
	int64_t all = 1;
	for (int d = 0; d < n; d++)
		all *= dims[d];
	return all;
}

static int64_t results_of(const kernel *k)
{
	int64_t n = 1;
	for (int d = 0; d < k->nout; d++)
		n *= k->vars[d].extent;
	return n;
}

/* Random numbers, or without `random' what no kernel writes. */
static double *numbers(dtype t, int64_t n, bool random)
{
	double *x = aligned_alloc(64, (size_t)(n * 8 + 63) / 64 * 64 + 64);
	memset(x, NOTHING, (size_t)n * 8);
	for (int64_t i = 0; random && i < n; i++)
		elem_set_f64(t, x, i, (double)pick(-1000, 1000) / 500);
	return x;
}

static tdl_block block_of(void *data, const int64_t *dims, int n)
{
	tdl_block b = { .data = data };
	int64_t step = 1;
	for (int d = n - 1; d >= 0; d--) {
		b.stride[d] = step;
		step *= dims[d];
	}
	return b;
}

static tdl_block result_block(const kernel *k, void *data)
{
	int64_t dims[MAX_NDIM];
	for (int d = 0; d < k->nout; d++)
		dims[d] = k->vars[d].extent;
	return block_of(data, dims, k->nout);
}

static void call(cpu_kernel *function, const kernel *k, const box *part,
		 const tdl_block *in, tdl_block out)
{
	static void *scratch;
	if (!scratch)
		scratch = aligned_alloc(64, TDL_SCRATCH);
	tdl_args args = { .in = in, .out = out, .scratch = scratch };
	for (int v = 0; v < k->nvars; v++) {
		args.lo[v] = v < k->nout ? part->lo[v] : 0;
		args.hi[v] = v < k->nout ? part->hi[v] : k->vars[v].extent;
	}
	memset(scratch, 0xff, TDL_SCRATCH);
	ck_assert_int_eq(function(&args), 0);
}

/* The inputs of kernel number i, but for `without'; returns how many. */
static int inputs_of(const kernel *k, double *const *data, int without,
		     tdl_block *to)
{
	int n = 0;
	for (int i = 0; i < k->ninputs; i++)
		if (i != without)
			to[n++] = block_of(data[i], k->inputs[i].dims,
					   k->inputs[i].ndim);
	return n;
}

static box draw_part(const kernel *k, bool whole)
{
	box b = kernel_space(k);
	for (int v = 0; v < k->nout && !whole; v++) {
		b.lo[v] = pick(0, k->vars[v].extent);
		b.hi[v] = pick(b.lo[v], k->vars[v].extent) + 1;
	}
	return b;
}

/* All elements that a kernel has written to x are those of y. */
static void compare_written(dtype t, int64_t n, const void *x, const void *y)
{
	const size_t size = dtype_size(t);
	const char *a = x, *b = y;
	double none;
	memset(&none, NOTHING, sizeof(none));
	for (int64_t i = 0; i < n; i++, a += size, b += size)
		ck_assert(!memcmp(a, &none, size) || !memcmp(a, b, size));
}

/* One after the other in `to', the place of each result. */
static void run_apart(const pair *p, memory_of *m, const box *part, double *to)
{
	tdl_block in[MAX_NINPUTS];
	inputs_of(p->first, m->in[0], -1, in);
	call(p->apart[0], p->first, part, in, result_block(p->first, to));
	for (int i = 0; i < p->n; i++) {
		const next_kernel *x = &p->next[i];
		m->in[i + 1][x->input] = to;
		inputs_of(x->k, m->in[i + 1], -1, in);
		m->in[i + 1][x->input] = NULL;
		call(p->apart[i + 1], x->k, part, in, result_block(x->k, to));
	}
}

/* All at once; if `there' is not NULL, what `to' is is their input `there'. */
static void run_joined(const pair *p, memory_of *m, const box *part, double *to,
		       const double *there)
{
	tdl_block in[MOST * MAX_NINPUTS];
	int n = inputs_of(p->first, m->in[0], -1, in);
	for (int i = 0; i < p->n; i++)
		n += inputs_of(p->next[i].k, m->in[i + 1], p->next[i].input,
			       in + n);
	for (int i = 0; i < n && there; i++)
		if (in[i].data == there)
			in[i].data = to;
	call(p->joined, p->first, part, in, result_block(p->first, to));
}

/* Both, in memory of its own and in place of an input of the epilogue. */
static void compare(const pair *p, memory_of *m, const box *part)
{
	const dtype t = p->first->type;
	const int64_t n = results_of(p->first);
	const size_t bytes = (size_t)(n * (int64_t)dtype_size(t));
	const kernel *k = p->next[0].k;
	double *to = numbers(t, n, false), *both = numbers(t, n, false);
	run_apart(p, m, part, to);
	run_joined(p, m, part, both, NULL);
	ck_assert_msg(!memcmp(to, both, bytes), "%s: %s", p->first->name,
		      kernel_text(mem, k));
	if (p->next[0].input > 0 && kernel_in_place(k, 0)) {
		memcpy(both, m->in[1][0], bytes);
		run_joined(p, m, part, both, m->in[1][0]);
		compare_written(t, n, to, both);
	}
	free(to);
	free(both);
}

/* Random inputs, but for those that are the kernel before. */
static void fill_inputs(const kernel *k, int but, double **to)
{
	for (int i = 0; i < k->ninputs; i++)
		if (i != but)
			to[i] = numbers(k->inputs[i].type,
					count(k->inputs[i].dims,
					      k->inputs[i].ndim),
					true);
}

static void check_pair(const pair *p)
{
	enum { PARTS = 8 };
	memory_of m = { 0 };
	fill_inputs(p->first, -1, m.in[0]);
	for (int i = 0; i < p->n; i++)
		fill_inputs(p->next[i].k, p->next[i].input, m.in[i + 1]);
	for (int i = 0; i < PARTS && results_of(p->first) > 0; i++) {
		const box part = draw_part(p->first, i == 0);
		compare(p, &m, &part);
	}
	for (int i = 0; i < MOST; i++)
		for (int j = 0; j < MAX_NINPUTS; j++)
			free(m.in[i][j]);
}

/* ---- building ------------------------------------------------------------ */

static void add_texts(const pair *p, texts *to)
{
	const char *c = codegen_epilogue(mem, p->first, p->n, p->next);
	ck_assert_msg(c != NULL, "%s", kernel_text(mem, p->first));
	vec_push(mem, to, c);
	vec_push(mem, to, codegen_c(mem, p->first));
	for (int i = 0; i < p->n; i++)
		vec_push(mem, to, codegen_c(mem, p->next[i].k));
}

static void build_and_check(pairs *all)
{
	texts sources = { 0 };
	failure why = { 0 };
	for (int i = 0; i < all->n; i++)
		add_texts(&all->at[i], &sources);
	cpu_kernel **of = ARENA_ARRAY(mem, cpu_kernel *, sources.n);
	void *library = cpu_build(sources.n, sources.at, of, NULL, &why);
	ck_assert_msg(library != NULL, "%s", why.text);
	for (int i = 0; i < all->n; i++) {
		pair *p = &all->at[i];
		p->joined = *of++;
		for (int j = 0; j <= p->n; j++)
			p->apart[j] = *of++;
		check_pair(p);
	}
	cpu_close(library);
}

static void add_next(pair *p, after a)
{
	next_kernel *x = &p->next[p->n++];
	kernel *k = epilogue(p->first, a, &x->input);
	kernel_finish(mem, k);
	x->k = k;
}

static void add_pair(pairs *all, kernel *first, after a)
{
	pair p = { .first = first };
	kernel_finish(mem, p.first);
	add_next(&p, a);
	if (pick(0, 2))
		add_next(&p, pick(0, 2) ? BENT : SCALED);
	vec_push(mem, all, p);
}

START_TEST(bits_are_the_same)
{
	pairs all = { 0 };
	mem = arena_new();
	add_pair(&all, matmul(1, 50, 300, 40, false, false, DT_F32), SCALED);
	add_pair(&all, matmul(1, 130, 45, 520, false, true, DT_F32), BENT);
	add_pair(&all, matmul(3, 6, 8, 0, true, false, DT_F64), SCALED);
	add_pair(&all, matmul(1, 1, 100, 40, false, true, DT_F32), DOUBLED);
	add_pair(&all, conv(1, 8, 17, 20, 1, 1, DT_F32), SCALED);
	add_pair(&all, conv(2, 40, 7, 64, 1, 1, DT_F32), SCALED);
	add_pair(&all, conv(2, 5, 12, 9, 2, 1, DT_F64), BENT);
	add_pair(&all, conv(1, 24, 19, 24, 1, 24, DT_F32), SCALED);
	add_pair(&all, conv(2, 6, 30, 6, 2, 6, DT_F32), BENT);
	add_pair(&all, reduce_last(RED_SUM, DT_F32, 13, 700), SCALED);
	add_pair(&all, reduce_first(RED_MAX, DT_F64, 9, 70), BENT);
	add_pair(&all, reduce_first(RED_SUM, DT_F32, 300, 1), DOUBLED);
	build_and_check(&all);
	arena_free(mem);
}
END_TEST

static bool joins(const kernel *first, after a)
{
	next_kernel next = { 0 };
	next.k = epilogue(first, a, &next.input);
	return codegen_epilogue(mem, first, 1, &next) != NULL;
}

/* Elements of other types, variables in pieces, elements of other places. */
START_TEST(others_are_refused)
{
	mem = arena_new();
	ck_assert(!joins(matmul(2, 9, 20, 31, false, false, DT_BF16), BENT));
	ck_assert(!joins(reduce_last(RED_ARGMAX, DT_F32, 5, 9), DOUBLED));
	ck_assert(!joins(conv(1, 4, 9, 8, 1, 2, DT_F32), BENT));
	kernel *square = matmul(1, 9, 9, 31, false, false, DT_F32);
	ck_assert(joins(square, BENT));
	next_kernel next = { 0 };
	kernel *k = epilogue(square, BENT, &next.input);
	kexpr **at = k->body->args[0]->args, *swap = at[1];
	at[1] = at[2];
	at[2] = swap;
	next.k = k;
	ck_assert(!codegen_epilogue(mem, square, 1, &next));
	arena_free(mem);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("joined");
	TCase *c = tcase_create("joined");
	tcase_set_timeout(c, 120);
	tcase_add_test(c, bits_are_the_same);
	tcase_add_test(c, others_are_refused);
	suite_add_tcase(s, c);
	return s;
}
