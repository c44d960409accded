/* Checkpoints: the states of a training run and where it stands, in a folder,
 * one file per step at which it was written.
 *
 * A file is an .npz of whole arrays by their names, so that it restores
 * exactly on any number of workers, and one array of bytes, CHECKPOINT_NOTE,
 * that holds a JSON object: what `position` has.  It is written under another
 * name, flushed to the disk, and renamed, so that a file with its own name is
 * always whole, whenever the process was killed. */
#ifndef TDL_RUNTIME_CHECKPOINT_H
#define TDL_RUNTIME_CHECKPOINT_H

#include "runtime/machine.h"

#define CHECKPOINT_NOTE "tdlrun.checkpoint"

/* Where a run stands, and in what data. */
typedef struct position {
	int64_t step;		 /* steps done, over all epochs */
	int64_t epoch, in_epoch; /* epochs done; steps done of the next one */
	int64_t samples, batch;	 /* of the data, of a step */
	bool shuffle;
	int64_t seed;
	/* The sum of the losses of this epoch so far that are numbers, and
	 * how many these are. */
	double loss;
	int64_t losses;
} position;

/* A folder that this run alone writes checkpoints to.  `keep` of them are
 * kept, the newest; 0: all.  The folder is made where there is none, and what
 * a killed run left half written is removed.  Of several processes one leads,
 * opens it first, and writes.  NULL, with *f set, on failure. */
typedef struct checkpoints checkpoints;
checkpoints *checkpoints_open(arena *a, const char *folder, bool leads,
			      int64_t keep, failure *f);
void checkpoints_close(checkpoints *c);

/* The path of the newest one; NULL where there is none. */
const char *checkpoints_newest(const checkpoints *c);

/* Writes one, all processes alike, and removes what is not to be kept. */
bool checkpoints_write(checkpoints *c, machine *m, const plan *p,
		       const position *at, failure *f);

/* Restores the newest one.  It must have exactly the states of the plan, and
 * be whole; where it is not, the failure names an older one that is. */
bool checkpoints_restore(checkpoints *c, machine *m, const plan *p,
			 position *at, failure *f);

/* The file itself, or the newest checkpoint of a folder, in a; NULL with *f set
 * where there is none. */
const char *checkpoint_path(arena *a, const char *path, failure *f);

/* Gives the plan's states the values that they have in a file, or in the newest
 * checkpoint of a folder.  A state that a run changes may be missing there, as
 * a counter is, or what an optimizer keeps, and stays as it is; what no run
 * changes, as a weight where none is trained, has to be there.  What else the
 * file has does not matter. */
bool checkpoint_load(machine *m, const plan *p, const char *path, failure *f);

#endif
