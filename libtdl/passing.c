#include "config.h"

#include "libtdl/passing.h"

#include <string.h>

static bool same_inputs(const said_passing *x, const said_passing *y)
{
	bool same = x->n == y->n;
	for (int i = 0; same && i < x->n; i++)
		same = !strcmp(x->names[i], y->names[i]);
	return same;
}

/* "x", "{x, y}" */
static const char *inputs_text(arena *a, const said_passing *p)
{
	const char *text = "";
	for (int i = 0; i < p->n; i++)
		text = arena_printf(a, "%s%s%s", text, i ? ", " : "",
				    p->names[i]);
	return p->n > 1 ? arena_printf(a, "{%s}", text) : text;
}

/* "Sum", "Max as Min" */
static const char *reducers_text(arena *a, const said_passing *p)
{
	if (p->by == p->to)
		return reducer_name(p->by);
	return arena_printf(a, "%s as %s", reducer_name(p->by),
			    reducer_name(p->to));
}

const char *passing_text(arena *a, const said_passings *all)
{
	const char *text = "";
	for (int i = 0; i < all->n; i++) {
		const said_passing *p = &all->at[i];
		bool more = i > 0 && same_inputs(p, p - 1);
		if (more)
			text = arena_printf(a, "%s, %s", text,
					    reducers_text(a, p));
		else
			text = arena_printf(a, "%s%s%s (%s", text,
					    i ? "), " : "", inputs_text(a, p),
					    reducers_text(a, p));
	}
	return all->n ? arena_printf(a, "%s)", text) : text;
}

static json_t *inputs_json(const said_passing *p)
{
	json_t *list = json_array();
	for (int i = 0; i < p->n; i++)
		json_array_append_new(list, json_string(p->names[i]));
	return list;
}

void passing_add_json(json_t *j, const said_passings *all)
{
	json_t *single = json_array(), *joint = json_array();
	for (int i = 0; i < all->n; i++) {
		const said_passing *p = &all->at[i];
		bool is_one = p->n == 1;
		json_t *one = json_pack("{s:o, s:s, s:s}",
					is_one ? "input" : "inputs",
					is_one ? json_string(p->names[0])
					       : inputs_json(p),
					"reducer", reducer_name(p->by),
					"result", reducer_name(p->to));
		json_array_append_new(is_one ? single : joint, one);
	}
	json_object_set_new(j, "passes_partial", single);
	json_object_set_new(j, "passes_jointly", joint);
}
