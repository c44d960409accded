/* The kernels of one operator for given shapes and attributes. */
#include "config.h"

#include "libtdl/emit.h"

#include <ctype.h>
#include <string.h>

#include "compiler/codegen/codegen.h"
#include "libtdl/explain.h"

/* The operator that is asked for, or the only one. */
static const ast_op *find_op(job *d, const emit_request *r,
			     const emit_input *in, cli_status *status)
{
	const ast_op *found = NULL;
	int nops = 0;
	for (int i = 0; i < in->n; i++)
		for (int j = 0; j < in->own[i]->ndefs; j++) {
			const ast_def *def = &in->own[i]->defs[j];
			if (def->kind != DEF_OP || def->op->grad_of ||
			    (r->op && strcmp(def->op->name, r->op) != 0))
				continue;
			found = def->op;
			nops++;
		}
	*status = CLI_USAGE;
	if (r->op && !nops)
		cli_usage(&d->program, "there is no operator '%s'", r->op);
	else if (nops > 1)
		cli_usage(&d->program, "there are several operators; %s says "
			  "which one", job_option(d, "op"));
	else if (!nops)
		cli_usage(&d->program, "there is no operator");
	return nops == 1 ? found : NULL;
}

static char *identifier(arena *a, const char *name)
{
	char *s = arena_strdup(a, name);
	for (char *c = s; *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_';
	return s;
}

/* The lines of a text as comments. */
static char *comment(arena *a, const char *text)
{
	char *out = arena_strdup(a, "");
	for (const char *line = text, *end; *line; line = end) {
		int n = (int)strcspn(line, "\n");
		out = arena_printf(a, "%s//%s%.*s\n", out, n ? " " : "", n,
				   line);
		end = line + n + (line[n] == '\n');
	}
	return out;
}

static char *op_comment(arena *a, const ast_op *op)
{
	const char *signature = dsl_signature_text(a, op);
	return comment(a, op->doc ? arena_printf(a, "%s\n\n%s", signature,
						 op->doc)
				  : signature);
}

static char *launch_comment(arena *a, const kernel *k, const plan_launch *l)
{
	char *s = arena_printf(a, "// %d threads; tiles:", l->threads);
	for (int i = 0; i < l->ntiles; i++) {
		int v = l->tiles[i].var;
		s = arena_printf(a, "%s%s %lld of %s", s, i ? "," : "",
				 (long long)l->tiles[i].of,
				 v < 0 ? "the result" : k->vars[v].name);
	}
	return arena_printf(a, "%s\n", s);
}

static char *cuda_kernel(arena *a, const kernel *k)
{
	plan_launch launch;
	const char *source = codegen_cuda(a, k, &launch);
	return arena_printf(a, "\n%s%s%s",
			    codegen_cuda_words(a, k, identifier(a, k->name),
					       64),
			    launch_comment(a, k, &launch), source);
}

static char *c_kernel(arena *a, const kernel *k)
{
	const char *name = identifier(a, k->name);
	return arena_printf(a, "\n#undef TDL_KERNEL\n#define TDL_KERNEL %s\n"
			    "#undef TDL_PART\n#define TDL_PART(x) %s_##x\n%s",
			    name, name, codegen_c(a, k));
}

char *emit_kernels(job *d, const emit_request *r, const emit_input *in,
		   cli_status *status)
{
	bool cuda = r->emit == EMIT_CUDA;
	arena *a = d->arena;
	const ast_op *op = find_op(d, r, in, status);
	explain_request e = { .modules = in->modules, .op = op,
			      .shapes = r->shapes, .defines = r->defines };
	const attr_value **attrs = op ? explain_attrs(d, &e, status) : NULL;
	tensor_type *types =
		attrs ? explain_params(d, &e, attrs, status) : NULL;
	expansion *x = types ? explain_expand(d, &e, types, attrs) : NULL;
	if (types && !x)
		*status = CLI_INPUT;
	if (!x)
		return NULL;
	char *text = arena_printf(a, "%s\n#include \"tdl/%s.h\"\n",
				  op_comment(a, op),
				  cuda ? "cuda" : "kernels");
	for (int i = 0; i < x->nstages; i++) {
		const kernel *k = x->stages[i].kernel;
		if (!k->opaque)
			text = arena_printf(a, "%s%s", text,
					    cuda ? cuda_kernel(a, k)
						    : c_kernel(a, k));
		else
			text = arena_printf(a, "%s\n// %s is a call of %s()\n",
					    text, k->name, k->opaque_symbol);
	}
	*status = CLI_OK;
	return text;
}
