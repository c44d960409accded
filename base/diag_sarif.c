/* Diagnostics in SARIF 2.1.0 (OASIS), which code hosts and editors read. */
#include "config.h"

#include "base/diag.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"

/* SARIF counts columns in characters.  Converts byte `column' of the line in
 * the excerpt. */
static int characters(const diag_view *v, int column)
{
	int n = 1;
	for (int i = 0; i < column - 1; i++)
		n += ((unsigned char)v->excerpt[i] & 0xc0) != 0x80;
	return n;
}

/* A path as a URI reference (RFC 3986); an absolute path becomes a file URI. */
static json_t *uri_of(const char *path)
{
	static const char hex[] = "0123456789ABCDEF";
	static const char plain[] = "-._~/ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz0123456789";
	size_t n = strlen(path);
	char *text = malloc(3 * n + 8), *to = text;
	if (!text)
		return NULL;
	if (path[0] == '/')
		to = stpcpy(to, "file://");
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;
		if (strchr(plain, c)) {
			*to++ = (char)c;
			continue;
		}
		*to++ = '%';
		*to++ = hex[c >> 4];
		*to++ = hex[c & 15];
	}
	json_t *uri = json_stringn(text, (size_t)(to - text));
	free(text);
	return uri;
}

/* Whether the excerpt has the whole line up to a column. */
static bool is_known(const diag_view *v, int column)
{
	return v->excerpt && v->excerpt_column == 1 &&
	       column - 1 <= (int)strlen(v->excerpt);
}

/* The lines of a diagnostic, and the columns if their characters can be
 * counted. */
static json_t *region_of(const diag_view *v)
{
	json_t *r = json_pack("{s:i}", "startLine", v->line);
	bool begins = is_known(v, v->column);
	if (begins)
		json_object_set_new(r, "startColumn",
				    json_integer(characters(v, v->column)));
	json_object_set_new(r, "endLine", json_integer(v->end_line));
	if (begins && v->end_line == v->line && is_known(v, v->end_column))
		json_object_set_new(r, "endColumn", json_integer(
			characters(v, v->end_column)));
	return r;
}

/* The location of a diagnostic; an empty object if it has no file. */
static json_t *location_of(const diag_view *v)
{
	json_t *at = json_object();
	if (!v->file)
		return at;
	json_t *place = json_pack("{s:{s:o}}", "artifactLocation", "uri",
				  uri_of(v->file));
	if (v->line)
		json_object_set_new(place, "region", region_of(v));
	json_object_set_new(at, "physicalLocation", place);
	return at;
}

static json_t *message_of(const diag_view *v)
{
	return json_pack("{s:o}", "text", json_of_text(v->message));
}

static json_t *result_of(const diag_view *v)
{
	json_t *r = json_pack("{s:s,s:s,s:o}", "ruleId", v->name, "level",
			      v->severity == DIAG_IS_ERROR ? "error"
							   : "warning",
			      "message", message_of(v));
	if (v->file)
		json_object_set_new(r, "locations",
				    json_pack("[o]", location_of(v)));
	return r;
}

static void add_note(json_t *result, const diag_view *note)
{
	json_t *all = json_object_get(result, "relatedLocations");
	json_t *one = location_of(note);
	if (!all) {
		all = json_array();
		json_object_set_new(result, "relatedLocations", all);
	}
	json_object_set_new(one, "message", message_of(note));
	json_array_append_new(all, one);
}

/* The rules of the results, each once, in the order of their first result. */
static json_t *rules_of(const diag_view *views, int n)
{
	json_t *rules = json_array(), *known = json_object();
	for (int i = 0; i < n; i++) {
		const char *name = views[i].name;
		if (views[i].severity == DIAG_IS_NOTE ||
		    json_object_get(known, name))
			continue;
		json_object_set_new(known, name, json_true());
		json_array_append_new(rules, json_pack("{s:s}", "id", name));
	}
	json_decref(known);
	return rules;
}

void diag_print_views_sarif(const diag_view *views, int n, FILE *to)
{
	json_t *results = json_array(), *last = NULL;
	for (int i = 0; i < n; i++) {
		if (views[i].severity == DIAG_IS_NOTE && last) {
			add_note(last, &views[i]);
		} else {
			last = result_of(&views[i]);
			json_array_append_new(results, last);
		}
	}
	json_t *driver = json_pack("{s:s,s:s,s:o}", "name", PACKAGE_NAME,
				   "version", PACKAGE_VERSION, "rules",
				   rules_of(views, n));
	json_t *run = json_pack("{s:{s:o},s:s,s:o}", "tool", "driver", driver,
				"columnKind", "unicodeCodePoints", "results",
				results);
	json_t *top = json_pack(
		"{s:s,s:s,s:[o]}", "$schema",
		"https://json.schemastore.org/sarif-2.1.0.json", "version",
		"2.1.0", "runs", run);
	json_dumpf(top, to, JSON_INDENT(2));
	fputc('\n', to);
	json_decref(top);
}
