#include "config.h"

#include "libtdl/operators.h"

#include <string.h>

/* The first line of a doc comment, "" for none. */
const char *operator_summary(arena *a, const char *doc)
{
	if (!doc)
		return "";
	while (*doc == ' ')
		doc++;
	return arena_strndup(a, doc, strcspn(doc, "\n"));
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
