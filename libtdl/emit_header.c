#include "config.h"

#include "libtdl/emit.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/stream.h"
#include "libtdl/describe.h"

/* The file's name without folder and suffix, as an identifier. */
static char *stem_of(arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	if (!strcmp(name, "-"))
		name = dot = "operators";
	size_t n = dot && dot > name ? (size_t)(dot - name) : strlen(name);
	char *stem = arena_strndup(a, name, n);
	for (char *p = stem; *p; p++)
		if (!isalnum((unsigned char)*p))
			*p = '_';
	return isdigit((unsigned char)*stem) ? arena_printf(a, "_%s", stem)
					     : stem;
}

static char *upper(arena *a, const char *s)
{
	char *r = arena_strdup(a, s);
	for (char *p = r; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	return r;
}

/* Writes text inside a comment; breaks up what would end the comment. */
static void put_comment(FILE *to, const char *s)
{
	for (; *s; s++) {
		fputc(*s, to);
		if (*s == '\n')
			fputs(s[1] == '\n' ? " *" : " * ", to);
		if (*s == '*' && s[1] == '/')
			fputc(' ', to);
		if (*s == '/' && s[1] == '*')
			fputc(' ', to);
	}
}

/* The signature as in the source text, or from the descriptor if there is no
 * text. */
static const char *signature_of(arena *a, const desc_op *op,
				const emit_input *in)
{
	for (int i = 0; i < in->n; i++)
		for (int j = 0; j < in->own[i]->ndefs; j++) {
			const ast_def *def = &in->own[i]->defs[j];
			if (def->kind == DEF_OP &&
			    !strcmp(def->op->name, op->name))
				return dsl_signature_text(a, def->op);
		}
	return describe_signature(a, op);
}

static void put_operators(FILE *to, arena *a, const char *stem,
			  const descriptor *d,
			  const emit_input *in)
{
	for (int i = 0; i < d->nops; i++) {
		const desc_op *op = d->ops[i];
		fputs("\n/* ", to);
		put_comment(to, signature_of(a, op, in));
		if (op->doc) {
			fputs("\n *\n * ", to);
			put_comment(to, op->doc);
		}
		fprintf(to, " */\n#define %s_%s %d\n", stem, op->name, i);
	}
	fprintf(to, "\n#define %s_count %d\n", stem, d->nops);
	fprintf(to, "static const char *const %s_names[] = {\n", stem);
	for (int i = 0; i < d->nops; i++)
		fprintf(to, "\t\"%s\",\n", d->ops[i]->name);
	fputs("\t0\n};\n", to);
}

/* Whether an earlier function has a kernel with this symbol. */
static bool is_declared(const emit_input *in, int module, int def,
			const char *symbol)
{
	for (int i = 0; i <= module; i++)
		for (int j = 0; j < in->own[i]->ndefs; j++) {
			const ast_def *x = &in->own[i]->defs[j];
			if (i == module && j == def)
				return false;
			if (x->kind == DEF_OPAQUE &&
			    !strcmp(x->opaque->symbol, symbol))
				return true;
		}
	return false;
}

static bool is_identifier(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '_')
			return false;
	return true;
}

static void put_kernels(FILE *to, const emit_input *in)
{
	for (int i = 0; i < in->n; i++)
		for (int j = 0; j < in->own[i]->ndefs; j++) {
			const ast_def *def = &in->own[i]->defs[j];
			if (def->kind != DEF_OPAQUE ||
			    !is_identifier(def->opaque->symbol) ||
			    is_declared(in, i, j, def->opaque->symbol))
				continue;
			fprintf(to, "\n/* The kernel of the opaque function "
				"%s.", def->opaque->name);
			if (def->opaque->doc) {
				fputs("\n * ", to);
				put_comment(to, def->opaque->doc);
			}
			fprintf(to, " */\ntdl_kernel %s;\n",
				def->opaque->symbol);
		}
}

static void put_bytes(FILE *to, arena *a, const char *stem,
		      const descriptor *d)
{
	size_t len;
	const unsigned char *data = descriptor_write(a, d, &len);
	fprintf(to, "\n/* The descriptor, as `tdlc compile` writes it to a "
		"file. */\nstatic const unsigned char %s_descriptor[%zu] = {",
		stem, len);
	for (size_t i = 0; i < len; i++)
		fprintf(to, "%s0x%02x,", i % 12 ? " " : "\n\t", data[i]);
	fputs("\n};\n", to);
}

char *emit_header(arena *a, const char *path, const descriptor *d,
		  const emit_input *in)
{
	char *stem = stem_of(a, path), *guard = upper(a, stem);
	text_stream s;
	size_t len;
	FILE *to = text_stream_open(&s);
	if (!to)
		return NULL;
	fprintf(to, "/* Made by tdlc compile --emit=header; do not edit. */\n"
		"#ifndef %s_TDL_H\n#define %s_TDL_H\n\n"
		"#include <tdl/kernel.h>\n\n"
		"#ifdef __cplusplus\nextern \"C\" {\n#endif\n", guard, guard);
	put_operators(to, a, stem, d, in);
	put_kernels(to, in);
	put_bytes(to, a, stem, d);
	fputs("\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n", to);
	return text_stream_close(&s, a, &len);
}
