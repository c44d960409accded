/* Descriptors as JSON and as text (docs/descriptor.md). */
#ifndef TDL_LIBTDL_DESCRIBE_H
#define TDL_LIBTDL_DESCRIBE_H

#include <stdio.h>

#include "base/json.h"
#include "base/text.h"
#include "base/vec.h"
#include "compiler/analysis/descriptor.h"
#include "libtdl/passing.h"

/* ---- descriptors ------------------------------------------------------- */

json_t *describe_json(const descriptor *d);

/* The signature, as in the source: "conv1d(data[B, CI, X], ..) -> out[..]" */
char *describe_signature(arena *a, const desc_op *op);

/* A stage as the tensor that it computes: "m[..(d \ axis)]". */
char *describe_stage_signature(arena *a, const desc_op *op,
			       const desc_stage *s);

/* One operator as a table, for people. */
void describe_text(FILE *to, const desc_op *op);

/* The regions of each of k parts, in symbols; as text, or as JSON. */
void describe_parts_text(FILE *to, desc_op *op, int k);
json_t *describe_parts_json(desc_op *op, int k);

/* The range [lo, hi), as text, that part p of k reads of dimension d of an
 * input; if need is NULL, that it computes of the result. */
void describe_range(arena *a, const desc_op *op, const desc_stage *s,
		    const desc_strategy *st, const desc_tensor *t,
		    const desc_need *need, int d, int p, int k, char **lo,
		    char **hi);

/* The name of a stage: its label, or the result's; the name of its result: the
 * result's, or the label. */
const char *describe_stage_name(const desc_op *op, const desc_stage *s);
const char *describe_result_name(const desc_op *op, const desc_stage *s);

/* The strategies of a stage that is not open: a heading, then a row for each
 * with the variable, its extent, its kind, the regions of each input, and the
 * result. */
text_table describe_strategies(arena *a, const desc_op *op,
			       const desc_stage *s);

/* The partial values that pass a stage. */
said_passings describe_passing(arena *a, const desc_op *op,
			       const desc_stage *s);

/* Further facts that follow from the stage's text: variables that cannot be
 * split and the reason, "element-wise", "linear in: x", .. */
typedef VEC(const char *) text_lines;
text_lines describe_facts(arena *a, const desc_op *op, const desc_stage *s);

#endif
