/* Checkpoints: the states and the position of a training run, in a folder, one
 * file per step at which a checkpoint was written.
 *
 * A file is an .npz of whole arrays by their names, so that it restores exactly
 * on any number of workers, and one array of bytes, CHECKPOINT_NOTE, that holds
 * a JSON object, the `position`.  It is written under another name, flushed to
 * the disk, and renamed, so that a file with its own name is always complete,
 * whenever the process was killed. */
#ifndef TDL_RUNTIME_RUN_CHECKPOINT_H
#define TDL_RUNTIME_RUN_CHECKPOINT_H

#include "runtime/exec/executor.h"

#define CHECKPOINT_NOTE "tdlrun.checkpoint"

/* The position of a run, in steps and in its data. */
typedef struct position {
	int64_t step;		 /* steps done, over all epochs */
	int64_t epoch, in_epoch; /* epochs done; steps done of the next one */
	int64_t samples, batch;	 /* of the data, of a step */
	bool shuffle;
	int64_t seed;
	/* The sum of those losses of this epoch so far that are not NaN, and
	 * their number. */
	double loss;
	int64_t losses;
} position;

/* A folder that this run alone writes checkpoints to.  `keep` of them are kept,
 * the newest; 0: all.  The folder is made if there is none, and files that a
 * killed run left incomplete are removed.  Of several processes one leads,
 * opens it first, and writes.  NULL, with *f set, on failure. */
typedef struct checkpoints checkpoints;
checkpoints *checkpoints_open(arena *a, const char *folder, bool leads,
			      int64_t keep, failure *f);
void checkpoints_close(checkpoints *c);

/* The path of the newest one; NULL if there is none. */
const char *checkpoints_newest(const checkpoints *c);

/* Writes one, a collective call of all processes, and removes those in excess
 * of `keep'. */
bool checkpoints_write(checkpoints *c, executor *m, const plan *p,
		       const position *at, failure *f);

/* Restores the newest one.  It must have exactly the states of the plan, and be
 * complete; if it is not, the failure names an older one that is. */
bool checkpoints_restore(checkpoints *c, executor *m, const plan *p,
			 position *at, failure *f);

/* The file itself, or the newest checkpoint of a folder, in a; NULL with *f set
 * where there is none. */
const char *checkpoint_path(arena *a, const char *path, failure *f);

/* Gives the plan's states the values that they have in a file, or in the newest
 * checkpoint of a folder.  A state that a run changes, such as a counter or an
 * optimizer's moment, may be missing there, and keeps its value; a state that
 * no run changes, such as a weight that is not trained, has to be there.  Other
 * arrays in the file are ignored. */
bool checkpoint_load(executor *m, const plan *p, const char *path, failure *f);

#endif
