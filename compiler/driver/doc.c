/* tdlc doc: the reference of a library. */
#include "config.h"

#include "compiler/driver/commands.h"

#include <string.h>

#include "base/file.h"

/* Operands with a folder or the suffix of TDL are files. */
static bool is_file(const char *operand)
{
	return strchr(operand, '/') || path_ends_in(operand, ".tdl");
}

static cli_status document(page *p, char **operands, int n)
{
	cli_words files = { 0 };
	for (int i = 0; i < n; i++)
		if (is_file(operands[i]))
			vec_push(p->arena, &files, operands[i]);
		else
			page_give(p, "tdl_module_document", "op", operands[i]);
	if (p->json)
		page_give(p, "tdl_module_document", "format", "json");
	tdl_module *m = files.n ? tdl_module_load_all(p->context, files.at,
						      (size_t)files.n) :
				  tdl_module_library(p->context);
	if (page_failed(p))
		return p->status;
	char *text = tdl_module_document(
		m, page_given(p, "tdl_module_document"));
	if (!text || !p->output)
		return page_print(p, text);
	const char *all = arena_printf(p->arena, "%s%s", text,
				       p->json ? "\n" : "");
	tdl_text_free(text);
	return page_failed(p) ? p->status :
				page_write(p, p->output, all, strlen(all));
}

cli_status command_doc(page *p, int argc, char **argv)
{
	static const char *const formats[] = { "markdown", "html", NULL };
	int format = 0;
	const cli_option options[] = {
		{ CLI_CHOICE, 0, "format", "FORMAT",
		  "markdown, or html: one self-contained file",
		  &format, .choices = formats },
		PAGE_OPTION_OUTPUT(p),
		PAGE_OPTION_JSON(p),
		PAGE_OPTIONS(p),
		{ CLI_END },
	};
	page_options(p, options);
	int first = page_begin(p, argc, argv);
	if (first < 0)
		return p->status;
	if (p->json && format)
		return cli_usage(&p->program, "--format=%s does not go with "
				 "--json", formats[format]);
	if (format)
		page_give(p, "tdl_module_document", "format", formats[format]);
	return document(p, argv + first, argc - first);
}
