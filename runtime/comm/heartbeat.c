#include "config.h"

#include "runtime/comm/heartbeat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char first_line[] = "tdlrun's notice 2";

static void print(FILE *to, const heartbeat *x, int n, const uint64_t *joined)
{
	fprintf(to, "%s\n%" PRIx64 " %" PRIx64 " %d\n", first_line, x->self,
		x->run, x->begun);
	fprintf(to, "%" PRId64 " %d %s\n", x->beat, x->status, x->host);
	fprintf(to, "%" PRId64, x->met);
	for (int i = 0; i < HEARTBEAT_KEPT; i++)
		fprintf(to, " %" PRId64 " %" PRId64, x->brought[i].at,
			x->brought[i].value);
	fprintf(to, "\n%" PRId64 " %d %d %" PRId64 "\n%d\n", x->steps,
		x->waits, x->at, x->place, n);
	for (int i = 0; i < n; i++)
		fprintf(to, "%" PRIx64 "\n", joined[i]);
	fprintf(to, "end\n");
}

/* Writes a new file and renames it, so that nobody sees half of it. */
bool heartbeat_write(const char *path, const heartbeat *x, int n,
		     const uint64_t *joined)
{
	char next[4096];
	int length = snprintf(next, sizeof(next), "%s.next", path);
	if (length >= (int)sizeof(next)) {
		errno = ENAMETOOLONG;
		return false;
	}
	FILE *to = fopen(next, "w");
	if (!to)
		return false;
	print(to, x, n, joined);
	bool good = !ferror(to);
	good = fclose(to) == 0 && good;
	return good && rename(next, path) == 0;
}

static bool scan(FILE *from, heartbeat *x, int n, uint64_t *joined)
{
	char line[32], end[8];
	int begun, waits, count;
	if (!fgets(line, sizeof(line), from) ||
	    strncmp(line, first_line, sizeof(first_line) - 1) != 0)
		return false;
	if (fscanf(from, "%" SCNx64 " %" SCNx64 " %d", &x->self, &x->run,
		   &begun) != 3 ||
	    fscanf(from, "%" SCNd64 " %d %63s", &x->beat, &x->status,
		   x->host) != 3 ||
	    fscanf(from, "%" SCNd64, &x->met) != 1)
		return false;
	for (int i = 0; i < HEARTBEAT_KEPT; i++)
		if (fscanf(from, "%" SCNd64 " %" SCNd64, &x->brought[i].at,
			   &x->brought[i].value) != 2)
			return false;
	if (fscanf(from, "%" SCNd64 " %d %d %" SCNd64 " %d", &x->steps, &waits,
		   &x->at, &x->place, &count) != 5)
		return false;
	x->begun = begun;
	x->waits = waits;
	for (int i = 0; i < count; i++) {
		uint64_t id;
		if (fscanf(from, "%" SCNx64, &id) != 1)
			return false;
		if (i < n)
			joined[i] = id;
	}
	return fscanf(from, "%7s", end) == 1 && !strcmp(end, "end");
}

bool heartbeat_read(const char *path, heartbeat *x, int n, uint64_t *joined)
{
	FILE *from = fopen(path, "r");
	if (!from)
		return false;
	for (int i = 0; i < n; i++)
		joined[i] = 0;
	bool good = scan(from, x, n, joined);
	fclose(from);
	return good;
}

/* The unrolled program of a worker's stage; NULL if it has no instruction
 * `at'. */
static const plan *program_of(const plan_pipeline *p, int worker, int at,
			      int *stage)
{
	int number;
	*stage = 0;
	if (!p || worker >= pipeline_first(p, p->nstages))
		return NULL;
	*stage = pipeline_stage_of(p, worker, &number);
	const plan *of = &p->stages[*stage];
	return at >= 0 && at < of->ninstrs ? of : NULL;
}

static void instruction_text(const plan *p, int at, char *text, size_t n)
{
	const plan_instr *in = &p->program[at];
	bool message = plan_is_message(in);
	snprintf(text, n, "instruction %d (%s of '%s')", at,
		 message ? "message" : collective_name(in->collective),
		 p->tensors[p->buffers[in->to].tensor].name);
}

void place_text(const plan_pipeline *p, int worker, int64_t steps, int at,
		char *text, size_t n)
{
	int stage;
	const plan *of = program_of(p, worker, at, &stage);
	if (steps == 0) {
		snprintf(text, n, "before the first step");
		return;
	}
	int done = snprintf(text, n, "in step %" PRId64, steps);
	if (p && p->nstages > 1)
		done += snprintf(text + done, n - (size_t)done, " of stage %d",
				 stage);
	if (!of) {
		snprintf(text + done, n - (size_t)done,
			 ", before its first transfer");
		return;
	}
	done += snprintf(text + done, n - (size_t)done, ", after ");
	instruction_text(of, at, text + done, n - (size_t)done);
}

void awaited_text(const plan_pipeline *p, int worker, int at, char *text,
		  size_t n)
{
	int stage;
	const plan *of = program_of(p, worker, at, &stage);
	if (!of)
		snprintf(text, n, "the others at the end of it");
	else
		instruction_text(of, at, text, n);
}
