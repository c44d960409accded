/* The checks of a pipeline: its stages, each valid by itself, agree with each
 * other. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "plan/check.h"
#include "plan/pipeline.h"

enum { MOST_PAIRS = 1 << 26 };

typedef struct pipeline_checker {
	const plan_pipeline *p;
	diag_sink *sink;
	const char *path;
	const char *table;
	int row; /* -1: a member that is not a table */
	arena *tmp;
} pipeline_checker;

static bool fault(pipeline_checker *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static bool fault(pipeline_checker *c, const char *fmt, ...)
{
	char what[512], row[32] = "";
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (c->row >= 0)
		snprintf(row, sizeof(row), "[%d]", c->row);
	diag_error_in(c->sink, DIAG_PLAN_INVALID, c->path, "%s%s: %s", c->table,
		      row, what);
	return false;
}

static bool check_stages(pipeline_checker *c)
{
	const plan_pipeline *p = c->p;
	int64_t workers = 0;
	c->table = "stages";
	c->row = -1;
	if (p->nstages < 1 || p->nstages > PLAN_MAX_STAGES)
		return fault(c, "there are %d, 1 to %d are accepted",
			     p->nstages, PLAN_MAX_STAGES);
	for (int s = 0; s < p->nstages; s++) {
		if (!plan_check_stage(&p->stages[s], s, c->sink, c->path))
			return false;
		workers += mesh_workers(&p->stages[s].mesh);
	}
	return workers <= MESH_MAX_WORKERS ||
	       fault(c, "they have %lld workers, at most %d are accepted",
		     (long long)workers, MESH_MAX_WORKERS);
}

/* ---- names ------------------------------------------------------------- */

static bool same_constant(const plan_tensor *x, const plan_tensor *y)
{
	const plan_constant *a = &x->constant, *b = &y->constant;
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case PLAN_CONST_NONE:
		return true;
	case PLAN_CONST_FILE:
		return a->offset == b->offset && a->crc == b->crc &&
		       !strcmp(a->path, b->path);
	case PLAN_CONST_INLINE:
		return !memcmp(a->data, b->data,
			       (size_t)plan_tensor_nbytes(x));
	case PLAN_CONST_FILL:
		return !memcmp(a->data, b->data, dtype_size(x->type));
	case PLAN_CONST_RANDOM:
		return a->law == b->law && a->key == b->key &&
		       !memcmp(&a->a, &b->a, sizeof(a->a)) &&
		       !memcmp(&a->b, &b->b, sizeof(a->b));
	}
	return false;
}

/* Whether a stage has folds that compute the elements of a tensor. */
static bool is_made(const plan_tensor *t)
{
	return t->buffer < 0 && t->constant.kind == PLAN_CONST_NONE;
}

static bool same_tensor(const plan_tensor *x, const plan_tensor *y)
{
	return x->role == y->role && x->time == y->time &&
	       plan_tensor_is(x, y->type, y->ndim, y->dims) &&
	       (is_made(x) || is_made(y) || same_constant(x, y));
}

/* By stage and tensor: the channel on which it arrives; -1. */
static int **find_sources(pipeline_checker *c)
{
	const plan_pipeline *p = c->p;
	int **by = ARENA_ARRAY(c->tmp, int *, p->nstages);
	for (int s = 0; s < p->nstages; s++) {
		by[s] = ARENA_ARRAY(c->tmp, int, p->stages[s].ntensors);
		for (int t = 0; t < p->stages[s].ntensors; t++)
			by[s][t] = -1;
	}
	for (int i = 0; i < p->nchannels; i++)
		by[p->channels[i].to][p->channels[i].target] = i;
	return by;
}

/* Whether a tensor is a state that only folds read, which several stages may
 * have. */
static bool is_for_folds(const plan_tensor *t)
{
	return t->role == PLAN_STATE && t->buffer < 0;
}

/* Checks a tensor that is computed in a stage, or given to it, against those of
 * earlier stages. */
static bool check_name(pipeline_checker *c, const plan_tensor *t, strmap *names)
{
	const plan_tensor *before = strmap_get(names, t->name);
	if (!before) {
		strmap_put(names, t->name, (void *)t);
		return true;
	}
	bool one = t->role == PLAN_RESULT || t->role == PLAN_STATE;
	if (one && !is_for_folds(t) && !is_for_folds(before))
		return fault(c, "'%.100s' is in two stages", t->name);
	return same_tensor(t, before) ||
	       fault(c, "'%.100s' is not the same in two stages", t->name);
}

static bool check_names(pipeline_checker *c, int *const *sources)
{
	const plan_pipeline *p = c->p;
	strmap *names = strmap_new(c->tmp);
	c->table = "stages";
	for (c->row = 0; c->row < p->nstages; c->row++) {
		const plan *s = &p->stages[c->row];
		for (int t = 0; t < s->ntensors; t++)
			if (sources[c->row][t] < 0 &&
			    !check_name(c, &s->tensors[t], names))
				return false;
	}
	return true;
}

/* Whether no run changes a stage's tensor: it is given there, or in the stage
 * from which a channel brings it. */
static bool is_given(const pipeline_checker *c, int *const *sources, int stage,
		     int tensor)
{
	const plan_pipeline *p = c->p;
	int by = sources[stage][tensor];
	const plan_tensor *t = by < 0
		? &p->stages[stage].tensors[tensor]
		: &p->stages[p->channels[by].from]
			   .tensors[p->channels[by].source];
	return t->role == PLAN_CONSTANT ||
	       (t->role == PLAN_STATE && t->next < 0);
}

/* Checks that folds read what is given, in this stage or in another. */
static bool check_folds(pipeline_checker *c, int *const *sources)
{
	const plan_pipeline *p = c->p;
	c->table = "stages";
	for (c->row = 0; c->row < p->nstages; c->row++) {
		const plan *s = &p->stages[c->row];
		for (int i = 0; i < s->nfolds; i++)
			for (int j = 0; j < s->folds[i].ninputs; j++) {
				int t = s->folds[i].inputs[j];
				if (!is_given(c, sources, c->row, t))
					return fault(c, "folds[%d]: it reads "
						     "'%.100s', which a run "
						     "changes", i,
						     s->tensors[t].name);
			}
	}
	return true;
}

/* Checks that the names of a list are distinct, and the same as in the stages'
 * lists. */
static bool check_list(pipeline_checker *c, const char *table,
		       const char *const *of, int n, bool outputs)
{
	const plan_pipeline *p = c->p;
	strmap *names = strmap_new(c->tmp), *found = strmap_new(c->tmp);
	c->table = table;
	for (c->row = 0; c->row < n; c->row++) {
		if (strmap_get(names, of[c->row]))
			return fault(c, "there are two '%.100s'", of[c->row]);
		strmap_put(names, of[c->row], (void *)of[c->row]);
	}
	c->row = -1;
	for (int s = 0; s < p->nstages; s++) {
		const plan *x = &p->stages[s];
		int k = outputs ? x->noutputs : x->ninputs;
		for (int i = 0; i < k; i++) {
			int t = outputs ? x->outputs[i] : x->inputs[i];
			const char *name = x->tensors[t].name;
			if (!strmap_get(names, name) ||
			    (outputs && strmap_get(found, name)))
				return fault(c, "'%.100s' of stage %d is not "
					     "among them, or another stage's",
					     name, s);
			strmap_put(found, name, (void *)name);
		}
	}
	for (c->row = 0; c->row < n; c->row++)
		if (!strmap_get(found, of[c->row]))
			return fault(c, "no stage has '%.100s'", of[c->row]);
	return true;
}

static bool check_loss(pipeline_checker *c)
{
	const plan_pipeline *p = c->p;
	int losses = 0, scales = 0, training = 0;
	c->table = "stages";
	c->row = -1;
	for (int s = 0; s < p->nstages; s++) {
		training += p->stages[s].training;
		losses += p->stages[s].training && p->stages[s].loss >= 0;
		scales += p->stages[s].training && p->stages[s].loss_scale >= 0;
	}
	if (training != 0 && training != p->nstages)
		return fault(c, "some train, and others do not");
	return (losses <= 1 && scales <= 1) ||
	       fault(c, "there are two losses, or loss scales");
}

/* ---- channels ---------------------------------------------------------- */

/* The instructions that send and that receive each channel. */
typedef struct ends {
	int *stage[2], *instr[2]; /* by channel; -1 */
} ends;

static bool note_end(pipeline_checker *c, ends *e, int stage, int i)
{
	const plan_pipeline *p = c->p;
	const plan *s = &p->stages[stage];
	const plan_instr *in = &s->program[i];
	int side = in->op == PLAN_RECEIVE, tensor = s->buffers[in->to].tensor;
	if (!is_index(in->channel, p->nchannels) ||
	    e->instr[side][in->channel] >= 0)
		return fault(c, "stage %d: program[%d]: channel %d does not "
			     "exist, or is taken", stage, i, in->channel);
	const plan_channel *ch = &p->channels[in->channel];
	if ((side ? ch->to : ch->from) != stage ||
	    (side ? ch->target : ch->source) != tensor)
		return fault(c, "stage %d: program[%d]: channel %d is for "
			     "another tensor", stage, i, in->channel);
	e->stage[side][in->channel] = stage;
	e->instr[side][in->channel] = i;
	return true;
}

static bool find_ends(pipeline_checker *c, ends *e)
{
	const plan_pipeline *p = c->p;
	c->row = -1;
	for (int side = 0; side < 2; side++) {
		e->stage[side] = ARENA_ARRAY(c->tmp, int, p->nchannels);
		e->instr[side] = ARENA_ARRAY(c->tmp, int, p->nchannels);
		for (int i = 0; i < p->nchannels; i++)
			e->instr[side][i] = -1;
	}
	for (int s = 0; s < p->nstages; s++)
		for (int i = 0; i < p->stages[s].ninstrs; i++) {
			if (plan_is_message(&p->stages[s].program[i]) &&
			    !note_end(c, e, s, i))
				return false;
		}
	return true;
}

static bool in_body(const plan *p, int i)
{
	return i >= p->loop.begin && i < p->loop.end;
}

static bool check_tensors_of(pipeline_checker *c, const plan_channel *ch)
{
	const plan_pipeline *p = c->p;
	if (!is_index(ch->from, p->nstages) || !is_index(ch->to, p->nstages) ||
	    ch->from == ch->to)
		return fault(c, "its stages do not exist, or are one");
	const plan *from = &p->stages[ch->from], *to = &p->stages[ch->to];
	if (!is_index(ch->source, from->ntensors) ||
	    !is_index(ch->target, to->ntensors))
		return fault(c, "its tensors do not exist");
	const plan_tensor *x = &from->tensors[ch->source];
	const plan_tensor *y = &to->tensors[ch->target];
	int64_t pairs = (int64_t)mesh_workers(&from->mesh) *
			mesh_workers(&to->mesh);
	if (strcmp(x->name, y->name) || x->time != y->time ||
	    !plan_tensor_is(x, y->type, y->ndim, y->dims))
		return fault(c, "its tensors have not one name, type, shape "
			     "and division over time");
	if (cuts_partial(&x->cuts, from->mesh.naxes) ||
	    cuts_partial(&y->cuts, to->mesh.naxes))
		return fault(c, "its tensor is partial");
	return (from->mesh.naxes + to->mesh.naxes <= MAX_AXES &&
		pairs <= MOST_PAIRS) ||
	       fault(c, "its stages have too many workers");
}

static bool check_channels(pipeline_checker *c)
{
	const plan_pipeline *p = c->p;
	c->table = "channels";
	for (c->row = 0; c->row < p->nchannels; c->row++)
		if (!check_tensors_of(c, &p->channels[c->row]))
			return false;
	int **sources = find_sources(c);
	ends e;
	for (c->row = 0; c->row < p->nchannels; c->row++) {
		const plan_channel *ch = &p->channels[c->row];
		if (sources[ch->to][ch->target] != c->row ||
		    sources[ch->from][ch->source] >= 0)
			return fault(c, "its tensor comes to the stage on "
				     "another channel, or is not at home where "
				     "it comes from");
	}
	if (!find_ends(c, &e))
		return false;
	for (c->row = 0; c->row < p->nchannels; c->row++) {
		const plan_channel *ch = &p->channels[c->row];
		int from = e.instr[0][c->row], to = e.instr[1][c->row];
		if (from < 0 || to < 0)
			return fault(c, "nothing is sent, or received, on it");
		if (in_body(&p->stages[ch->from], from) !=
		    in_body(&p->stages[ch->to], to))
			return fault(c, "one end of it is in the body, the "
				     "other is not");
		if (from >= p->stages[ch->from].loop.end &&
		    to < p->stages[ch->to].loop.begin)
			return fault(c, "it is sent behind the body, and "
				     "received before it");
	}
	return check_names(c, sources) && check_folds(c, sources);
}

static bool check_waits(pipeline_checker *c)
{
	int stage, instr;
	c->table = "schedule";
	c->row = -1;
	return pipeline_ends(c->p, &stage, &instr) ||
	       fault(c, "the stages wait for each other in a circle: stage %d, "
		     "program[%d]", stage, instr);
}

bool pipeline_check(const plan_pipeline *p, diag_sink *s, const char *path)
{
	pipeline_checker c = { .p = p, .sink = s, .path = path,
			       .tmp = arena_new() };
	bool ok = check_stages(&c) && check_channels(&c) &&
		  check_list(&c, "inputs", p->inputs, p->ninputs, false) &&
		  check_list(&c, "outputs", p->outputs, p->noutputs, true) &&
		  check_loss(&c) && check_waits(&c);
	arena_free(c.tmp);
	return ok;
}
