/* Descriptors as text for people. */
#include "config.h"

#include "libtdl/describe.h"

#include <string.h>

#include "base/vec.h"

/* ---- signature ---------------------------------------------------------- */

static char *tensor_text(arena *a, const desc_tensor *t, const char *name)
{
	char *s = arena_printf(a, "%s[", name);
	for (int i = 0; i < t->ndims; i++)
		s = arena_printf(a, "%s%s%s", s, i ? ", " : "",
				 t->dims[i].text);
	return arena_printf(a, "%s]", s);
}

char *describe_stage_signature(arena *a, const desc_op *op,
			       const desc_stage *s)
{
	return tensor_text(a, &op->tensors[s->result],
			   describe_stage_name(op, s));
}

char *describe_signature(arena *a, const desc_op *op)
{
	char *s = arena_printf(a, "%s(", op->name);
	for (int i = 0; i < op->ninputs; i++) {
		const desc_tensor *t = &op->tensors[i];
		s = arena_printf(a, "%s%s%s%s", s, i ? ", " : "",
				 t->broadcast ? "broadcast " : "",
				 tensor_text(a, t, t->name));
	}
	s = arena_printf(a, "%s) -> %s", s, op->noutputs > 1 ? "(" : "");
	for (int i = 0; i < op->noutputs; i++)
		s = arena_printf(
			a, "%s%s%s", s, i ? ", " : "",
			op->open_because
				? op->output_names[i]
				: tensor_text(a, &op->tensors[op->outputs[i]],
					      op->output_names[i]));
	return arena_printf(a, "%s%s", s, op->noutputs > 1 ? ")" : "");
}

/* ---- strategies --------------------------------------------------------- */

/* "split 2", "split 2 by strides[0], halo 1 .. 2", "split 0, window a .. b" */
static char *region_text(arena *a, const desc_op *op, int dim,
			 const desc_region *r)
{
	int64_t one;
	char *s = arena_printf(a, "split %d", dim);
	if (!r->scale)
		return arena_printf(a, "%s, window %s : %s", s,
				    poly_text(a, op->space, r->lo),
				    poly_text(a, op->space, r->hi));
	if (!poly_is_constant(r->scale, &one) || one != 1)
		s = arena_printf(a, "%s, scale %s", s,
				 poly_text(a, op->space, r->scale));
	if (!poly_is_zero(r->before) || !poly_is_zero(r->after))
		s = arena_printf(a, "%s, halo [%s, %s]", s,
				 poly_text(a, op->space, r->before),
				 poly_text(a, op->space, r->after));
	return s;
}

static char *need_text(arena *a, const desc_op *op, int tensor,
		       const desc_need *need)
{
	char *s = NULL;
	for (int d = 0; d < op->tensors[tensor].ndims; d++) {
		if (!need->regions[d].follows)
			continue;
		char *one = region_text(a, op, d, &need->regions[d]);
		s = s ? arena_printf(a, "%s; %s", s, one) : one;
	}
	return s ? s : arena_strdup(a, "all");
}

static void add_row(arena *a, text_table *t, const desc_op *op,
		    const desc_stage *s, const desc_strategy *st)
{
	const desc_var *v = &s->vars[st->var];
	table_add(t, v->name);
	table_add(t, v->extent_text);
	table_add(t, st->split >= 0		? "split"
		     : v->kind == KVAR_DERIVED ? "reduce (derived)"
					       : "reduce");
	for (int i = 0; i < s->ninputs; i++)
		table_add(t, need_text(a, op, s->inputs[i], &st->needs[i]));
	table_add(t, st->split >= 0
			     ? arena_printf(a, "split %d", st->split)
			     : arena_printf(a, "partial %s",
					    reducer_name(st->reducer)));
}

text_table describe_strategies(arena *a, const desc_op *op,
			       const desc_stage *s)
{
	static const char *const head[] = { "variable", "extent", "strategy" };
	text_table t = table_new(a, s->ninputs + 4);
	for (int i = 0; i < 3; i++)
		table_add(&t, head[i]);
	for (int i = 0; i < s->ninputs; i++)
		table_add(&t, op->tensors[s->inputs[i]].name);
	table_add(&t, describe_result_name(op, s));
	for (int i = 0; i < s->nstrategies; i++)
		add_row(a, &t, op, s, &s->strategies[i]);
	return t;
}

said_passings describe_passing(arena *a, const desc_op *op,
			       const desc_stage *s)
{
	said_passings all = { 0 };
	for (int i = 0; i < s->npassing; i++) {
		const desc_passing *p = &s->passing[i];
		said_passing said = { .by = p->by, .to = p->to };
		said.names = ARENA_ARRAY(a, const char *, s->ninputs);
		for (int j = 0; j < s->ninputs && j < 64; j++)
			if (p->inputs >> j & 1)
				said.names[said.n++] =
					op->tensors[s->inputs[j]].name;
		vec_push(a, &all, said);
	}
	return all;
}

text_lines describe_facts(arena *a, const desc_op *op, const desc_stage *s)
{
	text_lines lines = { 0 };
	for (int i = 0; i < s->nvars; i++)
		if (s->vars[i].indivisible_reason)
			vec_push(a, &lines, arena_printf(
				a, "%s cannot be split: %s", s->vars[i].name,
				s->vars[i].indivisible_reason));
	if (s->elementwise)
		vec_push(a, &lines, "element-wise");
	if (s->pattern)
		vec_push(a, &lines, arena_printf(a, "pattern: %s",
						 s->pattern));
	const char *linear = "";
	for (int i = 0; i < s->ninputs && i < 64; i++)
		if (s->linear >> i & 1)
			linear = arena_printf(a, "%s%s%s", linear,
					      *linear ? ", " : "",
					      op->tensors[s->inputs[i]].name);
	if (*linear)
		vec_push(a, &lines, arena_printf(a, "linear in: %s", linear));
	said_passings passing = describe_passing(a, op, s);
	if (passing.n)
		vec_push(a, &lines,
			 arena_printf(a, "partial values pass: %s",
				      passing_text(a, &passing)));
	if (s->flops && !poly_is_zero(s->flops))
		vec_push(a, &lines, arena_printf(
			a, "operations per element: %s",
			poly_text(a, op->space, s->flops)));
	return lines;
}

static void print_stage(FILE *to, arena *a, const desc_op *op,
			const desc_stage *s, int indent)
{
	if (s->open_because) {
		text_indented(to, arena_printf(
			a, "Its strategies are known once shapes are: %s "
			"(--shape NAME=AxB).", s->open_because), indent);
		return;
	}
	text_table t = describe_strategies(a, op, s);
	table_print_fitted(&t, to, indent, 3);
	text_lines facts = describe_facts(a, op, s);
	for (int i = 0; i < facts.n; i++)
		text_indented(to, facts.at[i], indent);
}

/* Prints the documentation comment, indented. */
static void print_doc(FILE *to, const char *doc)
{
	for (const char *line = doc; line;) {
		const char *end = strchr(line, '\n');
		int n = end ? (int)(end - line) : (int)strlen(line);
		while (n > 0 && *line == ' ') {
			line++;
			n--;
		}
		fprintf(to, "  %.*s\n", n, line);
		line = end ? end + 1 : NULL;
	}
}

void describe_text(FILE *to, const desc_op *op)
{
	arena *a = arena_new();
	text_wrap(to, describe_signature(a, op), 0, 4);
	print_doc(to, op->doc);
	if (op->open_because)
		text_wrap(to, arena_printf(
			a, "\nIts stages are known once shapes are: %s "
			"(--shape NAME=AxB).", op->open_because), 0, 0);
	else if (op->nstages == 0)
		fprintf(to, "\nIt returns '%s' unchanged.\n",
			op->noutputs ? op->tensors[op->outputs[0]].name : "");
	for (int i = 0; i < op->nstages; i++) {
		const desc_stage *s = &op->stages[i];
		fputc('\n', to);
		if (op->nstages > 1)
			text_wrap(to, arena_printf(
				a, "stage %s",
				describe_stage_signature(a, op, s)), 0, 4);
		print_stage(to, a, op, s, op->nstages > 1 ? 2 : 0);
	}
	for (int i = 0; i < op->nassumed; i++)
		fprintf(to, "%sassuming %s >= 0\n", i ? "" : "\n",
			op->space->atoms[op->assumed[i]].name);
	arena_free(a);
}

/* ---- parts -------------------------------------------------------------- */

void describe_range(arena *a, const desc_op *op, const desc_stage *s,
		    const desc_strategy *st, const desc_tensor *t,
		    const desc_need *need, int d, int p, int k, char **lo,
		    char **hi)
{
	poly_space *space = op->space;
	const desc_var *v = &s->vars[st->var];
	const poly *x = poly_int(a, 0), *y = t->dims[d].extent;
	const poly *parts = poly_int(space->arena, k);
	const poly *begin = poly_div(space, poly_scale(a, v->extent, p), parts);
	const poly *end = poly_div(space, poly_scale(a, v->extent, p + 1),
				   parts);
	if (!need && st->split == d) {
		x = begin;
		y = end;
	} else if (need && need->regions[d].follows) {
		const desc_region *r = &need->regions[d];
		x = poly_subst(space, poly_subst(space, r->lo, v->end, end),
			       v->begin, begin);
		y = poly_subst(space, poly_subst(space, r->hi, v->end, end),
			       v->begin, begin);
	}
	*lo = poly_text(a, space, x);
	*hi = poly_text(a, space, y);
}

static char *part_text(arena *a, const desc_op *op, const desc_stage *s,
		       const desc_strategy *st, const desc_tensor *t,
		       const desc_need *need, int p, int k)
{
	char *text = arena_strdup(a, "");
	for (int d = 0; d < t->ndims; d++) {
		char *lo, *hi;
		describe_range(a, op, s, st, t, need, d, p, k, &lo, &hi);
		text = arena_printf(a, "%s%s%s : %s", text, d ? ", " : "", lo,
				    hi);
	}
	return arena_printf(a, "[%s]", text);
}

static void print_parts(FILE *to, arena *a, const desc_op *op,
			const desc_stage *s, const desc_strategy *st, int k)
{
	const desc_tensor *out = &op->tensors[s->result];
	fprintf(to, "\n%s, %s in %d\n", s->vars[st->var].name,
		st->split >= 0 ? "split" : "reduced", k);
	text_table t = table_new(a, s->ninputs + 2);
	table_add(&t, "part");
	for (int i = 0; i < s->ninputs; i++)
		table_add(&t, op->tensors[s->inputs[i]].name);
	table_add(&t, describe_result_name(op, s));
	for (int p = 0; p < k; p++) {
		table_add(&t, arena_printf(a, "%d", p));
		for (int i = 0; i < s->ninputs; i++)
			table_add(&t, part_text(a, op, s, st,
						&op->tensors[s->inputs[i]],
						&st->needs[i], p, k));
		char *text = part_text(a, op, s, st, out, NULL, p, k);
		table_add(&t, st->split >= 0
				      ? text
				      : arena_printf(a, "%s partial %s", text,
						     reducer_name(
							     st->reducer)));
	}
	table_print_fitted(&t, to, 2, 1);
}

void describe_parts_text(FILE *to, desc_op *op, int k)
{
	arena *a = arena_new();
	for (int i = 0; i < op->nstages; i++) {
		const desc_stage *s = &op->stages[i];
		if (op->nstages > 1)
			fprintf(to, "\nstage %s\n", describe_stage_name(op, s));
		for (int j = 0; j < s->nstrategies; j++)
			print_parts(to, a, op, s, &s->strategies[j], k);
	}
	arena_free(a);
}
