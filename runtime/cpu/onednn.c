#include "config.h"

#include "runtime/cpu/onednn.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/hash.h"
#include "runtime/cpu/onednn_parts.h"

/* The shared library that goes with the headers. */
#define TEXT(x) #x
#define LIBRARY(major) "libdnnl.so." TEXT(major)

enum { ONE_BUCKETS = 256, ONE_ALIGN = 64 };

/* A thread of a worker. */
typedef struct one_thread {
	dnnl_stream_t stream;
	void *work;
	int64_t nbytes;
} one_thread;

/* The worker's runs.  Only the worker itself finds and makes them. */
struct one_worker {
	onednn *of;
	one_thread *threads;
	onednn_run *runs[ONE_BUCKETS];
};

/* ---- opening ----------------------------------------------------------- */

static bool find(void *library, const char *name, void *to)
{
	void *at = dlsym(library, name);
	if (at)
		memcpy(to, &at, sizeof(at));
	return at != NULL;
}

/* Finds OpenMP, which the library loads if its threads are OpenMP's. */
static bool find_openmp(onednn *o)
{
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
	return find(o->library, "omp_set_num_threads", &o->set_threads) &&
	       find(o->library, "omp_get_max_threads", &o->get_threads);
#else
	(void)o;
	return true;
#endif
}

static bool load(onednn *o, failure *f)
{
	const char *file = LIBRARY(DNNL_VERSION_MAJOR);
	const struct {
		const char *name;
		void *to;
	} functions[] = {
#define DNNL(f) { #f, &o->api.f },
#include "runtime/cpu/onednn.def"
	};
	o->library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!o->library)
		return fail_with(f, CLI_MACHINE, "there is no library %s, "
				 "oneDNN, for --kernels library", file);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (!find(o->library, functions[i].name, functions[i].to))
			return fail_with(f, CLI_MACHINE, "%s has no function "
					 "'%s'", file, functions[i].name);
	return find_openmp(o) ||
	       fail_with(f, CLI_MACHINE, "%s is not built with OpenMP, as its "
			 "headers are", file);
}

static bool open_worker(onednn *o, struct one_worker *w)
{
	w->of = o;
	w->threads = calloc((size_t)o->nthreads, sizeof(*w->threads));
	for (int t = 0; w->threads && t < o->nthreads; t++)
		if (o->api.dnnl_stream_create(&w->threads[t].stream, o->engine,
					      dnnl_stream_default_flags) !=
		    dnnl_success)
			return false;
	return w->threads != NULL;
}

static bool open_workers(onednn *o, failure *f)
{
	bool good = o->api.dnnl_engine_create(&o->engine, dnnl_cpu, 0) ==
		    dnnl_success;
	o->workers = calloc((size_t)o->nworkers, sizeof(*o->workers));
	good = good && o->workers;
	for (int w = 0; good && w < o->nworkers; w++)
		good = open_worker(o, &o->workers[w]);
	return good || fail_with(f, CLI_MACHINE, "oneDNN does not start: out "
				 "of memory, or an unknown processor");
}

onednn *onednn_open(int nworkers, int nthreads, failure *f)
{
	const unsigned halves = dnnl_cpu_isa_avx512_core_bf16;
	onednn *o = calloc(1, sizeof(*o));
	if (!o) {
		fail_with(f, CLI_MACHINE, "out of memory");
		return NULL;
	}
	o->nworkers = nworkers;
	o->nthreads = nthreads;
	if (load(o, f) && open_workers(o, f)) {
		unsigned has = o->api.dnnl_get_effective_cpu_isa();
		o->halves = (has & halves) == halves;
		return o;
	}
	onednn_close(o);
	return NULL;
}

/* ---- closing ----------------------------------------------------------- */

static void close_operand(const onednn *o, one_operand *x)
{
	if (x->memory)
		o->api.dnnl_memory_destroy(x->memory);
	if (x->copy)
		o->api.dnnl_memory_destroy(x->copy);
	if (x->reorder)
		o->api.dnnl_primitive_destroy(x->reorder);
}

static void close_part(const onednn *o, one_part *p)
{
	for (int i = 0; i < ONE_OPERANDS; i++)
		close_operand(o, &p->on[i]);
	if (p->call)
		o->api.dnnl_primitive_destroy(p->call);
	if (p->adding)
		o->api.dnnl_primitive_destroy(p->adding);
	if (p->scratchpad)
		o->api.dnnl_memory_destroy(p->scratchpad);
	free(p->at);
	free(p->adds);
	*p = (one_part){ 0 };
}

static void close_run(const onednn *o, onednn_run *x)
{
	for (int i = 0; x->parts && i < x->nparts; i++)
		close_part(o, &x->parts[i]);
	free(x->parts);
	free(x->words);
	free(x);
}

static void close_worker(const onednn *o, struct one_worker *w)
{
	for (int i = 0; i < ONE_BUCKETS; i++)
		for (onednn_run *x = w->runs[i], *next; x; x = next) {
			next = x->next;
			close_run(o, x);
		}
	for (int t = 0; w->threads && t < o->nthreads; t++) {
		if (w->threads[t].stream)
			o->api.dnnl_stream_destroy(w->threads[t].stream);
		free(w->threads[t].work);
	}
	free(w->threads);
}

void onednn_close(onednn *o)
{
	if (!o)
		return;
	for (int w = 0; o->workers && w < o->nworkers; w++)
		close_worker(o, &o->workers[w]);
	free(o->workers);
	if (o->engine)
		o->api.dnnl_engine_destroy(o->engine);
	if (o->library)
		dlclose(o->library);
	free(o);
}

/* ---- runs -------------------------------------------------------------- */

enum {
	BOX_WORDS = 2 * MAX_NDIM,
	MOST_WORDS = 2 + KEPT_SIDES + 4 * MAX_NVARS +
		     (MAX_NINPUTS + 1) * BOX_WORDS,
};

static int put_box(int64_t *words, int n, const box *b)
{
	for (int d = 0; d < b->n; d++) {
		words[n++] = b->lo[d];
		words[n++] = b->hi[d];
	}
	return n;
}

/* Writes down everything on which the calls depend.  The parts follow from the
 * run, their number, and the first part. */
static int put_run(int64_t *words, const onednn_job *j)
{
	const kernel_run *r = j->r;
	int n = 0;
	words[n++] = r->kernel;
	words[n++] = j->nparts;
	for (int s = 0; s < KEPT_SIDES; s++)
		words[n++] = r->kept[s] ? r->kept_bytes[s] : 0;
	n = put_box(words, n, r->space);
	n = put_box(words, n, &j->parts[0]);
	for (int i = 0; i < j->k->ninputs; i++)
		n = put_box(words, n, &r->inputs[i].at);
	return put_box(words, n, &r->out->at);
}

/* Limits OpenMP to one thread while a thread calls oneDNN.  The caller's
 * program may use OpenMP, too. */
static int alone(const onednn *o)
{
	int before = o->get_threads ? o->get_threads() : 1;
	if (o->set_threads && before != 1)
		o->set_threads(1);
	return before;
}

static void no_longer_alone(const onednn *o, int before)
{
	if (o->set_threads && before != 1)
		o->set_threads(before);
}

static bool grow(one_thread *t, int64_t nbytes)
{
	if (nbytes <= t->nbytes)
		return true;
	free(t->work);
	nbytes = round_up(nbytes, ONE_ALIGN);
	t->work = aligned_alloc(ONE_ALIGN, (size_t)nbytes);
	t->nbytes = t->work ? nbytes : 0;
	return t->work != NULL;
}

static bool plan_parts(onednn *o, onednn_run *x, const onednn_job *j)
{
	int before = alone(o);
	bool good = true;
	for (int i = 0; good && i < x->nparts; i++)
		good = one_plan_part(o, x, j, i) &&
		       grow(&x->worker->threads[i], x->parts[i].nbytes);
	no_longer_alone(o, before);
	for (int i = 0; !good && i < x->nparts; i++)
		close_part(o, &x->parts[i]);
	return good;
}

static onednn_run *make_run(onednn *o, struct one_worker *w,
			    const onednn_job *j, const int64_t *words, int n)
{
	onednn_run *x = calloc(1, sizeof(*x));
	if (!x)
		return NULL;
	x->worker = w;
	x->nwords = n;
	x->words = calloc((size_t)n, sizeof(*words));
	x->nparts = j->nparts;
	x->parts = calloc((size_t)j->nparts, sizeof(*x->parts));
	if (!x->words || !x->parts) {
		close_run(o, x);
		return NULL;
	}
	memcpy(x->words, words, (size_t)n * sizeof(*words));
	return x;
}

onednn_run *onednn_find(onednn *o, int worker, const onednn_job *j)
{
	struct one_worker *w = &o->workers[worker];
	int64_t words[MOST_WORDS];
	int n = put_run(words, j);
	size_t size = (size_t)n * sizeof(*words);
	uint64_t hash = hash_words(HASH_SEED, (const uint64_t *)words,
				   (size_t)n);
	onednn_run **bucket = &w->runs[hash_fold(hash) % ONE_BUCKETS];
	for (onednn_run *x = *bucket; x; x = x->next)
		if (x->nwords == n && !memcmp(x->words, words, size))
			return x->fits ? x : NULL;
	onednn_run *x = make_run(o, w, j, words, n);
	if (!x)
		return NULL;
	x->next = *bucket;
	*bucket = x;
	x->fits = plan_parts(o, x, j);
	return x->fits ? x : NULL;
}

/* ---- calls ------------------------------------------------------------- */

static char *data_of(const onednn_job *j, const one_operand *x)
{
	const kernel_run *r = j->r;
	return x->of < j->k->ninputs ? r->inputs[x->of].data : r->out->data;
}

static bool set(const onednn *o, dnnl_memory_t m, void *at)
{
	return o->api.dnnl_memory_set_data_handle(m, at) == dnnl_success;
}

/* Sets where a call begins in an operand, and the operand's copy, if it has
 * one. */
static bool set_operand(const onednn *o, const onednn_job *j, one_part *p,
			int s, int call, char *work)
{
	one_operand *x = &p->on[s];
	char *copies = x->side >= 0 ? j->r->kept[x->side] : work;
	return set(o, x->memory, data_of(j, x) + p->at[call][s] * x->size) &&
	       (!x->copy || set(o, x->copy, copies + x->at));
}

static bool reorder(const onednn *o, const one_operand *x, bool back,
		    dnnl_stream_t s)
{
	const dnnl_exec_arg_t to[] = {
		{ DNNL_ARG_FROM, back ? x->copy : x->memory },
		{ DNNL_ARG_TO, back ? x->memory : x->copy },
	};
	return o->api.dnnl_primitive_execute(x->reorder, s, 2, to) ==
	       dnnl_success;
}

static bool call(const onednn *o, one_part *p, int i, dnnl_stream_t s)
{
	dnnl_exec_arg_t to[ONE_OPERANDS + 1];
	int n = 0;
	for (; n < ONE_OPERANDS; n++) {
		const one_operand *x = &p->on[n];
		to[n] = (dnnl_exec_arg_t){ x->argument,
					   x->copy ? x->copy : x->memory };
	}
	if (p->scratchpad)
		to[n++] = (dnnl_exec_arg_t){ DNNL_ARG_SCRATCHPAD,
					     p->scratchpad };
	return o->api.dnnl_primitive_execute(p->adds[i] ? p->adding : p->call,
					     s, n, to) == dnnl_success;
}

static bool perform(const onednn *o, one_part *p, const onednn_job *j, int i,
		    const one_thread *t)
{
	bool good = true;
	for (int s = 0; good && s < ONE_OPERANDS; s++)
		good = set_operand(o, j, p, s, i, t->work);
	for (int s = 0; good && s < ONE_OUT; s++)
		if (p->on[s].copy && p->on[s].side < 0)
			good = reorder(o, &p->on[s], false, t->stream);
	good = good && call(o, p, i, t->stream);
	if (good && p->on[ONE_OUT].copy)
		good = reorder(o, &p->on[ONE_OUT], true, t->stream);
	return good;
}

bool onednn_compute(onednn_run *x, const onednn_job *j, int i)
{
	const onednn *o = x->worker->of;
	const one_thread *t = &x->worker->threads[i];
	one_part *p = &x->parts[i];
	int before = alone(o);
	bool good = !p->scratchpad ||
		    set(o, p->scratchpad, (char *)t->work + p->scratchpad_at);
	for (int c = 0; good && c < p->ncalls; c++)
		good = perform(o, p, j, c, t);
	no_longer_alone(o, before);
	return good;
}

/* ---- kept factors ------------------------------------------------------ */

/* Whether a run fills a slot.  The executor then counts it as filled, so a slot
 * that x does not use belongs to nobody from then on. */
bool onednn_fills(const onednn_run *x, const onednn_job *j)
{
	bool some = false;
	for (int s = 0; s < KEPT_SIDES; s++)
		some |= x->kept[s] > 0 && (j->r->fill >> s & 1 ||
					   *j->r->kept_as[s] != x);
	for (int s = 0; s < KEPT_SIDES; s++)
		if (j->r->kept[s] && (some || j->r->fill >> s & 1))
			*j->r->kept_as[s] = x;
	return some;
}

bool onednn_pack(onednn_run *x, const onednn_job *j, int i)
{
	const onednn *o = x->worker->of;
	const one_thread *t = &x->worker->threads[i];
	one_part *p = &x->parts[i];
	int before = alone(o);
	bool good = true;
	for (int s = 0; good && s < ONE_OUT; s++)
		if (p->on[s].packs)
			good = set_operand(o, j, p, s, 0, t->work) &&
			       reorder(o, &p->on[s], false, t->stream);
	no_longer_alone(o, before);
	return good;
}
