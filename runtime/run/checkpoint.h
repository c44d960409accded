/* Checkpoints: the states and the position of a training run, in a folder with
 * one file per checkpointed step.
 *
 * A file is an .npz of whole arrays by name, so that it restores exactly on any
 * number of workers, plus an array of bytes, CHECKPOINT_NOTE, that holds the
 * `position' as a JSON object.  It is written under another name, flushed to
 * the disk, and renamed, so that a file with its own name is always complete,
 * whenever the process was killed. */
#ifndef TDL_RUNTIME_RUN_CHECKPOINT_H
#define TDL_RUNTIME_RUN_CHECKPOINT_H

#include "runtime/exec/executor.h"

#define CHECKPOINT_NOTE "tdlrun.checkpoint"

/* The position of a run, in steps and in its data. */
typedef struct position {
	int64_t step;		 /* steps done, over all epochs */
	int64_t epoch, in_epoch; /* epochs done; steps done in the next one */
	int64_t samples, batch;	 /* in the data; per step */
	bool shuffle;
	int64_t seed;
	/* The sum, and the number, of this epoch's losses so far that are not
	 * NaN. */
	double loss;
	int64_t losses;
} position;

/* A folder of checkpoints that only this run writes to; it keeps the newest
 * `keep' of them, 0: all.  The folder is created if missing, and incomplete
 * files of a killed run are removed.  Of several processes one leads: it opens
 * the folder first, and writes.  NULL, with *f set, on failure. */
typedef struct checkpoints checkpoints;
checkpoints *checkpoints_open(arena *a, const char *folder, bool leads,
			      int64_t keep, failure *f);
void checkpoints_close(checkpoints *c);

/* The path of the newest checkpoint; NULL if there is none. */
const char *checkpoints_newest(const checkpoints *c);

/* Writes a checkpoint, and removes those in excess of `keep'.  Collective. */
bool checkpoints_write(checkpoints *c, executor *m, const plan *p,
		       const position *at, failure *f);

/* Restores the newest checkpoint.  It must be complete and have exactly the
 * plan's states; if not, the failure names an older one that is good. */
bool checkpoints_restore(checkpoints *c, executor *m, const plan *p,
			 position *at, failure *f);

/* The path itself if it is a file, or the newest checkpoint in a folder; in a.
 * NULL with *f set if there is none. */
const char *checkpoint_path(arena *a, const char *path, failure *f);

/* Sets the plan's states from a file, or from the newest checkpoint in a
 * folder.  A state that a run changes, such as a counter or an optimizer's
 * moment, may be missing, and keeps its value.  A state that no run changes,
 * such as a weight that is not trained, must be there.  Other arrays in the
 * file are ignored. */
bool checkpoint_load(executor *m, const plan *p, const char *path, failure *f);

#endif
