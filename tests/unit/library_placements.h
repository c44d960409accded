/* Calls of the functions of tdl.h about placements, for library_calls. */
#ifndef TDL_TESTS_UNIT_LIBRARY_PLACEMENTS_H
#define TDL_TESTS_UNIT_LIBRARY_PLACEMENTS_H

#include "tests/unit/library_world.h"

/* The files of the calls, besides tiny.tdl: name and text, of the world's
 * folder; the last has no name. */
typedef struct library_file {
	const char *name, *text;
} library_file;

extern const library_file library_costs[];

/* Writes the file a.trace: a step of the world's plan, whose text is known, in
 * which nothing but one instruction was measured. */
void library_put_trace(const library_world *w);

/* A placement of tiny.tdl. */
tdl_placement *library_placed(library_world *w);

/* Searches, with the report as JSON and as text: an algorithm of the table,
 * stages, chunks, loads, PipeDream's stages, replicas, tensor degrees. */
bool placement_whole(library_world *w);
bool placement_stages(library_world *w);
bool placement_chunks(library_world *w);
bool placement_load(library_world *w);
bool placement_pipedream(library_world *w);
bool placement_capture(library_world *w);
bool placement_piper(library_world *w);

/* Questions about the placement of the world. */
bool placement_report(library_world *w);
bool placement_text(library_world *w);
bool placement_chart(library_world *w);

bool placement_compare(library_world *w);
bool placement_score(library_world *w);

/* A model is measured layer by layer; the file adds up. */
bool library_profile(library_world *w);

#endif
