/* Finds the chains of a plan, and reorders its program for them. */
#include "config.h"

#include "base/vec.h"
#include "kernel/contraction.h"
#include "kernel/region.h"
#include "plan/chain.h"
#include "plan/lifetimes.h"

/* A chain is searched for in this many instructions from its first on. */
enum { MOST_LOOKED_AT = 96 };

/* The content of a buffer, as seen by a chain being made. */
typedef enum content {
	OTHER,
	/* depends on products that are not, or not yet, part of the chain */
	ASIDE,
	OPEN,	/* a result of the chain; its readers may join */
	CLOSED, /* the result of a product at the end of the chain */
	BEHIND, /* depends on the chain without being part of it */
} content;

typedef struct maker {
	arena *a, *tmp;
	plan *p;
	content *has;	/* by buffer */
	int *touched;	/* buffers that are not OTHER */
	int ntouched;
	/* by instruction that is not in the chain: it comes after it */
	bool *behind;
	/* runs that may join, in order, together with their readers */
	int *aside;
	int naside;
	/* by buffer: the instructions that read it; one that reads it twice is
	 * listed twice */
	int *readers;
	bool *carried;	/* by tensor: it goes from turn to turn */
	bool *next;	/* by tensor: of a state */
	int nchains;
} maker;

static const kernel *kernel_of(const plan *p, int instr)
{
	return p->kernels[p->nodes[p->program[instr].node].kernel].kernel;
}

static void mark(maker *m, int buffer, content has)
{
	if (m->has[buffer] == OTHER)
		m->touched[m->ntouched++] = buffer;
	m->has[buffer] = has;
}

static void forget(maker *m)
{
	while (m->ntouched > 0)
		m->has[m->touched[--m->ntouched]] = OTHER;
}

/* The kinds of content that an instruction reads. */
typedef struct seen {
	const content *has;
	bool of[BEHIND + 1];
} seen;

static void see(void *to, int buffer)
{
	seen *s = to;
	s->of[s->has[buffer]] = true;
}

static seen what_is_read(const maker *m, const plan_instr *in)
{
	seen s = { .has = m->has };
	plan_reads(m->p, in, see, &s);
	return s;
}

typedef struct counter {
	int reads, buffer;
} counter;

static void count_one(void *to, int buffer)
{
	counter *c = to;
	c->reads += buffer == c->buffer;
}

/* Adds a run, in the order of the program. */
static void add_run(plan_chain *c, int j)
{
	int at = c->n++;
	for (; at > 0 && c->instr[at - 1] > j; at--)
		c->instr[at] = c->instr[at - 1];
	c->instr[at] = j;
}

static bool has_run(const plan_chain *c, int j)
{
	for (int r = 0; r < c->n; r++)
		if (c->instr[r] == j)
			return true;
	return false;
}

/* Adds the runs aside on which run j depends; false if they are too many. */
static bool add_sources(const maker *m, plan_chain *c, int j)
{
	bool good = c->n < MAX_CHAIN;
	if (good)
		add_run(c, j);
	for (int i = m->naside - 1; good && i >= 0; i--) {
		counter n = { .buffer = m->p->program[m->aside[i]].to };
		if (has_run(c, m->aside[i]))
			continue;
		for (int r = 0; r < c->n; r++)
			plan_reads(m->p, &m->p->program[c->instr[r]],
				   count_one, &n);
		good = n.reads == 0 || c->n < MAX_CHAIN;
		if (n.reads > 0 && good)
			add_run(c, m->aside[i]);
	}
	return good;
}

/* Adds those aside that read what is now part of the chain, because they come
 * before what depends on it. */
static bool add_readers(const maker *m, plan_chain *c)
{
	for (int i = 0; i < m->naside; i++) {
		const plan_instr *in = &m->p->program[m->aside[i]];
		bool reads = false;
		for (int r = 0; r < c->n && !has_run(c, m->aside[i]); r++) {
			counter n = { .buffer =
					      m->p->program[c->instr[r]].to };
			plan_reads(m->p, in, count_one, &n);
			reads |= n.reads > 0;
		}
		if (reads && c->n == MAX_CHAIN)
			return false;
		if (reads)
			add_run(c, m->aside[i]);
	}
	return true;
}

static bool ends(const maker *m, const plan_chain *c, int j)
{
	counter n = { 0 };
	if (!kernel_multiplies_matrices(kernel_of(m->p, j)))
		return false;
	for (int r = 0; r < c->n && c->instr[r] < j; r++) {
		n.buffer = m->p->program[c->instr[r]].to;
		plan_reads(m->p, &m->p->program[j], count_one, &n);
	}
	return n.reads > 0;
}

/* Whether what stays before the chain reads nothing of it. */
static bool is_apart(const maker *m, const plan_chain *c)
{
	const plan *p = m->p;
	for (int i = c->instr[0]; i < c->instr[c->n - 1]; i++) {
		counter n = { 0 };
		if (has_run(c, i) || m->behind[i])
			continue;
		for (int r = 0; r < c->n; r++) {
			n.buffer = p->program[c->instr[r]].to;
			plan_reads(p, &p->program[i], count_one, &n);
		}
		if (n.reads > 0)
			return false;
	}
	return true;
}

/* Whether run j can be the next of the chain, by itself or together with the
 * runs aside on which it depends. */
static bool add_next(const maker *m, plan_chain *c, int j, bool sources)
{
	plan_chain more = *c;
	if (more.n == MAX_CHAIN)
		return false;
	if (!sources)
		add_run(&more, j);
	else if (!add_sources(m, &more, j) || !add_readers(m, &more))
		return false;
	if (!plan_chain_find(m->p, &more) || !is_apart(m, &more))
		return false;
	*c = more;
	return true;
}

/* Whether an instruction may overwrite a state that runs of the chain may read,
 * because the state's next value can be in its place. */
static bool is_update(const maker *m, const plan_instr *in)
{
	const plan_buffer *to = &m->p->buffers[in->to];
	return m->next[to->tensor] ||
	       (in->op == PLAN_MOVE && to->region == LAYOUT_STORED &&
		m->p->tensors[to->tensor].role == PLAN_STATE);
}

/* Adds instruction j to the chain if it reads its results and can be part of
 * it.  An update of a state cannot, because the whole chain counts as one
 * instant. */
static bool join(maker *m, plan_chain *c, int j)
{
	const plan_instr *in = &m->p->program[j];
	const seen s = what_is_read(m, in);
	if (in->op != PLAN_RUN || !s.of[OPEN] || s.of[CLOSED] ||
	    s.of[BEHIND] || is_update(m, in) ||
	    (!(s.of[ASIDE] && add_next(m, c, j, true)) &&
	     !add_next(m, c, j, false)))
		return false;
	for (int r = 0; r < c->n; r++)
		mark(m, m->p->program[c->instr[r]].to,
		     ends(m, c, c->instr[r]) ? CLOSED : OPEN);
	return true;
}

/* Whether instruction j does not depend on the chain but may join together with
 * its readers: a product, or what depends on one. */
static bool is_aside(const maker *m, int j)
{
	const plan *p = m->p;
	const plan_instr *in = &p->program[j];
	const seen s = what_is_read(m, in);
	if (in->op != PLAN_RUN || s.of[OPEN] || s.of[CLOSED] || s.of[BEHIND])
		return false;
	return s.of[ASIDE] || kernel_multiplies_matrices(kernel_of(p, j));
}

static int count_ends(const maker *m, const plan_chain *c)
{
	int n = 0;
	for (int r = 0; r < c->n; r++)
		n += m->has[m->p->program[c->instr[r]].to] == CLOSED;
	return n;
}

/* Collects runs from i on that can form a chain; returns the number of products
 * that end it. */
static int take_runs(maker *m, plan_chain *c, int i, int end)
{
	const plan *p = m->p;
	m->naside = 0;
	*c = (plan_chain){ .n = 1, .instr = { i } };
	mark(m, p->program[i].to, OPEN);
	for (int j = i + 1; j < end && p->program[j].bucket == 0; j++) {
		const plan_instr *in = &p->program[j];
		const seen s = what_is_read(m, in);
		if (join(m, c, j))
			continue;
		if (is_aside(m, j) && !is_update(m, in)) {
			mark(m, in->to, ASIDE);
			m->aside[m->naside++] = j;
		}
		m->behind[j] = s.of[OPEN] || s.of[CLOSED] || s.of[BEHIND] ||
			       is_update(m, in);
		if (m->behind[j])
			mark(m, in->to, BEHIND);
	}
	return count_ends(m, c);
}

/* ---- what is inner ------------------------------------------------------ */

/* The number of times that the runs of a chain read a buffer. */
static int count_reads(const plan *p, const plan_chain *c, int buffer)
{
	counter n = { .buffer = buffer };
	for (int r = 0; r < c->n; r++)
		plan_reads(p, &p->program[c->instr[r]], count_one, &n);
	return n.reads;
}

/* Whether a buffer is used only by instructions that read it. */
static bool is_passing(const maker *m, int buffer)
{
	const plan_buffer *b = &m->p->buffers[buffer];
	return m->readers[buffer] > 0 && !m->carried[b->tensor] &&
	       b->slots == 0 && !plan_is_kept(m->p, buffer);
}

/* Finds the results that only the chain reads; returns their bytes. */
static int64_t find_inner(const maker *m, plan_chain *c)
{
	const plan *p = m->p;
	int64_t bytes = 0;
	for (int r = 0; r < c->n; r++) {
		int to = p->program[c->instr[r]].to;
		c->inner[r] = is_passing(m, to) &&
			      count_reads(p, c, to) == m->readers[to];
		bytes += c->inner[r] ? p->buffers[to].nbytes : 0;
	}
	return bytes;
}

/* Whether parts hold less than half of these bytes, on all workers examined,
 * and all axes have one range there. */
static bool saves(const maker *m, const plan_chain *c, int64_t bytes)
{
	enum { MOST_WORKERS = 64 };
	const plan *p = m->p;
	int workers = mesh_workers(&p->mesh);
	int step = (workers + MOST_WORKERS - 1) / MOST_WORKERS;
	box spaces[MAX_CHAIN];
	int64_t length[MAX_CHAIN_AXES];
	for (int w = 0; w < workers; w += step) {
		if (!plan_chain_fits(p, c, w))
			return false;
		for (int r = 0; r < c->n; r++)
			spaces[r] = plan_space(p, &p->program[c->instr[r]], w);
		plan_chain_parts(p, c, spaces, 1, length);
		if (plan_chain_bytes(p, c, spaces, length) > bytes / 2)
			return false;
	}
	return true;
}

/* ---- the program ------------------------------------------------------- */

/* Reorders the program so that the runs of a chain follow each other, after the
 * instructions between them that do not depend on them. */
static void put_together(maker *m, const plan_chain *c)
{
	plan *p = m->p;
	int first = c->instr[0], end = c->instr[c->n - 1] + 1, at = first;
	plan_instr *from = ARENA_COPY(m->tmp, p->program + first, end - first);
	bool *member = ARENA_ARRAY(m->tmp, bool, end - first);
	m->nchains++;
	for (int r = 0; r < c->n; r++)
		member[c->instr[r] - first] = true;
	for (int i = first; i < end; i++)
		if (!member[i - first] && !m->behind[i])
			p->program[at++] = from[i - first];
	for (int r = 0; r < c->n; r++) {
		p->program[at] = from[c->instr[r] - first];
		p->program[at++].chain = m->nchains;
	}
	for (int i = first; i < end; i++)
		if (!member[i - first] && m->behind[i])
			p->program[at++] = from[i - first];
}

static void take_room(maker *m, const plan_chain *c)
{
	for (int r = 0; r < c->n; r++)
		if (c->inner[r]) {
			plan_buffer *b =
				&m->p->buffers[m->p->program[c->instr[r]].to];
			b->nbytes = b->offset = 0;
		}
}

/* Makes a chain that begins with instruction i if one is worth while; returns
 * the next instruction to look at. */
static int make_chain(maker *m, int i, int end)
{
	const plan_instr *in = &m->p->program[i];
	plan_chain c;
	int next = i + 1;
	if (in->op != PLAN_RUN ||
	    !kernel_multiplies_matrices(kernel_of(m->p, i)))
		return next;
	end = end - i < MOST_LOOKED_AT ? end : i + MOST_LOOKED_AT;
	bool found = take_runs(m, &c, i, end) > 0 && plan_chain_find(m->p, &c);
	int64_t bytes = found ? find_inner(m, &c) : 0;
	if (bytes >= CHAIN_LEAST_BYTES && saves(m, &c, bytes)) {
		next = c.instr[c.n - 1] + 1;
		take_room(m, &c);
		put_together(m, &c);
	}
	forget(m);
	return next;
}

static void count_reader(void *to, int buffer)
{
	int *readers = to;
	readers[buffer]++;
}

static void find_successors(maker *m)
{
	const plan *p = m->p;
	for (int t = 0; t < p->ntensors; t++) {
		const plan_tensor *x = &p->tensors[t];
		if (x->then >= 0)
			m->carried[t] = m->carried[x->then] = true;
		if (x->role == PLAN_STATE && x->next >= 0)
			m->next[x->next] = true;
	}
}

/* Makes chains before a loop, in its body, and after it. */
static void make_all(maker *m)
{
	const plan *p = m->p;
	int ends[] = { p->loop.begin, p->loop.end, p->ninstrs };
	for (int i = 0; i < p->ninstrs; i++)
		plan_reads(p, &p->program[i], count_reader, m->readers);
	find_successors(m);
	for (int s = 0, i = 0; s < 3; s++)
		while (i < ends[s])
			i = make_chain(m, i, ends[s]);
}

void plan_make_chains(arena *a, plan *p)
{
	const plan before = *p;
	arena *tmp = arena_new();
	maker m = { .a = a, .tmp = tmp, .p = p,
		    .has = ARENA_ARRAY(tmp, content, p->nbuffers),
		    .touched = ARENA_ARRAY(tmp, int, p->nbuffers),
		    .behind = ARENA_ARRAY(tmp, bool, p->ninstrs),
		    .aside = ARENA_ARRAY(tmp, int, p->ninstrs),
		    .readers = ARENA_ARRAY(tmp, int, p->nbuffers),
		    .carried = ARENA_ARRAY(tmp, bool, p->ntensors),
		    .next = ARENA_ARRAY(tmp, bool, p->ntensors) };
	p->program = ARENA_COPY(a, p->program, p->ninstrs);
	p->buffers = ARENA_COPY(a, p->buffers, p->nbuffers);
	make_all(&m);
	if (m.nchains > 0)
		plan_place(p);
	if (m.nchains == 0 || p->arena_bytes > before.arena_bytes)
		*p = before;
	arena_free(tmp);
}

/* ---- and without -------------------------------------------------------- */

const plan *plan_without_chains(arena *a, const plan *p)
{
	plan *own = ARENA_COPY(a, p, 1);
	bool any = false;
	own->program = ARENA_COPY(a, p->program, p->ninstrs);
	own->buffers = ARENA_COPY(a, p->buffers, p->nbuffers);
	for (int i = 0; i < p->ninstrs; i++) {
		plan_buffer *b = &own->buffers[p->program[i].to];
		if (p->program[i].chain == 0)
			continue;
		any = true;
		own->program[i].chain = 0;
		const layout l = plan_layout(p, b);
		b->nbytes = layout_most_bytes(&l, &p->mesh);
	}
	if (!any)
		return p;
	plan_place(own);
	return own;
}

const plan_pipeline *pipeline_without_chains(arena *a, const plan_pipeline *p)
{
	plan_pipeline *own = ARENA_COPY(a, p, 1);
	own->stages = ARENA_COPY(a, p->stages, p->nstages);
	for (int i = 0; i < p->nstages; i++)
		own->stages[i] = *plan_without_chains(a, &p->stages[i]);
	return own;
}

int64_t plan_chain_saved(const plan *p, int begin)
{
	int64_t bytes = 0;
	for (int i = begin; i < plan_chain_end(p, begin); i++) {
		const plan_buffer *b = &p->buffers[p->program[i].to];
		const layout l = plan_layout(p, b);
		bytes += b->nbytes == 0 ? layout_most_bytes(&l, &p->mesh) : 0;
	}
	return bytes;
}
