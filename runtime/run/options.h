/* The options of tdlrun's command line. */
#ifndef TDL_RUNTIME_RUN_OPTIONS_H
#define TDL_RUNTIME_RUN_OPTIONS_H

#include "base/cli.h"
#include "runtime/exec/communicator.h"

/* Values of --comm, in the order of communicators' rows. */
enum { COMM_THREADS, COMM_MPI, COMM_NCCL };

typedef struct options {
	const char *plan;
	int backend, comm, kernels;
	const char *library;
	int64_t threads; /* 0: not given */
	bool tf32;
	const char *inputs, *outputs, *parameters, *trace, *profile;
	bool verify, json, version;
	/* NULL, false, -1: not given. */
	const char *data;
	bool shuffle;
	int64_t steps, epochs, seed;
	double learning_rate;
	int schedule;
	int64_t warmup;
	const char *evaluate, *evaluate_data;
	const char *checkpoint;
	int64_t every, keep;
	bool resume;
	const char *log;
	int64_t generate; /* -1: not given */
	int64_t stop;	  /* the word that ends a row; -1: none */
	const char *prompt, *token_input, *logits;
	bool calibrate, quick;
	const char *output;
	const char *installed; /* the folder of the plans for --calibrate */
	comm_options processes;
} options;

#endif
