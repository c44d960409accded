/* Reads layouts in a plan file: the cuts of a tensor, or of a node. */
#include "config.h"

#include "plan/read.h"

/* ["Sum", input..]: a passing of a kernel, which must be among its passings. */
static bool read_passing(reader *r, json_t *j, const kernel *k, signed char *to)
{
	kpassing x = { 0 };
	if (!read_reducer_value(r, json_array_get(j, 0), &x.by))
		return false;
	for (size_t i = 1; i < json_array_size(j); i++) {
		int64_t input;
		if (!read_int_value(r, json_array_get(j, i), "an input", 0,
				    k->ninputs - 1, &input))
			return false;
		x.inputs |= UINT32_C(1) << input;
	}
	for (int i = 0; i < k->npassings; i++)
		if (k->passings[i].inputs == x.inputs &&
		    k->passings[i].by == x.by) {
			*to = cut_passing(i);
			return true;
		}
	return read_error(r, "the kernel does not hand on these partial "
			     "values");
}

/* One of the cuts of a tensor, or of a node of kernel k. */
static bool read_cut(reader *r, json_t *j, const kernel *k, signed char *to)
{
	int64_t d = CUT_NONE;
	reducer by = RED_NONE;
	if (k && json_is_array(j))
		return read_passing(r, j, k, to);
	if (!k && json_is_string(j)) {
		if (!read_reducer_value(r, j, &by))
			return false;
		d = cut_partial(by);
	} else if (!json_is_null(j) &&
		   !read_int_value(r, j, "a cut", 0, MAX_NVARS - 1, &d)) {
		return false;
	}
	*to = (signed char)d;
	return true;
}

bool read_cuts(reader *r, const plan *p, members *m, const kernel *k,
		      cuts *c)
{
	json_t *all;
	*c = cuts_none();
	if (!read_array(r, m, "cuts", MAX_AXES, &all))
		return false;
	if (json_array_size(all) != (size_t)p->mesh.naxes)
		return read_error(r, "'cuts' has %zu elements, the mesh has %d "
				     "axes", json_array_size(all),
				  p->mesh.naxes);
	for (int a = 0; a < p->mesh.naxes; a++)
		if (!read_cut(r, json_array_get(all, (size_t)a), k,
			      &c->dim[a]))
			return false;
	return true;
}
