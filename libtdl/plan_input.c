#include "config.h"

#include "libtdl/plan_input.h"

#include <string.h>

#include "base/units.h"
#include "compiler/graph/canonical.h"
#include "compiler/graph/carry.h"
#include "compiler/lower/bucket.h"
#include "compiler/onnx/onnx.h"
#include "compiler/portfolio/request.h"
#include "libtdl/profiles.h"

/* Reads the pairs of --carry.  Returns false with a usage error printed. */
static bool read_pairs(job *d, const cli_words *words, carry_pair *to)
{
	for (int i = 0; i < words->n; i++) {
		const char *out, *in;
		const char *word = words->at[i];
		bool ok = cli_setting(d->arena, word, &out, &in) && *in;
		const char *x = ok ? strchr(out, '*') : NULL;
		const char *y = ok ? strchr(in, '*') : NULL;
		ok = ok && !x == !y && !(x && strchr(x + 1, '*')) &&
		     !(y && strchr(y + 1, '*'));
		if (!ok) {
			cli_usage(&d->program, "%s takes OUTPUT=INPUT, with "
				  "one '*' in both or in none, not '%s'",
				  job_option(d, "carry"), word);
			return false;
		}
		to[i] = (carry_pair){ out, in };
	}
	return true;
}

static cli_status read_carry(job *d, const plan_model *m, model_options *o)
{
	const carry_request *r = &m->carry;
	const char *option = r->length	    ? "carry-length"
			     : r->mask	    ? "carry-mask"
			     : r->positions ? "carry-positions"
			     : r->position  ? "carry-position"
					    : NULL;
	if (r->pairs.n == 0)
		return !option ? CLI_OK :
		       cli_usage(&d->program, "%s needs %s",
				 job_option(d, option),
				 job_option(d, "carry"));
	if (m->train.train)
		return cli_usage(&d->program, "%s and %s exclude each other",
				 job_option(d, "carry"),
				 job_option(d, "train"));
	carry_options *c = ARENA_NEW(d->arena, carry_options);
	carry_pair *pairs = ARENA_ARRAY(d->arena, carry_pair, r->pairs.n);
	*c = (carry_options){ r->pairs.n, pairs, r->length, r->mask,
			      r->positions, r->position };
	o->carry = c;
	return read_pairs(d, &r->pairs, pairs) ? CLI_OK : CLI_USAGE;
}

graph *model_read_graph(job *d, const char *path, const plan_model *m,
			cli_status *status)
{
	model_options o = { .model = m->name };
	*status = job_model_options(d, path, &m->defines, &m->shapes, &o);
	if (*status == CLI_OK)
		*status = job_train_options(d, &m->train, path, &o);
	if (*status == CLI_OK)
		*status = read_carry(d, m, &o);
	if (*status != CLI_OK)
		return NULL;
	tdl_modules *all = job_load_needed(d, path);
	graph *g = all ? model_import(d->arena, all, d->sink, path, &o) : NULL;
	if (!g)
		return NULL;
	*status = job_check_used(d, &o);
	if (*status == CLI_OK)
		*status = job_check_globs(d, &o);
	return *status == CLI_OK ? g : NULL;
}

graph *plan_read_model(job *d, const char *path, const plan_model *m,
		       cli_status *status)
{
	graph *g = model_read_graph(d, path, m, status);
	return g ? graph_canonical(d->arena, g) : NULL;
}

bool plan_is_asked_for(job *d, int nmodels, int64_t devices)
{
	if (nmodels != 1)
		cli_usage(&d->program, "one model is expected");
	else if (devices == 0)
		cli_usage(&d->program, "%s is missing",
			  job_option_of(d, "devices", "N"));
	return nmodels == 1 && devices > 0;
}

bool plan_is_algorithm(job *d, const char *name)
{
	return plan_is_algorithm_of(d, name, "");
}

bool plan_is_algorithm_of(job *d, const char *name, const char *more)
{
	const char *known, *all = "";
	if (!strcmp(name, PLAN_AUTO))
		return true;
	for (int i = 0; (known = search_algorithm(i, NULL)); i++) {
		if (!strcmp(known, name))
			return true;
		all = arena_printf(d->arena, "%s%s, ", all, known);
	}
	cli_usage(&d->program, "there is no algorithm '%s'; there are %s%s%s",
		  name, all, PLAN_AUTO, more);
	return false;
}

const char *plan_algorithms(arena *a)
{
	enum { COLUMNS = 36 };
	const char *text = "", *name;
	size_t column = strlen("plan with A:  (default)");
	bool more = true;
	for (int i = 0; more; i++) {
		more = (name = search_algorithm(i, NULL)) != NULL;
		if (!more)
			name = PLAN_AUTO;
		bool wrap = column + strlen(name) > COLUMNS;
		const char *gap = wrap ? ",\n" : ", ";
		column = wrap ? strlen(name) : column + strlen(name) + 2;
		text = arena_printf(a, "%s%s%s%s", text, i ? gap : "", name,
				    i ? "" : " (default)");
	}
	return text;
}

static const topology *read_machine(job *d, const char *name)
{
	return name ? topology_read(d->arena, d->sink, name)
		    : topology_preset(0);
}

/* t if it has a mesh of k devices; otherwise NULL with an error. */
static const topology *with_mesh(job *d, const topology *t, int64_t k)
{
	mesh m;
	if (!t || topology_mesh(t, (int)k, &m))
		return t ? profiles_machine(d, t, k) : NULL;
	diag_error_in(d->sink, DIAG_TOPOLOGY_SIZE, t->name,
		      "%d devices do not fit: %s", (int)k,
		      topology_sizes(d->arena, t));
	return NULL;
}

const topology *plan_topology(job *d, const char *name, int64_t k)
{
	const topology *t = read_machine(d, name);
	if (!t || t->nkinds == 0)
		return with_mesh(d, t, k);
	diag_error_in(d->sink, DIAG_BAD_TOPOLOGY, name,
		      "'devices' that differ need stages, or tdlc place: "
		      "a plan without stages cuts tensors into equal parts");
	return NULL;
}

const topology *plan_topology_of_stages(job *d, const char *name, int64_t k)
{
	return with_mesh(d, read_machine(d, name), k);
}

bool plan_read_bucket(job *d, const char *text, const char *machine,
		      int64_t *bytes)
{
	*bytes = 0;
	if (text ? !strcmp(text, PLAN_AUTO) : machine != NULL) {
		*bytes = BUCKET_OF_MACHINE;
		return true;
	}
	if (!text || units_read_size(text, bytes))
		return true;
	cli_usage(&d->program, "%s takes a number of bytes, such as 512K or "
		  "25MB, or '" PLAN_AUTO "', not '%s'",
		  job_option(d, "bucket-bytes"), text);
	return false;
}
