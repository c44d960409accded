/* Options of functions: the functions of tdl.h that concern no object. */
#include "config.h"

#include <string.h>

#include "libtdl/api.h"

static const api_function *const all[] = {
	api_of_modules,	 api_of_exports,   api_of_models,     api_of_searches,
	api_of_planning, api_of_questions, api_of_placements, api_of_texts,
	api_of_problems, api_of_runs,	   api_of_profiles,
};

static const api_function *find(const char *name)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		for (const api_function *f = all[i]; f && f->name; f++)
			if (!strcmp(f->name, name))
				return f;
	return NULL;
}

typedef struct asking {
	const char *function;
	api_mode mode;
	const tdl_option *given;
	tdl_option_info *infos;
	size_t n;
} asking;

static const char *const *copy_words(arena *a, const char *const *words)
{
	int n = 0;
	while (words && words[n])
		n++;
	const char **to = ARENA_ARRAY(a, const char *, n + 1);
	for (int i = 0; i < n; i++)
		to[i] = arena_strdup(a, words[i]);
	return n ? to : NULL;
}

/* Lists the rows of a table, in memory that lives until the next call. */
static void tell_options(api_call *c, asking *q)
{
	arena *a = arena_new();
	q->infos = ARENA_ARRAY(a, tdl_option_info, c->nlisted);
	q->n = (size_t)c->nlisted;
	for (int i = 0; i < c->nlisted; i++) {
		const cli_option *o = &c->listed[i];
		q->infos[i] = (tdl_option_info){
			.name = o->name ? arena_strdup(a, o->name) : NULL,
			.argument = o->arg ? arena_strdup(a, o->arg) : NULL,
			.help = arena_strdup(a, o->help),
			.words = copy_words(a, o->choices),
			.letter = o->letter,
			.repeats = o->kind == CLI_REPEAT
		};
	}
	c->context->said = a;
}

static void ask(api_call *c, void *arg)
{
	asking *q = arg;
	const api_function *f = find(q->function);
	if (!f) {
		api_fail(c, TDL_USAGE, "there is no function '%s' with options",
			 q->function);
		return;
	}
	void *of = arena_alloc(c->job.arena, f->size);
	memcpy(of, f->arg, f->size);
	c->mode = q->mode;
	c->given = q->given;
	f->body(c, of);
	if (c->mode == API_LIST)
		tell_options(c, q);
}

const tdl_option_info *tdl_function_options(tdl_context *c,
					    const char *function, size_t *n)
{
	asking q = { .function = function, .mode = API_LIST };
	bool known = api_run(c, ask, &q) == TDL_OK;
	*n = known ? q.n : 0;
	return known ? q.infos : NULL;
}

tdl_status tdl_function_check(tdl_context *c, const char *function,
			      const tdl_option *options)
{
	asking q = { .function = function, .mode = API_CHECK,
		     .given = options };
	return api_run(c, ask, &q);
}
