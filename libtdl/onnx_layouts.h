/* An ONNX model with the layouts of a plan in it. */
#ifndef TDL_LIBTDL_ONNX_LAYOUTS_H
#define TDL_LIBTDL_ONNX_LAYOUTS_H

#include "compiler/graph/graph.h"
#include "compiler/graph/graph.h"
#include "libtdl/job.h"
#include "plan/plan.h"

/* Writes the model that a plan was made of, annotated, to a file.  CLI_INPUT
 * with errors added, or the status after a message. */
cli_status onnx_layouts_write(job *d, const plan *p, const char *model,
			      const char *path);

/* Adds the layouts that a model of ONNX in a file is annotated with for as many
 * devices as a mesh has, of tensors of g, as pins; none for a model without
 * annotations, or in another format.  False when errors were added. */
bool onnx_layouts_pins(job *d, const char *model, const graph *g,
		       const mesh *m, cli_words *pins);

#endif
