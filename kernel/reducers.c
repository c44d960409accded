#include "config.h"

#include "kernel/reducers.h"

#include <string.h>

const reducer_facts reducer_table[] = {
	{ "", RED_NONE, false, RED_OF_NUMBER },
#define REDUCER(id, name, rule, ...) \
	{ name, RED_##id, false, RED_OF_##rule, __VA_ARGS__ },
#define AVERAGE(name, id, rule, ...) \
	{ name, RED_##id, true, RED_OF_##rule, __VA_ARGS__ },
#include "kernel/reducers.def"
#undef AVERAGE
#undef REDUCER
};

int reducer_parse(const char *name)
{
	for (int r = 0; r < RED_COUNT; r++)
		if (!strcmp(reducer_table[r].name, name))
			return r;
	return -1;
}

bool reducer_takes(reducer r, dtype t)
{
	return r == RED_NONE || reducer_is_logic(r) == (t == DT_BOOL);
}

reducer reducer_of_choice(fn_choice c, bool logic)
{
	for (int r = RED_NONE + 1; c != FN_NO_CHOICE && r < RED_COUNT; r++)
		if (reducer_choice((reducer)r) == c &&
		    reducer_is_logic((reducer)r) == logic)
			return (reducer)r;
	return RED_NONE;
}
