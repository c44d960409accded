/* Words that options of searches may have as values, for completion: arrays
 * that end in NULL, in the arena or constant. */
#ifndef TDL_LIBTDL_WORDS_H
#define TDL_LIBTDL_WORDS_H

#include <stdbool.h>

#include "base/arena.h"

extern const char *const words_auto[];
extern const char *const words_of_stages[];

/* The planners and auto, and those of whole pipelines. */
const char *const *words_of_planners(arena *a, bool pipelines);

/* The algorithms that place operators; all, or those that are compared. */
const char *const *words_of_placers(arena *a, bool all);

/* Both, of which a model is compared by the planners, a cost graph by the
 * algorithms that place operators. */
const char *const *words_of_compared(arena *a);

/* The machines that are known by name. */
const char *const *words_of_machines(arena *a);

/* The schedules of pipelines, and auto. */
const char *const *words_of_schedules(arena *a, bool automatic);

#endif
