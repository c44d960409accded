/* Reads a kernel from JSON, see write_kernel.c. */
#include "config.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "plan/read.h"

/* Limits per kernel; with more expressions every query about it would be
 * slow. */
enum { MOST_EXPRS = 20000, MOST_SLICES = 64 };

typedef struct kernel_reader {
	reader *r;
	kernel *k;
	int depth, nexprs;
} kernel_reader;

static kexpr *read_expr(kernel_reader *kr, json_t *j);

static kexpr *expr_error(kernel_reader *kr, const char *what)
{
	read_error(kr->r, "in an expression: %s", what);
	return NULL;
}

/* A float, or "inf", "-inf" or "nan"; false for anything else. */
static bool float_of(json_t *v, double *f)
{
	const char *text = json_string_value(v);
	if (json_is_number(v))
		*f = json_number_value(v);
	else if (text && !strcmp(text, "inf"))
		*f = INFINITY;
	else if (text && !strcmp(text, "-inf"))
		*f = -INFINITY;
	else if (text && !strcmp(text, "nan"))
		*f = NAN;
	else
		return false;
	return true;
}

static kexpr *read_number(kernel_reader *kr, json_t *j, bool whole)
{
	arena *a = kr->r->arena;
	json_t *v = json_array_get(j, 2);
	dtype t;
	if (json_array_size(j) != 3 ||
	    !read_type_value(kr->r, json_array_get(j, 1), "a type", &t))
		return expr_error(kr, "a number has a type and a value");
	if (dtype_is_float(t) == whole)
		return expr_error(kr, "a number is not of its type");
	if (whole && json_is_integer(v))
		return kx_int(a, json_integer_value(v), t);
	double f;
	if (!whole && float_of(v, &f))
		return kx_float(a, f, t);
	return expr_error(kr, "a number is expected");
}

static kexpr *read_var(kernel_reader *kr, json_t *j)
{
	int64_t v;
	if (json_array_size(j) != 2 ||
	    !read_int_value(kr->r, json_array_get(j, 1), "a variable", 0,
			    kr->k->nvars - 1, &v))
		return expr_error(kr, "a variable has a number");
	if (kr->k->vars[v].kind == KVAR_DERIVED)
		return expr_error(kr, "a derived variable has no value");
	return kx_var(kr->r->arena, (int)v);
}

static kexpr *read_read(kernel_reader *kr, json_t *j)
{
	const kernel *k = kr->k;
	kexpr *at[MAX_NDIM], *otherwise = NULL;
	json_t *index = json_array_get(j, 2);
	size_t n = json_array_size(j);
	int64_t i;
	if ((n != 3 && n != 4) ||
	    !read_int_value(kr->r, json_array_get(j, 1), "an input", 0,
			    k->ninputs - 1, &i))
		return expr_error(kr, "a read has an input and indices");
	const kinput *in = &k->inputs[i];
	if (!json_is_array(index) ||
	    json_array_size(index) != (size_t)in->ndim)
		return expr_error(kr, "a read has an index per dimension");
	for (int d = 0; d < in->ndim; d++) {
		at[d] = read_expr(kr, json_array_get(index, (size_t)d));
		if (!at[d])
			return NULL;
		if (at[d]->type != DT_I64)
			return expr_error(kr, "an index is not of type i64");
	}
	if (n == 4) {
		otherwise = read_expr(kr, json_array_get(j, 3));
		if (!otherwise)
			return NULL;
		if (otherwise->type != in->type)
			return expr_error(kr, "the value outside an input is "
					      "not of its type");
	}
	return kx_read(kr->r->arena, (int)i, in->type, in->ndim, at,
		       otherwise);
}

static kexpr *read_select(kernel_reader *kr, json_t *j)
{
	kexpr *x[3];
	if (json_array_size(j) != 4)
		return expr_error(kr, "'select' has three arguments");
	for (size_t i = 0; i < 3; i++) {
		x[i] = read_expr(kr, json_array_get(j, i + 1));
		if (!x[i])
			return NULL;
	}
	if (x[0]->type != DT_BOOL || x[1]->type != x[2]->type)
		return expr_error(kr, "'select' has arguments of wrong types");
	return kx_select(kr->r->arena, x[0], x[1], x[2]);
}

static kexpr *read_cast(kernel_reader *kr, json_t *j, bool of_bits)
{
	dtype t;
	if (json_array_size(j) != 3 ||
	    !read_type_value(kr->r, json_array_get(j, 1), "a type", &t))
		return expr_error(kr, "'cast' has a type and an argument");
	kexpr *x = read_expr(kr, json_array_get(j, 2));
	if (!x || !of_bits)
		return x ? kx_cast(kr->r->arena, x, t) : NULL;
	if (dtype_bits(x->type) != dtype_bits(t))
		return expr_error(kr, "'bitcast' changes the number of bits");
	return kx_bitcast(kr->r->arena, x, t);
}

static kexpr *read_fn(kernel_reader *kr, json_t *j, const char *name)
{
	int f = fn_parse(name);
	kexpr *x[2];
	if (f < 0)
		return expr_error(kr, "there is no such function");
	int n = fn_nargs((fn)f);
	assert(n >= 1 && n <= 2);
	if (json_array_size(j) != (size_t)n + 1)
		return expr_error(kr, "a function has a wrong number of "
				      "arguments");
	for (int i = 0; i < n; i++) {
		x[i] = read_expr(kr, json_array_get(j, (size_t)i + 1));
		if (!x[i])
			return NULL;
		if (x[i]->type != x[0]->type || !fn_takes((fn)f, x[i]->type))
			return expr_error(kr, "a function has arguments of "
					      "wrong types");
	}
	return kx_fn(kr->r->arena, (fn)f, n, x);
}

static kexpr *read_tagged(kernel_reader *kr, json_t *j, const char *tag)
{
	if (!tag)
		return expr_error(kr, "an expression is expected");
	if (!strcmp(tag, "int"))
		return read_number(kr, j, true);
	if (!strcmp(tag, "float"))
		return read_number(kr, j, false);
	if (!strcmp(tag, "var"))
		return read_var(kr, j);
	if (!strcmp(tag, "read"))
		return read_read(kr, j);
	if (!strcmp(tag, "select"))
		return read_select(kr, j);
	if (!strcmp(tag, "cast"))
		return read_cast(kr, j, false);
	if (!strcmp(tag, "bitcast"))
		return read_cast(kr, j, true);
	return read_fn(kr, j, tag);
}

static kexpr *read_expr(kernel_reader *kr, json_t *j)
{
	if (kr->depth >= MAX_KEXPR_DEPTH)
		return expr_error(kr, "it is nested too deeply");
	if (++kr->nexprs > MOST_EXPRS)
		return expr_error(kr, "it is too long");
	kr->depth++;
	kexpr *e = read_tagged(kr, j, json_string_value(json_array_get(j, 0)));
	kr->depth--;
	return e;
}

/* ---- the kernel -------------------------------------------------------- */

static bool read_kvar(reader *r, json_t *j, kvar *v)
{
	size_t n = json_array_size(j);
	const char *kind;
	if (n != 3 && n != 4)
		return read_error(r, "a variable is not [name, kind, extent]");
	if (!read_text_value(r, json_array_get(j, 0), "a variable's name",
			     &v->name) ||
	    !read_text_value(r, json_array_get(j, 1), "a variable's kind",
			     &kind) ||
	    !read_int_value(r, json_array_get(j, 2), "a variable's extent", 0,
			    PLAN_MAX_BYTES, &v->extent) ||
	    (n == 4 && !read_text_value(r, json_array_get(j, 3), "a reason",
					&v->indivisible_reason)))
		return false;
	if (!strcmp(kind, "output"))
		v->kind = KVAR_OUTPUT;
	else if (!strcmp(kind, "reduce"))
		v->kind = KVAR_REDUCE;
	else if (!strcmp(kind, "derived"))
		v->kind = KVAR_DERIVED;
	else
		return read_error(r, "there is no variable of kind '%.40s'",
				  kind);
	return true;
}

static bool read_vars(reader *r, members *m, kernel *k)
{
	json_t *all;
	if (!read_array(r, m, "vars", MAX_NVARS, &all))
		return false;
	k->nvars = (int)json_array_size(all);
	k->vars = ARENA_ARRAY(r->arena, kvar, k->nvars);
	for (int i = 0; i < k->nvars; i++) {
		if (!read_kvar(r, json_array_get(all, (size_t)i), &k->vars[i]))
			return false;
		if (i > 0 && k->vars[i].kind < k->vars[i - 1].kind)
			return read_error(r, "variables are not in order: "
					     "output, reduce, derived");
		k->nout += k->vars[i].kind == KVAR_OUTPUT;
	}
	return k->nout <= MAX_NDIM ||
	       read_error(r, "the result has more than %d dimensions",
			  MAX_NDIM);
}

static bool read_inputs(reader *r, members *m, kernel *k)
{
	json_t *all;
	int64_t n;
	if (!read_array(r, m, "inputs", MAX_NINPUTS, &all))
		return false;
	k->ninputs = (int)json_array_size(all);
	k->inputs = ARENA_ARRAY(r->arena, kinput, k->ninputs);
	for (int i = 0; i < k->ninputs; i++) {
		json_t *j = json_array_get(all, (size_t)i);
		kinput *in = &k->inputs[i];
		if (json_array_size(j) != 3)
			return read_error(r, "an input is not [name, type, "
					     "shape]");
		if (!read_text_value(r, json_array_get(j, 0),
				     "an input's name", &in->name) ||
		    !read_type_value(r, json_array_get(j, 1),
				     "an input's type", &in->type) ||
		    !read_dims(r, json_array_get(j, 2), &in->ndim, in->dims))
			return false;
		if (!ck_product(in->dims, in->ndim, &n) || n > PLAN_MAX_BYTES)
			return read_error(r, "an input is too large");
	}
	return true;
}

bool read_reducer_value(reader *r, json_t *j, reducer *v)
{
	const char *name = "";
	if (!read_text_value(r, j, "a reducer", &name))
		return false;
	int red = reducer_parse(name);
	*v = red < 0 ? RED_NONE : (reducer)red;
	return red >= 0 || read_error(r, "there is no reducer '%.40s'", name);
}

static bool read_reducer(reader *r, members *m, kernel *k)
{
	json_t *j = read_optional(m, "reducer");
	k->reducer = RED_NONE;
	if (j && !read_reducer_value(r, j, &k->reducer))
		return false;
	int nreduce = 0;
	for (int v = 0; v < k->nvars; v++)
		nreduce += k->vars[v].kind == KVAR_REDUCE;
	if ((k->reducer == RED_NONE) != (nreduce == 0))
		return read_error(r, "a reducer goes with variables to reduce");
	if (reducer_is_where(k->reducer) &&
	    nreduce != 1)
		return read_error(r, "%s reduces one variable",
				  reducer_name(k->reducer));
	return true;
}

static bool read_derived(reader *r, members *m, kernel *k)
{
	json_t *all = read_optional(m, "derived");
	int nvars = 0;
	for (int v = 0; v < k->nvars; v++)
		nvars += k->vars[v].kind == KVAR_DERIVED;
	if (all && !json_is_array(all))
		return read_error(r, "'derived' is not an array");
	if (json_array_size(all) != (size_t)nvars)
		return read_error(r, "there are %d derived variables, %zu are "
				     "explained", nvars, json_array_size(all));
	k->nderived = nvars;
	k->derived = ARENA_ARRAY(r->arena, kderived, nvars);
	for (int i = 0; i < nvars; i++) {
		json_t *j = json_array_get(all, (size_t)i);
		int64_t v, in, d;
		if (!read_int_value(r, json_array_get(j, 0), "a variable",
				    k->nvars - nvars, k->nvars - 1, &v) ||
		    !read_int_value(r, json_array_get(j, 1), "an input", 0,
				    k->ninputs - 1, &in) ||
		    !read_int_value(r, json_array_get(j, 2), "a dimension", 0,
				    k->inputs[in].ndim - 1, &d))
			return false;
		if (k->vars[v].extent != k->inputs[in].dims[d])
			return read_error(r, "a derived variable has another "
					     "extent than its dimension");
		k->derived[i] = (kderived){ (int)v, (int)in, (int)d };
	}
	return true;
}

static bool read_slice(kernel_reader *kr, json_t *j, kslice *s)
{
	const kernel *k = kr->k;
	json_t *at = json_array_get(j, 1);
	int64_t input;
	if (!read_int_value(kr->r, json_array_get(j, 0), "an input", 0,
			    k->ninputs - 1, &input))
		return false;
	s->input = (int)input;
	s->ndim = k->inputs[input].ndim;
	if (json_array_size(at) != (size_t)s->ndim)
		return read_error(kr->r, "a slice has an index or null per "
					 "dimension");
	for (int d = 0; d < s->ndim; d++) {
		json_t *x = json_array_get(at, (size_t)d);
		if (json_is_null(x))
			continue;
		s->at[d] = read_expr(kr, x);
		if (!s->at[d])
			return false;
		if (s->at[d]->type != DT_I64)
			return read_error(kr->r, "an index of a slice is not "
						 "of type i64");
	}
	return true;
}

/* [name, "int", [1, 2]] */
static bool read_attr(reader *r, json_t *j, kattr *x)
{
	json_t *kind = json_array_get(j, 1), *all = json_array_get(j, 2);
	const char *tag = json_string_value(kind);
	bool ints = tag && !strcmp(tag, "int");
	bool floats = tag && !strcmp(tag, "float");
	if (json_array_size(j) != 3 || !json_is_array(all) ||
	    (!ints && !floats && (!tag || strcmp(tag, "string"))))
		return read_error(r, "an attribute has a name, a kind and an "
				     "array of values");
	x->n = (int)json_array_size(all);
	int64_t *i = ARENA_ARRAY(r->arena, int64_t, x->n);
	double *f = ARENA_ARRAY(r->arena, double, x->n);
	const char **s = ARENA_ARRAY(r->arena, const char *, x->n);
	for (int n = 0; n < x->n; n++) {
		json_t *v = json_array_get(all, (size_t)n);
		bool ok = ints	 ? read_int_value(r, v, "an attribute",
						  INT64_MIN, INT64_MAX, &i[n])
			  : floats ? float_of(v, &f[n])
				   : read_text_value(r, v, "an attribute",
						     &s[n]);
		if (!ok)
			return read_error(r, "an attribute's value is not one "
					     "of its kind");
	}
	x->ints = ints ? i : NULL;
	x->floats = floats ? f : NULL;
	x->strings = ints || floats ? NULL : s;
	return read_text_value(r, json_array_get(j, 0), "an attribute's name",
			       &x->name);
}

static bool read_attrs(reader *r, json_t *all, kernel *k)
{
	if (!all)
		return true;
	if (!json_is_array(all) || json_array_size(all) > MOST_SLICES)
		return read_error(r, "'attributes' is not an array, or too "
				     "long");
	k->nattrs = (int)json_array_size(all);
	k->attrs = ARENA_ARRAY(r->arena, kattr, k->nattrs);
	for (int i = 0; i < k->nattrs; i++)
		if (!read_attr(r, json_array_get(all, (size_t)i),
			       &k->attrs[i]))
			return false;
	return true;
}

static bool read_opaque(kernel_reader *kr, json_t *j)
{
	reader *r = kr->r;
	kernel *k = kr->k;
	members m;
	json_t *all;
	if (!read_members(r, j, &m) ||
	    !read_text(r, &m, "name", &k->opaque) ||
	    !read_text(r, &m, "symbol", &k->opaque_symbol) ||
	    !read_index(r, &m, "hidden", k->nout, &k->nhidden) ||
	    !read_index(r, &m, "result", MAX_NINPUTS, &k->opaque_result) ||
	    !read_array(r, &m, "slices", MOST_SLICES, &all))
		return false;
	if (k->reducer != RED_NONE || k->nderived > 0)
		return read_error(r, "an opaque kernel reduces nothing");
	k->nslices = (int)json_array_size(all);
	k->slices = ARENA_ARRAY(r->arena, kslice, k->nslices);
	for (int s = 0; s < k->nslices; s++)
		if (!read_slice(kr, json_array_get(all, (size_t)s),
				&k->slices[s]))
			return false;
	return read_attrs(r, read_optional(&m, "attributes"), k) &&
	       read_no_more(r, &m);
}

/* Whether the type of the reduced body is the kernel's. */
static bool body_fits(const kernel *k)
{
	bool where = reducer_is_where(k->reducer);
	return k->type == (where ? DT_I64 : k->body->type) &&
	       reducer_takes(k->reducer, k->body->type);
}

static bool read_body(kernel_reader *kr, members *m)
{
	json_t *body = read_optional(m, "body");
	json_t *opaque = read_optional(m, "opaque");
	if (!body == !opaque)
		return read_error(kr->r, "a kernel has a body or an opaque "
					 "function");
	if (opaque)
		return read_opaque(kr, opaque);
	kr->k->body = read_expr(kr, body);
	if (!kr->k->body)
		return false;
	return body_fits(kr->k) ||
	       read_error(kr->r, "the body is not of the kernel's type");
}

static bool finish(reader *r, kernel *k)
{
	outside o;
	int64_t dims[MAX_NVARS], n;
	for (int v = 0; v < k->nvars; v++)
		dims[v] = k->vars[v].extent;
	if (!ck_product(dims, k->nout, &n) || n > PLAN_MAX_BYTES)
		return read_error(r, "the result is too large");
	kernel_finish(r->arena, k);
	if (kernel_reads_outside(k, &o))
		return read_error(r, "input '%.100s' is read outside its "
				     "dimension %d",
				  k->inputs[o.read->input].name, o.dim);
	return true;
}

/* [variable, of]; a variable occurs once. */
static bool read_tile(reader *r, json_t *j, const kernel *k, uint32_t *known,
		      plan_tile *t)
{
	int64_t var;
	if (json_array_size(j) != 2)
		return read_error(r, "a tile is not [variable, of]");
	if (!read_int_value(r, json_array_get(j, 0), "a tile's variable", -1,
			    k->nout - 1, &var) ||
	    !read_int_value(r, json_array_get(j, 1), "a tile", 1,
			    PLAN_MAX_BYTES, &t->of))
		return false;
	t->var = (int)var;
	if (*known >> (var + 1) & 1)
		return read_error(r, "a variable has two tiles");
	*known |= (uint32_t)1 << (var + 1);
	return true;
}

static bool read_tiles(reader *r, members *m, const kernel *k, plan_launch *l)
{
	json_t *all;
	uint32_t known = 0;
	if (!read_array(r, m, "tiles", MAX_NDIM, &all))
		return false;
	plan_tile *tiles =
		ARENA_ARRAY(r->arena, plan_tile, (int)json_array_size(all));
	l->tiles = tiles;
	l->ntiles = (int)json_array_size(all);
	for (int i = 0; i < l->ntiles; i++)
		if (!read_tile(r, json_array_get(all, (size_t)i), k, &known,
			       &tiles[i]))
			return false;
	return true;
}

static bool read_cuda(reader *r, json_t *j, plan_kernel *pk)
{
	plan_launch *l = &pk->launch;
	members m;
	int64_t threads;
	if (!j)
		return true;
	if (pk->kernel->opaque)
		return read_error(r, "an opaque kernel has no CUDA");
	if (!read_members(r, j, &m) ||
	    !read_text(r, &m, "source", &pk->cuda) ||
	    !read_int(r, &m, "threads", 32, PLAN_MAX_THREADS, &threads) ||
	    !read_int(r, &m, "shared", 0, PLAN_MAX_SHARED, &l->shared) ||
	    !read_tiles(r, &m, pk->kernel, l) || !read_no_more(r, &m))
		return false;
	l->threads = (int)threads;
	return threads % 32 == 0 ||
	       read_error(r, "the threads of a block are not a multiple of 32");
}

/* [kernel, epilogue, input, "c"] */
static bool read_epilogue(reader *r, json_t *j, const kernel *k,
			  plan_epilogue *e)
{
	int64_t of, after, input;
	if (json_array_size(j) != 4)
		return read_error(r, "an epilogue is not [kernel, epilogue, "
				     "input, source]");
	if (!read_int_value(r, json_array_get(j, 0), "an epilogue's kernel", 0,
			    INT_MAX, &of) ||
	    !read_int_value(r, json_array_get(j, 1), "what it is after", -1,
			    INT_MAX, &after) ||
	    !read_int_value(r, json_array_get(j, 2), "an epilogue's input", 0,
			    k->ninputs - 1, &input) ||
	    !read_text_value(r, json_array_get(j, 3), "an epilogue's source",
			     &e->c))
		return false;
	e->of = (int)of;
	e->after = (int)after;
	e->input = (int)input;
	return true;
}

static bool read_epilogues(reader *r, json_t *all, plan_kernel *pk)
{
	enum { MOST = 1 << 16 };
	if (!all)
		return true;
	if (!json_is_array(all) || json_array_size(all) > MOST)
		return read_error(r, "'epilogues' is not an array, or too "
				     "long");
	pk->nepilogues = (int)json_array_size(all);
	plan_epilogue *to = ARENA_ARRAY(r->arena, plan_epilogue,
					pk->nepilogues);
	pk->epilogues = to;
	for (int i = 0; i < pk->nepilogues; i++)
		if (!read_epilogue(r, json_array_get(all, (size_t)i),
				   pk->kernel, &to[i]))
			return false;
	return true;
}

bool read_kernel(reader *r, json_t *j, plan_kernel *pk)
{
	kernel *k = ARENA_NEW(r->arena, kernel);
	kernel_reader kr = { .r = r, .k = k };
	members m;
	pk->kernel = k;
	if (!read_members(r, j, &m) || !read_text(r, &m, "name", &k->name) ||
	    !read_type_value(r, read_optional(&m, "type"), "'type'",
			     &k->type) ||
	    !read_vars(r, &m, k) || !read_inputs(r, &m, k) ||
	    !read_reducer(r, &m, k) || !read_derived(r, &m, k) ||
	    !read_body(&kr, &m))
		return false;
	json_t *c = read_optional(&m, "c");
	if (c && !read_text_value(r, c, "'c'", &pk->c))
		return false;
	return read_epilogues(r, read_optional(&m, "epilogues"), pk) &&
	       read_cuda(r, read_optional(&m, "cuda"), pk) &&
	       read_no_more(r, &m) && finish(r, k);
}
