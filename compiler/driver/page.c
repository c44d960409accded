#include "config.h"

#include "compiler/driver/page.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

const char *const page_diagnostics[] = { "text", "json", "sarif", NULL };

/* ---- options ----------------------------------------------------------- */

void page_options(page *p, const cli_option *table)
{
	for (; table->kind != CLI_END; table++)
		vec_push(p->arena, &p->rows, *table);
}

/* Whether a word occurs in a text of words separated by blanks. */
static bool is_among(const char *words, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = words; at && (at = strstr(at, word)); at += n)
		if ((at == words || at[-1] == ' ') && (!at[n] || at[n] == ' '))
			return true;
	return false;
}

static tdl_context *context_of(page *p)
{
	if (!p->context)
		p->context = tdl_context_new(NULL);
	if (!p->context)
		cli_failed(&p->program, "out of memory");
	return p->context;
}

static const char *copy(page *p, const char *text)
{
	return text ? arena_strdup(p->arena, text) : NULL;
}

static const char *const *copy_words(page *p, const char *const *words)
{
	int n = 0;
	while (words && words[n])
		n++;
	const char **to = ARENA_ARRAY(p->arena, const char *, n + 1);
	for (int i = 0; i < n; i++)
		to[i] = copy(p, words[i]);
	return to;
}

const char *const *page_words(page *p, const char *function, const char *name)
{
	size_t n = 0;
	const tdl_option_info *infos = context_of(p) ?
		tdl_function_options(p->context, function, &n) : NULL;
	for (size_t i = 0; i < n; i++)
		if (infos[i].name && !strcmp(infos[i].name, name))
			return copy_words(p, infos[i].words);
	return NULL;
}

void page_function(page *p, const char *function, const char *except)
{
	size_t n = 0;
	const tdl_option_info *infos = context_of(p) ?
		tdl_function_options(p->context, function, &n) : NULL;
	for (size_t i = 0; i < n; i++) {
		const tdl_option_info *o = &infos[i];
		char letter[2] = { o->letter, '\0' };
		page_option *to = ARENA_NEW(p->arena, page_option);
		if (o->name && is_among(except, o->name))
			continue;
		to->function = function;
		to->name = copy(p, o->name ? o->name : letter);
		to->words = ARENA_NEW(p->arena, cli_words);
		vec_push(p->arena, &p->options, to);
		cli_option row = { o->argument ? CLI_REPEAT : CLI_FLAG,
				   o->letter, copy(p, o->name),
				   copy(p, o->argument), copy(p, o->help),
				   o->argument ? (void *)to->words :
						 (void *)&to->flag,
				   .choices = copy_words(p, o->words) };
		vec_push(p->arena, &p->rows, row);
	}
}

const tdl_option *page_given(page *p, const char *function)
{
	VEC(tdl_option) all = { 0 };
	for (int i = 0; i < p->options.n; i++) {
		const page_option *o = p->options.at[i];
		if (strcmp(o->function, function))
			continue;
		tdl_option one = { o->name, NULL };
		if (o->flag)
			vec_push(p->arena, &all, one);
		for (int j = 0; j < o->words->n; j++) {
			one.value = o->words->at[j];
			vec_push(p->arena, &all, one);
		}
	}
	vec_push(p->arena, &all, (tdl_option){ NULL });
	return all.at;
}

bool page_has(const page *p, const char *function, const char *name)
{
	for (int i = 0; i < p->options.n; i++) {
		const page_option *o = p->options.at[i];
		if (!strcmp(o->function, function) &&
		    (!name || !strcmp(o->name, name)) &&
		    (o->flag || o->words->n))
			return true;
	}
	return false;
}

void page_give(page *p, const char *function, const char *name,
	       const char *value)
{
	page_option *o = ARENA_NEW(p->arena, page_option);
	o->function = function;
	o->name = name;
	o->words = ARENA_NEW(p->arena, cli_words);
	vec_push(p->arena, o->words, value);
	vec_push(p->arena, &p->options, o);
}

/* Makes the context from the common options. */
static bool set_context(page *p)
{
	tdl_context *c = context_of(p);
	tdl_status status = c ? TDL_OK : TDL_NO_MEMORY;
	if (!c)
		return false;
	tdl_context_set_style(c, (p->json ? 0 : TDL_TEXT) | TDL_DASHES |
					 TDL_STREAMS);
	if (p->opdefs)
		status = tdl_context_set_operators(c, p->opdefs);
	for (int i = 0; i < p->folders.n && status == TDL_OK; i++)
		status = tdl_context_add_folder(c, p->folders.at[i]);
	for (int i = 0; i < p->load.n && status == TDL_OK; i++)
		status = tdl_context_add_file(c, p->load.at[i]);
	for (int i = 0; i < p->profiles.n && status == TDL_OK; i++)
		status = tdl_context_add_profile(c, p->profiles.at[i]);
	return !page_failed(p);
}

int page_begin(page *p, int argc, char **argv)
{
	vec_push(p->arena, &p->rows, (cli_option){ CLI_END });
	int first = cli_parse(p->arena, &p->program, p->rows.at, argc, argv,
			      &p->status);
	if (first >= 0 && !set_context(p))
		return -1;
	p->operands = argv + first;
	p->noperands = first < 0 ? 0 : argc - first;
	return first;
}

const char *page_one(page *p, int argc, char **argv, const char *expected)
{
	int first = page_begin(p, argc, argv);
	if (first < 0)
		return NULL;
	if (argc - first != 1) {
		p->status = cli_usage(&p->program, "%s", expected);
		return NULL;
	}
	return argv[first];
}

/* Whether one of the rows has the same name as another option. */
static bool has_row(const cli_option *rows, int n, const cli_option *o)
{
	for (int i = 0; i < n; i++)
		if (rows[i].name && o->name && !strcmp(rows[i].name, o->name))
			return true;
	return false;
}

const char *page_operand(const page *p, int argc, char **argv,
			 cli_words *names)
{
	cli_option *rows = ARENA_ARRAY(p->arena, cli_option, p->rows.n + 1);
	int n = 0;
	for (int i = 0; i < p->rows.n; i++)
		if (!has_row(rows, n, &p->rows.at[i]))
			rows[n++] = p->rows.at[i];
	rows[n].kind = CLI_END;
	return cli_operand(p->arena, rows, argc, argv, names);
}

bool page_is_model(const char *path)
{
	return path_ends_in(path, ".tdl") || path_ends_in(path, ".onnx");
}

bool page_is_plan(const char *path)
{
	static const char format[] = "\"tdl-plan\"";
	char head[257];
	FILE *f = file_is_regular(path) ? fopen(path, "rb") : NULL;
	size_t n = f ? fread(head, 1, sizeof(head) - 1, f) : 0;
	head[n] = '\0';
	if (f)
		fclose(f);
	return strstr(head, format);
}

bool page_takes_model(page *p, const char *path)
{
	if (page_is_model(path) ||
	    (!p->folders.n && !p->opdefs && !p->load.n))
		return true;
	p->status = cli_usage(&p->program, "-I, --opdefs and --load go with a "
			      "model, not with a cost graph");
	return false;
}

/* ---- calls ------------------------------------------------------------- */

bool page_agrees(page *p, const char *function)
{
	return tdl_function_check(p->context, function,
				  page_given(p, function)) == TDL_OK ||
	       !page_failed(p);
}

tdl_model *page_model(page *p, const char *path)
{
	tdl_model *m = tdl_model_load(p->context, path,
				      page_given(p, "tdl_model_load"));
	return page_failed(p) ? NULL : m;
}

tdl_plan *page_plan(page *p, const char *path)
{
	tdl_plan *plan = tdl_plan_load(p->context, path);
	return page_failed(p) ? NULL : plan;
}

/* Prints a message that concerns no file. */
static bool say(page *p, const tdl_diagnostic *d)
{
	if (!strcmp(d->name, "usage"))
		cli_usage(&p->program, "%s", d->message);
	else if (!strcmp(d->name, "limit") || !strcmp(d->name, "machine") ||
		 !strcmp(d->name, "input") || !strcmp(d->name, "no-memory") ||
		 !strcmp(d->name, "cancelled"))
		cli_failed(&p->program, "%s", d->message);
	else
		return false;
	return true;
}

static void keep(page *p, const tdl_diagnostic *d)
{
	diag_view v = { .severity = (diag_severity)d->severity,
			.name = copy(p, d->name),
			.message = copy(p, d->message),
			.file = copy(p, d->file), .line = d->line,
			.column = d->column, .end_line = d->end_line,
			.end_column = d->end_column,
			.excerpt = copy(p, d->excerpt),
			.excerpt_column = d->excerpt_column };
	if (p->strict && v.severity == DIAG_IS_WARNING) {
		v.severity = DIAG_IS_ERROR;
		p->warned = true;
	}
	vec_push(p->arena, &p->found, v);
}

bool page_failed(page *p)
{
	size_t n;
	const tdl_diagnostic *all = tdl_diagnostics(p->context, &n);
	tdl_status status = tdl_last_status(p->context);
	for (size_t i = 0; i < n; i++)
		if (!say(p, &all[i]))
			keep(p, &all[i]);
	p->status = status <= TDL_DIFFERENCE ? (cli_status)status :
					       CLI_MACHINE;
	if (p->status == CLI_OK && p->warned)
		p->status = CLI_INPUT;
	return p->status != CLI_OK;
}

cli_status page_print(page *p, char *text)
{
	if (text)
		fputs(text, stdout);
	if (text && p->json)
		putchar('\n');
	tdl_text_free(text);
	page_failed(p);
	return p->status;
}

cli_status page_write(page *p, const char *path, const void *data, size_t n)
{
	if (!file_write(path, data, n))
		p->status = cli_failed(&p->program, "%s: %s", path,
				       strerror(errno));
	return p->status;
}

static bool can_write(page *p, const char *path, bool can)
{
	if (!can)
		p->status = cli_failed(&p->program, "%s: %s", path,
				       strerror(errno));
	return p->status == CLI_OK;
}

static bool is_one_of(const char *path, const char *const *files, int n)
{
	for (int i = 0; i < n; i++)
		if (strcmp(path, "-") && file_exists(path) &&
		    file_is_same(path, files[i]))
			return true;
	return false;
}

/* Whether the command line reads a file. */
static bool is_read(const page *p, const char *path)
{
	bool is = is_one_of(path, (const char *const *)p->operands,
			    p->noperands) ||
		  is_one_of(path, p->profiles.at, p->profiles.n) ||
		  is_one_of(path, p->load.at, p->load.n) ||
		  is_one_of(path, p->reads.at, p->reads.n);
	for (int i = 0; i < p->options.n && !is; i++) {
		const page_option *o = p->options.at[i];
		is = is_among("topology pins trace planners frontier",
			      o->name) &&
		     is_one_of(path, o->words->at, o->words->n);
	}
	return is;
}

/* Whether a file to be written is neither read nor written already. */
static bool is_apart(page *p, const char *path)
{
	const char *why = NULL;
	if (is_read(p, path))
		why = "is read, and would be overwritten";
	for (int i = 0; i < p->written.n; i++)
		if (file_is_same(path, p->written.at[i]))
			why = "would be written twice";
	vec_push(p->arena, &p->written, path);
	if (why)
		p->status = cli_usage(&p->program, "%s %s", path, why);
	return !why;
}

bool page_can_write(page *p, const char *path)
{
	return !path || (can_write(p, path, file_can_write(path)) &&
			 is_apart(p, path));
}

bool page_can_write_in(page *p, const char *folder)
{
	return can_write(p, folder, !folder || file_can_write_in(folder));
}

cli_status page_write_text(page *p, const char *path, char *text)
{
	if (!page_failed(p))
		page_write(p, path, text, strlen(text));
	tdl_text_free(text);
	return p->status;
}

const char *page_keep(page *p, char *text)
{
	page_failed(p);
	const char *kept = copy(p, text);
	tdl_text_free(text);
	return kept;
}

bool page_to_stdout(const page *p)
{
	return p->output && !strcmp(p->output, "-");
}

cli_status page_end(page *p)
{
	fflush(stdout);
	if (p->diagnostics == 1)
		diag_print_views_json(p->found.at, p->found.n, stderr);
	else if (p->diagnostics == 2)
		diag_print_views_sarif(p->found.at, p->found.n, stderr);
	else
		diag_print_views(p->found.at, p->found.n, stderr,
				 cli_colour());
	tdl_context_free(p->context);
	return p->status;
}
