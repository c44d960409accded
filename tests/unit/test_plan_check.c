/* Tests: plan */
/* Each thing that plan_check() and plan_check_worker() look for: a good plan is
 * changed in one place, and the message has to be the one of that place. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/lower/lower.h"
#include "tests/unit/random_graph.h"
#include "tests/unit/suite.h"

/* On four workers: c = a*b, of which variable var is divided, and y = f(c) by
 * columns. c is cut along a dimension, or CUT_NONE, the others along rows. */
static plan *divided(arena *a, int var, int dim)
{
	graph *g = matmul_graph(a, 8, 16, 12);
	assignment as = { .mesh = { 1, { 4 } } };
	as.tensor_cuts = ARENA_ARRAY(a, cuts, g->ntensors);
	as.node_cuts = ARENA_ARRAY(a, cuts, g->nnodes);
	for (int t = 0; t < g->ntensors; t++) {
		as.tensor_cuts[t] = cuts_none();
		as.tensor_cuts[t].dim[0] = t == 2 ? dim : 0;
	}
	as.node_cuts[0] = as.node_cuts[1] = cuts_none();
	as.node_cuts[0].dim[0] = var;
	as.node_cuts[1].dim[0] = 1;
	const lower_options o = { .algorithm = "hand" };
	return lower_plan(a, g, &as, &o, diag_sink_new(a));
}

/* With k divided, so that there are partial results. */
static plan *sample(arena *a)
{
	return divided(a, 2, 0);
}

static plan_instr *first(plan *p, plan_op op)
{
	for (int i = 0; i < p->ninstrs; i++)
		if (p->program[i].op == op)
			return &p->program[i];
	ck_abort_msg("the plan has no instruction %d", op);
}

static plan_instr *second_run(plan *p)
{
	for (plan_instr *in = first(p, PLAN_RUN) + 1;; in++)
		if (in->op == PLAN_RUN)
			return in;
}

static plan_buffer *buffer(plan *p, layout_kind kind)
{
	for (int i = 0; i < p->nbuffers; i++)
		if (p->buffers[i].region == kind)
			return &p->buffers[i];
	ck_abort_msg("the plan has no buffer %d", kind);
}

#define EDIT(name) static void name(plan *p)
EDIT(axes) { p->mesh.naxes = MAX_AXES + 1; }
EDIT(axis) { p->mesh.size[0] = 1; }
EDIT(workers)
{
	p->mesh.naxes = 2;
	p->mesh.size[0] = p->mesh.size[1] = MESH_MAX_WORKERS;
}
EDIT(axis_cuts) { p->tensors[0].cuts.dim[0] = 2; }
EDIT(parts) { p->mesh.size[0] = 9; }
EDIT(same_tensors) { p->tensors[1].name = p->tensors[0].name; }
EDIT(tensor_size) { p->tensors[0].dims[0] = INT64_C(1) << 50; }
EDIT(tensor_buffer) { p->tensors[0].buffer = p->nbuffers; }
EDIT(output_buffer) { p->tensors[3].buffer = -1; }
EDIT(no_input) { p->inputs[0] = 1; }
EDIT(no_output) { p->outputs[0] = 0; }
EDIT(input_list) { p->ninputs = 0; }
EDIT(node_kernel) { p->nodes[0].kernel = p->nkernels; }
EDIT(node_input) { *(int *)p->nodes[0].inputs = p->ntensors; }
EDIT(node_reads) { *(int *)p->nodes[0].inputs = 1; }
EDIT(node_output) { p->nodes[0].output = 0; }
EDIT(same_output)
{
	p->nodes[1] = p->nodes[0];
	p->nodes[1].name = "another";
}
EDIT(same_nodes) { p->nodes[1].name = p->nodes[0].name; }
EDIT(stored_twice) { buffer(p, LAYOUT_NEEDS)->region = LAYOUT_STORED; }
EDIT(formula_node) { buffer(p, LAYOUT_NEEDS)->node = p->nnodes; }
EDIT(formula_reads) { buffer(p, LAYOUT_NEEDS)->node ^= 1; }
EDIT(formula_makes) { buffer(p, LAYOUT_PRODUCES)->node ^= 1; }
EDIT(formula_own)
{
	plan_buffer *b = &p->buffers[second_run(p)->to];
	ck_assert_int_eq(b->region, LAYOUT_PRODUCES);
	b->region = LAYOUT_REDUCED_SHARD;
}
EDIT(buffer_tensor) { p->buffers[0].tensor = p->ntensors; }
EDIT(unaligned) { p->buffers[0].offset++; }
EDIT(higher) { p->arena_bytes += 4 * PLAN_ALIGN; }
EDIT(holds_else)
{
	plan_buffer *b = &p->buffers[p->tensors[2].buffer];
	b->region = LAYOUT_NEEDS;
	b->node = 1;
	p->tensors[2].buffer = first(p, PLAN_RUN)->to;
}
EDIT(source) { first(p, PLAN_COMBINE)->from = 99; }
EDIT(unwritten) { first(p, PLAN_COMBINE)->from = second_run(p)->to; }
EDIT(run_node) { first(p, PLAN_RUN)->node = p->nnodes; }
EDIT(run_twice) { second_run(p)->node = first(p, PLAN_RUN)->node; }
EDIT(run_input)
{
	int *inputs = (int *)first(p, PLAN_RUN)->inputs;
	inputs[0] = inputs[1];
}
EDIT(run_to) { first(p, PLAN_RUN)->to = second_run(p)->to; }
EDIT(move_kind) { first(p, PLAN_COMBINE)->op = PLAN_MOVE; }
EDIT(combine_node) { first(p, PLAN_COMBINE)->node = second_run(p)->node; }
EDIT(combine_from) { first(p, PLAN_COMBINE)->from = p->tensors[0].buffer; }
EDIT(written_twice) { second_run(p)->to = first(p, PLAN_RUN)->to; }
EDIT(never) { p->ninstrs = 0; }
EDIT(made)
{
	plan_instr *in = second_run(p);
	in->to = p->tensors[3].buffer;
	p->ninstrs = (int)(in - p->program) + 1;
}
EDIT(covered)
{
	*(int *)second_run(p)->inputs = p->tensors[2].buffer;
}

static const struct {
	void (*edit)(plan *p);
	const char *message;
} cases[] = {
	{ axes, "axes" },
	{ axis, "an axis has 1 workers" },
	{ workers, "there are more than" },
	{ axis_cuts, "axis 0 cuts number 2 of 2" },
	{ parts, "is cut into more parts than it has elements" },
	{ same_tensors, "there are two tensors" },
	{ tensor_size, "the tensor is too large" },
	{ tensor_buffer, "tensors[0]: its buffer is" },
	{ output_buffer, "an output has no buffer" },
	{ no_input, "this is not an input, or the same one twice" },
	{ no_output, "this is not an output" },
	{ input_list, "an input is not among the inputs" },
	{ node_kernel, "its kernel is" },
	{ node_input, "nodes[0]: input 0 is tensor" },
	{ node_reads, "input 0 is not what the kernel reads" },
	{ node_output, "the output is not what the kernel computes" },
	{ same_output, "node 0 has the same output" },
	{ same_nodes, "there are two nodes" },
	{ stored_twice, "the tensor is stored in another buffer" },
	{ formula_node, "its node is" },
	{ formula_reads, "its node does not read the tensor" },
	{ formula_makes, "its node does not compute the tensor" },
	{ formula_own, "its node gives no partial results" },
	{ buffer_tensor, "buffers[0]: its tensor is" },
	{ unaligned, "it is not inside the arena, or not aligned" },
	{ higher, "bytes below the arena" },
	{ holds_else, "its buffer holds something else" },
	{ source, "it reads buffer 99 of" },
	{ unwritten, "before that is written" },
	{ run_node, "its node does not exist, or runs twice" },
	{ run_twice, "its node does not exist, or runs twice" },
	{ run_input, "is not for input 0" },
	{ run_to, "is not for its result" },
	{ move_kind, "cannot be made from buffer" },
	{ combine_node, "its node gives no partial results" },
	{ combine_from, "cannot be combined from buffer" },
	{ written_twice, "has its value already" },
	{ never, "this output is never computed" },
	{ made, "its result is not what buffer" },
	{ covered, "input 0 is not in buffer" },
};

/* The faults of p, in words; "" if there are none. */
static char *judged(arena *a, const plan *p)
{
	char *text = NULL;
	size_t n;
	diag_sink *s = diag_sink_new(a);
	bool ok = plan_check(p, s, "x.plan");
	for (int w = 0; ok && w < mesh_workers(&p->mesh); w++)
		ok = plan_check_worker(p, w, s, "x.plan");
	ck_assert_int_eq(diag_errors(s), ok ? 0 : 1);
	FILE *f = open_memstream(&text, &n);
	diag_print(s, f, false);
	fclose(f);
	char *out = arena_strndup(a, text, n);
	free(text);
	return out;
}

START_TEST(contradictions)
{
	arena *a = arena_new();
	ck_assert_str_eq(judged(a, sample(a)), "");
	plan *p = sample(a);
	cases[_i].edit(p);
	const char *found = judged(a, p);
	ck_assert_msg(strstr(found, cases[_i].message) != NULL,
		      "not '%s' but: %s", cases[_i].message, found);
	arena_free(a);
}
END_TEST

/* Columns are computed where each worker holds all of c: the first column of
 * one worker would lie where another's is read. */
START_TEST(overwritten)
{
	arena *a = arena_new();
	plan *p = divided(a, 0, CUT_NONE);
	plan_instr *run = second_run(p);
	ck_assert_str_eq(judged(a, p), "");
	ck_assert_int_eq(run->inputs[0], p->tensors[2].buffer);
	plan_buffer *to = &p->buffers[run->to];
	const plan_buffer *c = &p->buffers[run->inputs[0]];
	p->buffers[p->tensors[3].buffer].offset = to->offset;
	to->offset = c->offset;
	to->nbytes = c->nbytes;
	const char *found = judged(a, p);
	ck_assert_msg(strstr(found, "its result overwrites input 0") != NULL,
		      "found: %s", found);
	arena_free(a);
}
END_TEST

/* ---- states ------------------------------------------------------------ */

/* The MOVE that updates a state, later than its next value is written; NULL
 * for none. */
static plan_instr *update(plan *p)
{
	for (int i = 1; i < p->ninstrs; i++) {
		plan_instr *in = &p->program[i];
		if (in->op == PLAN_MOVE && in[-1].to != in->from &&
		    p->buffers[in->from].tensor != p->buffers[in->to].tensor)
			return in;
	}
	return NULL;
}

/* A state that its next value overwrites; NULL for none. */
static plan_tensor *replaced(plan *p)
{
	for (int i = 0; i < p->ntensors; i++) {
		plan_tensor *t = &p->tensors[i];
		if (t->role != PLAN_STATE || t->next < 0)
			continue;
		const plan_buffer *next =
			&p->buffers[p->tensors[t->next].buffer];
		if (p->buffers[t->buffer].offset == next->offset)
			return t;
	}
	return NULL;
}

/* Has one state of each kind, a loss and a learning rate. */
static plan *training(arena *a)
{
	for (uint64_t seed = 0;; seed++) {
		rng r = rng_new(seed);
		graph *g = random_training(a, &r, 8);
		const mesh m = { 1, { 2 } };
		assignment as = random_assignment_on(a, &r, g, &m);
		const lower_options o = { .algorithm = "hand" };
		plan *p = lower_plan(a, g, &as, &o, diag_sink_new(a));
		if (update(p) && replaced(p))
			return p;
	}
}

static plan_tensor *state(plan *p)
{
	return &p->tensors[p->buffers[update(p)->to].tensor];
}

EDIT(no_elements) { state(p)->constant.kind = PLAN_CONST_NONE; }
EDIT(no_buffer) { state(p)->buffer = -1; }
EDIT(next_number) { state(p)->next = p->ntensors; }
EDIT(next_negative) { state(p)->next = -2; }
EDIT(next_taken)
{
	plan_tensor *x = state(p), *y = replaced(p);
	if (x < y)
		y->next = x->next;
	else
		x->next = y->next;
}
EDIT(next_kind) { state(p)->next = p->learning_rate; }
EDIT(next_cuts)
{
	cuts *c = &p->tensors[state(p)->next].cuts;
	c->dim[0] = c->dim[0] == CUT_NONE ? 0 : CUT_NONE;
}
EDIT(state_output) { state(p)->output = true; }
EDIT(update_from) { update(p)->from = replaced(p)->buffer; }
EDIT(update_early)
{
	plan_instr *in = update(p), before = in[-1];
	in[-1] = *in;
	*in = before;
}
EDIT(no_update)
{
	plan_instr *in = update(p);
	memmove(in, in + 1,
		(size_t)(p->program + --p->ninstrs - in) * sizeof(*in));
}
EDIT(update_again)
{
	static plan_instr longer[1000];
	plan_instr in = *update(p);
	ck_assert_int_lt(p->ninstrs, 1000);
	memcpy(longer, p->program, (size_t)p->ninstrs * sizeof(in));
	longer[p->ninstrs++] = in;
	p->program = longer;
}
EDIT(another_place)
{
	plan_buffer *b = &p->buffers[p->tensors[replaced(p)->next].buffer];
	b->offset = (p->arena_bytes + PLAN_ALIGN - 1) / PLAN_ALIGN * PLAN_ALIGN;
	p->arena_bytes = b->offset + b->nbytes;
}
EDIT(no_loss) { p->loss = state(p)->next; }
EDIT(no_rate) { p->learning_rate = replaced(p)->next; }
EDIT(no_scale) { p->loss_scale = p->learning_rate; }

static const struct {
	void (*edit)(plan *p);
	const char *message;
} state_cases[] = {
	{ no_elements, "its elements are not known" },
	{ no_buffer, "a state has no buffer" },
	{ next_number, "which does not exist" },
	{ next_negative, "its next value is tensor -2" },
	{ next_taken, "or is another state's" },
	{ next_kind, "is not a result of its type, shape and cuts" },
	{ next_cuts, "is not a result of its type, shape and cuts" },
	{ state_output, "a state that changes is an output" },
	{ update_from, "is not the next value of" },
	{ update_early, "which has the value for the next run" },
	{ no_update, "the state does not get its next value" },
	{ update_again, "has its value already" },
	{ another_place, "the state does not get its next value" },
	{ no_loss, "the loss is not an output" },
	{ no_rate, "the learning rate is not an input" },
	{ no_scale, "the loss scale is not a state" },
};

START_TEST(states)
{
	arena *a = arena_new();
	plan *p = training(a);
	ck_assert_str_eq(judged(a, p), "");
	state_cases[_i].edit(p);
	const char *found = judged(a, p);
	ck_assert_msg(strstr(found, state_cases[_i].message) != NULL,
		      "not '%s' but: %s", state_cases[_i].message, found);
	arena_free(a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("plan_check");
	TCase *t = tcase_create("plan_check");
	tcase_add_loop_test(t, contradictions, 0,
			    sizeof(cases) / sizeof(*cases));
	tcase_add_test(t, overwritten);
	tcase_add_loop_test(t, states, 0,
			    sizeof(state_cases) / sizeof(*state_cases));
	suite_add_tcase(s, t);
	return s;
}
