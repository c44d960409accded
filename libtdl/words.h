/* Words that options of searches accept, for completion: arrays that end with
 * NULL, in the arena or constant. */
#ifndef TDL_LIBTDL_WORDS_H
#define TDL_LIBTDL_WORDS_H

#include <stdbool.h>

#include "base/arena.h"

extern const char *const words_auto[];
extern const char *const words_of_stages[];

/* The planners and auto; with `pipelines' also those of whole pipelines. */
const char *const *words_of_planners(arena *a, bool pipelines);

/* The algorithms that place operators: all, or those that `compare' runs. */
const char *const *words_of_placers(arena *a, bool all);

/* Planners and placing algorithms: the planners compare a model, the placing
 * algorithms a cost graph. */
const char *const *words_of_compared(arena *a);

/* The machines known by name. */
const char *const *words_of_machines(arena *a);

/* The schedules of pipelines; with `automatic' also auto. */
const char *const *words_of_schedules(arena *a, bool automatic);

#endif
