/* The reader of the plan file (docs/plan-format.md), shared by plan/read*.c
 * alone.  Nothing in the file is trusted. */
#ifndef TDL_PLAN_READ_H
#define TDL_PLAN_READ_H

#include "base/json.h"
#include "plan/plan.h"
#include "plan/read_rows.h"

enum {
	PLAN_MOST_TEXT = 128 << 20, /* bytes of a plan file */
	PLAN_MOST_ROWS = 1 << 20,   /* of a table */
};

/* The tables; each refers only to rows of those before it. */
enum {
	TABLE_KERNELS,
	TABLE_TENSORS,
	TABLE_NODES,
	TABLE_BUFFERS,
	TABLE_PROGRAM,
	NTABLES
};
extern const char *const plan_tables[NTABLES]; /* their names */

/* The reader and its position in the file, for messages: "kernels[3]".  After
 * the first error it reads nothing more, and all functions return false. */
typedef struct reader {
	arena *arena;
	diag_sink *sink;
	const char *path;  /* of the plan */
	const rows *rows;  /* its text */
	const char *table; /* "kernels", NULL at the top */
	int index;	   /* -1: a member that is not a table */
	bool failed;
} reader;

/* Adds an error at the reader's position; returns false. */
bool read_error(reader *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* An object every member of which has to be read. */
typedef struct members {
	json_t *object;
	size_t asked;
} members;

bool read_members(reader *r, json_t *j, members *m);
/* Fails if a member was not read. */
bool read_no_more(reader *r, const members *m);

/* Required members: a whole number lo <= *v <= hi, a string without zero bytes
 * in r->arena, an array of at most `most' values. */
bool read_int(reader *r, members *m, const char *key, int64_t lo, int64_t hi,
	      int64_t *v);
bool read_index(reader *r, members *m, const char *key, int64_t hi, int *v);
bool read_text(reader *r, members *m, const char *key, const char **v);
bool read_array(reader *r, members *m, const char *key, size_t most,
		json_t **v);
/* A short name that people may see; row numbers; one of n words, as its
 * index. */
bool read_name(reader *r, members *m, const char *key, const char **v);
bool read_ints(reader *r, members *m, const char *key, int **v, int *n);
bool read_word(reader *r, members *m, const char *key, const char *const *names,
	       int n, int *v);
/* A value of any kind; NULL with an error. */
json_t *read_member(reader *r, members *m, const char *key);
/* A member that may be absent; then NULL. */
json_t *read_optional(members *m, const char *key);

/* The value of a member or of an element of an array; `what' names it in
 * errors. */
bool read_int_value(reader *r, json_t *j, const char *what, int64_t lo,
		    int64_t hi, int64_t *v);
bool read_text_value(reader *r, json_t *j, const char *what, const char **v);
bool read_type_value(reader *r, json_t *j, const char *what, dtype *v);
/* An array of extents: at most MAX_NDIM numbers >= 0. */
bool read_dims(reader *r, json_t *j, int *ndim, int64_t *dims);

/* The name of a reducer. */
bool read_reducer_value(reader *r, json_t *j, reducer *v);

/* The cuts of a tensor, or, with a kernel, of a node that runs it. */
bool read_cuts(reader *r, const plan *p, members *m, const kernel *k, cuts *c);

/* The loop, which is read before the tables; the number of the dimension or
 * variable that time divides, less than `most' or CUT_NONE. */
bool read_loop(reader *r, plan *p, members *top);
bool read_time(reader *r, const plan *p, members *m, int most, int *time);

/* The constant of a tensor whose type and shape are known. */
bool read_constant(reader *r, json_t *j, plan_tensor *t);

/* A kernel, finished and checked by itself: every expression is well typed,
 * every read inside its input. */
bool read_kernel(reader *r, json_t *j, plan_kernel *k);

/* The member "predicted", if there is one. */
bool read_predicted(reader *r, members *top, plan_prediction *p);

/* A plan of a version without stages. */
bool read_plan(reader *r, plan *p, json_t *top);

/* ---- parts of a plan --------------------------------------------------- */

bool read_mesh(reader *r, members *m, mesh *to);
bool read_training(reader *r, plan *p, members *top);
bool read_growth(reader *r, plan *p, members *top);
/* The folds of a plan. */
bool read_folds(reader *r, plan *p, members *top);
/* The names in `key', which may be absent. */
bool read_names(reader *r, members *m, const char *key, const char ***names,
		int *n);
bool read_copies(reader *r, plan *p, members *top);
/* Marks the outputs among the tensors, after the tables are read. */
bool read_outputs(reader *r, plan *p);

/* The number of rows of a table. */
bool read_count(reader *r, members *m, int table, int64_t *n);
/* The rows of nplans plans, whose counts are set; they share one table of
 * kernels. */
bool read_tables(reader *r, plan *p, int nplans);
/* Row i of a plan's table. */
bool read_row(reader *r, plan *p, json_t *j, int table, int i);

/* Parses the reader's text without its rows; the caller releases the result.
 * NULL if it is too large or not JSON. */
json_t *read_top(reader *r);

#endif
