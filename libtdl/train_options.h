/* The options of the commands that may train a model. */
#ifndef TDL_LIBTDL_TRAIN_OPTIONS_H
#define TDL_LIBTDL_TRAIN_OPTIONS_H

#include "compiler/model/model.h"
#include "compiler/train/train.h"
#include "libtdl/job.h"

typedef struct train_request {
	bool train, evaluate;
	const char *loss, *optimizer, *recompute;
	int precision; /* index in train_precisions, 0 if not given */
	double clip_norm; /* NO_CLIP_NORM if not given */
	cli_words freeze, only;
	int64_t seed;
} train_request;

enum { NO_CLIP_NORM = -1 };
/* The arguments of --precision. */
extern const char *const train_precisions[];

#define TRAIN_REQUEST { .clip_norm = NO_CLIP_NORM }

/* All but --recompute, which has another meaning in commands about stages. */
#define DRIVER_OPTIONS_TRAIN_STEP(r)                                         \
	{ CLI_FLAG, 0, "train", NULL,                                        \
	  "plan a step of the model's training", &(r)->train },              \
	{ CLI_FLAG, 0, "evaluate", NULL,                                     \
	  "plan the evaluation of a model that --train trains: the weights " \
	  "are states, whose values tdlrun --evaluate and --parameters give",\
	  &(r)->evaluate },                                                  \
	{ CLI_TEXT, 0, "loss", "OP[,ATTR=V]...",                             \
	  "the loss: operator OP of the model's first output and a label; "  \
	  "without it, the output 'loss'", &(r)->loss },                     \
	{ CLI_TEXT, 0, "optimizer", "OP[,ATTR=V]...",                        \
	  "sgd (default), adam, adamw, or an operator of yours, as in "      \
	  "sgd,lr=0.1,momentum=0.9", &(r)->optimizer },                      \
	{ CLI_REAL, 0, "clip-norm", "X",                                     \
	  "scale the gradients down to a norm of X; 0: never",               \
	  &(r)->clip_norm, .min = 0, .max = 1e300 },                         \
	{ CLI_CHOICE, 0, "precision", "TYPE",                                \
	  "compute in f32 (default), bf16 or f16 where that is safe",        \
	  &(r)->precision, .choices = train_precisions },                    \
	{ CLI_REPEAT, 0, "freeze", "GLOB",                                   \
	  "do not train the weights whose names match; may be repeated",     \
	  &(r)->freeze },                                                    \
	{ CLI_REPEAT, 0, "train-only", "GLOB",                               \
	  "train only the weights whose names match, which may be single "   \
	  "numbers of an ONNX model; may be repeated", &(r)->only },         \
	{ CLI_INT, 0, "seed", "N",                                           \
	  "the seed of random initial values", &(r)->seed,                   \
	  .min = 0, .max = 9e18 }

#define DRIVER_OPTIONS_TRAIN(r)                                              \
	DRIVER_OPTIONS_TRAIN_STEP(r),                                        \
	{ CLI_TEXT, 0, "recompute", "WHAT",                                  \
	  "recompute tensors for the backward pass: those named (GLOB,..); " \
	  "enough to bring computed tensors down to a size (2G), or to the " \
	  "minimum (sqrt); the forward pass of each pipeline stage "         \
	  "(stage)", &(r)->recompute }

/* Sets o->train, o->numbers and o->seed for the model at a path.  Returns
 * CLI_USAGE, after a message, if an option needs --train, or --evaluate, which
 * is missing. */
cli_status job_train_options(job *d, const train_request *r, const char *path,
			     model_options *o);

/* Returns CLI_USAGE, after a message, if a pattern of --freeze or --train-only
 * matched no weight. */
cli_status job_check_globs(job *d, const model_options *o);

#endif
