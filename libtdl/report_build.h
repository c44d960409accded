/* The parts of a report, for report.c alone. */
#ifndef TDL_LIBTDL_REPORT_BUILD_H
#define TDL_LIBTDL_REPORT_BUILD_H

#include "base/json.h"
#include "compiler/lower/cost.h"
#include "libtdl/stages_view.h"

enum { REPORT_MOST_WORKERS = 256 };

typedef struct report {
	arena *a;
	const plan *p;
	/* p with its loop unrolled; p itself if it has none */
	const plan *flat;
	const topology *machine;
	layout_classes *classes;
	/* By instruction of flat: its row in p, its seconds, the instant at
	 * which it ends, the bytes that all workers receive. */
	int *row;
	double *seconds, *end;
	int64_t *received;
	lower_times times; /* per step: run, computation, communication */
	const stages_view *stages; /* if p is one of several stages; NULL */
} report;

/* Sets rows, seconds and ends of stage s, whose p and flat are set, from the
 * simulated step. */
void report_set_instants(report *r, const stages_view *v, int s);

/* The node for which an instruction of p runs: a transfer's reader, or the
 * producer of what it moves; -1: neither, for an input or a state that nobody
 * reads yet. */
int report_node_of(const plan *p, const plan_instr *in);

/* By operator: names, strategies, costs, and alternatives. */
json_t *report_operators(const report *r);

/* The operators, and the tensors, of repeated blocks: [{"name", "members"}]. */
json_t *report_operator_blocks(const report *r);
json_t *report_tensor_blocks(const report *r);

/* [{"name", "transfers", "bytes", "seconds"}] */
json_t *report_collectives(const report *r);

/* Sets "links", bytes by level of the machine, and "received", by receiver and
 * sender; null for many workers. */
void report_set_traffic(const report *r, json_t *to);

/* Sets "received" of a report with several stages, which already has each
 * stage's: the same for the devices of all stages, with the messages between
 * these. */
void report_set_stages_traffic(const plan_pipeline *p, json_t *to);

/* The program's instructions; when each runs; the memory in use. */
json_t *report_program(const report *r);
json_t *report_timeline(const report *r);
json_t *report_memory(const report *r);

/* For each axis the divided variable, or null. */
json_t *report_strategy(const report *r, const plan_node *n, const cuts *c);

#endif
