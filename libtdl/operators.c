#include "config.h"

#include "libtdl/operators.h"

#include <string.h>

#include "base/text.h"

/* The first line of a documentation comment; "" if there is none. */
const char *operator_summary(arena *a, const char *doc)
{
	if (!doc)
		return "";
	while (*doc == ' ')
		doc++;
	return arena_strndup(a, doc, strcspn(doc, "\n"));
}

void operators_text(FILE *to, arena *a, const tdl_modules *m,
		    const strmap *onnx)
{
	text_table t = table_new(a, 2);
	for (int i = 0; i < strmap_count(m->ops); i++) {
		const ast_op *op = strmap_value(m->ops, i);
		const mapped_names *l = strmap_get(onnx, op->name);
		const char *text = operator_summary(a, op->doc);
		for (int j = 0; l && j < l->n; j++)
			text = arena_printf(a, "%s%s%s", text,
					    j ? ", " : "\nin ", l->at[j]);
		table_add(&t, op->name);
		table_add(&t, text);
	}
	table_print(&t, to, 0);
}

json_t *operators_json(arena *a, const tdl_modules *m, const strmap *onnx)
{
	json_t *all = json_array();
	for (int i = 0; i < strmap_count(m->ops); i++) {
		const ast_op *op = strmap_value(m->ops, i);
		const mapped_names *l = strmap_get(onnx, op->name);
		json_t *from = json_array();
		for (int j = 0; l && j < l->n; j++)
			json_array_append_new(from, json_string(l->at[j]));
		json_array_append_new(all, json_pack(
			"{s:s, s:s, s:o}", "name", op->name, "doc",
			operator_summary(a, op->doc), "onnx", from));
	}
	return json_pack("{s:o}", "operators", all);
}
