/* Descriptors as files.  Numbers are in LEB128, signed ones zigzag.  Strings
 * and lists have their length before them.  The reader does not trust a file:
 * it accepts only files that the writer could have written. */
#include "config.h"

#include <string.h>

#include "base/vec.h"
#include "compiler/analysis/descriptor.h"

static const char magic[8] = "tdl\x7f" "dsc";
enum {
	FORMAT_VERSION = 3,
	MAX_OPS = 100000,
	MAX_LIST = 4096,
	MAX_TEXT = 1 << 20, /* bytes of a documentation comment or a name */
};

/* ---- writing ------------------------------------------------------------ */

typedef struct writer {
	arena *arena;
	VEC(unsigned char) out;
} writer;

static void put_unsigned(writer *w, uint64_t v)
{
	do {
		unsigned char byte = v & 0x7f;
		v >>= 7;
		vec_push(w->arena, &w->out, byte | (v ? 0x80 : 0));
	} while (v);
}

static void put_signed(writer *w, int64_t v)
{
	put_unsigned(w, ((uint64_t)v << 1) ^ (uint64_t)(v >> 63));
}

/* Writes a text of n bytes with the length n + 1, and NULL as 0. */
static void put_text(writer *w, const char *s)
{
	size_t n = s ? strlen(s) : 0;
	put_unsigned(w, s ? n + 1 : 0);
	for (size_t i = 0; i < n; i++)
		vec_push(w->arena, &w->out, (unsigned char)s[i]);
}

static void put_poly(writer *w, const poly *p)
{
	put_unsigned(w, p ? (uint64_t)p->n + 1 : 0);
	for (int i = 0; p && i < p->n; i++) {
		put_signed(w, p->terms[i].coefficient);
		put_unsigned(w, (uint64_t)p->terms[i].n);
		for (int j = 0; j < p->terms[i].n; j++)
			put_unsigned(w, (uint64_t)p->terms[i].atom[j]);
	}
}

static void put_atoms(writer *w, const poly_space *s)
{
	put_unsigned(w, (uint64_t)s->natoms);
	for (int i = 0; i < s->natoms; i++) {
		const poly_atom *t = &s->atoms[i];
		put_unsigned(w, t->kind);
		if (t->x) {
			put_poly(w, t->x);
			put_poly(w, t->y);
		} else {
			put_text(w, t->name);
			put_unsigned(w, t->min < 0 ? 0 : t->min + 1);
		}
	}
}

static void put_tensor(writer *w, const desc_tensor *t)
{
	put_text(w, t->name);
	put_unsigned(w, t->broadcast);
	put_unsigned(w, (uint64_t)t->ndims);
	for (int i = 0; i < t->ndims; i++) {
		put_poly(w, t->dims[i].extent);
		put_unsigned(w, t->dims[i].pack);
		put_text(w, t->dims[i].text);
	}
}

static void put_var(writer *w, const desc_var *v)
{
	put_text(w, v->name);
	put_unsigned(w, v->kind);
	put_unsigned(w, v->pack);
	put_poly(w, v->extent);
	put_text(w, v->extent_text);
	put_text(w, v->indivisible_reason);
	put_signed(w, v->begin);
	put_signed(w, v->end);
}

static void put_region(writer *w, const desc_region *r)
{
	put_poly(w, r->lo);
	put_poly(w, r->hi);
	put_unsigned(w, r->follows);
	put_poly(w, r->scale);
	put_poly(w, r->before);
	put_poly(w, r->after);
}

static void put_stage(writer *w, const desc_op *op, const desc_stage *s)
{
	put_text(w, s->label);
	put_unsigned(w, (uint64_t)s->ninputs);
	for (int i = 0; i < s->ninputs; i++)
		put_unsigned(w, (uint64_t)s->inputs[i]);
	put_unsigned(w, (uint64_t)s->result);
	put_unsigned(w, s->reducer);
	put_unsigned(w, (uint64_t)s->nvars);
	for (int i = 0; i < s->nvars; i++)
		put_var(w, &s->vars[i]);
	put_text(w, s->opaque);
	put_text(w, s->open_because);
	put_unsigned(w, s->elementwise);
	put_unsigned(w, s->linear);
	put_unsigned(w, s->in_place);
	put_unsigned(w, (uint64_t)s->npassing);
	for (int i = 0; i < s->npassing; i++) {
		put_unsigned(w, s->passing[i].inputs);
		put_unsigned(w, s->passing[i].by);
		put_unsigned(w, s->passing[i].to);
	}
	put_poly(w, s->flops);
	put_text(w, s->pattern);
	put_unsigned(w, (uint64_t)s->nstrategies);
	for (int i = 0; i < s->nstrategies; i++) {
		const desc_strategy *st = &s->strategies[i];
		put_unsigned(w, (uint64_t)st->var);
		put_unsigned(w, st->reducer);
		put_signed(w, st->split);
		for (int j = 0; j < s->ninputs; j++)
			for (int d = 0; d < op->tensors[s->inputs[j]].ndims;
			     d++)
				put_region(w, &st->needs[j].regions[d]);
	}
}

static void put_op(writer *w, const desc_op *op)
{
	put_text(w, op->name);
	put_text(w, op->doc);
	put_text(w, op->open_because);
	put_atoms(w, op->space);
	put_unsigned(w, (uint64_t)op->ntensors);
	put_unsigned(w, (uint64_t)op->ninputs);
	for (int i = 0; i < op->ntensors; i++)
		put_tensor(w, &op->tensors[i]);
	put_unsigned(w, (uint64_t)op->noutputs);
	for (int i = 0; i < op->noutputs; i++) {
		put_text(w, op->output_names[i]);
		if (!op->open_because)
			put_unsigned(w, (uint64_t)op->outputs[i]);
	}
	put_unsigned(w, (uint64_t)op->nstages);
	for (int i = 0; i < op->nstages; i++)
		put_stage(w, op, &op->stages[i]);
	put_unsigned(w, (uint64_t)op->nassumed);
	for (int i = 0; i < op->nassumed; i++)
		put_unsigned(w, (uint64_t)op->assumed[i]);
}

void *descriptor_write(arena *a, const descriptor *d, size_t *len)
{
	writer w = { .arena = a };
	for (size_t i = 0; i < sizeof(magic); i++)
		vec_push(a, &w.out, (unsigned char)magic[i]);
	put_unsigned(&w, FORMAT_VERSION);
	put_unsigned(&w, (uint64_t)d->nops);
	for (int i = 0; i < d->nops; i++)
		put_op(&w, d->ops[i]);
	*len = (size_t)w.out.n;
	return w.out.at;
}

/* ---- reading ------------------------------------------------------------ */

typedef struct reader {
	arena *arena;
	const unsigned char *at, *end;
	const char *wrong; /* first error found */
	int natoms;	   /* atoms that may be referred to */
} reader;

static uint64_t fail(reader *r, const char *what)
{
	if (!r->wrong)
		r->wrong = what;
	r->at = r->end;
	return 0;
}

static uint64_t get_unsigned(reader *r)
{
	uint64_t v = 0;
	for (int shift = 0; shift < 64; shift += 7) {
		if (r->at == r->end)
			return fail(r, "it ends early");
		unsigned char byte = *r->at++;
		if (shift == 63 && byte > 1)
			break;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		return byte || !shift ? v : fail(r, "a number is not in its "
						    "shortest form");
	}
	return fail(r, "a number does not fit 64 bits");
}

static int64_t get_signed(reader *r)
{
	uint64_t v = get_unsigned(r);
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* Reads a number below limit. */
static int get_below(reader *r, uint64_t limit)
{
	uint64_t v = get_unsigned(r);
	if (v < limit)
		return (int)v;
	return (int)fail(r, "a number is out of its range");
}

static bool get_bool(reader *r)
{
	return get_below(r, 2);
}

static const char *get_text(reader *r, bool may_be_null)
{
	uint64_t n = get_unsigned(r);
	if (n == 0 && may_be_null)
		return NULL;
	if (n-- == 0 || n > MAX_TEXT || n > (uint64_t)(r->end - r->at) ||
	    memchr(r->at, 0, n)) {
		fail(r, "a text is missing, too long, or holds a zero byte");
		return "";
	}
	const char *s = arena_strndup(r->arena, (const char *)r->at, n);
	r->at += n;
	return s;
}

/* Reads the length of a list.  Each element takes at least one byte. */
static int get_length(reader *r, uint64_t limit)
{
	uint64_t n = get_unsigned(r);
	if (n > limit || n > (uint64_t)(r->end - r->at) + 1)
		return (int)fail(r, "a list is too long");
	return (int)n;
}

static void get_term(reader *r, term *t)
{
	t->coefficient = get_signed(r);
	t->n = get_below(r, POLY_MAX_DEGREE + 1);
	if (t->coefficient == 0)
		fail(r, "a coefficient is 0");
	for (int i = 0; i < t->n; i++) {
		t->atom[i] = get_below(r, (uint64_t)r->natoms);
		if (i && t->atom[i] < t->atom[i - 1])
			fail(r, "a term is not in order");
	}
}

static const poly *get_poly(reader *r)
{
	int n = get_length(r, POLY_MAX_TERMS + 1);
	if (n == 0)
		return NULL;
	const poly *sum = poly_int(r->arena, 0);
	poly *p = ARENA_NEW(r->arena, poly);
	p->n = n - 1;
	p->terms = ARENA_ARRAY(r->arena, term, n);
	for (int i = 0; i < p->n && !r->wrong; i++) {
		get_term(r, &p->terms[i]);
		if (!r->wrong)
			sum = poly_add(r->arena, sum,
				       &(poly){ 1, &p->terms[i] });
	}
	if (!r->wrong && !poly_equal(sum, p))
		fail(r, "a polynomial is not in normal form");
	return r->wrong ? NULL : p;
}

/* Reads a polynomial that may not be missing. */
static const poly *need_poly(reader *r)
{
	const poly *p = get_poly(r);
	if (!p)
		fail(r, "a polynomial is missing");
	return p;
}

static int poly_weight(const poly_space *s, const poly *p)
{
	int sum = 0;
	for (int i = 0; p && i < p->n && sum <= POLY_MAX_WEIGHT; i++)
		for (int j = 0; j < p->terms[i].n; j++)
			sum += s->atoms[p->terms[i].atom[j]].weight;
	return sum;
}

static poly_space *get_atoms(reader *r)
{
	poly_space *s = poly_space_new(r->arena);
	int n = get_length(r, POLY_MAX_ATOMS);
	s->atoms = ARENA_ARRAY(r->arena, poly_atom, n);
	s->natoms = s->cap = n;
	for (int i = 0; i < n && !r->wrong; i++) {
		poly_atom *t = &s->atoms[i];
		r->natoms = i;
		t->kind = get_below(r, ATOM_MAX + 1);
		t->min = POLY_NO_MIN;
		t->weight = 1;
		if (t->kind >= ATOM_DIV) {
			t->x = need_poly(r);
			t->y = need_poly(r);
			t->weight = poly_weight(s, t->x) +
				    poly_weight(s, t->y);
			if (t->weight > POLY_MAX_WEIGHT)
				fail(r, "an expression is too large");
		} else {
			t->name = get_text(r, false);
			int known = get_below(r, 3);
			t->min = known ? known - 1 : POLY_NO_MIN;
		}
	}
	r->natoms = n;
	return s;
}

static void get_tensor(reader *r, desc_tensor *t)
{
	t->name = get_text(r, false);
	t->broadcast = get_bool(r);
	t->ndims = get_length(r, DESC_MAX_NDIM);
	t->dims = ARENA_ARRAY(r->arena, desc_dim, t->ndims);
	for (int i = 0; i < t->ndims; i++) {
		t->dims[i].extent = need_poly(r);
		t->dims[i].pack = get_bool(r);
		t->dims[i].text = get_text(r, false);
	}
}

/* Reads an atom, or -1. */
static int get_end(reader *r)
{
	int64_t v = get_signed(r);
	if (v < -1 || v >= r->natoms)
		return (int)fail(r, "a variable's block has no ends");
	return (int)v;
}

static void get_var(reader *r, desc_var *v)
{
	v->name = get_text(r, false);
	v->kind = get_below(r, KVAR_DERIVED + 1);
	v->pack = get_bool(r);
	v->extent = need_poly(r);
	v->extent_text = get_text(r, false);
	v->indivisible_reason = get_text(r, true);
	v->begin = get_end(r);
	v->end = get_end(r);
}

static void get_region(reader *r, desc_region *x)
{
	x->lo = get_poly(r);
	x->hi = get_poly(r);
	x->follows = get_bool(r);
	x->scale = get_poly(r);
	x->before = get_poly(r);
	x->after = get_poly(r);
	if (!x->lo != !x->hi || (x->follows && !x->lo) ||
	    (x->scale && (!x->follows || !x->before || !x->after)))
		fail(r, "a region is incomplete");
}

static void get_strategy(reader *r, const desc_op *op, const desc_stage *s,
			 desc_strategy *st)
{
	st->var = get_below(r, (uint64_t)s->nvars);
	st->reducer = get_below(r, RED_COUNT);
	int64_t split = get_signed(r);
	int ndims = op->tensors[s->result].ndims;
	if (r->wrong || split < -1 || split >= ndims ||
	    s->vars[st->var].begin < 0 || s->vars[st->var].end < 0) {
		fail(r, "a strategy does not fit its stage");
		return;
	}
	st->split = (int)split;
	st->needs = ARENA_ARRAY(r->arena, desc_need, s->ninputs);
	for (int j = 0; j < s->ninputs && !r->wrong; j++) {
		int n = op->tensors[s->inputs[j]].ndims;
		st->needs[j].regions = ARENA_ARRAY(r->arena, desc_region, n);
		for (int d = 0; d < n; d++)
			get_region(r, &st->needs[j].regions[d]);
	}
}

/* Reads the sets of partial values that pass the stage.  Only the first 64
 * inputs can be in a set. */
static void get_passing(reader *r, desc_stage *s)
{
	s->npassing = get_length(r, MAX_LIST);
	s->passing = ARENA_ARRAY(r->arena, desc_passing, s->npassing);
	for (int i = 0; i < s->npassing; i++) {
		desc_passing *p = &s->passing[i];
		p->inputs = get_unsigned(r);
		p->by = get_below(r, RED_COUNT);
		p->to = get_below(r, RED_COUNT);
		if (!p->inputs ||
		    (s->ninputs < 64 && p->inputs >> s->ninputs))
			fail(r, "partial values pass that are none");
	}
}

static void get_stage(reader *r, const desc_op *op, desc_stage *s)
{
	uint64_t ntensors = (uint64_t)op->ntensors;
	s->label = get_text(r, false);
	s->ninputs = get_length(r, MAX_LIST);
	s->inputs = ARENA_ARRAY(r->arena, int, s->ninputs);
	for (int i = 0; i < s->ninputs; i++)
		s->inputs[i] = get_below(r, ntensors);
	s->result = get_below(r, ntensors);
	s->reducer = get_below(r, RED_COUNT);
	s->nvars = get_length(r, 4 * DESC_MAX_NDIM);
	s->vars = ARENA_ARRAY(r->arena, desc_var, s->nvars);
	for (int i = 0; i < s->nvars; i++)
		get_var(r, &s->vars[i]);
	s->opaque = get_text(r, true);
	s->open_because = get_text(r, true);
	s->elementwise = get_bool(r);
	s->linear = get_unsigned(r);
	s->in_place = get_unsigned(r);
	get_passing(r, s);
	s->flops = get_poly(r);
	s->pattern = get_text(r, true);
	s->nstrategies = get_length(r, (uint64_t)s->nvars);
	if (r->wrong)
		return;
	s->strategies = ARENA_ARRAY(r->arena, desc_strategy, s->nstrategies);
	for (int i = 0; i < s->nstrategies && !r->wrong; i++)
		get_strategy(r, op, s, &s->strategies[i]);
}

static desc_op *get_op(reader *r)
{
	desc_op *op = ARENA_NEW(r->arena, desc_op);
	op->name = get_text(r, false);
	op->doc = get_text(r, true);
	op->open_because = get_text(r, true);
	op->space = get_atoms(r);
	op->ntensors = get_length(r, MAX_LIST);
	op->ninputs = get_below(r, (uint64_t)op->ntensors + 1);
	op->tensors = ARENA_ARRAY(r->arena, desc_tensor, op->ntensors);
	for (int i = 0; i < op->ntensors && !r->wrong; i++)
		get_tensor(r, &op->tensors[i]);
	op->noutputs = get_length(r, MAX_LIST);
	op->output_names = ARENA_ARRAY(r->arena, const char *, op->noutputs);
	op->outputs = ARENA_ARRAY(r->arena, int, op->noutputs);
	for (int i = 0; i < op->noutputs && !r->wrong; i++) {
		op->output_names[i] = get_text(r, false);
		if (!op->open_because)
			op->outputs[i] = get_below(r, (uint64_t)op->ntensors);
	}
	op->nstages = get_length(r, MAX_LIST);
	if (r->wrong)
		return op;
	op->stages = ARENA_ARRAY(r->arena, desc_stage, op->nstages);
	for (int i = 0; i < op->nstages && !r->wrong; i++)
		get_stage(r, op, &op->stages[i]);
	op->nassumed = get_length(r, (uint64_t)op->space->natoms);
	op->assumed = ARENA_ARRAY(r->arena, int, op->nassumed);
	for (int i = 0; i < op->nassumed; i++)
		op->assumed[i] = get_below(r, (uint64_t)op->space->natoms);
	return op;
}

bool descriptor_is(const void *data, size_t len)
{
	return len >= sizeof(magic) && !memcmp(data, magic, sizeof(magic));
}

descriptor *descriptor_read(arena *a, diag_sink *sink, const char *path,
			    const void *data, size_t len)
{
	reader r = { .arena = a, .at = data };
	r.end = r.at + len;
	if (!descriptor_is(data, len))
		fail(&r, "it does not begin as one");
	else
		r.at += sizeof(magic);
	uint64_t version = r.wrong ? FORMAT_VERSION : get_unsigned(&r);
	if (version != FORMAT_VERSION)
		fail(&r, arena_printf(a, "it is of version %llu, not %d",
				      (unsigned long long)version,
				      FORMAT_VERSION));
	descriptor *d = ARENA_NEW(a, descriptor);
	d->nops = get_length(&r, MAX_OPS);
	d->ops = ARENA_ARRAY(a, desc_op *, d->nops);
	for (int i = 0; i < d->nops && !r.wrong; i++)
		d->ops[i] = get_op(&r);
	if (!r.wrong && r.at != r.end)
		fail(&r, "something follows its end");
	if (!r.wrong)
		return d;
	diag_error_in(sink, DIAG_DESCRIPTOR_INVALID, path,
		      "this is not a descriptor: %s", r.wrong);
	return NULL;
}
