/* ONNX models annotated with the layouts of a plan. */
#ifndef TDL_LIBTDL_ONNX_LAYOUTS_H
#define TDL_LIBTDL_ONNX_LAYOUTS_H

#include "compiler/graph/graph.h"
#include "compiler/graph/graph.h"
#include "libtdl/job.h"
#include "plan/plan.h"

/* Writes the model from which a plan was made to a file, annotated.  Returns
 * CLI_INPUT with errors added, or the status after a message. */
cli_status onnx_layouts_write(job *d, const plan *p, const char *model,
			      const char *path);

/* Adds, as pins for tensors of g, the layouts with which an ONNX model is
 * annotated for as many devices as the mesh has; none if the model has no
 * annotations or another format.  Returns false after adding errors. */
bool onnx_layouts_pins(job *d, const char *model, const graph *g,
		       const mesh *m, cli_words *pins);

#endif
