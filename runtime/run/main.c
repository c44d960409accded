/* The program tdlrun: runs a plan. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "runtime/run/agree.h"
#include "runtime/run/calibrate.h"
#include "runtime/run/evaluate.h"
#include "runtime/run/generate.h"
#include "runtime/run/run.h"
#include "runtime/run/train.h"

static const char name[] = "tdlrun";

static const cli_program tdlrun = {
	name,
	"PLAN [OPTION]...",
	"Runs a plan made by 'tdlc plan'.  Without --inputs, inputs are "
	"arange(n)/n, or integers that count up below the extent that they "
	"index.  With --data, a plan of a training step trains; any other plan "
	"is run over all samples.",
};

/* ---- the command ------------------------------------------------------- */

/* Options that require another one. */
typedef struct companion {
	const char *name, *needs;
	bool given, there;
} companion;

static bool is_alone(const companion *x, cli_status *status)
{
	if (x->given && !x->there)
		*status = cli_usage(&tdlrun, "--%s needs %s", x->name,
				    x->needs);
	return x->given && !x->there;
}

static bool check_options(const options *o, cli_status *status)
{
	bool data = o->data, folder = o->checkpoint;
	bool joins = o->processes.rendezvous, generate = o->generate > 0;
	const companion list[] = {
		{ "shuffle", "--data", o->shuffle, data },
		{ "epochs", "--data", o->epochs >= 0, data },
		{ "seed", "--data", o->seed >= 0, data },
		{ "lr-schedule", "--data", o->schedule >= 0, data },
		{ "warmup", "--data", o->warmup >= 0, data },
		{ "evaluate", "--data", o->evaluate, data },
		{ "checkpoint", "--data", folder, data },
		{ "log", "--data", o->log, data },
		{ "checkpoint-every", "--checkpoint", o->every >= 0, folder },
		{ "keep", "--checkpoint", o->keep >= 0, folder },
		{ "resume", "--checkpoint", o->resume, folder },
		{ "evaluate", "--evaluate-data", o->evaluate,
		  o->evaluate_data },
		{ "evaluate-data", "--evaluate", o->evaluate_data,
		  o->evaluate },
		{ "prompt", "--generate", o->prompt, generate },
		{ "token-input", "--generate", o->token_input, generate },
		{ "logits", "--generate", o->logits, generate },
		{ "stop", "--generate", o->stop >= 0, generate },
		{ "generate", "--prompt", generate, o->prompt },
		{ "generate", "a run without --data", generate, !data },
		{ "steps", "a run without --generate", o->steps >= 0,
		  !generate },
		{ "verify", "a run without --generate", o->verify, !generate },
		{ "trace", "a run without --generate", o->trace, !generate },
		{ "profile", "a run without --generate", o->profile,
		  !generate },
		{ "learning-rate", "a run without --generate",
		  o->learning_rate >= 0, !generate },
		{ "quick", "--calibrate", o->quick, o->calibrate },
		{ "output", "--calibrate", o->output, o->calibrate },
		{ "verify", "a run without --data", o->verify, !data },
		{ "trace", "a run without --data", o->trace, !data },
		{ "trace", "--backend cpu", o->trace,
		  !backend_row(o->backend)->put },
		{ "profile", "a run without --data", o->profile, !data },
		{ "profile", "--backend cpu", o->profile,
		  !backend_row(o->backend)->put },
		{ "rendezvous", "--comm nccl", joins, o->comm == COMM_NCCL },
		{ "rank", "--rendezvous", o->processes.rank >= 0, joins },
		{ "ranks", "--rendezvous", o->processes.ranks >= 0, joins },
		{ "timeout", "--comm mpi or nccl", o->processes.timeout > 0,
		  o->comm != COMM_THREADS },
		{ "threads", "--backend cpu", o->threads > 0,
		  !backend_row(o->backend)->put },
		{ "tf32", "--backend cuda", o->tf32,
		  backend_row(o->backend)->put },
	};
	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++)
		if (is_alone(&list[i], status))
			return false;
	return true;
}

/* With --data, a plan that does not train runs over all samples once. */
static bool only_trains(const options *o)
{
	return o->shuffle || o->steps >= 0 || o->epochs >= 0 || o->seed >= 0 ||
	       o->schedule >= 0 || o->warmup >= 0 || o->evaluate ||
	       o->checkpoint || o->log || o->learning_rate >= 0;
}

/* Whether a file to be written differs from some others. */
static bool is_apart(session *s, const char *path, const char *const *others,
		     int n, const char *what)
{
	for (int i = 0; i < n; i++)
		if (others[i] && file_is_same(path, others[i]))
			return fail_with(&s->f, CLI_USAGE, "%s %s", path, what);
	return true;
}

/* Whether the files that are asked for can be written, as far as that is known
 * before the run.  The process that leads writes them. */
static bool can_write(session *s)
{
	const options *o = s->o;
	const char *const files[] = { o->outputs, o->trace, o->profile,
				      o->log, o->output };
	const char *const reads[] = { o->plan, o->inputs, o->parameters,
				      o->data, o->evaluate, o->evaluate_data,
				      o->prompt, o->library };
	const int nfiles = sizeof(files) / sizeof(*files);
	const int nreads = sizeof(reads) / sizeof(*reads);
	for (int i = 0; s->leads && i < nfiles; i++) {
		if (!files[i])
			continue;
		if (!file_can_write(files[i]))
			return fail_with(&s->f, CLI_MACHINE, "%s: %s",
					 files[i], strerror(errno));
		if (!is_apart(s, files[i], reads, nreads,
			      "is read, and would be overwritten") ||
		    !is_apart(s, files[i], files, i, "would be written twice"))
			return false;
	}
	/* An archive cannot be a stream. */
	if (s->leads && o->outputs &&
	    (!strcmp(o->outputs, "-") || (access(o->outputs, F_OK) == 0 &&
					  !file_is_regular(o->outputs))))
		return fail_with(&s->f, CLI_MACHINE,
				 "%s: it is not a regular file", o->outputs);
	return true;
}

static bool run_session(session *s, cli_status *status)
{
	if (!can_write(s))
		return false;
	if (s->o->generate > 0)
		return generate_command(s, status);
	if (!s->o->data)
		return run_command(s, status);
	if (s->p->training)
		return train_command(s, status);
	if (only_trains(s->o))
		return fail_with(&s->f, CLI_INPUT, "%s: this plan does not "
				 "train, which an option asks for; 'tdlc plan "
				 "--train' makes one that does", s->o->plan);
	return evaluate_command(s, status);
}

static const communicator *row_of(const options *o)
{
	return comm_row(o->comm, !backend_row(o->backend)->put);
}

static cli_status calibrate(session *s)
{
	cli_status status = CLI_OK;
	if (can_write(s) && calibrate_command(s, &status))
		return status;
	session_progress(s, "%s", "");
	if (!s->leads)
		sleep(2);
	return cli_failed(&tdlrun, "%s", s->f.text) == CLI_OK ? CLI_OK
							       : s->f.status;
}

static cli_status run_plan(session *s)
{
	diag_sink *sink = diag_sink_new(s->a);
	cli_status status = CLI_OK;
	const plan_pipeline *p = pipeline_read(s->a, sink, s->o->plan);
	if (p)
		session_take(s, p);
	if (p && agree(s, row_of(s->o)) && run_session(s, &status))
		return status;
	session_progress(s, "%s", "");
	/* A fault that all processes have is reported by the first one, which
	 * meanwhile ends the others. */
	if (!s->leads)
		sleep(2);
	if (p && s->leads)
		cli_failed(&tdlrun, "%s", s->f.text);
	else if (!s->leads)
		cli_failed(&tdlrun, "rank %d: %s", s->rank,
			   p ? s->f.text : "its plan cannot be used");
	if (!p)
		diag_print(sink, stderr, cli_colour());
	return p ? s->f.status : CLI_INPUT;
}

/* Runs with other processes; one of them speaks for all. */
static cli_status run_joined(arena *a, const options *o)
{
	const communicator *c = row_of(o);
	session s = { .a = a, .o = o };
	if (!c->start(&o->processes, &s.run, &s.rank, &s.f)) {
		cli_failed(&tdlrun, "%s", s.f.text);
		return s.f.status;
	}
	s.leads = s.rank == 0;
	if (!s.leads && !freopen("/dev/null", "w", stdout))
		return cli_failed(&tdlrun, "/dev/null: %s", strerror(errno));
	cli_status status = o->calibrate ? calibrate(&s) : run_plan(&s);
	fflush(NULL);
	session_end(&s);
	c->end(s.run, status);
	return status;
}

static bool is_there(const char *missing, cli_status *status)
{
	if (missing)
		*status = cli_failed(&tdlrun, "%s", missing);
	return !missing;
}

/* Whether Open MPI has started several processes although workers are
 * threads. */
static bool is_one_of_many(const options *o)
{
	const char *n = getenv("OMPI_COMM_WORLD_SIZE");
	return n && atoi(n) > 1 && o->comm == COMM_THREADS;
}

/* Returns the result of cli_parse(). */
static int parse(arena *a, options *o, int argc, char **argv,
		 cli_status *status)
{
	static const char *const backends[] = { "cpu", "cuda", NULL };
	static const char *const comms[] = { "threads", "mpi", "nccl", NULL };
	static const char *const kernels[] = { "generated", "interpreter",
					       "library", NULL };
	static const char *const schedules[] = { "constant", "linear",
						 "cosine", NULL };
	const cli_option table[] = {
		{ CLI_CHOICE, 0, "backend", "NAME",
		  "the backend: cpu (the default) or cuda", &o->backend, 0, 0,
		  backends },
		{ CLI_CHOICE, 0, "comm", "NAME",
		  "the transport between workers: threads (the default), mpi "
		  "or nccl", &o->comm, 0, 0, comms },
		{ CLI_TEXT, 0, "rendezvous", "DIR|PATH",
		  "a folder that all processes reach, or a prefix of the paths "
		  "of files in one; for nccl without MPI",
		  &o->processes.rendezvous },
		{ CLI_INT, 0, "rank", "R",
		  "the number of this process, from 0, if neither mpirun, "
		  "Slurm nor torchrun gives it", &o->processes.rank, 0, 65535 },
		{ CLI_INT, 0, "ranks", "N", "the number of processes",
		  &o->processes.ranks, 1, 65536 },
		{ CLI_REAL, 0, "timeout", "SECONDS",
		  "end the run if a process is silent or makes no progress for "
		  "that long; 8 if not given", &o->processes.timeout, 1, 1e6 },
		{ CLI_REAL, 0, "patience", "SECONDS",
		  "the former name of --timeout", &o->processes.timeout, 1,
		  1e6 },
		{ CLI_TEXT, 0, "inputs", "FILE.npz",
		  "the inputs, and optionally states, by their names in the "
		  "model",
		  &o->inputs },
		{ CLI_TEXT, 0, "parameters", "FILE|DIR",
		  "all states, from a checkpoint, or from the newest one in a "
		  "folder",
		  &o->parameters },
		{ CLI_TEXT, 0, "outputs", "FILE.npz",
		  "the file for the outputs of the last step, and for the "
		  "states if it changes any", &o->outputs },
		{ CLI_TEXT, 0, "trace", "FILE.json",
		  "the file for a trace of the last step, by worker, for "
		  "Chrome, Perfetto and 'tdlc report --trace'",
		  &o->trace },
		{ CLI_TEXT, 0, "profile", "FILE.json",
		  "the file for the time of each instruction on each worker, "
		  "for 'tdlc plan --profile'; the times are added to those "
		  "that it has", &o->profile },
		{ CLI_INT, 0, "steps", "N",
		  "run N steps; if not given, one, with --profile 12, or with "
		  "--data all steps of the epochs", &o->steps, 1, 1e9 },
		{ CLI_CHOICE, 0, "kernels", "NAME",
		  "generated (the default on cpu), the interpreter, or a "
		  "library where it fits: oneDNN on cpu, cuBLASLt and cuDNN "
		  "on cuda (the default there)",
		  &o->kernels, 0, 0, kernels },
		{ CLI_TEXT, 0, "kernels-from", "LIB",
		  "a shared library with the kernels of opaque functions",
		  &o->library },
		{ CLI_INT, 0, "threads", "N",
		  "on cpu: the threads of each worker; if not given, its share "
		  "of the processors", &o->threads, 1, 1024 },
		{ CLI_FLAG, 0, "tf32", NULL,
		  "on cuda: let factors of f32 be rounded to 10 bits, for "
		  "tensor cores",
		  &o->tf32 },
		{ CLI_REAL, 0, "learning-rate", "X",
		  "the learning rate, or its initial value",
		  &o->learning_rate, 0, 1e9 },
		{ CLI_TEXT, 0, "data", "FILE.npz",
		  "the samples, by the names of the inputs, from which batches "
		  "are cut", &o->data },
		{ CLI_INT, 0, "epochs", "N",
		  "train N times over the samples; 1 if not given", &o->epochs,
		  1, 1e9 },
		{ CLI_FLAG, 0, "shuffle", NULL,
		  "take the samples in a new random order in each epoch",
		  &o->shuffle },
		{ CLI_INT, 0, "seed", "S",
		  "the seed of these orders; 0 if not given",
		  &o->seed, 0, 0x1p53 },
		{ CLI_CHOICE, 0, "lr-schedule", "NAME",
		  "the decay of the learning rate: constant (the default), "
		  "linear or cosine", &o->schedule, 0, 0, schedules },
		{ CLI_CHOICE, 0, "schedule", "NAME",
		  "the former name of --lr-schedule", &o->schedule, 0, 0,
		  schedules },
		{ CLI_INT, 0, "warmup", "N",
		  "let the learning rate rise over the first N steps",
		  &o->warmup, 0, 1e9 },
		{ CLI_TEXT, 0, "evaluate", "PLAN",
		  "a plan that evaluates the states after each epoch",
		  &o->evaluate },
		{ CLI_TEXT, 0, "evaluate-data", "FILE.npz",
		  "the samples for the evaluation", &o->evaluate_data },
		{ CLI_TEXT, 0, "checkpoint", "DIR",
		  "a folder for checkpoints, one at the end of each epoch",
		  &o->checkpoint },
		{ CLI_INT, 0, "checkpoint-every", "N",
		  "write one every N steps instead", &o->every, 1, 1e9 },
		{ CLI_INT, 0, "keep", "N",
		  "keep the newest N checkpoints; 3 if not given, 0: all",
		  &o->keep, 0, 1e9 },
		{ CLI_FLAG, 0, "resume", NULL,
		  "go on from the newest checkpoint, if there is one",
		  &o->resume },
		{ CLI_TEXT, 0, "log", "FILE.csv",
		  "a line for each step: loss, learning rate, samples per "
		  "second", &o->log },
		{ CLI_INT, 0, "generate", "N",
		  "continue each row of a prompt by N tokens, the likeliest "
		  "each time", &o->generate, 1, 1e9 },
		{ CLI_INT, 0, "stop", "ID",
		  "end a row after this token", &o->stop, 0, 1e15 },
		{ CLI_TEXT, 0, "prompt", "FILE.npz",
		  "the prompt, [rows, tokens], by the name of the input that "
		  "takes tokens; -1 after the end of shorter rows",
		  &o->prompt },
		{ CLI_TEXT, 0, "token-input", "NAME",
		  "that input; if not given, the only integer input that "
		  "nothing else feeds", &o->token_input },
		{ CLI_TEXT, 0, "logits", "NAME",
		  "the output with the scores of the words; if not given, "
		  "'logits', or the only one possible", &o->logits },
		{ CLI_FLAG, 0, "calibrate", NULL,
		  "measure this machine, without a plan: a topology for tdlc "
		  "plan --topology", &o->calibrate },
		{ CLI_FLAG, 0, "quick", NULL,
		  "measure it in seconds, less exactly", &o->quick },
		{ CLI_TEXT, 'o', "output", "FILE.json",
		  "write the topology to FILE.json, not to standard output",
		  &o->output },
		{ CLI_FLAG, 0, "verify", NULL,
		  "run on one worker too, and compare", &o->verify },
		{ CLI_FLAG, 0, "json", NULL, "print the result as JSON",
		  &o->json },
		{ CLI_FLAG, 'V', "version", NULL, "print the version",
		  &o->version },
		{ CLI_END },
	};
	return cli_parse(a, &tdlrun, table, argc, argv, status);
}

static cli_status begin(arena *a, int argc, char **argv)
{
	options o = { .installed = PKGDATADIR "/calibration",
		      .steps = -1, .epochs = -1, .seed = -1, .schedule = -1,
		      .generate = -1,
		      .stop = -1,
		      .processes = { .rank = -1, .ranks = -1 },
		      .learning_rate = -1, .warmup = -1, .every = -1,
		      .keep = -1, .kernels = KERNELS_ANY };
	cli_status status = CLI_OK;
	int first = parse(a, &o, argc, argv, &status);
	if (first < 0)
		return status;
	if (o.version) {
		cli_version(name);
		return CLI_OK;
	}
	if (o.calibrate && argc != first)
		return cli_usage(&tdlrun, "--calibrate takes no plan");
	if (o.calibrate && backend_row(o.backend)->put)
		return cli_usage(&tdlrun, "--calibrate measures processors: "
				 "the times of instructions on a GPU are not "
				 "measured");
	if (!o.calibrate && argc - first != 1)
		return cli_usage(&tdlrun, argc == first ?
				 "a plan is missing" : "one plan at a time");
	o.plan = o.calibrate ? NULL : argv[first];
	if (!is_there(backend_row(o.backend)->missing, &status))
		return status;
	if (!row_of(&o))
		return cli_usage(&tdlrun, "%s", o.backend ?
				 "--comm mpi connects processors; with "
				 "--backend cuda it is nccl" :
				 "--comm nccl connects GPUs, of --backend "
				 "cuda");
	if (!is_there(row_of(&o)->missing, &status))
		return status;
	if (!check_options(&o, &status))
		return status;
	if (is_one_of_many(&o))
		return cli_usage(&tdlrun, "mpirun has started several "
				 "processes, each of which would run all "
				 "workers: --comm mpi is missing");
	return run_joined(a, &o);
}

int main(int argc, char **argv)
{
	arena *a = arena_new();
	cli_status status = begin(a, argc, argv);
	arena_free(a);
	return cli_finish(name, status);
}
