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
/* Writes the prediction, if there is one. */
void write_predicted(writer *w, const plan_prediction *p);
json_t *write_training(const plan *p);
json_t *write_growth(const plan *p);
json_t *write_folds(const plan *p);

/* Writes the beginning of the file's object. */
void write_begin(writer *w, int version);
/* Writes ,"key": value, on a line of its own; steals the reference. */
void write_member(writer *w, const char *key, json_t *j);
/* Writes an array, one row per line. */
void write_rows(writer *w, const char *key, int n,
		json_t *(*row)(const void *of, int i), const void *of);
/* Writes the tables of plans that share one table of kernels, and the end. */
void write_tables(writer *w, const plan *p, int nplans);

/* Runs `put' to a text in a, or to a file, atomically.  Returns NULL, or false
 * with errno set, on failure. */
char *write_text(arena *a, const void *of, const char *path,
		 void (*put)(writer *w, const void *of), size_t *len);
bool write_atomically(const char *path, const void *of,
		      void (*put)(writer *w, const void *of));

#endif
