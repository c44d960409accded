/* Plans of tensor parallelism from other systems, as pins: a JSON object with a
 * style for each pattern of names of modules,
 *
 *	{"layers.*.self_attn.q_proj": "colwise", ..}
 *
 * which is Hugging Face's tp_plan, or the member base_model_tp_plan of a
 * model's configuration.  Megatron-LM's classes of layers are accepted as
 * styles too. */
#ifndef TDL_COMPILER_PORTFOLIO_TENSOR_PARALLEL_H
#define TDL_COMPILER_PORTFOLIO_TENSOR_PARALLEL_H

#include "base/diag.h"
#include "compiler/graph/graph.h"

/* Lines of pins, in a: each weight that a pattern matches is cut along the
 * dimension of its style; all other weights and the inputs are replicated. text
 * is the file's, len bytes; NULL after adding errors at path. */
char *tensor_parallel_pins(arena *a, diag_sink *sink, const char *path,
			   const char *text, size_t len, const graph *g);

#endif
