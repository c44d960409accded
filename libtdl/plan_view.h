/* A plan as its reader wants it: who holds what, what divides each operator,
 * what moves. */
#ifndef TDL_LIBTDL_PLAN_VIEW_H
#define TDL_LIBTDL_PLAN_VIEW_H

#include <stdio.h>

#include "base/json.h"
#include "compiler/cost/topology.h"
#include "plan/plan.h"
#include "plan/classes.h"

typedef struct plan_view {
	arena *arena;
	const plan *p;
	const topology *machine; /* for predicted times */
	layout_classes *classes; /* layout_classes_new() of its mesh */
} plan_view;

/* Bytes that a device keeps of a tensor's stored block; 0: it is not used. */
int64_t plan_kept_bytes(const plan *p, int t);

/* Bytes that all devices receive by an instruction. */
int64_t plan_view_received(const plan_view *v, const plan_instr *in);

/* "input", "constant", "result", "output", "state" */
const char *plan_role_name(const plan_tensor *t);

/* The tensor that an instruction moves; not for a RUN. */
const plan_tensor *plan_moved_tensor(const plan *p, const plan_instr *in);

/* Sets its lists in an object: "tensors", "operators", "transfers". */
void plan_view_set_lists(const plan_view *v, json_t *to);
/* The same as tables, each after an empty line. */
void plan_view_tables(FILE *to, const plan_view *v);

/* The output of `tdlc show PLAN --json'. */
json_t *plan_view_json(const plan_view *v);
/* The same without --json: equal tensors, operators and transfers of repeated
 * blocks share a row; and with --dot, for graphviz. unfolded: draw each
 * operator; otherwise a large plan is drawn by whole blocks. */
void plan_view_text(FILE *to, const plan_view *v);
void plan_view_dot(FILE *to, arena *a, const plan *p, bool unfolded);

#endif
