#include "config.h"

#include <stdarg.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "plan/pipeline.h"
#include "plan/read.h"

const char *const plan_tables[NTABLES] = {
	[TABLE_KERNELS] = "kernels",
	[TABLE_TENSORS] = "tensors",
	[TABLE_NODES] = "nodes",
	[TABLE_BUFFERS] = "buffers",
	[TABLE_PROGRAM] = "program",
};

enum {
	MOST_MEMORY = 64 << 20, /* per row, as jansson holds it; an estimate */
	MOST_ROW_INTS = 1 << 16,
	MOST_NAME = 4096,
	MOST_PLACE = 128,
};

bool read_error(reader *r, const char *fmt, ...)
{
	char what[512], place[MOST_PLACE] = "";
	va_list ap;
	if (r->failed)
		return false;
	r->failed = true;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (r->table && r->index < 0)
		snprintf(place, sizeof(place), "%s: ", r->table);
	else if (r->table)
		snprintf(place, sizeof(place), "%s[%d]: ", r->table, r->index);
	diag_error_in(r->sink, DIAG_PLAN_INVALID, r->path, "%s%s", place, what);
	return false;
}

/* ---- values ------------------------------------------------------------ */

bool read_int_value(reader *r, json_t *j, const char *what, int64_t lo,
		    int64_t hi, int64_t *v)
{
	if (!json_is_integer(j))
		return read_error(r, "%s is not a whole number", what);
	*v = json_integer_value(j);
	if (*v < lo || *v > hi)
		return read_error(r, "%s is %lld, not within %lld and %lld",
				  what, (long long)*v, (long long)lo,
				  (long long)hi);
	return true;
}

bool read_text_value(reader *r, json_t *j, const char *what, const char **v)
{
	if (!json_is_string(j))
		return read_error(r, "%s is not a string", what);
	*v = arena_strdup(r->arena, json_string_value(j));
	return true;
}

/* Checks a name for people: short, without characters that move a cursor. */
static bool check_name(reader *r, const char *key, const char *v)
{
	size_t n = strlen(v);
	if (n == 0 || n > MOST_NAME)
		return read_error(r, "'%s' has %zu bytes, 1 to %d are accepted",
				  key, n, MOST_NAME);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)v[i] < 0x20 || v[i] == 0x7f)
			return read_error(r, "'%s' has a control character",
					  key);
	return true;
}

bool read_name(reader *r, members *m, const char *key, const char **v)
{
	return read_text(r, m, key, v) && check_name(r, key, *v);
}

bool read_type_value(reader *r, json_t *j, const char *what, dtype *v)
{
	*v = json_is_string(j) ? dtype_parse(json_string_value(j)) : DT_NONE;
	if (*v == DT_NONE)
		return read_error(r, "%s is not an element type", what);
	return true;
}

bool read_dims(reader *r, json_t *j, int *ndim, int64_t *dims)
{
	if (!json_is_array(j) || json_array_size(j) > MAX_NDIM)
		return read_error(r, "the shape is not an array of at most %d "
				     "extents", MAX_NDIM);
	*ndim = (int)json_array_size(j);
	for (int d = 0; d < *ndim; d++)
		if (!read_int_value(r, json_array_get(j, (size_t)d),
				    "an extent", 0, INT64_MAX, &dims[d]))
			return false;
	return true;
}

/* ---- members ----------------------------------------------------------- */

bool read_members(reader *r, json_t *j, members *m)
{
	*m = (members){ j, 0 };
	return json_is_object(j) || read_error(r, "this is not an object");
}

json_t *read_optional(members *m, const char *key)
{
	json_t *j = json_object_get(m->object, key);
	m->asked += j != NULL;
	return j;
}

json_t *read_member(reader *r, members *m, const char *key)
{
	json_t *j = r->failed ? NULL : read_optional(m, key);
	if (!j)
		read_error(r, "'%s' is missing", key);
	return j;
}

bool read_no_more(reader *r, const members *m)
{
	return json_object_size(m->object) == m->asked ||
	       read_error(r, "there are members that do not belong here");
}

bool read_int(reader *r, members *m, const char *key, int64_t lo, int64_t hi,
	      int64_t *v)
{
	char what[MOST_PLACE];
	json_t *j = read_member(r, m, key);
	snprintf(what, sizeof(what), "'%s'", key);
	return j && read_int_value(r, j, what, lo, hi, v);
}

bool read_index(reader *r, members *m, const char *key, int64_t hi, int *v)
{
	int64_t i;
	if (!read_int(r, m, key, 0, hi, &i))
		return false;
	*v = (int)i;
	return true;
}

bool read_text(reader *r, members *m, const char *key, const char **v)
{
	char what[MOST_PLACE];
	json_t *j = read_member(r, m, key);
	snprintf(what, sizeof(what), "'%s'", key);
	return j && read_text_value(r, j, what, v);
}

bool read_array(reader *r, members *m, const char *key, size_t most,
		json_t **v)
{
	*v = read_member(r, m, key);
	if (!*v)
		return false;
	if (!json_is_array(*v))
		return read_error(r, "'%s' is not an array", key);
	if (json_array_size(*v) > most)
		return read_error(r, "'%s' has %zu elements, at most %zu are "
				     "accepted", key, json_array_size(*v),
				  most);
	return true;
}

bool read_ints(reader *r, members *m, const char *key, int **v, int *n)
{
	json_t *all;
	if (!read_array(r, m, key, MOST_ROW_INTS, &all))
		return false;
	*n = (int)json_array_size(all);
	*v = ARENA_ARRAY(r->arena, int, *n);
	for (int i = 0; i < *n; i++) {
		int64_t x;
		if (!read_int_value(r, json_array_get(all, (size_t)i),
				    "an element", 0, PLAN_MOST_ROWS, &x))
			return false;
		(*v)[i] = (int)x;
	}
	return true;
}

/* One of `names`; its index. */
bool read_word(reader *r, members *m, const char *key,
		      const char *const *names, int n, int *v)
{
	const char *word;
	if (!read_text(r, m, key, &word))
		return false;
	for (*v = 0; *v < n; ++*v)
		if (!strcmp(names[*v], word))
			return true;
	return read_error(r, "'%s' is '%.40s', which does not exist", key,
			  word);
}

/* ---- tables ------------------------------------------------------------ */

/* Reports the place where the text is not JSON. */
static bool read_syntax_error(reader *r, const json_error_t *e)
{
	r->failed = true;
	diag_error_in(r->sink, DIAG_PLAN_SYNTAX, r->path,
		      "this is not a plan, which is JSON: line %d, column "
		      "%d: %s",
		      e->line, e->column, e->text);
	return false;
}

static int *count_of(plan *p, int table)
{
	int *const counts[NTABLES] = {
		[TABLE_KERNELS] = &p->nkernels, [TABLE_TENSORS] = &p->ntensors,
		[TABLE_NODES] = &p->nnodes,	[TABLE_BUFFERS] = &p->nbuffers,
		[TABLE_PROGRAM] = &p->ninstrs,
	};
	return counts[table];
}

/* Reads the rows of all plans, one plan's after another's. */
static bool read_rows(reader *r, plan *p, int nplans, int table)
{
	row_cursor c = rows_begin(r->rows, table);
	json_error_t e;
	json_t *j;
	bool ok = true;
	int i = 0, n = 0;
	r->table = plan_tables[table];
	for (r->index = 0; ok && (j = rows_next(&c, &e)); r->index++, i++) {
		while (n < nplans && i == *count_of(&p[n], table)) {
			n++;
			i = 0;
		}
		ok = n < nplans && read_row(r, &p[n], j, table, i);
		json_decref(j);
	}
	r->table = NULL;
	return ok && (!*e.text || read_syntax_error(r, &e));
}

/* The rows are read from the text; the parsed object has empty tables. */
bool read_count(reader *r, members *m, int table, int64_t *n)
{
	json_t *empty;
	if (!read_array(r, m, plan_tables[table], 0, &empty))
		return false;
	*n = rows_count(r->rows, table);
	return *n <= PLAN_MOST_ROWS ||
	       read_error(r, "'%s' has %lld rows, at most %d are accepted",
			  plan_tables[table], (long long)*n, PLAN_MOST_ROWS);
}

bool read_tables(reader *r, plan *p, int nplans)
{
	arena *a = r->arena;
	plan_kernel *kernels = ARENA_ARRAY(a, plan_kernel, p->nkernels);
	for (int i = 0; i < nplans; i++) {
		p[i].kernels = kernels;
		p[i].tensors = ARENA_ARRAY(a, plan_tensor, p[i].ntensors);
		p[i].nodes = ARENA_ARRAY(a, plan_node, p[i].nnodes);
		p[i].buffers = ARENA_ARRAY(a, plan_buffer, p[i].nbuffers);
		p[i].program = ARENA_ARRAY(a, plan_instr, p[i].ninstrs);
	}
	for (int i = 0; i < NTABLES; i++)
		if (!read_rows(r, p, i == TABLE_KERNELS ? 1 : nplans, i))
			return false;
	return true;
}

/* Reads the tables of a plan that has all of them. */
static bool read_own_tables(reader *r, plan *p, members *m)
{
	for (int i = 0; i < NTABLES; i++) {
		int64_t n;
		if (!read_count(r, m, i, &n))
			return false;
		*count_of(p, i) = (int)n;
	}
	return read_tables(r, p, 1);
}

bool read_mesh(reader *r, members *m, mesh *to)
{
	json_t *all;
	int64_t workers = 1, size;
	if (!read_array(r, m, "mesh", MAX_AXES, &all))
		return false;
	to->naxes = (int)json_array_size(all);
	for (int a = 0; a < to->naxes; a++) {
		if (!read_int_value(r, json_array_get(all, (size_t)a),
				    "an axis of the mesh", 2, MESH_MAX_WORKERS,
				    &size))
			return false;
		to->size[a] = (int)size;
		workers *= size;
		if (workers > MESH_MAX_WORKERS)
			return read_error(r, "the mesh has more than %d "
					     "workers", MESH_MAX_WORKERS);
	}
	return true;
}

/* Reads a tensor that may be absent. */
static bool read_tensor_of(reader *r, members *m, const char *name, int *to)
{
	return !json_object_get(m->object, name) ||
	       read_index(r, m, name, PLAN_MOST_ROWS, to);
}

/* Reads the members that only a training step has. */
bool read_training(reader *r, plan *p, members *top)
{
	json_t *j = read_optional(top, "training");
	members m;
	p->training = j != NULL;
	p->loss = p->learning_rate = p->loss_scale = -1;
	if (!j)
		return true;
	if (!read_members(r, j, &m))
		return false;
	return read_tensor_of(r, &m, "loss", &p->loss) &&
	       read_tensor_of(r, &m, "learning_rate", &p->learning_rate) &&
	       read_tensor_of(r, &m, "loss_scale", &p->loss_scale) &&
	       read_no_more(r, &m);
}

/* Reads the members of a plan whose states grow. */
bool read_growth(reader *r, plan *p, members *top)
{
	json_t *j = read_optional(top, "growth");
	members m;
	p->position = -1;
	p->length = 0;
	if (!j)
		return true;
	return read_members(r, j, &m) &&
	       read_index(r, &m, "position", PLAN_MOST_ROWS, &p->position) &&
	       read_int(r, &m, "length", 1, PLAN_MAX_BYTES, &p->length) &&
	       read_no_more(r, &m);
}

static bool read_seconds(reader *r, members *m, double *v)
{
	json_t *j = read_member(r, m, "seconds");
	*v = json_number_value(j);
	if (!j)
		return false;
	return (json_is_number(j) && *v >= 0 && *v <= 1e30) ||
	       read_error(r, "'seconds' is not a number of at least 0");
}

bool read_predicted(reader *r, members *top, plan_prediction *p)
{
	json_t *j = read_optional(top, "predicted");
	members m;
	if (!j)
		return true;
	if (!read_members(r, j, &m) || !read_name(r, &m, "machine",
						  &p->machine) ||
	    !read_seconds(r, &m, &p->seconds))
		return false;
	if (json_object_get(j, "topology")) {
		if (!read_text(r, &m, "topology", &p->topology))
			return false;
		p->topology = path_join(r->arena,
					path_folder(r->arena, r->path),
					p->topology);
	}
	if (json_object_get(j, "batch") &&
	    !read_int(r, &m, "batch", 1, INT64_MAX, &p->batch))
		return false;
	return read_no_more(r, &m);
}

bool read_names(reader *r, members *m, const char *key, const char ***names,
		int *n)
{
	json_t *all;
	*n = 0;
	if (!json_object_get(m->object, key))
		return true;
	if (!read_array(r, m, key, PLAN_MOST_ROWS, &all))
		return false;
	*n = (int)json_array_size(all);
	*names = ARENA_ARRAY(r->arena, const char *, *n + 1);
	for (int i = 0; i < *n; i++)
		if (!read_text_value(r, json_array_get(all, (size_t)i),
				     "a name", &(*names)[i]) ||
		    !check_name(r, key, (*names)[i]))
			return false;
	return true;
}

bool read_copies(reader *r, plan *p, members *top)
{
	return (!json_object_get(top->object, "copies_bytes") ||
		read_int(r, top, "copies_bytes", 0, PLAN_MAX_BYTES,
			 &p->copies_bytes)) &&
	       (!json_object_get(top->object, "kept_bytes") ||
		read_int(r, top, "kept_bytes", 0, PLAN_MAX_BYTES,
			 &p->kept_bytes));
}

bool read_outputs(reader *r, plan *p)
{
	for (int i = 0; i < p->noutputs; i++) {
		if (p->outputs[i] >= p->ntensors)
			return read_error(r, "output %d is tensor %d of %d", i,
					  p->outputs[i], p->ntensors);
		p->tensors[p->outputs[i]].output = true;
	}
	return true;
}

static bool read_header(reader *r, members *m)
{
	const char *format;
	int64_t version;
	if (!read_text(r, m, "format", &format))
		return false;
	if (strcmp(format, "tdl-plan"))
		return read_error(r, "this is not a plan");
	if (!read_int(r, m, "version", 0, INT64_MAX, &version))
		return false;
	if (version == PLAN_PIPELINE_VERSION)
		return read_error(r, "the plan has stages, which are not "
				     "supported here");
	if (version < PLAN_OLDEST || version > PLAN_VERSION)
		return read_error(r, "the plan has version %lld, this program "
				     "reads %d to %d; make the plan again",
				  (long long)version, PLAN_OLDEST,
				  PLAN_PIPELINE_VERSION);
	return version >= PLAN_LOOPS ||
	       !json_object_get(m->object, "micro_batches") ||
	       read_error(r, "micro_batches: a plan of version %lld has none",
			  (long long)version);
}

bool read_plan(reader *r, plan *p, json_t *top)
{
	members m;
	return read_members(r, top, &m) && read_header(r, &m) &&
	       read_name(r, &m, "model", &p->model) &&
	       read_name(r, &m, "algorithm", &p->algorithm) &&
	       read_mesh(r, &m, &p->mesh) &&
	       read_int(r, &m, "arena_bytes", 0, PLAN_MAX_BYTES,
			&p->arena_bytes) &&
	       read_int(r, &m, "communication_bytes", 0, INT64_MAX,
			&p->communication_bytes) &&
	       read_ints(r, &m, "inputs", &p->inputs, &p->ninputs) &&
	       read_ints(r, &m, "outputs", &p->outputs, &p->noutputs) &&
	       read_training(r, p, &m) && read_growth(r, p, &m) &&
	       read_loop(r, p, &m) &&
	       read_names(r, &m, "fixed", &p->fixed, &p->nfixed) &&
	       read_folds(r, p, &m) && read_copies(r, p, &m) &&
	       read_predicted(r, &m, &p->predicted) &&
	       read_own_tables(r, p, &m) && read_no_more(r, &m) &&
	       read_outputs(r, p);
}

static bool read_text_fits(const rows *r)
{
	return r->len <= PLAN_MOST_TEXT && rows_fit(r, MOST_MEMORY);
}

bool plan_is_readable(const plan *p, const char *text, size_t len)
{
	rows r = rows_find(text, len, plan_tables, NTABLES);
	return p->nkernels <= PLAN_MOST_ROWS && p->ntensors <= PLAN_MOST_ROWS &&
	       p->nnodes <= PLAN_MOST_ROWS && p->nbuffers <= PLAN_MOST_ROWS &&
	       p->ninstrs <= PLAN_MOST_ROWS && read_text_fits(&r);
}

json_t *read_top(reader *r)
{
	json_error_t e;
	if (!read_text_fits(r->rows)) {
		diag_error_in(r->sink, DIAG_TOO_LARGE, r->path,
			      "the plan is larger than is accepted");
		return NULL;
	}
	json_t *top = rows_rest(r->rows, &e);
	if (!top)
		read_syntax_error(r, &e);
	return top;
}

plan *plan_parse(arena *a, diag_sink *s, const char *path, const char *text,
		 size_t len)
{
	rows all = rows_find(text, len, plan_tables, NTABLES);
	reader r = { .arena = a, .sink = s, .path = path, .rows = &all };
	json_t *top = read_top(&r);
	if (!top)
		return NULL;
	plan *p = ARENA_NEW(a, plan);
	bool ok = read_plan(&r, p, top);
	json_decref(top);
	p->digest = hash_bytes(HASH_SEED, text, len);
	return ok && plan_check(p, s, path) ? p : NULL;
}

plan *plan_read(arena *a, diag_sink *s, const char *path)
{
	arena *tmp = arena_new();
	size_t len;
	char *text = file_read(tmp, s, path, PLAN_MOST_TEXT, &len);
	plan *p = text ? plan_parse(a, s, path, text, len) : NULL;
	arena_free(tmp);
	return p;
}
