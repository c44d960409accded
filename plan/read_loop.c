#include "config.h"

#include "plan/read.h"

bool read_time(reader *r, const plan *p, members *m, int most, int *time)
{
	*time = CUT_NONE;
	return p->loop.turns == 0 || !json_object_get(m->object, "time") ||
	       read_index(r, m, "time", most, time);
}

static bool read_statistics(reader *r, members *m, bool *to)
{
	const json_t *j = read_optional(m, "statistics");
	*to = j != NULL;
	return !j || json_is_true(j) ||
	       read_error(r, "'statistics' is there and not true");
}

static bool read_members_of_loop(reader *r, plan *p, json_t *j)
{
	json_t *body;
	int64_t turns, begin, end;
	members m;
	if (!read_members(r, j, &m) ||
	    !read_int(r, &m, "turns", 1, PLAN_MAX_TURNS, &turns) ||
	    !read_int(r, &m, "batch", turns, PLAN_MAX_BYTES, &p->loop.batch) ||
	    !read_array(r, &m, "body", 2, &body) ||
	    !read_statistics(r, &m, &p->loop.statistics) ||
	    !read_no_more(r, &m))
		return false;
	if (!read_int_value(r, json_array_get(body, 0), "the body", 0,
			    PLAN_MOST_ROWS, &begin) ||
	    !read_int_value(r, json_array_get(body, 1), "the body", begin,
			    PLAN_MOST_ROWS, &end))
		return false;
	p->loop.turns = (int)turns;
	p->loop.begin = (int)begin;
	p->loop.end = (int)end;
	return true;
}

bool read_loop(reader *r, plan *p, members *top)
{
	json_t *j = read_optional(top, "micro_batches");
	if (!j)
		return true;
	r->table = "micro_batches";
	r->index = -1;
	bool read = read_members_of_loop(r, p, j);
	r->table = NULL;
	return read;
}
