/* Plans of tensor parallelism that other systems write, as pins: an object of
 * JSON with a style for each pattern of names of modules,
 *
 *	{"layers.*.self_attn.q_proj": "colwise", ..}
 *
 * which is Hugging Face's tp_plan, or the member base_model_tp_plan of a
 * model's configuration; Megatron-LM's classes of layers are styles, too. */
#ifndef TDL_COMPILER_PORTFOLIO_TENSOR_PARALLEL_H
#define TDL_COMPILER_PORTFOLIO_TENSOR_PARALLEL_H

#include "base/diag.h"
#include "compiler/graph/graph.h"

/* Lines of pins: of the weights that a pattern fits, along which dimension the
 * style cuts them; all other weights and the inputs are replicated.  The file's
 * text is len bytes; NULL when errors were added at path. */
char *tensor_parallel_pins(arena *a, diag_sink *sink, const char *path,
			   const char *text, size_t len, const graph *g);

#endif
