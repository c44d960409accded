/* Reads: how a body depends on them, and the stages for reads at data-dependent
 * indices, as compiler/expand/gather.c makes them.
 *
 * A body is walked in two versions at once: unchanged, and with each such read
 * replaced by a read of the result of its own stage.  Only the end of the walk
 * shows which version applies. */
#include "config.h"

#include "compiler/analysis/symbolic_build.h"

/* ---- slots --------------------------------------------------------------- */

/* The sets that a slot is a member of; none if there are too many members. */
static uint64_t sets_of(build *b, int at)
{
	static const uint64_t with[SYM_MAX_MEMBERS] = {
		UINT64_C(0xaaaaaaaaaaaaaaaa), UINT64_C(0xcccccccccccccccc),
		UINT64_C(0xf0f0f0f0f0f0f0f0), UINT64_C(0xff00ff00ff00ff00),
		UINT64_C(0xffff0000ffff0000), UINT64_C(0xffffffff00000000),
	};
	collector *c = b->into;
	int i = 0;
	while (i < c->members.n && c->members.at[i] != at)
		i++;
	if (i == c->members.n && i < SYM_MAX_MEMBERS)
		vec_push(b->arena, &c->members, at);
	return i < SYM_MAX_MEMBERS ? with[i] : 0;
}

static uint64_t bit_of(int at)
{
	return at < SYM_MAX_SLOTS ? (uint64_t)1 << at : 0;
}

static int slot_of(build *b, int tensor, int dim)
{
	collector *c = b->into;
	int i = 0;
	while (i < c->slots.n && (c->slots.at[i].tensor != tensor ||
				  c->slots.at[i].dim != dim))
		i++;
	if (i == c->slots.n)
		vec_push(b->arena, &c->slots, ((slot){ tensor, dim }));
	return i;
}

/* ---- reads -------------------------------------------------------------- */

/* Begins a read: touched variables and reasons to be open are noted for its
 * index from here on. */
read_begin sym_begin_read(build *b)
{
	collector *c = b->into;
	read_begin at = { .nreads = c->reads.n, .ngathers = c->gathers.n,
			  .touched = c->touched,
			  .because = c->open_because,
			  .apart_because = c->apart_because };
	c->touched = (int_list){ 0 };
	c->open_because = NULL;
	return at;
}

static bool is_looked_up(const sym_read *r)
{
	bool data = r->open_data;
	for (int d = 0; d < r->n; d++)
		data |= r->index[d].data;
	return data && !r->guarded;
}

/* The slots of a read: one for its tensor, and one for each dimension in which
 * it looks up an index. */
static read_bits bits_of(build *b, const sym_read *r)
{
	int whole = slot_of(b, r->tensor, SLOT_WHOLE);
	read_bits bits = { bit_of(whole), sets_of(b, whole) };
	for (int d = 0; d < r->n; d++)
		if (r->index[d].data)
			bits.slots |= bit_of(slot_of(b, r->tensor, d));
	if (r->open_data)
		bits.slots |= bit_of(slot_of(b, r->tensor, SLOT_SOME));
	return bits;
}

/* Notes that the read may become a stage of its own.  Returns the slots of the
 * read of that stage's result. */
static read_bits add_gather(build *b, const read_begin *at, sym_read *r,
			    int_list own, const char *because, reliance dep)
{
	collector *c = b->into;
	/* the index's own gathers stay in the index */
	c->gathers.n = at->ngathers;
	c->apart_because = at->apart_because;
	gather g = { .first = at->nreads, .end = c->reads.n, .read = r,
		     .touched = own, .open_because = because, .dep = dep };
	g.slot = c->slots.n;
	vec_push(b->arena, &c->slots, ((slot){ -1, SLOT_WHOLE }));
	vec_push(b->arena, &c->gathers, g);
	return (read_bits){ bit_of(g.slot), sets_of(b, g.slot) };
}

sval sym_end_read(build *b, const read_begin *at, sym_read *r,
		  const sval *index, const sval *otherwise)
{
	static const sval nowhere;
	collector *c = b->into;
	type_set types = b->tensors.at[r->tensor].types;
	sval v = { .data = true, .varies = true, .nfactors = 1,
		   .is = { .types = types } };
	int_list own = c->touched;
	const char *because = c->open_because;
	c->touched = at->touched;
	c->open_because = at->because ? at->because : because;
	for (int i = 0; i < own.n; i++)
		sym_touch(b, own.at[i]);
	vec_push(b->arena, &c->reads, r);
	read_bits bits = bits_of(b, r);
	sym_read_facts(b, &v, bits, index, otherwise);
	if (is_looked_up(r) && b->nbranches == 0 &&
	    types != type_only(DT_BOOL)) {
		sval gathered = { .is = { .types = types } };
		bits = add_gather(b, at, r, own, because, v.whole);
		sym_read_facts(b, &gathered, bits, &nowhere, NULL);
		v.apart = gathered.apart;
	}
	v.read = r->guarded ? NULL : r;
	return v;
}

/* ---- conditions --------------------------------------------------------- */

sval sym_condition(build *b, const ast_expr *e, condition_reads *out)
{
	collector *c = b->into;
	*out = (condition_reads){ 0 };
	if (b->quiet || !c)
		return sym_scalar(b, e);
	int first = c->reads.n;
	int_list before = c->touched;
	c->touched = (int_list){ 0 };
	sval v = sym_scalar(b, e);
	out->touched = c->touched;
	c->touched = before;
	for (int i = 0; i < out->touched.n; i++)
		sym_touch(b, out->touched.at[i]);
	out->nreads = c->reads.n - first;
	if (out->nreads > 0)
		out->reads = ARENA_COPY(b->arena, c->reads.at + first,
					out->nreads);
	return v;
}

void sym_add_conditions(build *b, sval *body)
{
	for (int i = 0; i < b->conditions.n; i++) {
		const condition_reads *c = &b->conditions.at[i];
		read_bits bits = { 0 };
		for (int j = 0; j < c->touched.n; j++)
			sym_touch(b, c->touched.at[j]);
		for (int j = 0; j < c->nreads; j++) {
			vec_push(b->arena, &b->into->reads, c->reads[j]);
			read_bits one = bits_of(b, c->reads[j]);
			bits.slots |= one.slots;
			bits.sets |= one.sets;
		}
		sym_add_condition(body, bits);
	}
}

/* ---- stages ------------------------------------------------------------- */

bool sym_is_derived(const collector *c, sval body)
{
	for (int i = 0; i < c->slots.n && i < SYM_MAX_SLOTS; i++)
		if (body.whole.slots.linear >> i & 1 &&
		    c->slots.at[i].dim != SLOT_WHOLE &&
		    body.is.types != type_only(DT_BOOL))
			return true;
	return false;
}

static int gather_stage(build *b, const collector *c, const gather *g)
{
	collector own = { .slots = c->slots, .members = c->members,
			  .touched = g->touched,
			  .conditional = c->conditional,
			  .open_because = g->open_because };
	for (int i = g->first; i < g->end; i++)
		vec_push(b->arena, &own.reads, c->reads.at[i]);
	int outs[SYM_MAX_DIMS];
	int nouts = sym_outer_vars(b, &own, NULL, 0, outs);
	sval body = { .whole = g->dep, .nfactors = -1,
		      .is.types = b->tensors.at[g->read->tensor].types };
	return sym_add_stage(b,
			     arena_printf(b->arena, "gather%d",
					  ++b->nextracted),
			     outs, nouts, NULL, 0, RED_NONE, body, &own);
}

/* The read of the gather stage's result, at the variables on which the gather
 * depends. */
static sym_read *read_of_gather(build *b, const gather *g, int tensor)
{
	sym_read *r = ARENA_COPY(b->arena, g->read, 1);
	const sym_tensor *t = &b->tensors.at[tensor];
	const sym_stage *s = b->stages.at[t->stage];
	r->tensor = tensor;
	r->open = r->open_data = false;
	r->n = t->ndims;
	r->index = ARENA_ARRAY(b->arena, sym_index, r->n);
	for (int i = 0; i < r->n; i++)
		r->index[i] = (sym_index){
			.at = poly_of(b->arena, s->vars[i].atom),
			.pack = s->vars[i].extent.pack, .place = r->at };
	return r;
}

void sym_extract_gathers(build *b, collector *c, sval *body)
{
	collector rest = *c;
	rest.reads.n = rest.reads.cap = 0;
	rest.open_because = c->apart_because;
	for (int i = 0, next = 0; i <= c->gathers.n; i++) {
		const gather *g = i < c->gathers.n ? &c->gathers.at[i] : NULL;
		int end = g ? g->first : c->reads.n;
		for (; next < end; next++)
			vec_push(b->arena, &rest.reads, c->reads.at[next]);
		if (!g)
			break;
		next = g->end;
		int tensor = gather_stage(b, c, g);
		if (tensor < 0)
			return;
		rest.slots.at[g->slot].tensor = tensor;
		vec_push(b->arena, &rest.reads, read_of_gather(b, g, tensor));
	}
	*c = rest;
	body->whole = body->apart;
	body->read = NULL;
}
