#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/stream.h"
#include "plan/base64.h"
#include "plan/read.h"
#include "plan/write.h"

json_t *write_ints(const int *v, int n)
{
	json_t *all = json_array();
	for (int i = 0; i < n; i++)
		json_array_append_new(all, json_integer(v[i]));
	return all;
}

json_t *write_texts(const char *const *v, int n)
{
	json_t *all = json_array();
	for (int i = 0; i < n; i++)
		json_array_append_new(all, json_of_text(v[i]));
	return all;
}

/* The reducer, then the inputs. */
static json_t *of_passing(const kpassing *x)
{
	json_t *all = json_array();
	json_array_append_new(all, json_string(reducer_name(x->by)));
	for (uint32_t left = x->inputs; left; left &= left - 1)
		json_array_append_new(all, json_integer(__builtin_ctz(left)));
	return all;
}

/* For each axis the dimension, or the variable of kernel k; null if none; the
 * reducer of a partial tensor; a kernel's passing. */
static json_t *of_cuts(const plan *p, const cuts *c, const kernel *k)
{
	json_t *all = json_array();
	for (int a = 0; a < p->mesh.naxes; a++) {
		int d = c->dim[a];
		json_array_append_new(
			all, d >= 0	     ? json_integer(d)
			     : d == CUT_NONE ? json_null()
			     : k ? of_passing(cut_passed(k, d))
				 : json_string(reducer_name(cut_reducer(d))));
	}
	return all;
}

static json_t *of_constant(arena *a, const plan_tensor *t, const char *folder)
{
	const plan_constant *c = &t->constant;
	size_t n = dtype_size(t->type);
	switch (c->kind) {
	case PLAN_CONST_FILE:
		return json_pack("{s:o,s:I,s:I}", "file",
				 json_of_text(path_seen_from(a, folder,
							     c->path)),
				 "offset", (json_int_t)c->offset, "crc32",
				 (json_int_t)c->crc);
	case PLAN_CONST_INLINE:
		n = (size_t)plan_tensor_nbytes(t);
		return json_pack("{s:s}", "base64",
				 base64_encode(a, c->data, n));
	case PLAN_CONST_FILL:
		return json_pack("{s:s}", "fill",
				 base64_encode(a, c->data, n));
	case PLAN_CONST_RANDOM:
		return json_pack("{s:[f,f],s:s}",
				 c->law == PLAN_UNIFORM ? "uniform" : "normal",
				 c->a, c->b, "key",
				 arena_printf(a, "%016" PRIx64, c->key));
	case PLAN_CONST_NONE:
		break;
	}
	return NULL;
}

static const char *const roles[] = {
	[PLAN_INPUT] = "input",
	[PLAN_CONSTANT] = "constant",
	[PLAN_RESULT] = "result",
	[PLAN_STATE] = "state",
};

static json_t *of_tensor(arena *a, const plan *p, int i, const char *folder)
{
	const plan_tensor *t = &p->tensors[i];
	json_t *shape = json_array();
	for (int d = 0; d < t->ndim; d++)
		json_array_append_new(shape, json_integer(t->dims[d]));
	json_t *j = json_object();
	json_object_set_new(j, "name", json_of_text(t->name));
	json_object_set_new(j, "type", json_string(dtype_name(t->type)));
	json_object_set_new(j, "shape", shape);
	json_object_set_new(j, "role", json_string(roles[t->role]));
	json_object_set_new(j, "cuts", of_cuts(p, &t->cuts, NULL));
	if (t->buffer >= 0)
		json_object_set_new(j, "buffer", json_integer(t->buffer));
	if (t->role == PLAN_STATE && t->next >= 0)
		json_object_set_new(j, "next", json_integer(t->next));
	if (p->loop.turns > 0 && t->time != CUT_NONE)
		json_object_set_new(j, "time", json_integer(t->time));
	if (p->loop.turns > 0 && t->then >= 0)
		json_object_set_new(j, "then", json_integer(t->then));
	if (t->constant.kind != PLAN_CONST_NONE)
		json_object_set_new(j, "constant", of_constant(a, t, folder));
	return j;
}

static json_t *of_node(const plan *p, int i)
{
	const plan_node *n = &p->nodes[i];
	const kernel *k = p->kernels[n->kernel].kernel;
	json_t *j = json_object();
	json_object_set_new(j, "name", json_of_text(n->name));
	json_object_set_new(j, "op", json_of_text(n->op));
	json_object_set_new(j, "kernel", json_integer(n->kernel));
	json_object_set_new(j, "cuts", of_cuts(p, &n->cuts, k));
	json_object_set_new(j, "inputs", write_ints(n->inputs, k->ninputs));
	json_object_set_new(j, "output", json_integer(n->output));
	if (p->loop.turns > 0 && n->time != CUT_NONE)
		json_object_set_new(j, "time", json_integer(n->time));
	return j;
}

static const char *const regions[] = {
	[LAYOUT_STORED] = "stored",
	[LAYOUT_NEEDS] = "needs",
	[LAYOUT_PRODUCES] = "produces",
	[LAYOUT_REDUCED_SHARD] = "own",
};

static json_t *of_buffer(const plan *p, int i)
{
	const plan_buffer *b = &p->buffers[i];
	json_t *j = json_object();
	json_object_set_new(j, "tensor", json_integer(b->tensor));
	json_object_set_new(j, "region", json_string(regions[b->region]));
	if (b->region != LAYOUT_STORED)
		json_object_set_new(j, "node", json_integer(b->node));
	json_object_set_new(j, "offset", json_integer(b->offset));
	json_object_set_new(j, "bytes", json_integer(b->nbytes));
	if (b->slots > 0)
		json_object_set_new(j, "slots", json_integer(b->slots));
	return j;
}

static json_t *of_instr(const plan *p, int i)
{
	const plan_instr *in = &p->program[i];
	json_t *j = json_object();
	if (in->op == PLAN_RUN) {
		const plan_node *n = &p->nodes[in->node];
		int ninputs = p->kernels[n->kernel].kernel->ninputs;
		json_object_set_new(j, "run", json_integer(in->node));
		json_object_set_new(j, "from", write_ints(in->inputs, ninputs));
		if (in->chain > 0)
			json_object_set_new(j, "chain",
					    json_integer(in->chain));
	} else if (in->op == PLAN_FEED) {
		json_object_set_new(j, "feed", json_integer(in->to));
		return j;
	} else if (in->op == PLAN_SEND) {
		json_object_set_new(j, "send", json_integer(in->channel));
		json_object_set_new(j, "from", json_integer(in->from));
		return j;
	} else if (in->op == PLAN_RECEIVE) {
		json_object_set_new(j, "receive", json_integer(in->channel));
	} else {
		json_t *how = json_string(collective_name(in->collective));
		if (in->op == PLAN_COMBINE) {
			json_object_set_new(j, "combine",
					    json_integer(in->node));
			json_object_set_new(j, "as", how);
		} else {
			json_object_set_new(j, "move", how);
		}
		json_object_set_new(j, "from", json_integer(in->from));
		if (in->bucket > 0)
			json_object_set_new(j, "bucket",
					    json_integer(in->bucket));
	}
	json_object_set_new(j, "to", json_integer(in->to));
	return j;
}

/* ---- the file ---------------------------------------------------------- */

enum { FLAGS = JSON_COMPACT | JSON_ENCODE_ANY };

void write_member(writer *w, const char *key, json_t *j)
{
	fprintf(w->to, ",\n\"%s\":", key);
	json_dumpf(j, w->to, FLAGS);
	json_decref(j);
}

void write_begin(writer *w, int version)
{
	fprintf(w->to, "{\"format\":\"tdl-plan\",\n\"version\":%d", version);
}

static json_t *of_row(writer *w, const plan *p, int table, int i)
{
	switch (table) {
	case TABLE_KERNELS:
		return json_of_kernel(&p->kernels[i]);
	case TABLE_TENSORS:
		return of_tensor(w->tmp, p, i, w->folder);
	case TABLE_NODES:
		return of_node(p, i);
	case TABLE_BUFFERS:
		return of_buffer(p, i);
	default:
		return of_instr(p, i);
	}
}

enum { ROW_BYTES = 4096 }; /* rows of kernels may have more */

/* Formats a row at once, because a call of stdio for every piece of it would
 * take longer than making it. */
static void put_row(writer *w, json_t *j, bool first)
{
	char row[ROW_BYTES];
	size_t n = json_dumpb(j, row, sizeof(row), FLAGS);
	fputs(first ? "\n" : ",\n", w->to);
	if (n > 0 && n <= sizeof(row))
		fwrite(row, 1, n, w->to);
	else
		json_dumpf(j, w->to, FLAGS);
	json_decref(j);
}

/* Writes one row of a table per line, so that plans can be compared line by
 * line. */
static void put_table(writer *w, const plan *p, int nplans, int table)
{
	bool first = true;
	fprintf(w->to, ",\n\"%s\":[", plan_tables[table]);
	for (int n = 0; n < nplans; n++) {
		const int counts[NTABLES] = { p[n].nkernels, p[n].ntensors,
					    p[n].nnodes, p[n].nbuffers,
					    p[n].ninstrs };
		for (int i = 0; i < counts[table]; i++, first = false)
			put_row(w, of_row(w, &p[n], table, i), first);
	}
	fputc(']', w->to);
}

void write_rows(writer *w, const char *key, int n,
		json_t *(*row)(const void *of, int i), const void *of)
{
	fprintf(w->to, ",\n\"%s\":[", key);
	for (int i = 0; i < n; i++)
		put_row(w, row(of, i), i == 0);
	fputc(']', w->to);
}

void write_tables(writer *w, const plan *p, int nplans)
{
	for (int i = 0; i < NTABLES; i++)
		put_table(w, p, i == TABLE_KERNELS ? 1 : nplans, i);
	fputs("}\n", w->to);
}

json_t *write_training(const plan *p)
{
	json_t *j = json_object();
	if (p->loss >= 0)
		json_object_set_new(j, "loss", json_integer(p->loss));
	if (p->learning_rate >= 0)
		json_object_set_new(j, "learning_rate",
				    json_integer(p->learning_rate));
	if (p->loss_scale >= 0)
		json_object_set_new(j, "loss_scale",
				    json_integer(p->loss_scale));
	return j;
}

json_t *write_growth(const plan *p)
{
	return json_pack("{s:i,s:I}", "position", p->position, "length",
			 (json_int_t)p->length);
}

static json_t *of_fold(const void *of, int i)
{
	const plan_fold *f = &((const plan *)of)->folds[i];
	json_t *j = json_object();
	if (f->kernel)
		json_object_set_new(j, "kernel", json_of_kernel(&(plan_kernel){
			.kernel = f->kernel }));
	json_object_set_new(j, "inputs", write_ints(f->inputs, f->ninputs));
	json_object_set_new(j, "output", json_integer(f->output));
	return j;
}

json_t *write_folds(const plan *p)
{
	json_t *all = json_array();
	for (int i = 0; i < p->nfolds; i++)
		json_array_append_new(all, of_fold(p, i));
	return all;
}

static json_t *of_loop(const plan_loop *o)
{
	json_t *j = json_pack("{s:i,s:I,s:[i,i]}", "turns", o->turns, "batch",
			      (json_int_t)o->batch, "body", o->begin, o->end);
	if (o->statistics)
		json_object_set_new(j, "statistics", json_true());
	return j;
}

void write_predicted(writer *w, const plan_prediction *p)
{
	if (!p->machine)
		return;
	json_t *j = json_pack("{s:o,s:f}", "machine",
			      json_of_text(p->machine), "seconds", p->seconds);
	if (p->topology)
		json_object_set_new(j, "topology", json_of_text(path_seen_from(
			w->tmp, w->folder, p->topology)));
	if (p->batch > 0)
		json_object_set_new(j, "batch",
				    json_integer((json_int_t)p->batch));
	write_member(w, "predicted", j);
}

static void put_plan(writer *w, const void *of)
{
	const plan *p = of;

	write_begin(w, PLAN_VERSION);
	write_member(w, "model", json_of_text(p->model));
	write_member(w, "algorithm", json_of_text(p->algorithm));
	write_member(w, "mesh", write_ints(p->mesh.size, p->mesh.naxes));
	write_member(w, "arena_bytes", json_integer(p->arena_bytes));
	if (p->copies_bytes > 0)
		write_member(w, "copies_bytes", json_integer(p->copies_bytes));
	if (p->kept_bytes > 0)
		write_member(w, "kept_bytes", json_integer(p->kept_bytes));
	write_member(w, "communication_bytes",
		   json_integer(p->communication_bytes));
	write_member(w, "inputs", write_ints(p->inputs, p->ninputs));
	write_member(w, "outputs", write_ints(p->outputs, p->noutputs));
	if (p->training)
		write_member(w, "training", write_training(p));
	if (p->length > 0)
		write_member(w, "growth", write_growth(p));
	write_predicted(w, &p->predicted);
	if (p->loop.turns > 0)
		write_member(w, "micro_batches", of_loop(&p->loop));
	if (p->nfixed > 0)
		write_member(w, "fixed", write_texts(p->fixed, p->nfixed));
	if (p->nfolds > 0)
		write_rows(w, "folds", p->nfolds, of_fold, p);
	write_tables(w, p, 1);
}

char *write_text(arena *a, const void *of, const char *path,
		 void (*put)(writer *w, const void *of), size_t *len)
{
	char *out = NULL;
	writer w = { .tmp = arena_new() };
	text_stream s;
	w.to = text_stream_open(&s);
	if (w.to) {
		w.folder = path_folder(w.tmp, path);
		put(&w, of);
		out = text_stream_close(&s, a, len);
	}
	arena_free(w.tmp);
	return out;
}

bool write_atomically(const char *path, const void *of,
		      void (*put)(writer *w, const void *of))
{
	arena *tmp = arena_new();
	size_t len = 0;
	char *text = write_text(tmp, of, path, put, &len);
	bool ok = text && file_write(path, text, len);
	int why = errno;
	arena_free(tmp);
	errno = why;
	return ok;
}

char *plan_text(arena *a, const plan *p, const char *path, size_t *len)
{
	return write_text(a, p, path, put_plan, len);
}

bool plan_write(const plan *p, const char *path)
{
	return write_atomically(path, p, put_plan);
}
