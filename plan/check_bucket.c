/* The check of the buckets of a program. */
#include "config.h"

#include "plan/check.h"

static dtype type_of(const plan *p, const plan_instr *in)
{
	return p->tensors[p->buffers[in->to].tensor].type;
}

/* Whether one of the members [begin, end) writes a buffer; writer: by buffer, 1
 * + the instruction that writes it. */
static bool is_written(const int *writer, int buffer, int begin, int end)
{
	return writer[buffer] > begin && writer[buffer] <= end;
}

/* Checks that a COMBINE matches the first of its bucket, and that all sources
 * exist. */
static bool check_combine(plan_checker *c, const int *writer, int begin,
			  int moves)
{
	const plan *p = c->p;
	const plan_instr *in = &p->program[c->row], *as = &p->program[begin];
	if (in->collective != as->collective ||
	    plan_partial(p, in->node) != plan_partial(p, as->node) ||
	    type_of(p, in) != type_of(p, as))
		return flaw(c, "it is not combined as the others of its bucket "
			       "are");
	return !is_written(writer, in->from, begin, moves) ||
	       flaw(c, "its bucket writes what it reads");
}

/* Checks that a MOVE, one of those from `moves' on, spreads the result of a
 * COMBINE. */
static bool check_move(plan_checker *c, const int *writer, int begin,
		       int moves)
{
	const plan_instr *in = &c->p->program[c->row];
	return (in->op == PLAN_MOVE &&
		in->collective == c->p->program[moves].collective &&
		is_written(writer, in->from, begin, moves)) ||
	       flaw(c, "it does not spread what its bucket combines as the "
		       "others do");
}

static bool check_bucket(plan_checker *c, const int *writer, int begin, int end)
{
	int moves = plan_phase_end(c->p, begin);
	c->row = begin;
	if (c->p->program[begin].op != PLAN_COMBINE)
		return flaw(c, "a bucket does not begin with a combine");
	for (; c->row < moves; c->row++)
		if (!check_combine(c, writer, begin, moves))
			return false;
	for (; c->row < end; c->row++)
		if (!check_move(c, writer, begin, moves))
			return false;
	return true;
}

bool plan_check_buckets(plan_checker *c, arena *tmp)
{
	const plan *p = c->p;
	int *writer = ARENA_ARRAY(tmp, int, p->nbuffers);
	for (int i = 0; i < p->ninstrs; i++)
		writer[p->program[i].to] = i + 1;
	c->table = "program";
	for (int i = 0, end; i < p->ninstrs; i = end) {
		end = plan_bucket_end(p, i);
		if (p->program[i].bucket > 0 &&
		    !check_bucket(c, writer, i, end))
			return false;
	}
	return true;
}
