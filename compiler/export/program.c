/* The files of a program: those that are the same for all plans, the constants,
 * the Makefile. */
#include "config.h"

#include "compiler/export/program.h"

#include <inttypes.h>
#include <string.h>

#include "base/vec.h"
#include "compiler/export/program_files.h"

/* Bytes. */
#define MOST_CONSTANTS (INT64_C(1) << 34)

typedef VEC(program_file) files;

static void add(arena *a, files *to, const char *name, const char *data,
		size_t len)
{
	program_file f = { arena_strdup(a, name), data, len };
	vec_push(a, to, f);
}

static void add_text(arena *a, files *to, const char *name, const char *text)
{
	add(a, to, name, text, strlen(text));
}

static const char makefile[] =
	"# Builds the program `plan' from the plan's source.\n"
	"NVCC = nvcc\n"
	"NVCCFLAGS = -O3 -arch=native\n"
	"\n"
	"objects = main.o plan.o transfer.o%s\n"
	"\n"
	"plan: $(objects)\n"
	"\t$(NVCC) $(NVCCFLAGS) -o $@ $(objects)\n"
	"\n"
	"# A product and a sum are one operation only where the text says so.\n"
	"%%.o: %%.cu boxes.h program.h tdl/cuda.h\n"
	"\t$(NVCC) $(NVCCFLAGS) --fmad=false -std=c++17 \\\n"
	"		--diag-suppress 177 -I. -c -o $@ $<\n"
	"\n"
	"clean:\n"
	"\trm -f plan $(objects)\n"
	"\n"
	".PHONY: clean\n";

/* Writes the elements of all tensors that exist before the first step, one
 * after the other in the order of numbers. */
static bool add_constants(arena *a, const plan *p, files *to, diag_sink *s)
{
	int64_t nbytes = 0;
	for (int t = 0; t < p->ntensors; t++)
		if (p->tensors[t].buffer >= 0 &&
		    p->tensors[t].constant.kind != PLAN_CONST_NONE)
			nbytes += plan_tensor_nbytes(&p->tensors[t]);
	if (nbytes > MOST_CONSTANTS) {
		diag_error_in(s, DIAG_TOO_LARGE, p->model, "the program would "
			      "have %" PRId64 " bytes of constants", nbytes);
		return false;
	}
	char *data = arena_alloc(a, (size_t)nbytes + 1), *at = data;
	for (int t = 0; t < p->ntensors; t++) {
		if (p->tensors[t].buffer < 0 ||
		    p->tensors[t].constant.kind == PLAN_CONST_NONE)
			continue;
		if (!plan_constant_read(p, t, at, s))
			return false;
		at += plan_tensor_nbytes(&p->tensors[t]);
	}
	add(a, to, "constants.bin", data, (size_t)nbytes);
	return true;
}

/* Whether the program's own code combines partial results of a type. */
static bool combines(dtype t)
{
	return t == DT_BOOL || (dtype_bits(t) >= 8 && dtype_is_int(t)) ||
	       (dtype_bits(t) >= 16 && dtype_is_float(t));
}

static bool has_no_loop(const plan *p, diag_sink *s)
{
	if (p->loop.turns == 0)
		return true;
	diag_error_in(s, DIAG_NO_CUDA, p->model, "a CUDA program cannot run a "
		      "plan with micro-batches");
	return false;
}

static bool has_transfers(const plan *p, diag_sink *s)
{
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		dtype t = p->tensors[p->buffers[in->to].tensor].type;
		if (in->op != PLAN_COMBINE || combines(t))
			continue;
		diag_error_in(s, DIAG_NO_CUDA, p->model, "partial results of "
			      "type %s, as those of '%s', are not combined by "
			      "such a program", dtype_name(t),
			      p->nodes[in->node].name);
		return false;
	}
	return true;
}

static bool has_cuda(const plan *p, diag_sink *s)
{
	for (int i = 0; i < p->nnodes; i++) {
		const plan_kernel *k = &p->kernels[p->nodes[i].kernel];
		if (k->cuda)
			continue;
		diag_error_in(s, DIAG_NO_CUDA, p->model, "operator '%s' (%s) "
			      "is computed by the opaque function '%s', which "
			      "has no source", p->nodes[i].name,
			      p->nodes[i].op, k->kernel->opaque ?
			      k->kernel->opaque : k->kernel->name);
		return false;
	}
	return true;
}

bool program_of(arena *a, const plan *p, diag_sink *s, program *to)
{
	files all = { 0 };
	const char *objects = "", *text;
	if (!has_no_loop(p, s) || !has_cuda(p, s) || !has_transfers(p, s) ||
	    !add_constants(a, p, &all, s))
		return false;
	for (int i = 0; i < header_count; i++) {
		const char *name = headers[i].name, *slash;
		/* program/main.cu goes to the top folder. */
		slash = strncmp(name, "tdl/", 4) ? strrchr(name, '/') : NULL;
		add_text(a, &all, slash ? slash + 1 : name, headers[i].text);
	}
	add_text(a, &all, "plan.cu", program_plan(a, p));
	for (int n = 0; (text = program_kernels(a, p, n)); n++) {
		add_text(a, &all, arena_printf(a, "kernels%d.cu", n), text);
		objects = arena_printf(a, "%s kernels%d.o", objects, n);
	}
	add_text(a, &all, "Makefile", arena_printf(a, makefile, objects));
	*to = (program){ all.n, all.at };
	return true;
}
