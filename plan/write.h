/* The writer of the plan file (docs/plan-format.md), shared by plan/write*.c
 * alone. */
#ifndef TDL_PLAN_WRITE_H
#define TDL_PLAN_WRITE_H

#include <stdio.h>

#include "base/json.h"
#include "plan/plan.h"

typedef struct writer {
	FILE *to;
	arena *tmp;
	const char *folder; /* of the plan */
} writer;

json_t *json_of_kernel(const plan_kernel *k);
json_t *write_ints(const int *v, int n);
json_t *write_texts(const char *const *v, int n);
/* The member of a prediction, if there is one. */
void write_predicted(writer *w, const plan_prediction *p);
json_t *write_training(const plan *p);
json_t *write_growth(const plan *p);
json_t *write_folds(const plan *p);

/* The beginning of the file's object. */
void write_begin(writer *w, int version);
/* ,"key": value, on a line of its own; steals the reference. */
void write_member(writer *w, const char *key, json_t *j);
/* An array, one row per line. */
void write_rows(writer *w, const char *key, int n,
		json_t *(*row)(const void *of, int i), const void *of);
/* The tables of plans that have one table of kernels, and the end. */
void write_tables(writer *w, const plan *p, int nplans);

/* The text that `put' writes, in a, or in a file, all at once; false with errno
 * set. */
char *write_text(arena *a, const void *of, const char *path,
		 void (*put)(writer *w, const void *of), size_t *len);
bool write_atomically(const char *path, const void *of,
		      void (*put)(writer *w, const void *of));

#endif
