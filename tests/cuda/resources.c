#include "config.h"

#include "tests/cuda/resources.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/codegen/schedule.h"

const char *const archs[NARCHS] = {"sm_80", "sm_90", "sm_100"};

/* ---- classes ----------------------------------------------------------- */

static const char *const names[NCLASSES] = {
	[ON_CORES] = "products on tensor cores",
	[ON_CORES_TF32] = "products on tensor cores with `--tf32`",
	[IN_TILES] = "other products",
	[REDUCED] = "reductions",
	[SCATTERED] = "scatters",
	[SCANNED] = "scans",
	[GATHERED] = "maps, indices read from tensors",
	[MAPPED] = "other maps",
};

bool may_be_tf32(const char *text)
{
	return strstr(text, "tdl_tile_of<tdl_f32_factors") != NULL;
}

kernel_class class_of(const kernel *k, const char *text, bool tf32)
{
	if (may_be_tf32(text))
		return tf32 ? ON_CORES_TF32 : IN_TILES;
	if (strstr(text, "tdl_tile_of<"))
		return ON_CORES;
	if (strstr(text, "tdl_tile<"))
		return IN_TILES;
	switch (schedule_of(k).kind) {
	case SCHEDULE_MAP:
		return strstr(text, "tdl_index(") ? GATHERED : MAPPED;
	case SCHEDULE_SCATTER:
		return SCATTERED;
	case SCHEDULE_SCAN:
		return SCANNED;
	default:
		return REDUCED;
	}
}

/* ---- the assembler's log ------------------------------------------------ */

/* The number in front of a word of a line; 0 where it has none. */
static int number_before(const char *line, const char *word)
{
	const char *at = strstr(line, word);
	while (at && at > line && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return at ? atoi(at) : 0;
}

/* The figures of a kernel. */
typedef struct said {
	int kernel;		  /* its number; -1 */
	int stack, stores, loads; /* bytes */
} said;

static void count_registers(resources *r, const char *line, const said *s,
			    const compiled *c, int arch)
{
	int registers = number_before(line, " registers");
	int shared = number_before(line, " bytes smem");
	taken *t = &r->most[arch][c->class];
	if (registers > t->registers)
		t->registers = registers;
	if (shared > t->shared)
		t->shared = shared;
	if (r->report)
		fprintf(r->report,
			"%s, %s, %s: %d registers, %d bytes of "
			"shared memory, %d of stack, %d stored, %d loaded\n",
			c->k->name, names[c->class], archs[arch], registers,
			shared, s->stack, s->stores, s->loads);
}

/* Whether a line is what the assembler always says, which is counted. */
static bool is_harmless(resources *r, const char *line, said *s,
			const compiled *kernels, int n, int arch)
{
	const char *entry = strstr(line, "'tdl_kernel_");
	const compiled *c =
		s->kernel >= 0 && s->kernel < n ? &kernels[s->kernel] : NULL;
	if (strstr(line, "Compiling entry function") && entry) {
		*s = (said){.kernel = atoi(entry + strlen("'tdl_kernel_"))};
	} else if (c && strstr(line, "bytes stack frame, ")) {
		s->stack += number_before(line, " bytes stack frame");
		s->stores += number_before(line, " bytes spill stores");
		s->loads += number_before(line, " bytes spill loads");
		r->spilled[c->class] += s->stores + s->loads > 0;
		return s->stores + s->loads == 0;
	} else if (c && strstr(line, ": Used ")) {
		count_registers(r, line, s, c, arch);
	}
	return !*line || !strncmp(line, "ptxas", 5);
}

bool resources_add(resources *r, char *log, const compiled *kernels, int n,
		   int arch)
{
	char *save = NULL;
	said s = {.kernel = -1};
	bool ok = true;
	for (char *l = strtok_r(log, "\n", &save); l;
	     l = strtok_r(NULL, "\n", &save)) {
		if (is_harmless(r, l, &s, kernels, n, arch))
			continue;
		printf("%s, %s: %s\n",
		       s.kernel >= 0 ? kernels[s.kernel].k->name : "",
		       archs[arch], l);
		ok = false;
	}
	return ok;
}

/* ---- the table --------------------------------------------------------- */

void resources_print(const resources *r)
{
	for (int c = 0; c < NCLASSES; c++) {
		printf("| %s | %d |", names[c], r->nkernels[c]);
		for (int n = 0; n < NARCHS; n++)
			printf(" %d |", r->most[n][c].registers);
		for (int n = 0; n < NARCHS; n++)
			printf(" %d |", r->most[n][c].shared);
		printf(" %d |\n", r->spilled[c]);
	}
}
