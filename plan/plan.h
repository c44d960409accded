/* A plan: one program for all workers of a mesh.
 *
 * Nothing in a plan belongs to one worker.  A buffer has a formula for the
 * region of its tensor that a worker holds in it (plan_region()); a transfer's
 * two buffers determine what moves (layout/transfer.h).  So a plan does not
 * grow with the number of devices, and every runtime computes the same.
 *
 * A plan that plan_read() returned has passed all checks that do not depend on
 * the worker.  Before running worker w, call plan_check_worker() for it. */
#ifndef TDL_PLAN_PLAN_H
#define TDL_PLAN_PLAN_H

#include "base/diag.h"
#include "layout/transfer.h"
#include "plan/kept.h"

enum {
	PLAN_VERSION = 3,
	/* the oldest version that is read: no partial tensors, no loop */
	PLAN_OLDEST = 2,
	PLAN_LOOPS = 3,	 /* the first with loops */
	PLAN_ALIGN = 64, /* of a buffer's offset in the arena, bytes */
};
/* The most bytes of a tensor, and of an arena. */
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
	/* .. from this byte on, as many bytes as the tensor has, .. */
	int64_t offset;
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
	/* CONSTANT: the elements.  STATE: its elements before the first run.
	 * INPUT: the value in runs that feed none, or NONE.  Also NONE for a
	 * tensor without a buffer, for the output of a fold, and for a state
	 * whose elements are in a constant that a fold without a kernel
	 * makes. */
	plan_constant constant;
	/* STATE: the result with its type, shape and cuts that is its value
	 * after a run; -1 if it does not change. */
	int next;
	/* holds the stored block; -1 if no node uses the tensor: a state then
	 * has folds that read it */
	int buffer;
	/* In a plan with a loop: the dimension that time divides, so that the
	 * stored block has only the turn's part; CUT_NONE if all turns have all
	 * of it. */
	int time;
	/* For a result computed before the body: the result of the body, of its
	 * type, shape and cuts, that becomes its value in the next turn; else
	 * -1. */
	int then;
} plan_tensor;

/* Tiles: the division, among blocks of threads, of the part of the result that
 * a CUDA kernel computes (docs/kernels.md).  A block does one tile after
 * another.  A tile has `of' values of output variable `var', or, if var is -1,
 * `of' elements of the part. */
typedef struct plan_tile {
	int var;
	int64_t of;
} plan_tile;

typedef struct plan_launch {
	int threads;	/* per block; a multiple of 32 */
	int64_t shared; /* bytes of dynamic shared memory per block */
	int ntiles;
	const plan_tile *tiles;
} plan_launch;

enum { PLAN_MAX_THREADS = 1024, PLAN_MAX_SHARED = 48 << 10 };

/* C source that computes a kernel, a reduction, and applies another kernel, its
 * epilogue, to each element before it is stored; only the epilogue's result is
 * stored.  The epilogue reads the reduction's result at its own index.  The
 * first kernel may itself have an epilogue.  The inputs are those of the
 * reduction, then the other inputs of each epilogue. */
typedef struct plan_epilogue {
	int of;	   /* the epilogue's kernel .. */
	/* .. and the epilogue that it comes after, a number among those of
	 * `of'; -1 */
	int after;
	int input; /* of the second kernel: the first one's result */
	const char *c;
} plan_epilogue;

/* The most runs that are computed together. */
enum { PLAN_MOST_JOINED = 4 };

typedef struct plan_kernel {
	const kernel *kernel;
	/* C source, by compiler/codegen; NULL if there is none.  The result may
	 * be in the place of an input if kernel_in_place() allows it, so no
	 * pointer to such an input may be `restrict' */
	const char *c;
	/* in C: all kernels that this one can be the epilogue of */
	int nepilogues;
	const plan_epilogue *epilogues;
	const char *cuda;   /* the same in CUDA; NULL if there is none */
	plan_launch launch; /* of the CUDA kernel */
} plan_kernel;

/* A constant computed from weights.  If states that no run changes get other
 * values, the interpreter computes it again before the next run. */
typedef struct plan_fold {
	/* NULL: copies the elements of its one input, in the same order */
	const kernel *kernel;
	int ninputs;
	const int *inputs; /* states, constants, and outputs of folds before
			      this one */
	int output;	   /* a constant */
} plan_fold;

/* The most points of the kernels of all folds together, and the most bytes that
 * each fold reads. */
enum { PLAN_MAX_FOLDED = 1 << 23, PLAN_MAX_FOLD_BYTES = 1 << 20 };

/* A stage of an operator, and how the workers divide its iteration space. */
typedef struct plan_node {
	const char *name; /* unique, for messages */
	const char *op;	  /* the operator, and its stage: "softmax.m" */
	int kernel;
	cuts cuts;	   /* of the kernel's variables */
	const int *inputs; /* tensors, one per input of the kernel */
	int output;	   /* tensor */
	/* in a plan with a loop: the variable that its turns divide, or
	 * CUT_NONE */
	int time;
} plan_node;

/* A tensor in one layout: as stored, as a node reads it, or as a node produces
 * it. */
typedef struct plan_buffer {
	int tensor;
	layout_kind region;
	int node; /* -1 for LAYOUT_STORED */
	/* in the arena; the size on the worker that has most */
	int64_t offset, nbytes;
	int turn; /* of the loop if there is one, see plan_unroll() */
	/* In a stage of a pipeline: the number of its places, one after the
	 * other, all aligned; turn t uses number t % slots.  They belong to the
	 * buffer for the whole body. 0: it has one place, which it holds only
	 * from its writing to its last reading, as in any other plan. */
	int slots;
} plan_buffer;

typedef enum plan_op {
	PLAN_RUN,     /* runs node on buffers `inputs', result to buffer `to' */
	/* fills each worker's part of `to' from the owners' parts of `from',
	 * two buffers of one tensor; or copies the stored block of a state's
	 * `next' to the state's */
	PLAN_MOVE,
	/* reduces each worker's share in `to' from the partial results of node
	 * in all workers' `from' */
	PLAN_COMBINE,
	/* copies the turn's part of an input from what the run is fed to its
	 * stored block, `to' */
	PLAN_FEED,
	/* sends `from', a stored block, to another stage of the pipeline on
	 * `channel'; `to' equals `from' */
	PLAN_SEND,
	PLAN_RECEIVE, /* receives `to', a stored block, from another stage */
} plan_op;

typedef struct plan_instr {
	plan_op op;
	int node;	   /* RUN, COMBINE */
	const int *inputs; /* RUN: buffers, one per input of the kernel; each
			      covers all reads of the input */
	int from;	   /* MOVE, COMBINE, SEND */
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

/* A loop over time: the batch is divided into turns.  Instructions [begin, end)
 * are the body, which runs once for each turn; those before and after it run
 * once. turns is 0 if there is no loop. */
typedef struct plan_loop {
	int turns;
	int64_t batch;
	int begin, end;
	bool statistics; /* results depend on the number of turns */
} plan_loop;

/* A stage of a pipeline (plan/pipeline.h) divides its body into segments.  Each
 * segment runs for one turn after another, in order; between two segments of a
 * turn, segments of other turns may run.  The order is the stage's schedule. */
typedef enum plan_pass { PASS_FORWARD, PASS_BACKWARD, PASS_WEIGHT } plan_pass;

typedef struct plan_segment {
	plan_pass pass;
	int chunk; /* which group of the stage's layers, if it has several */
	/* instructions; begin is the end of the segment before */
	int begin, end;
} plan_segment;

/* A part of the order: these segments, repeated `times' times. */
typedef struct plan_tasks {
	int times, ntasks;
	const int *tasks;
} plan_tasks;

typedef struct plan_stage {
	int nsegments, nruns;
	const plan_segment *segments; /* together the body */
	const plan_tasks *runs;
} plan_stage;

/* For segments i and j >= i, at [i * nsegments + j], in tmp: the most turns in
 * flight at one time that have begun i and not ended j. 0 if j would run for a
 * turn before i. */
int *plan_turns_between(arena *tmp, const plan_stage *s);

/* The machine for which a plan was made, if it was given, and the times
 * expected on it. */
typedef struct plan_prediction {
	const char *machine; /* its name; NULL: no machine was given */
	/* its file, as this process can open it; NULL: a machine that tdlc
	 * knows by name */
	const char *topology;
	double seconds; /* of a run */
	int64_t batch;	/* samples per run; 0: not known */
} plan_prediction;

/* The program of a plan, and the invariants that plan_check() establishes.
 *
 * Workers run the program in step only as far as transfers tie them: a piece is
 * read once its owner has written it, and the source of a transfer is
 * overwritten only when all have read it.
 *
 * The program is static: at most one instruction writes a buffer, and none
 * writes constants and inputs.  Two buffers overlap in the arena only if,
 * throughout the lifetime of one, from its first write to its last use, the
 * other is not in use.  The one exception is a run in place: the buffer `to'
 * may have exactly the place of an input whose last use is this run, if
 * kernel_in_place() allows it and both regions are equal.
 *
 * In a loop this holds as if each turn had buffers of its own for what the body
 * writes; they reuse the places of the turn before.  An output that time
 * divides is handed out as soon as its stored block is written.
 *
 * When a run begins, a state has its value in the buffer of its stored block.
 * The value for the next run gets there in one of two ways: the stored block of
 * `next' has exactly the same place, or one MOVE copies it there after the last
 * reader of the old value. */
typedef struct plan {
	const char *model, *algorithm;
	mesh mesh;
	plan_loop loop;
	/* its schedule if it is a stage of a pipeline; NULL */
	const plan_stage *stage;
	/* Set by plan_unroll() and plan_in_order(): the instructions of the
	 * turns. */
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
	/* an output and an input of one element each, or -1 */
	int loss, learning_rate;
	/* a state of one element that decreases in a step which leaves the
	 * other states unchanged; -1 */
	int loss_scale;
	/* States that grow, such as a KV cache: they hold `length' entries, of
	 * which runs write more, and the input `position', one integer, says
	 * how many there are so far. 0: there are no such states. */
	int64_t length;
	int position;
	/* of the file's bytes, including its own weights, and those in other
	 * files by their checksums; 0 for a plan that was not read */
	uint64_t digest;
	plan_prediction predicted;
	int nfolds;
	plan_fold *folds;
	int nfixed;
	/* the weights that are not states, which training runs therefore cannot
	 * change */
	const char **fixed;
	int64_t arena_bytes;   /* of each worker */
	/* on each GPU, beside the arenas: copies of operands for library
	 * products (plan/gemm.h) */
	int64_t copies_bytes;
	/* on each worker of a processor, beside its arena: packed factors
	 * (plan/kept.h) */
	int64_t kept_bytes;
	int64_t communication_bytes; /* received by all workers in one run */
} plan;

/* For people: the name of an instruction's node or tensor, and a word for its
 * action, "run", "all-gather", .. */
const char *plan_instr_name(const plan *p, const plan_instr *in);
const char *plan_instr_kind(const plan_instr *in);

/* The layout of a buffer; borrows from p. */
layout plan_layout(const plan *p, const plan_buffer *b);

/* The region of its tensor that a worker holds in a buffer. */
region plan_region(const plan *p, int buffer, int worker);
region plan_region_at(const plan *p, const plan_buffer *b, const int *coords);

/* The part of its node's iteration space that a worker computes in a RUN. */
box plan_space(const plan *p, const plan_instr *run, int worker);

/* Whether a RUN would copy a buffer onto itself, so that there is nothing to
 * do. */
bool plan_is_idle(const plan *p, const plan_instr *run);

/* For each instruction i, in a, the epilogue of the kernel of RUN i + 1 by
 * which RUNs i and i + 1 are computed together; -1 if they are not.  They can
 * be if only i + 1 reads the result of i, at its own index, both are divided
 * alike, and no run joined before reads what i + 1 writes.  `find' returns the
 * number of an epilogue of a kernel, -1 if the kernel does not have it. */
typedef int plan_find_epilogue(void *arg, int kernel, const plan_epilogue *e);
int *plan_joined(arena *a, const plan *p, plan_find_epilogue *find, void *arg);

/* The same with the epilogues that the kernels have. */
int *plan_epilogues(arena *a, const plan *p);

/* The reducer that combines a node's partial results.  RED_NONE if there are
 * none: no axis cuts a reduction variable or passes partial inputs on. */
reducer plan_partial(const plan *p, int node);

/* Whether a node's partial results are combined, along some axes, before they
 * are stored. */
bool plan_combines(const plan *p, int node);

/* The transfer of a MOVE or COMBINE; borrows from p. */
layout_transfer plan_transfer(const plan *p, const plan_instr *in);

/* The pieces of the transfer that a worker receives (transfer_pieces()). */
int plan_pieces(arena *a, const plan *p, const plan_instr *in, int worker,
		piece **pieces);

/* Whether a buffer's content outlives the instructions that use it: it is the
 * stored block of an input, constant or state, of an output, or of a state's
 * next value. */
bool plan_is_kept(const plan *p, int buffer);

/* Bytes from the beginning of a buffer's first place to the end of its last;
 * from the beginning of one place to that of the next. */
int64_t plan_buffer_span(const plan_buffer *b);
int64_t plan_buffer_stride(const plan_buffer *b);

/* Whether, in a plan with a loop, a tensor's buffer has each turn's part
 * only. */
bool plan_in_turns(const plan *p, int tensor);

/* Whether instruction i of an unrolled plan (plan_unroll()) writes a turn's
 * part of an output, which is then copied to the whole output. */
bool plan_hands_out(const plan *p, int i);

/* The end of the bucket of instruction i: one past the last instruction that
 * follows i in its turn with the same bucket number, if that is not 0; else i +
 * 1.  A bucket is executed as a whole: COMBINEs with one reducer and one
 * element type, then perhaps MOVEs that spread their results.  All sources of
 * the COMBINEs exist when the bucket begins; everything it reads and writes is
 * in use from its beginning to its end. */
int plan_bucket_end(const plan *p, int i);

/* The end of what is executed as a whole with instruction i: its bucket or its
 * chain (plan/chain.h); i + 1 if it is in neither. */
int plan_step_end(const plan *p, int i);

/* The end of the instructions in that range that follow i and have the same
 * op. */
int plan_phase_end(const plan *p, int i);

/* The number of buckets; *reductions receives the number of their COMBINEs. */
int plan_buckets(const plan *p, int *reductions);

/* The bucket in which a tensor's partial results are combined; 0 if none. */
int plan_bucket_of(const plan *p, int tensor);

/* Bytes received by all workers in one run, all turns. */
int64_t plan_communication(const plan *p);

/* The greatest number of blocks that have work if the kernel computes the part
 * `space': the product of the numbers of tiles.  Any number of blocks gives the
 * same result. */
int64_t plan_launch_items(const plan_kernel *k, const box *space);

int64_t plan_tensor_nelem(const plan_tensor *t);
int64_t plan_tensor_nbytes(const plan_tensor *t);

/* ---- files ------------------------------------------------------------- */

/* Reads a plan file and checks it; nothing in it is trusted.  Returns NULL
 * after adding errors. */
plan *plan_read(arena *a, diag_sink *s, const char *path);
/* The same for len bytes of text. path is for messages; paths in the plan are
 * relative to its folder. */
plan *plan_parse(arena *a, diag_sink *s, const char *path, const char *text,
		 size_t len);

/* The text of a plan to be written to `path', *len bytes, in a.  Equal plans
 * give equal bytes. */
char *plan_text(arena *a, const plan *p, const char *path, size_t *len);
/* Whether plan_parse() would accept a text of this size: that of p, len
 * bytes. */
bool plan_is_readable(const plan *p, const char *text, size_t len);
/* Writes a plan file atomically; false with errno set. */
bool plan_write(const plan *p, const char *path);

/* The checks of plan_parse() after the syntax: indices, kinds, types, order,
 * places in the arena.  Adds errors for the file `path'. */
bool plan_check(const plan *p, diag_sink *s, const char *path);

/* Checks the regions of one worker: they fit their buffers, and the inputs of
 * every run cover all that it reads. */
bool plan_check_worker(const plan *p, int worker, diag_sink *s,
		       const char *path);

/* ---- constants --------------------------------------------------------- */

/* Reads all elements of a constant that has some, of a state before the first
 * run, or of an input's default into `whole', plan_tensor_nbytes() bytes.
 * Checks the CRC of elements from a file.  Returns false after adding an
 * error. */
bool plan_constant_read(const plan *p, int tensor, void *whole, diag_sink *s);

/* The constant that holds the elements of a tensor without elements of its own;
 * otherwise the tensor itself. */
int plan_constant_of(const plan *p, int tensor);

/* Writes the elements in a box of a constant that is not in a file to `to',
 * dense and row-major.  A random element depends only on the key and on its
 * row-major number in the tensor, so that every division gets the same
 * values. */
void plan_constant_box(const plan_tensor *t, const box *at, void *to);

/* The first tensor with a buffer that folds compute, directly or through
 * others, from a tensor; -1 if there is none. */
int plan_folded_to(arena *tmp, const plan *p, int tensor);

/* The CRC-32 of a part of a file.  Returns false after adding an error. */
bool plan_file_crc(const char *path, int64_t offset, int64_t nbytes,
		   uint32_t *crc, diag_sink *s);

/* ---- other plans from a plan ------------------------------------------- */

/* The same program for one worker, in a: no cuts, no transfers, memory placed
 * anew.  Tensors, nodes and kernels keep their numbers. */
plan *plan_one_device(arena *a, const plan *p);

/* The same with the whole batch as one turn; with p's number of turns if
 * results depend on it. */
plan *plan_one_turn(arena *a, const plan *p);

/* The program without a loop, as it is run and checked; p itself if there is no
 * loop.  Has the body once for each turn, or, if there are more than `most'
 * turns, for the first ones and the last.  Each turn has buffers of its own in
 * the places of p's.  Tables keep their rows; new buffers come after p's; a
 * tensor's stored block is that of the last turn.  A stage has all turns,
 * whatever `most' is, in the order of its schedule, and each turn's slot as its
 * only place. */
const plan *plan_unroll(arena *a, const plan *p, int most);

/* Whether an instruction of the body may move different numbers of bytes in
 * different turns: the turns have different numbers of samples, or the
 * instruction transfers the turn's part of a tensor that time does not
 * divide. */
bool plan_turns_differ(const plan *p, const plan_instr *in);

/* An instruction of the body as executed in a turn; sets the turn of the
 * buffers of p that it uses. */
plan_instr plan_instr_in_turn(plan *p, const plan_instr *in, int turn);

/* The row in p's program of instruction i of u, which is plan_unroll() of p. */
int plan_unrolled_row(const plan *p, const plan *u, int i);

/* The same for checking a stage by itself, whose schedule runs segments of
 * other turns in between: all of one turn after another.  Buffers keep their
 * slots; the copies of a buffer with slots have -1 of them. */
const plan *plan_in_order(arena *a, const plan *p, int most);

/* The row in p's program of instruction i of plan_in_order(a, p, most). */
int plan_rolled_instr(const plan *p, int most, int i);
/* The same for a buffer. */
int plan_rolled_buffer(const plan *p, int b);

/* Gives every buffer its place in the arena; sets offsets and arena_bytes.  The
 * buffers' sizes are set before.  Returns the most bytes in use at once, a
 * lower bound for every placement. */
int64_t plan_place(plan *p);

#endif
