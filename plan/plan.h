/* A plan: one program for all workers of a mesh.
 *
 * Nothing in a plan belongs to one worker.  A buffer says by a formula which
 * region of its tensor a worker holds in it (plan_region()), a transfer by its
 * two buffers what moves (layout/transfer.h), so that a plan does not grow with
 * the number of devices and every runtime computes the same.
 *
 * A plan that plan_read() returned was checked in all that does not depend on
 * the worker; who runs worker w calls plan_check_worker() for it first. */
#ifndef TDL_PLAN_PLAN_H
#define TDL_PLAN_PLAN_H

#include "base/diag.h"
#include "layout/transfer.h"
#include "plan/kept.h"

enum {
	PLAN_VERSION = 3,
	PLAN_OLDEST = 2, /* that is read: no partial tensors, no loop */
	PLAN_LOOPS = 3,	 /* the first with loops */
	PLAN_ALIGN = 64, /* of a buffer's offset in the arena, bytes */
};
/* Bytes of a tensor, of an arena. */
#define PLAN_MAX_BYTES (INT64_C(1) << 46)
enum { PLAN_MAX_TURNS = 4096, PLAN_MAX_SLOTS = PLAN_MAX_TURNS + 1 };

typedef enum plan_role {
	PLAN_INPUT,    /* fed in each run */
	PLAN_CONSTANT, /* loaded once */
	PLAN_RESULT,   /* computed */
	PLAN_STATE,    /* loaded once, and kept from one run to the next */
} plan_role;

typedef enum plan_constant_kind {
	PLAN_CONST_NONE,   /* there is none */
	PLAN_CONST_FILE,   /* in a file beside the plan */
	PLAN_CONST_INLINE, /* in the plan itself */
	PLAN_CONST_FILL,   /* one element, repeated */
	PLAN_CONST_RANDOM, /* drawn, see plan_constant_box() */
} plan_constant_kind;

/* The distribution of random elements: uniform between a and b, or normal with
 * mean a and standard deviation b. */
typedef enum plan_law { PLAN_UNIFORM, PLAN_NORMAL } plan_law;

/* The elements of a constant: little-endian, dense, row-major. */
typedef struct plan_constant {
	plan_constant_kind kind;
	const char *path; /* FILE: as this process can open it, .. */
	int64_t offset;	  /* .. from this byte, as many as the tensor has, .. */
	uint32_t crc;	  /* .. and their CRC-32 */
	const void *data; /* INLINE: all elements; FILL: one */
	plan_law law;	  /* RANDOM, of elements of a float type */
	double a, b;
	uint64_t key;
} plan_constant;

typedef struct plan_tensor {
	const char *name; /* unique */
	dtype type;
	int ndim;
	int64_t dims[MAX_NDIM];
	plan_role role;
	bool output; /* of the model */
	cuts cuts;   /* how it is stored */
	/* CONSTANT: the elements; STATE: those before the first run; INPUT:
	 * what is taken in a run that is not fed any, or NONE.  NONE, too,
	 * where there is no buffer, of what a fold makes, and of a state whose
	 * elements a constant has that a fold without a kernel makes. */
	plan_constant constant;
	/* STATE: the result of its type, shape and cuts that is its value after
	 * a run; -1 where it stays as it is. */
	int next;
	int buffer; /* the buffer of the stored block; -1 if no node uses it:
		       a state then has folds that read it */
	/* In a plan with a loop: the dimension of which the stored block has
	 * the turn's part, CUT_NONE where all turns have all of it. */
	int time;
	/* A result of `before': the result of the body, of its type, shape and
	 * cuts, that is its value in the next turn; else -1. */
	int then;
} plan_tensor;

/* Blocks of threads share the part of the result that a kernel in CUDA computes
 * (docs/kernels.md): one of them does one tile after another, `of` values of
 * output variable `var`; or, where var is -1, `of` elements of the part. */
typedef struct plan_tile {
	int var;
	int64_t of;
} plan_tile;

typedef struct plan_launch {
	int threads;	/* of a block; a multiple of 32 */
	int64_t shared; /* bytes of dynamic shared memory of a block */
	int ntiles;
	const plan_tile *tiles;
} plan_launch;

enum { PLAN_MAX_THREADS = 1024, PLAN_MAX_SHARED = 48 << 10 };

/* C that computes a kernel, a reduction, and of each of its elements another
 * one, its epilogue, which reads it at its own index: only that result is
 * stored.  The first may itself be computed with an epilogue.  Its inputs are
 * those of the reduction, then the others of each epilogue. */
typedef struct plan_epilogue {
	int of;	   /* a kernel of the plan, .. */
	int after; /* .. as this epilogue, a number of those of `of'; -1 */
	int input; /* of the second: the first one's result */
	const char *c;
} plan_epilogue;

/* Runs that are computed at once. */
enum { PLAN_MOST_JOINED = 4 };

typedef struct plan_kernel {
	const kernel *kernel;
	const char *c; /* its C source, by compiler/codegen; NULL without.  The
			  result may lie where an input lies that
			  kernel_in_place() allows, so that no pointer to such
			  an input may be `restrict` */
	int nepilogues; /* in C: all that it is */
	const plan_epilogue *epilogues;
	const char *cuda;   /* the same as CUDA; NULL without */
	plan_launch launch; /* of that */
} plan_kernel;

/* A constant that follows from weights: where states that no run changes get
 * other values, the interpreter computes it again before the next run. */
typedef struct plan_fold {
	const kernel *kernel; /* NULL: the elements of the one input, in the
				 same order */
	int ninputs;
	const int *inputs; /* states, constants, and outputs of folds before
			      this one */
	int output;	   /* a constant */
} plan_fold;

/* Points that the kernels of all folds may have, bytes of what each reads. */
enum { PLAN_MAX_FOLDED = 1 << 23, PLAN_MAX_FOLD_BYTES = 1 << 20 };

/* An operator's stage and how the workers divide its iteration space. */
typedef struct plan_node {
	const char *name; /* unique, for messages */
	const char *op;	  /* the operator, and its stage: "softmax.m" */
	int kernel;
	cuts cuts;	   /* of the kernel's variables */
	const int *inputs; /* tensors, one per input of the kernel */
	int output;	   /* tensor */
	int time; /* in a plan with a loop: the variable that is divided over
		     its turns, CUT_NONE */
} plan_node;

/* A layout of a tensor: of the reads, or of the result, of a node. */
typedef struct plan_buffer {
	int tensor;
	layout_kind region;
	int node; /* -1 for LAYOUT_STORED */
	int64_t offset, nbytes; /* in the arena; the most that any worker has */
	int turn; /* of the loop, if there is one: plan_unroll() */
	/* In a stage of a pipeline: the places that it has, one after the
	 * other, all aligned; turn t has number t % slots.  They are the
	 * buffer's own while the body is run.  0: one place, which is the
	 * buffer's from its writing to its last reading, as everywhere else. */
	int slots;
} plan_buffer;

typedef enum plan_op {
	PLAN_RUN,     /* node on buffers `inputs`, its result to buffer `to` */
	PLAN_MOVE,    /* fills each worker's part of `to` from the owners' parts
			 of `from`, two buffers of one tensor; or the stored
			 block of a state from that of its `next` */
	PLAN_COMBINE, /* each worker's own share in `to`, of the partial results
			 of node in everybody's `from` */
	PLAN_FEED,    /* the turn's part of an input to `to`, its stored block,
			 from what the run is fed */
	PLAN_SEND,    /* `from', a stored block, to another stage of a pipeline,
			 on `channel'.  `to' is `from' */
	PLAN_RECEIVE, /* `to', a stored block, from another stage's */
} plan_op;

typedef struct plan_instr {
	plan_op op;
	int node;	   /* RUN, COMBINE */
	const int *inputs; /* RUN: buffers, one per input of the kernel; each
			      covers all reads of the input */
	int from;	   /* MOVE, COMBINE */
	int to;
	collective collective; /* MOVE, COMBINE */
	int turn;	       /* as of plan_buffer */
	int bucket;	       /* MOVE, COMBINE: see plan_bucket_end(); 0 */
	int channel;	       /* SEND, RECEIVE */
	int chain;	       /* RUN: see plan/chain.h; 0 */
	int row;	       /* see plan_unrolled_row() */
} plan_instr;

/* Whether an instruction is a transfer, MOVE or COMBINE. */
static inline bool plan_moves(const plan_instr *in)
{
	return in->op == PLAN_MOVE || in->op == PLAN_COMBINE;
}

/* Whether it is a message between the stages of a pipeline. */
static inline bool plan_is_message(const plan_instr *in)
{
	return in->op == PLAN_SEND || in->op == PLAN_RECEIVE;
}

/* A batch that is divided over time.  Instructions [begin, end) are the body,
 * which is run once for each turn; those before and behind it are run once.
 * turns is 0 where there is no loop. */
typedef struct plan_loop {
	int turns;
	int64_t batch;
	int begin, end;
	bool statistics; /* what the turns compute hangs on their number */
} plan_loop;

/* Stages of a pipeline (plan/pipeline.h) run the parts of their body, its
 * segments, for one turn after another, but other turns' segments in between:
 * the order is the stage's schedule.  Each segment has its turns in order. */
typedef enum plan_pass { PASS_FORWARD, PASS_BACKWARD, PASS_WEIGHT } plan_pass;

typedef struct plan_segment {
	plan_pass pass;
	int chunk; /* of the stage's layers, where it has several */
	int begin, end; /* instructions; they begin where the one before ends */
} plan_segment;

/* A part of the order: these segments, and all of that so many times. */
typedef struct plan_tasks {
	int times, ntasks;
	const int *tasks;
} plan_tasks;

typedef struct plan_stage {
	int nsegments, nruns;
	const plan_segment *segments; /* together the body */
	const plan_tasks *runs;
} plan_stage;

/* By segments i and j >= i, [i * nsegments + j], in tmp: the most turns that
 * are under way at one time, begun in i and not ended in j; 0 where j is to run
 * for a turn before i has. */
int *plan_turns_between(arena *tmp, const plan_stage *s);

/* The machine that a plan was made for, where its maker was told one, and what
 * it expects there. */
typedef struct plan_prediction {
	const char *machine; /* its name; NULL: none was told */
	const char *topology; /* its file, as this process can open it; NULL:
				 tdlc knows the machine by its name */
	double seconds; /* of a run */
	int64_t batch;	/* samples of a run; 0: not known */
} plan_prediction;

/* Workers run the program in step as far as transfers tie them: a piece is read
 * once its owner has written it, and the place of a transfer's source is
 * written again only when all have read it.
 *
 * The program is static: every buffer is written by one instruction at most,
 * constants and inputs by none.  Two buffers overlap in the arena only where
 * no instruction between the first write of one and its last use finds the
 * other in use.  The one exception is a run in place: the buffer `to` may be
 * exactly the place of an input whose last use this run is, if
 * kernel_in_place() says so and both regions are equal.
 *
 * In a loop that holds of each turn, if each turn had buffers of its own for
 * what the body writes; a turn's buffers have the places of the turn's before.
 * An output that time divides is handed out as soon as its stored block is
 * written.
 *
 * A state has its value in the buffer of its stored block when a run begins.
 * The value for the run after that gets there in one of two ways: the stored
 * block of `next` lies in exactly the same place, or one MOVE copies it there
 * once nobody reads the old value any more. */
typedef struct plan {
	const char *model, *algorithm;
	mesh mesh;
	plan_loop loop;
	const plan_stage *stage; /* where this is one of a pipeline; NULL */
	/* Of plan_unroll() and plan_in_order(), the turns' instructions. */
	int body_begin, body_end;
	int nkernels, ntensors, nnodes, nbuffers, ninstrs;
	plan_kernel *kernels;
	plan_tensor *tensors;
	plan_node *nodes;
	plan_buffer *buffers;
	plan_instr *program;
	int ninputs, noutputs;
	int *inputs, *outputs; /* tensors, in the model's order */
	bool training;		 /* a run is a step of training: */
	int loss, learning_rate; /* an output, an input of one element each, or
				    -1 */
	int loss_scale; /* a state of one element, which falls in a step that
			   leaves the others as they are; -1 */
	/* States hold `length' entries of what runs add to, of which the input
	 * `position', one integer, says how many are there; 0: they do not. */
	int64_t length;
	int position;
	uint64_t digest; /* of the file's bytes, weights of its own included:
			    those in other files by their checksums; 0 for one
			    that was not read */
	plan_prediction predicted;
	int nfolds;
	plan_fold *folds;
	int nfixed;
	const char **fixed; /* the model's weights that are not states: another
			       training run cannot have changed them */
	int64_t arena_bytes;   /* of each worker */
	int64_t copies_bytes;  /* of each GPU, beside the arenas, where a
				  library multiplies: of operands that are
				  copied for it (plan/gemm.h) */
	int64_t kept_bytes;    /* of each worker on processors, beside its
				  arena, for packed factors (plan/kept.h) */
	int64_t communication_bytes; /* received by all workers in one run */
} plan;

/* The name of an instruction's node, or tensor, and a word for the action,
 * "run", "all-gather", .., for people. */
const char *plan_instr_name(const plan *p, const plan_instr *in);
const char *plan_instr_kind(const plan_instr *in);

/* The layout of a buffer; it borrows from p. */
layout plan_layout(const plan *p, const plan_buffer *b);

/* The region of its tensor that the worker holds in a buffer. */
region plan_region(const plan *p, int buffer, int worker);
region plan_region_at(const plan *p, const plan_buffer *b, const int *coords);

/* The part of its node's iteration space that a worker computes in a RUN. */
box plan_space(const plan *p, const plan_instr *run, int worker);

/* Whether a RUN copies a buffer to its own place, so that nothing is to be
 * done. */
bool plan_is_idle(const plan *p, const plan_instr *run);

/* For each instruction i the epilogue, of the kernel of RUN i + 1, with which
 * both are computed at once, -1 for none.  They can be if nothing but i + 1
 * reads the result of i, at its own index, both are divided alike, and what
 * i + 1 writes is not read by the runs before it that it is joined to.  `find'
 * gives the number of an epilogue of a kernel; -1 if there is none. */
typedef int plan_find_epilogue(void *arg, int kernel, const plan_epilogue *e);
int *plan_joined(arena *a, const plan *p, plan_find_epilogue *find, void *arg);

/* The same by the epilogues that the kernels have. */
int *plan_epilogues(arena *a, const plan *p);

/* The reducer that combines partial results of a node; RED_NONE where it gives
 * none: no axis cuts a reduction variable, or hands partial inputs on. */
reducer plan_partial(const plan *p, int node);

/* Whether they are combined, along some axes, before they are stored. */
bool plan_combines(const plan *p, int node);

/* The transfer that a MOVE or COMBINE is; it borrows from p. */
layout_transfer plan_transfer(const plan *p, const plan_instr *in);

/* Its pieces that a worker receives: transfer_pieces(). */
int plan_pieces(arena *a, const plan *p, const plan_instr *in, int worker,
		piece **pieces);

/* Whether a buffer is more than a step to other instructions: a stored block of
 * what is given, of an output, or of a state's next value. */
bool plan_is_kept(const plan *p, int buffer);

/* Bytes from a buffer's first place to the end of its last; those from the
 * beginning of a place to that of the next. */
int64_t plan_buffer_span(const plan_buffer *b);
int64_t plan_buffer_stride(const plan_buffer *b);

/* Whether a tensor has, in a plan with a loop, each turn's part only. */
bool plan_in_turns(const plan *p, int tensor);

/* Whether instruction i of a plan without loop (plan_unroll()) writes a turn's
 * part of an output, which goes to where the whole output is. */
bool plan_hands_out(const plan *p, int i);

/* The end of the bucket of instruction i: behind the last of those that follow
 * i and have its number, which is not 0, in its turn; i + 1 where it is in
 * none.  A bucket is executed as a whole: COMBINEs of one reducer, of elements
 * of one type, then perhaps MOVEs that spread what these make.  All sources of
 * the COMBINEs are there when it begins, and what it reads and writes is in use
 * from its beginning to its end. */
int plan_bucket_end(const plan *p, int i);

/* The end of what is executed as a whole with instruction i, its bucket or its
 * chain (plan/chain.h); i + 1 where it is in neither. */
int plan_step_end(const plan *p, int i);

/* The end of those of them that follow i and are of its kind. */
int plan_phase_end(const plan *p, int i);

/* The number of buckets; receives in *reductions that of their COMBINEs. */
int plan_buckets(const plan *p, int *reductions);

/* The bucket in which partial results of a tensor are combined; 0: none. */
int plan_bucket_of(const plan *p, int tensor);

/* Bytes that all workers receive in one run, in all turns. */
int64_t plan_communication(const plan *p);

/* The greatest number of blocks that have work where the kernel computes the
 * part `space`: the tiles of each kind multiplied.  Any number of blocks gives
 * the same result. */
int64_t plan_launch_items(const plan_kernel *k, const box *space);

int64_t plan_tensor_nelem(const plan_tensor *t);
int64_t plan_tensor_nbytes(const plan_tensor *t);

/* ---- files ------------------------------------------------------------- */

/* Reads a plan, trusting nothing in it; NULL when errors were added. */
plan *plan_read(arena *a, diag_sink *s, const char *path);
/* The same from len bytes of text; path is for messages, and paths in the
 * plan are relative to its folder. */
plan *plan_parse(arena *a, diag_sink *s, const char *path, const char *text,
		 size_t len);

/* The text of a plan that goes to `path`, same bytes for the same plan. */
char *plan_text(arena *a, const plan *p, const char *path, size_t *len);
/* Whether plan_parse() takes as much as the text of p, len bytes, has. */
bool plan_is_readable(const plan *p, const char *text, size_t len);
/* Writes it atomically; false with errno set. */
bool plan_write(const plan *p, const char *path);

/* The checks of plan_parse() after the syntax: indices, kinds, types, order,
 * places in the arena.  Adds errors at `path`. */
bool plan_check(const plan *p, diag_sink *s, const char *path);

/* Checks the regions of one worker: they fit their buffers and the inputs of
 * every run cover what it reads. */
bool plan_check_worker(const plan *p, int worker, diag_sink *s,
		       const char *path);

/* ---- constants --------------------------------------------------------- */

/* Reads all elements of a constant that has some, of a state before the first
 * run, or of an input's default to `whole`, plan_tensor_nbytes() bytes, and
 * checks the CRC of what comes from a file.  False when an error was added. */
bool plan_constant_read(const plan *p, int tensor, void *whole, diag_sink *s);

/* The constant that has the elements of a tensor for which there are none; the
 * tensor itself where there are. */
int plan_constant_of(const plan *p, int tensor);

/* Writes those elements of a constant that is in no file that lie in a box to
 * `to`, dense and row-major.  A random element is a function of the key and of
 * its row-major number in the tensor alone, so that every division gets the
 * same. */
void plan_constant_box(const plan_tensor *t, const box *at, void *to);

/* The first tensor with a buffer that folds make of one, perhaps by way of
 * others; -1: there is none. */
int plan_folded_to(arena *tmp, const plan *p, int tensor);

/* The CRC-32 of a part of a file.  False when an error was added. */
bool plan_file_crc(const char *path, int64_t offset, int64_t nbytes,
		   uint32_t *crc, diag_sink *s);

/* ---- other plans from a plan ------------------------------------------- */

/* The same program for one worker: no cuts, no transfers, a memory plan of its
 * own.  Tensors, nodes and kernels keep their numbers. */
plan *plan_one_device(arena *a, const plan *p);

/* The same with a loop of one turn, the whole batch; of as many as p has where
 * the result hangs on their number. */
plan *plan_one_turn(arena *a, const plan *p);

/* The program without a loop, p itself if there is none: the body once for each
 * turn, or, of more than `most' turns, for the first ones and the last, each
 * with buffers of its own in the places of p's.  Tables keep their rows; new
 * buffers come behind p's, and a tensor's stored block is that of the last
 * turn.  What is run and checked.  All turns of a stage, whatever `most' is, in
 * the order of its schedule, with each turn's slot as its only place. */
const plan *plan_unroll(arena *a, const plan *p, int most);

/* Whether an instruction of the body may move other bytes in one turn than in
 * another: turns have not equally many samples, or of what time does not divide
 * it brings the turn's part. */
bool plan_turns_differ(const plan *p, const plan_instr *in);

/* An instruction of the body in that turn, whose buffers are p's. */
plan_instr plan_instr_in_turn(plan *p, const plan_instr *in, int turn);

/* The row in p's program of instruction i of plan_unroll(), u. */
int plan_unrolled_row(const plan *p, const plan *u, int i);

/* The same where a stage has other turns' segments between a turn's: one turn
 * after another, all of it, in buffers that keep their slots.  The copies of
 * such a buffer have -1 of them.  What is checked of a stage alone. */
const plan *plan_in_order(arena *a, const plan *p, int most);

/* The row in p's program of instruction i of plan_in_order(a, p, most). */
int plan_rolled_instr(const plan *p, int most, int i);
/* The same of a buffer. */
int plan_rolled_buffer(const plan *p, int b);

/* Gives every buffer its place in the arena, from the program; sets offsets
 * and arena_bytes.  Sizes are given.  Returns the most bytes that are in use
 * at once, which no placement can go below. */
int64_t plan_place(plan *p);

#endif
