/* A module for several stages.  A stage's instructions are split into parts,
 * functions that do not wait for other stages.  Tables list what the parts are
 * given, make, receive and send.  jax/stages.py runs them. */
#include "config.h"

#include <inttypes.h>

#include "compiler/export/jax_names.h"
#include "compiler/export/jax_writer.h"

/* The instructions of a plan that are run: a whole step, or what outputs depend
 * on. */
typedef struct running {
	const char *table; /* name of its table */
	bool **nodes;	   /* by stage and node */
	bool *channels;
} running;

/* Values in place of a segment's number, for what is run once. */
enum { BEFORE = -1, BEHIND = -2 };

/* Instructions of a stage.  Only the first ones, RECEIVEs, may wait. */
typedef struct part {
	const char *name;
	int begin, end;
	int segment; /* of the body, or BEFORE or BEHIND */
	jax_tensors given, makes;
	jax_tensors takes, sends; /* channels */
} part;

typedef VEC(part) part_list;

/* ---- what is run ------------------------------------------------------- */

static bool is_run(const running *r, int stage, const plan_instr *in)
{
	return in->op == PLAN_RUN ? r->nodes[stage][in->node] :
		plan_is_message(in) && r->channels[in->channel];
}

static running new_running(jax_writer *w, const char *table, bool value)
{
	const plan_pipeline *all = w->all;
	running r = { table, ARENA_ARRAY(w->a, bool *, all->nstages),
		      ARENA_ARRAY(w->a, bool, all->nchannels + 1) };
	for (int s = 0; s < all->nstages; s++) {
		r.nodes[s] = ARENA_ARRAY(w->a, bool, all->stages[s].nnodes + 1);
		for (int i = 0; i < all->stages[s].nnodes; i++)
			r.nodes[s][i] = value;
	}
	for (int c = 0; c < all->nchannels; c++)
		r.channels[c] = value;
	return r;
}

/* Marks what an instruction needs if it is wanted and not marked yet.  Returns
 * whether it was. */
static bool want(const plan_pipeline *all, running *r, bool **wanted, int s,
		 const plan_instr *in)
{
	const plan *p = &all->stages[s];
	if (in->op == PLAN_RECEIVE) {
		const plan_channel *c = &all->channels[in->channel];
		if (r->channels[in->channel] || !wanted[s][c->target])
			return false;
		r->channels[in->channel] = wanted[c->from][c->source] = true;
		return true;
	}
	if (in->op != PLAN_RUN || r->nodes[s][in->node])
		return false;
	const plan_node *n = &p->nodes[in->node];
	if (!wanted[s][n->output])
		return false;
	for (int i = 0; i < p->kernels[n->kernel].kernel->ninputs; i++)
		wanted[s][n->inputs[i]] = true;
	return r->nodes[s][in->node] = true;
}

/* Finds what the outputs depend on. */
static running find_forward(jax_writer *w)
{
	const plan_pipeline *all = w->all;
	running r = new_running(w, "FORWARD_STAGES", false);
	bool **wanted = ARENA_ARRAY(w->a, bool *, all->nstages);
	for (int s = 0; s < all->nstages; s++) {
		const plan *p = &all->stages[s];
		wanted[s] = ARENA_ARRAY(w->a, bool, p->ntensors + 1);
		for (int t = 0; t < p->ntensors; t++)
			wanted[s][t] = p->tensors[t].output;
	}
	for (bool more = true; more;) {
		more = false;
		for (int s = all->nstages - 1; s >= 0; s--)
			for (int i = all->stages[s].ninstrs - 1; i >= 0; i--)
				more |= want(all, &r, wanted, s,
					     &all->stages[s].program[i]);
	}
	return r;
}

static bool runs_all(const plan_pipeline *all, const running *r)
{
	for (int s = 0; s < all->nstages; s++)
		for (int i = 0; i < all->stages[s].ninstrs; i++) {
			const plan_instr *in = &all->stages[s].program[i];
			if ((in->op == PLAN_RUN || plan_is_message(in)) &&
			    !is_run(r, s, in))
				return false;
		}
	return true;
}

/* ---- parts ------------------------------------------------------------- */

/* "step_stage_0_forward" */
static const char *part_name(jax_writer *w, const running *r, int stage,
			     const part *x)
{
	static const char *const passes[] = { "forward", "backward",
					      "weights" };
	const plan *p = w->p;
	const char *name = x->segment == BEFORE ? "before" : "behind";
	if (x->segment >= 0)
		name = passes[p->stage->segments[x->segment].pass];
	return arena_strdup(w->a, jax_name(
		w->a, w->taken, arena_printf(
			w->a, "%s_stage_%d_%s", *r->table == 'F' ? "outputs" :
			"step", stage, name)));
}

/* Adds the instructions [begin, end) as a part, unless none of them is run. */
static void add_part(jax_writer *w, const running *r, int stage, part x,
		     part_list *to)
{
	bool runs = false;
	for (int i = x.begin; i < x.end; i++) {
		const plan_instr *in = &w->p->program[i];
		bool is = is_run(r, stage, in);
		runs |= is;
		if (is && in->op == PLAN_RECEIVE)
			vec_push(w->a, &x.takes, in->channel);
		if (is && in->op == PLAN_SEND)
			vec_push(w->a, &x.sends, in->channel);
	}
	if (!runs)
		return;
	x.name = part_name(w, r, stage, &x);
	vec_push(w->a, to, x);
}

/* Divides instructions into parts wherever one has to wait after others. */
static void add_parts(jax_writer *w, const running *r, int stage, part x,
		      part_list *to)
{
	bool works = false;
	int end = x.end;
	for (int i = x.begin; i < end; i++) {
		const plan_instr *in = &w->p->program[i];
		if (!is_run(r, stage, in))
			continue;
		if (in->op == PLAN_RECEIVE && works) {
			x.end = i;
			add_part(w, r, stage, x, to);
			x.begin = i;
		}
		works = in->op != PLAN_RECEIVE;
	}
	x.end = end;
	add_part(w, r, stage, x, to);
}

static part_list find_parts(jax_writer *w, const running *r, int stage)
{
	const plan *p = w->p;
	const plan_stage *s = p->stage;
	part_list parts = { 0 };
	add_parts(w, r, stage, (part){ .end = p->loop.begin,
				       .segment = BEFORE }, &parts);
	for (int i = 0; i < s->nsegments; i++)
		add_parts(w, r, stage, (part){ .begin = s->segments[i].begin,
					       .end = s->segments[i].end,
					       .segment = i }, &parts);
	add_parts(w, r, stage, (part){ .begin = p->loop.end, .end = p->ninstrs,
				       .segment = BEHIND }, &parts);
	return parts;
}

/* ---- what parts make --------------------------------------------------- */

/* The result of instruction i if it is a RUN that is run; -1. */
static int result_of(jax_writer *w, const running *r, int stage, int i)
{
	const plan_instr *in = &w->p->program[i];
	return in->op == PLAN_RUN && is_run(r, stage, in) ?
		w->p->nodes[in->node].output : -1;
}

/* By tensor: the part that computes it; -1. */
static int *find_makers(jax_writer *w, const running *r, int stage,
			const part_list *parts)
{
	int *maker = ARENA_ARRAY(w->a, int, w->p->ntensors + 1);
	for (int t = 0; t < w->p->ntensors; t++)
		maker[t] = -1;
	for (int k = 0; k < parts->n; k++)
		for (int i = parts->at[k].begin; i < parts->at[k].end; i++) {
			int t = result_of(w, r, stage, i);
			if (t >= 0)
				maker[t] = k;
		}
	return maker;
}

/* Marks the tensors that are read elsewhere: by other parts, other stages, the
 * caller, the next turn or the next step. */
static bool *find_shared(jax_writer *w, const running *r, int stage,
			 const part_list *parts, const int *maker)
{
	const plan *p = w->p;
	bool *is = ARENA_ARRAY(w->a, bool, p->ntensors + 1);
	for (int t = 0; t < p->ntensors; t++) {
		is[t] |= p->tensors[t].output || jax_first_of(p, t) >= 0;
		if (p->tensors[t].role == PLAN_STATE && p->tensors[t].next >= 0)
			is[p->tensors[t].next] = true;
	}
	for (int k = 0; k < parts->n; k++) {
		const part *x = &parts->at[k];
		for (int i = 0; i < x->sends.n; i++)
			is[w->all->channels[x->sends.at[i]].source] = true;
		for (int i = x->begin; i < x->end; i++) {
			if (result_of(w, r, stage, i) < 0)
				continue;
			const plan_node *n = &p->nodes[p->program[i].node];
			const plan_kernel *by = &p->kernels[n->kernel];
			for (int j = 0; j < by->kernel->ninputs; j++)
				is[n->inputs[j]] |= maker[n->inputs[j]] != k;
		}
	}
	return is;
}

static void find_made(jax_writer *w, const running *r, int stage,
		      part_list *parts)
{
	const int *maker = find_makers(w, r, stage, parts);
	const bool *shared = find_shared(w, r, stage, parts, maker);
	for (int t = 0; t < w->p->ntensors; t++)
		if (maker[t] >= 0 && shared[t])
			vec_push(w->a, &parts->at[maker[t]].makes, t);
}

/* ---- functions --------------------------------------------------------- */

static void write_part(jax_writer *w, const running *r, int stage, part *x)
{
	SAY("\n\ndef %s(given, %s, pin):\n", x->name, w->number);
	for (int t = 0; t < w->p->ntensors; t++)
		w->of.there[t] = false;
	w->given = &x->given;
	for (int i = x->begin; i < x->end; i++)
		if (result_of(w, r, stage, i) >= 0)
			jax_write_node(w, &w->p->program[i]);
	w->given = NULL;
	SAY("    return {\n");
	for (int i = 0; i < x->makes.n; i++)
		SAY("        %s: %s,\n",
		    jax_string(w->a, w->p->tensors[x->makes.at[i]].name),
		    jax_tensor_name(w, x->makes.at[i]));
	SAY("    }\n");
}

/* ---- tables ------------------------------------------------------------ */

/* "("x", "y",)" */
static const char *names(jax_writer *w, const jax_tensors *x)
{
	const char *s = "";
	for (int i = 0; i < x->n; i++)
		s = arena_printf(w->a, "%s%s%s,", s, i ? " " : "",
				 jax_string(w->a,
					    w->p->tensors[x->at[i]].name));
	return arena_printf(w->a, "(%s)", s);
}

static const char *numbers(jax_writer *w, const jax_tensors *x)
{
	const char *s = "";
	for (int i = 0; i < x->n; i++)
		s = arena_printf(w->a, "%s%s%d,", s, i ? " " : "", x->at[i]);
	return arena_printf(w->a, "(%s)", s);
}

static void mark(const jax_tensors *x, bool *is)
{
	for (int i = 0; i < x->n; i++)
		is[x->at[i]] = true;
}

static void write_tensors(jax_writer *w, const part_list *parts)
{
	const plan_channel *channels = w->all->channels;
	bool *is = ARENA_ARRAY(w->a, bool, w->p->ntensors + 1);
	for (int k = 0; k < parts->n; k++) {
		const part *x = &parts->at[k];
		mark(&x->given, is);
		mark(&x->makes, is);
		for (int i = 0; i < x->takes.n; i++)
			is[channels[x->takes.at[i]].target] = true;
		for (int i = 0; i < x->sends.n; i++)
			is[channels[x->sends.at[i]].source] = true;
	}
	SAY("        tensors={\n");
	for (int t = 0; t < w->p->ntensors; t++)
		if (is[t])
			SAY("            %s: (%s),\n",
			    jax_string(w->a, w->p->tensors[t].name),
			    jax_described(w, t));
	SAY("        },\n");
}

/* Writes the sums over turns. */
static void write_grows(jax_writer *w, const int *maker)
{
	SAY("        grows={\n");
	for (int t = 0; t < w->p->ntensors; t++) {
		int first = maker[t] >= 0 ? jax_first_of(w->p, t) : -1;
		if (first >= 0)
			SAY("            %s: %s,\n",
			    jax_string(w->a, w->p->tensors[t].name),
			    jax_string(w->a, w->p->tensors[first].name));
	}
	SAY("        },\n");
}

static void write_part_rows(jax_writer *w, const part_list *parts)
{
	SAY("        parts={\n");
	for (int k = 0; k < parts->n; k++) {
		const part *x = &parts->at[k];
		SAY("            \"%s\": Part(\n                %s, %s, %s,\n"
		    "                %s,\n                %s,\n"
		    "                %s),\n", x->name, x->name,
		    x->segment >= 0 ? "True" : "False", numbers(w, &x->takes),
		    names(w, &x->given), names(w, &x->makes),
		    numbers(w, &x->sends));
	}
	SAY("        },\n");
}

/* Writes the parts of some segments, repeated `times' times. */
static void write_tasks(jax_writer *w, const part_list *parts, int times,
			const int *segments, int n)
{
	const char *s = "";
	for (int i = 0; i < n; i++)
		for (int k = 0; k < parts->n; k++)
			if (parts->at[k].segment == segments[i])
				s = arena_printf(w->a, "%s%s\"%s\",", s,
						 *s ? " " : "",
						 parts->at[k].name);
	if (*s)
		SAY("            (%d, (%s)),\n", times, s);
}

static void write_order(jax_writer *w, const part_list *parts)
{
	static const int before = BEFORE, behind = BEHIND;
	const plan_stage *s = w->p->stage;
	SAY("        order=(\n");
	write_tasks(w, parts, 1, &before, 1);
	for (int i = 0; i < s->nruns; i++)
		write_tasks(w, parts, s->runs[i].times, s->runs[i].tasks,
			    s->runs[i].ntasks);
	write_tasks(w, parts, 1, &behind, 1);
	SAY("        ),\n");
}

static void write_running(jax_writer *w, const running *r)
{
	const plan_pipeline *all = w->all;
	part_list *parts = ARENA_ARRAY(w->a, part_list, all->nstages);
	for (int s = 0; s < all->nstages; s++) {
		jax_enter(w, s);
		parts[s] = find_parts(w, r, s);
		find_made(w, r, s, &parts[s]);
		for (int k = 0; k < parts[s].n; k++)
			write_part(w, r, s, &parts[s].at[k]);
	}
	SAY("\n\n%s = (\n", r->table);
	for (int s = 0; s < all->nstages; s++) {
		jax_enter(w, s);
		SAY("    Stage(\n        mesh=%s,\n", jax_mesh(w));
		write_tensors(w, &parts[s]);
		write_grows(w, find_makers(w, r, s, &parts[s]));
		write_part_rows(w, &parts[s]);
		write_order(w, &parts[s]);
		SAY("    ),\n");
	}
	SAY(")\n");
}

static void write_channels(jax_writer *w)
{
	const plan_pipeline *all = w->all;
	int64_t nbytes = 0;
	for (int c = 0; c < all->nchannels; c++)
		nbytes += pipeline_channel_bytes(all, c);
	SAY("\n# .. of them from stage to stage.\nBETWEEN = %" PRId64 "\n\n"
	    "# Values that go from a stage to another.\nCHANNELS = (\n",
	    nbytes);
	for (int i = 0; i < all->nchannels; i++) {
		const plan_channel *c = &all->channels[i];
		const plan_tensor *t =
			&all->stages[c->from].tensors[c->source];
		SAY("    (%d, %s, %d),\n", c->from, jax_string(w->a, t->name),
		    c->to);
	}
	SAY(")\n");
}

/* Writes the stages that have states and outputs, and the results that are next
 * values of states. */
static void write_homes(jax_writer *w)
{
	strmap *seen = strmap_new(w->a);
	SAY("\n# The stage of a state, or output.\nHOME = {\n");
	for (int s = 0; s < w->all->nstages; s++) {
		jax_enter(w, s);
		for (int i = 0; i < w->p->ntensors; i++) {
			const plan_tensor *t = &w->p->tensors[i];
			if (w->of.received[i] || strmap_get(seen, t->name) ||
			    !(t->output || jax_is_state(w, i)))
				continue;
			strmap_put(seen, t->name, w);
			SAY("    %s: %d,\n", jax_string(w->a, t->name), s);
		}
	}
	SAY("}\n\n# The value that a state has after a step.\nNEXT = {\n");
	for (int s = 0; s < w->all->nstages; s++) {
		const plan *p = &w->all->stages[s];
		for (int i = 0; i < p->ntensors; i++)
			if (p->tensors[i].role == PLAN_STATE &&
			    p->tensors[i].next >= 0)
				SAY("    %s: %s,\n",
				    jax_string(w->a, p->tensors[i].name),
				    jax_string(w->a, p->tensors[
					    p->tensors[i].next].name));
	}
	SAY("}\n");
}

void jax_write_stages(jax_writer *w)
{
	const running all = new_running(w, "STAGES", true);
	const running forward = find_forward(w);
	w->number = jax_name(w->a, w->taken, "number");
	SAY("\n\n# ---- stages ----\n");
	write_channels(w);
	write_homes(w);
	SAY("\n\n# ---- a step ----\n");
	write_running(w, &all);
	SAY("\n\n# ---- what the outputs depend on ----\n");
	if (runs_all(w->all, &forward))
		SAY("\n%s = %s\n", forward.table, all.table);
	else
		write_running(w, &forward);
}
