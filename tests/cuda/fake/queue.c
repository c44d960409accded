/* Streams, and the choice of the work that the fake driver does next. */
#include "queue.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

CUstream streams;
static struct CUstream_st defaults[MAX_DEVICES];
static long calls;     /* until now, for run_meanwhile() */
long progressed;
static _Thread_local bool in_host;

bool in_host_function(void)
{
	return in_host;
}

void count_call(void)
{
	calls++;
}

void *take(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);
	if (!p)
		abort();
	return p;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- counted objects ----------------------------------------------------- */

job *new_job(const fake_work *w)
{
	job *j = take(1, sizeof *j);
	*j = (job){*w, 1};
	return j;
}

void drop_job(job *j)
{
	if (!j || --j->refs > 0)
		return;
	if (j->w.release)
		j->w.release(j->w.arg);
	free(j);
}

node *keep(node *n)
{
	if (n)
		n->refs++;
	return n;
}

void drop(node *n)
{
	if (!n || --n->refs > 0)
		return;
	for (int i = 0; i < n->ndeps; i++)
		drop(n->deps[i]);
	drop_job(n->j);
	free(n->deps);
	free(n);
}

/* Releases the dependencies and the work of a node that is done. */
static void finish_node(node *n)
{
	n->done = true;
	n->at = now();
	for (int i = 0; i < n->ndeps; i++)
		drop(n->deps[i]);
	n->ndeps = 0;
	drop_job(n->j);
	n->j = NULL;
}

void drop_graph(CUgraph g)
{
	if (!g || --g->refs > 0)
		return;
	for (int i = 0; i < g->n; i++) {
		drop_job(g->nodes[i].j);
		free(g->nodes[i].deps.at);
	}
	free(g->nodes);
	free(g);
}

void drop_capture(capture *c)
{
	if (!c || --c->refs > 0)
		return;
	drop_graph(c->graph);
	free(c);
}

void set_of(set *s, int n, const int *at)
{
	int *copy = take((size_t)n, sizeof *copy);
	memcpy(copy, at, (size_t)n * sizeof *copy);
	free(s->at);
	*s = (set){n, copy};
}

void unite(set *s, const set *with)
{
	int *all = take((size_t)(s->n + with->n), sizeof *all), n = 0;
	for (int i = 0, j = 0; i < s->n || j < with->n;) {
		const int a = i < s->n ? s->at[i] : with->at[j];
		const int b = j < with->n ? with->at[j] : a;
		const int x = a < b ? a : b;
		i += i < s->n && s->at[i] == x;
		j += j < with->n && with->at[j] == x;
		all[n++] = x;
	}
	free(s->at);
	*s = (set){n, all};
}

/* ---- doing work ---------------------------------------------------------- */

/* Does a piece of work; the lock is released while it is a function of the
 * program. */
CUresult do_work(const fake_work *w, int device, bool first)
{
	static const fake_work *hangs;
	CUcontext c = context_of(device);
	if (w->of_kernel && first) {
		const int code = injected("kernel");
		if (code > 0)
			return (CUresult)code;
		if (code < 0)
			hangs = w;
	}
	if (w == hangs)
		return CUDA_ERROR_NOT_READY;
	if (!w->of_host) {
		memory_open(c);
		return w->step(w->arg, first);
	}
	memory_open(NULL);
	pthread_mutex_unlock(&fake_lock);
	in_host = true;
	const CUresult result = w->step(w->arg, first);
	in_host = false;
	pthread_mutex_lock(&fake_lock);
	return result;
}

static bool is_ready(const node *n)
{
	if (n->running || n->done)
		return false;
	for (int i = 0; i < n->ndeps; i++)
		if (!n->deps[i]->done)
			return false;
	return true;
}

/* Does the head of a stream, or a part of it; after an error of the context it
 * is dropped.  Returns whether anything was done. */
static bool step_stream(CUstream s)
{
	node *n = keep(s->first);
	CUcontext c = context_of(s->device);
	const long before = progressed;
	CUresult result = CUDA_SUCCESS;
	if (n->j && !c->error) {
		const bool first = !n->begun;
		n->begun = n->running = true;
		result = do_work(&n->j->w, s->device, first);
		n->running = false;
	}
	if (result == CUDA_ERROR_NOT_READY) {
		drop(n);
		return progressed > before;
	}
	if (result && !c->error) {
		note("stream %d: %s: error %d", s->number, n->j->w.what,
		     (int)result);
		c->error = result;
	} else if (n->j) {
		note("stream %d: %s", s->number, n->j->w.what);
	}
	progressed++;
	s->first = n->next;
	finish_node(n);
	drop(n);
	drop(n); /* the stream's */
	return true;
}

/* Does one piece of the work that is ready.  Streams have random priorities
 * that change from time to time, so that one may run far ahead of another. */
static bool progress_once(void)
{
	CUstream ready[64];
	int n = 0;
	for (CUstream s = streams; s; s = s->next) {
		if (fake_random(16) == 0)
			s->priority = (int)fake_random(1000);
		if (s->first && is_ready(s->first) && n < 64)
			ready[n++] = s;
	}
	while (n > 0) {
		int best = 0;
		for (int i = 1; i < n; i++)
			if (ready[i]->priority > ready[best]->priority)
				best = i;
		if (step_stream(ready[best]))
			return true;
		ready[best] = ready[--n];
	}
	return false;
}

static void rest(void)
{
	pthread_mutex_unlock(&fake_lock);
	usleep(50);
	pthread_mutex_lock(&fake_lock);
}

static bool is_idle(int device)
{
	for (CUstream s = streams; s; s = s->next)
		if ((device < 0 || s->device == device) && s->first)
			return false;
	return true;
}

/* Does work between calls, since a program may wait for memory to change. */
static void *run_meanwhile(void *arg)
{
	(void)arg;
	for (long seen = 0;;) {
		usleep(3000);
		pthread_mutex_lock(&fake_lock);
		if (seen == calls && !is_idle(-1)) {
			while (seen == calls && progress_once())
				;
			memory_open(NULL);
		}
		seen = calls;
		pthread_mutex_unlock(&fake_lock);
	}
	return NULL;
}

static void start_thread(void)
{
	static bool started;
	pthread_t thread;
	if (started)
		return;
	started = true;
	if (pthread_create(&thread, NULL, run_meanwhile, NULL) == 0)
		pthread_detach(thread);
}

CUresult finish_device(int device)
{
	while (!is_idle(device))
		if (!progress_once())
			rest();
	memory_open(NULL);
	return current() ? current()->error : CUDA_SUCCESS;
}

CUresult finish_point(node *n, int device)
{
	keep(n);
	while (n && !n->done)
		if (!progress_once())
			rest();
	drop(n);
	memory_open(NULL);
	return context_of(device)->error;
}

void fake_progress(void)
{
	pthread_mutex_lock(&fake_lock);
	progress_once();
	memory_open(NULL);
	pthread_mutex_unlock(&fake_lock);
}

/* ---- streams ------------------------------------------------------------- */

static void add_stream(CUstream s, int device)
{
	static int count;
	s->device = device;
	s->number = count++;
	s->priority = (int)fake_random(1000);
	s->next = streams;
	streams = s;
	start_thread();
}

/* The stream that a handle means; NULL where it means none. */
CUstream resolve(CUstream handle)
{
	if (!handle || handle == CU_STREAM_LEGACY) {
		if (!current())
			return NULL;
		CUstream s = &defaults[current()->device];
		if (!s->legacy) {
			s->legacy = s->blocks = true;
			add_stream(s, current()->device);
		}
		return s;
	}
	for (CUstream s = streams; s; s = s->next)
		if (s == handle)
			return s;
	return NULL;
}

CUresult finish_stream(CUstream handle)
{
	CUstream s = resolve(handle);
	return finish_point(s->last, s->device);
}

int stream_device(CUstream handle)
{
	CUstream s = resolve(handle);
	return s ? s->device : -1;
}

int fake_stream_device(CUstream s)
{
	pthread_mutex_lock(&fake_lock);
	const int device = stream_device(s);
	pthread_mutex_unlock(&fake_lock);
	return device;
}

bool captures_now(CUstream handle)
{
	CUstream s = resolve(handle);
	return s && s->c;
}

bool fake_stream_captures(CUstream s)
{
	pthread_mutex_lock(&fake_lock);
	const bool captures = captures_now(s);
	pthread_mutex_unlock(&fake_lock);
	return captures;
}

void add_dep(node *n, node *on)
{
	if (!on || on->done)
		return;
	n->deps = realloc(n->deps, (size_t)(n->ndeps + 1) * sizeof(node *));
	if (!n->deps)
		abort();
	n->deps[n->ndeps++] = keep(on);
}

/* The legacy stream and blocking streams wait for each other. */
static void add_legacy_deps(CUstream s, node *n)
{
	for (CUstream t = streams; t; t = t->next)
		if (t != s && t->device == s->device && t->blocks &&
		    (s->legacy || (s->blocks && t->legacy)))
			add_dep(n, t->last);
}

node *append(CUstream s, job *j)
{
	node *n = take(1, sizeof *n);
	*n = (node){.j = j, .refs = 2}; /* the queue's, and .last */
	add_legacy_deps(s, n);
	if (s->first)
		s->last->next = n;
	else
		s->first = n;
	drop(s->last);
	s->last = n;
	return n;
}

/* ---- the calls of streams ------------------------------------------------ */

FAKE_EXPORT CUresult cuStreamCreate(CUstream *s, unsigned flags)
{
	ENTER(NEEDS_CONTEXT);
	if (flags > 1)
		return leave(CUDA_ERROR_INVALID_VALUE);
	*s = take(1, sizeof **s);
	(*s)->blocks = flags == CU_STREAM_DEFAULT;
	(*s)->user = true;
	add_stream(*s, current()->device);
	return leave(CUDA_SUCCESS);
}

enum {
	LEAST = 0,
	GREATEST = -5,
};

FAKE_EXPORT CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	ENTER(NEEDS_CONTEXT);
	*least = LEAST;
	*greatest = GREATEST;
	return leave(CUDA_SUCCESS);
}

/* The priority is ignored, as priorities promise nothing: of the streams that
 * are ready one is drawn. */
FAKE_EXPORT CUresult cuStreamCreateWithPriority(CUstream *s, unsigned flags,
						int priority)
{
	const CUresult result = cuStreamCreate(s, flags);
	if (!result && priority <= GREATEST)
		note("stream %d is the most urgent", (*s)->number);
	return result;
}

FAKE_EXPORT CUresult cuStreamDestroy(CUstream handle)
{
	ENTER(NEEDS_INIT);
	CUstream s = handle ? resolve(handle) : NULL;
	if (!s || !s->user)
		return leave(CUDA_ERROR_INVALID_HANDLE);
	if (s->c)
		s->c->spoilt = true;
	const CUresult result = finish_point(s->last, s->device);
	for (CUstream *p = &streams; *p; p = &(*p)->next)
		if (*p == s) {
			*p = s->next;
			break;
		}
	drop(s->last);
	free(s->leaves.at);
	free(s);
	return leave(result);
}

FAKE_EXPORT CUresult cuStreamSynchronize(CUstream handle)
{
	ENTER(NEEDS_CONTEXT);
	CUstream s = resolve(handle);
	if (!s)
		return leave(CUDA_ERROR_INVALID_HANDLE);
	if (s->c)
		return leave(spoil_capture(s));
	return leave(finish_point(s->last, s->device));
}

CUresult query(const node *n, int device)
{
	for (unsigned i = fake_random(4); i > 0 && n && !n->done; i--)
		progress_once();
	memory_open(NULL);
	if (context_of(device)->error)
		return context_of(device)->error;
	return n && !n->done ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuStreamQuery(CUstream handle)
{
	ENTER(NEEDS_CONTEXT);
	CUstream s = resolve(handle);
	if (!s)
		return leave(CUDA_ERROR_INVALID_HANDLE);
	if (s->c)
		return leave(spoil_capture(s));
	node *n = keep(s->last);
	const CUresult result = query(n, s->device);
	drop(n);
	return leave(result);
}

