/* Streams, events, and what the fake driver does next. */
#include "queue.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Work that streams and graphs share. */
typedef struct job {
	fake_work w;
	int refs;
} job;

/* Work in a stream, to be done once. */
typedef struct node {
	job *j; /* NULL: nothing, a point that others wait for */
	int refs, ndeps;
	bool running, begun, done;
	double at; /* seconds, when it was done */
	struct node **deps, *next; /* in the stream */
} node;

/* What is being captured. */
typedef struct capture {
	CUgraph graph;
	CUstream origin;
	CUstreamCaptureMode mode;
	pthread_t thread;
	bool spoilt;
	int refs;
} capture;

/* Nodes of a graph, in increasing order. */
typedef struct set {
	int n, *at;
} set;

struct CUstream_st {
	struct CUstream_st *next; /* of all */
	int device, number, priority;
	bool blocks, legacy, user;
	node *first, *last; /* last: kept when it is done */
	capture *c;
	set leaves; /* of the capture, on which the next node depends */
};

struct CUevent_st {
	node *n;
	bool timed;
	capture *c; /* that it was recorded in, which may have ended */
	set leaves;
};

typedef struct graph_node {
	job *j;
	set deps;
} graph_node;

struct CUgraph_st {
	int n, refs;
	graph_node *nodes;
};

struct CUgraphExec_st {
	CUgraph graph;
	node *last; /* its last launch */
};

static CUstream streams;
static struct CUstream_st defaults[MAX_DEVICES];
static long calls;     /* that have come, for the thread below */
static long progressed; /* pieces of work that were done */
static _Thread_local bool in_host;
static _Thread_local CUstreamCaptureMode thread_mode;
static capture *captures[64];
static int ncaptures;

bool in_host_function(void)
{
	return in_host;
}

void count_call(void)
{
	calls++;
}

static void *take(size_t n, size_t size)
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

static job *new_job(const fake_work *w)
{
	job *j = take(1, sizeof *j);
	*j = (job){*w, 1};
	return j;
}

static void drop_job(job *j)
{
	if (!j || --j->refs > 0)
		return;
	if (j->w.release)
		j->w.release(j->w.arg);
	free(j);
}

static node *keep(node *n)
{
	if (n)
		n->refs++;
	return n;
}

static void drop(node *n)
{
	if (!n || --n->refs > 0)
		return;
	for (int i = 0; i < n->ndeps; i++)
		drop(n->deps[i]);
	drop_job(n->j);
	free(n->deps);
	free(n);
}

/* Its dependencies and its work are needed no more. */
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

static void drop_graph(CUgraph g)
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

static void drop_capture(capture *c)
{
	if (!c || --c->refs > 0)
		return;
	drop_graph(c->graph);
	free(c);
}

static void set_of(set *s, int n, const int *at)
{
	int *copy = take((size_t)n, sizeof *copy);
	memcpy(copy, at, (size_t)n * sizeof *copy);
	free(s->at);
	*s = (set){n, copy};
}

static void unite(set *s, const set *with)
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

/* A piece of work; the lock is given away while it is the program's function.
 * What a context's error has ended is not done. */
static CUresult do_work(const fake_work *w, int device, bool first)
{
	CUcontext c = context_of(device);
	if (w->of_kernel && first) {
		const int code = injected("kernel");
		if (code)
			return code < 0 ? CUDA_ERROR_NOT_READY : (CUresult)code;
	}
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

/* The head of a stream, or a part of it.  Returns whether anything was done. */
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

/* Does one piece of what may be done next.  Streams have priorities, which
 * change from time to time: so one runs far ahead of another. */
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

/* What is done while nobody asks: a program may wait for memory to change. */
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

static CUresult finish_point(node *n, int device)
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
static CUstream resolve(CUstream handle)
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

static void add_dep(node *n, node *on)
{
	if (!on || on->done)
		return;
	n->deps = realloc(n->deps, (size_t)(n->ndeps + 1) * sizeof(node *));
	if (!n->deps)
		abort();
	n->deps[n->ndeps++] = keep(on);
}

/* The legacy stream and those that block wait for each other. */
static void add_legacy_deps(CUstream s, node *n)
{
	for (CUstream t = streams; t; t = t->next)
		if (t != s && t->device == s->device && t->blocks &&
		    (s->legacy || (s->blocks && t->legacy)))
			add_dep(n, t->last);
}

static node *append(CUstream s, job *j)
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

/* ---- capturing ----------------------------------------------------------- */

static bool refuses(const capture *c)
{
	if (c->spoilt || thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
		return false;
	if (pthread_equal(c->thread, pthread_self()))
		return c->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
	return c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
	       thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

CUresult refuse_in_capture(void)
{
	for (int i = 0; i < ncaptures; i++)
		if (refuses(captures[i])) {
			captures[i]->spoilt = true;
			return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
		}
	return CUDA_SUCCESS;
}

CUresult spoil_capture(CUstream s)
{
	resolve(s)->c->spoilt = true;
	return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

static CUresult capture_job(CUstream s, job *j)
{
	CUgraph g = s->c->graph;
	if (s->c->spoilt) {
		drop_job(j);
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	}
	g->nodes = realloc(g->nodes, (size_t)(g->n + 1) * sizeof *g->nodes);
	if (!g->nodes)
		abort();
	g->nodes[g->n] = (graph_node){.j = j, .deps = s->leaves};
	s->leaves = (set){0};
	set_of(&s->leaves, 1, &g->n);
	g->n++;
	return CUDA_SUCCESS;
}

CUresult enqueue(CUstream handle, const fake_work *w)
{
	CUstream s = resolve(handle);
	job *j = new_job(w);
	if (!s) {
		drop_job(j);
		return CUDA_ERROR_INVALID_HANDLE;
	}
	if (s->c)
		return capture_job(s, j);
	if (s->legacy)
		for (int i = 0; i < ncaptures; i++)
			if (captures[i]->origin->blocks &&
			    captures[i]->origin->device == s->device) {
				captures[i]->spoilt = true;
				drop_job(j);
				return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
			}
	append(s, j);
	return CUDA_SUCCESS;
}

CUresult fake_enqueue(CUstream s, const fake_work *w)
{
	pthread_mutex_lock(&fake_lock);
	return leave(enqueue(s, w));
}

FAKE_EXPORT CUresult cuStreamBeginCapture(CUstream handle,
					  CUstreamCaptureMode mode)
{
	ENTER(NEEDS_CONTEXT);
	CUstream s = resolve(handle);
	if (!s)
		return leave(CUDA_ERROR_INVALID_HANDLE);
	if (s->legacy)
		return leave(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	if (s->c || ncaptures == 64)
		return leave(CUDA_ERROR_ILLEGAL_STATE);
	capture *c = take(1, sizeof *c);
	*c = (capture){.graph = take(1, sizeof *c->graph),
		       .origin = s,
		       .mode = mode,
		       .thread = pthread_self(),
		       .refs = 1};
	c->graph->refs = 1;
	s->c = c;
	captures[ncaptures++] = c;
	return leave(CUDA_SUCCESS);
}

/* Marks the nodes that those of a set depend on, they among them. */
static void mark(const struct CUgraph_st *g, const set *from, bool *reached)
{
	for (int i = 0; i < from->n; i++)
		reached[from->at[i]] = true;
	for (int i = g->n - 1; i >= 0; i--)
		for (int j = 0; reached[i] && j < g->nodes[i].deps.n; j++)
			reached[g->nodes[i].deps.at[j]] = true;
}

/* Whether all that is captured comes before the end of the first stream. */
static bool is_joined(const capture *c)
{
	bool *reached = take((size_t)c->graph->n, 1), all = true;
	mark(c->graph, &c->origin->leaves, reached);
	for (int i = 0; i < c->graph->n; i++)
		all = all && reached[i];
	free(reached);
	return all;
}

static void end_capture(capture *c)
{
	for (CUstream s = streams; s; s = s->next)
		if (s->c == c) {
			s->c = NULL;
			set_of(&s->leaves, 0, NULL);
		}
	for (int i = 0; i < ncaptures; i++)
		if (captures[i] == c)
			captures[i] = captures[--ncaptures];
}

FAKE_EXPORT CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph)
{
	ENTER(NEEDS_CONTEXT);
	CUstream s = resolve(handle);
	*graph = NULL;
	if (!s || !s->c)
		return leave(CUDA_ERROR_ILLEGAL_STATE);
	capture *c = s->c;
	if (c->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
	    !pthread_equal(c->thread, pthread_self()))
		return leave(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
	if (c->origin != s) {
		c->spoilt = true;
		return leave(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
	}
	CUresult result = c->spoilt ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
			  : !is_joined(c) ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED
					  : CUDA_SUCCESS;
	end_capture(c);
	if (!result) {
		*graph = c->graph;
		c->graph->refs++;
		note("captured a graph of %d nodes", c->graph->n);
	}
	drop_capture(c);
	return leave(result);
}

FAKE_EXPORT CUresult cuStreamIsCapturing(CUstream handle,
					 CUstreamCaptureStatus *status)
{
	ENTER(NEEDS_CONTEXT);
	CUstream s = resolve(handle);
	if (!s)
		return leave(CUDA_ERROR_INVALID_HANDLE);
	*status = !s->c		 ? CU_STREAM_CAPTURE_STATUS_NONE
		  : s->c->spoilt ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
				 : CU_STREAM_CAPTURE_STATUS_ACTIVE;
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult
cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	const CUstreamCaptureMode old = thread_mode;
	thread_mode = *mode;
	*mode = old;
	return CUDA_SUCCESS;
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

FAKE_EXPORT CUresult cuStreamCreateWithPriority(CUstream *s, unsigned flags,
						int priority)
{
	(void)priority;
	return cuStreamCreate(s, flags);
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

static CUresult query(const node *n, int device)
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

/* ---- events -------------------------------------------------------------- */

FAKE_EXPORT CUresult cuEventCreate(CUevent *e, unsigned flags)
{
	ENTER(NEEDS_CONTEXT);
	if (flags > 7 ||
	    ((flags & CU_EVENT_INTERPROCESS) &&
	     !(flags & CU_EVENT_DISABLE_TIMING)))
		return leave(CUDA_ERROR_INVALID_VALUE);
	*e = take(1, sizeof **e);
	(*e)->timed = !(flags & CU_EVENT_DISABLE_TIMING);
	return leave(CUDA_SUCCESS);
}

static void clear_event(CUevent e)
{
	drop(e->n);
	e->n = NULL;
	drop_capture(e->c);
	e->c = NULL;
	set_of(&e->leaves, 0, NULL);
}

FAKE_EXPORT CUresult cuEventDestroy(CUevent e)
{
	ENTER(NEEDS_INIT);
	if (!e)
		return leave(CUDA_ERROR_INVALID_HANDLE);
	clear_event(e);
	free(e->leaves.at);
	free(e);
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuEventRecord(CUevent e, CUstream handle)
{
	ENTER(NEEDS_CONTEXT);
	CUstream s = resolve(handle);
	if (!e || !s)
		return leave(CUDA_ERROR_INVALID_HANDLE);
	clear_event(e);
	if (s->c) {
		if (s->c->spoilt)
			return leave(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
		e->c = s->c;
		e->c->refs++;
		set_of(&e->leaves, s->leaves.n, s->leaves.at);
	} else {
		e->n = keep(append(s, NULL));
	}
	return leave(CUDA_SUCCESS);
}

static bool is_active(const capture *c)
{
	for (int i = 0; i < ncaptures; i++)
		if (captures[i] == c)
			return true;
	return false;
}

/* The stream waits for an event of a capture, and so belongs to that. */
static CUresult join(CUstream s, CUevent e)
{
	if (s->legacy || !is_active(e->c))
		return CUDA_ERROR_CAPTURED_EVENT;
	if (s->c && s->c != e->c) {
		s->c->spoilt = e->c->spoilt = true;
		return CUDA_ERROR_STREAM_CAPTURE_MERGE;
	}
	if (e->c->spoilt)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	s->c = e->c;
	unite(&s->leaves, &e->leaves);
	return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuStreamWaitEvent(CUstream handle, CUevent e,
				       unsigned flags)
{
	ENTER(NEEDS_CONTEXT);
	CUstream s = resolve(handle);
	if (!e || !s)
		return leave(CUDA_ERROR_INVALID_HANDLE);
	if (flags)
		return leave(CUDA_ERROR_INVALID_VALUE);
	if (e->c)
		return leave(join(s, e));
	if (s->c && e->n) {
		s->c->spoilt = true;
		return leave(CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
	}
	if (e->n)
		add_dep(append(s, NULL), e->n);
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuEventQuery(CUevent e)
{
	ENTER(NEEDS_CONTEXT);
	if (!e)
		return leave(CUDA_ERROR_INVALID_HANDLE);
	if (e->c)
		return leave(CUDA_ERROR_CAPTURED_EVENT);
	node *n = keep(e->n);
	const CUresult result = query(n, current()->device);
	drop(n);
	return leave(result);
}

FAKE_EXPORT CUresult cuEventSynchronize(CUevent e)
{
	ENTER(NEEDS_CONTEXT);
	if (!e)
		return leave(CUDA_ERROR_INVALID_HANDLE);
	if (e->c)
		return leave(CUDA_ERROR_CAPTURED_EVENT);
	return leave(finish_point(e->n, current()->device));
}

FAKE_EXPORT CUresult cuEventElapsedTime(float *milliseconds, CUevent start,
					CUevent end)
{
	ENTER(NEEDS_CONTEXT);
	if (!start || !end || !start->timed || !end->timed || !start->n ||
	    !end->n)
		return leave(CUDA_ERROR_INVALID_HANDLE);
	if (!start->n->done || !end->n->done)
		return leave(CUDA_ERROR_NOT_READY);
	*milliseconds = (float)((end->n->at - start->n->at) * 1e3);
	return leave(CUDA_SUCCESS);
}

/* ---- graphs -------------------------------------------------------------- */

/* A launch: its nodes are done in an order that their dependencies allow, by
 * priorities drawn anew each time. */
typedef struct launch {
	CUgraph graph;
	int device, left;
	int *priorities;
	bool *done, *begun;
} launch;

static void release_launch(void *arg)
{
	launch *l = arg;
	drop_graph(l->graph);
	free(l->priorities);
	free(l->done);
	free(l->begun);
	free(l);
}

static bool may_begin(const launch *l, int i)
{
	const set *deps = &l->graph->nodes[i].deps;
	bool may = !l->done[i];
	for (int k = 0; k < deps->n; k++)
		may = may && l->done[deps->at[k]];
	return may;
}

static int best_of(const launch *l, const bool *tried)
{
	int best = -1;
	for (int i = 0; i < l->graph->n; i++)
		if (!tried[i] && may_begin(l, i) &&
		    (best < 0 || l->priorities[i] > l->priorities[best]))
			best = i;
	return best;
}

static CUresult step_graph(void *arg, bool first)
{
	launch *l = arg;
	bool *tried = take((size_t)l->graph->n, 1);
	CUresult result = CUDA_SUCCESS;
	(void)first;
	for (int i; (i = best_of(l, tried)) >= 0;) {
		tried[i] = true;
		const fake_work *w = &l->graph->nodes[i].j->w;
		result = do_work(w, l->device, !l->begun[i]);
		l->begun[i] = true;
		if (result == CUDA_ERROR_NOT_READY)
			continue;
		note("graph: %s%s", w->what, result ? " fails" : "");
		l->done[i] = true;
		l->left--;
		progressed++;
		break;
	}
	free(tried);
	if (result && result != CUDA_ERROR_NOT_READY)
		return result;
	return l->left > 0 ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec,
						 CUgraph graph,
						 unsigned long long flags)
{
	ENTER(NEEDS_CONTEXT);
	if (!graph || flags > 15)
		return leave(CUDA_ERROR_INVALID_VALUE);
	*exec = take(1, sizeof **exec);
	(*exec)->graph = graph;
	graph->refs++;
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuGraphUpload(CUgraphExec exec, CUstream s)
{
	ENTER(NEEDS_CONTEXT);
	return leave(exec && resolve(s) ? CUDA_SUCCESS
					: CUDA_ERROR_INVALID_HANDLE);
}

FAKE_EXPORT CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle)
{
	ENTER(NEEDS_CONTEXT);
	CUstream s = resolve(handle);
	if (!exec || !s)
		return leave(CUDA_ERROR_INVALID_HANDLE);
	if (s->c) /* the real one makes it a node; nobody here needs that */
		return leave(spoil_capture(s));
	const int n = exec->graph->n;
	launch *l = take(1, sizeof *l);
	*l = (launch){.graph = exec->graph,
		      .device = s->device,
		      .left = n,
		      .priorities = take((size_t)n, sizeof(int)),
		      .done = take((size_t)n, 1),
		      .begun = take((size_t)n, 1)};
	l->graph->refs++;
	for (int i = 0; i < n; i++)
		l->priorities[i] = (int)fake_random(1 << 20);
	const fake_work w = {.what = "a graph",
			     .step = step_graph,
			     .release = release_launch,
			     .arg = l};
	node *at = append(s, new_job(&w));
	add_dep(at, exec->last);
	drop(exec->last);
	exec->last = keep(at);
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes,
				     size_t *n)
{
	ENTER(NEEDS_INIT);
	if (!graph)
		return leave(CUDA_ERROR_INVALID_VALUE);
	if (nodes)
		return leave(CUDA_ERROR_NOT_SUPPORTED);
	*n = (size_t)graph->n;
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuGraphDestroy(CUgraph graph)
{
	ENTER(NEEDS_INIT);
	if (!graph)
		return leave(CUDA_ERROR_INVALID_VALUE);
	drop_graph(graph);
	return leave(CUDA_SUCCESS);
}

FAKE_EXPORT CUresult cuGraphExecDestroy(CUgraphExec exec)
{
	ENTER(NEEDS_INIT);
	if (!exec)
		return leave(CUDA_ERROR_INVALID_VALUE);
	drop_graph(exec->graph);
	drop(exec->last);
	free(exec);
	return leave(CUDA_SUCCESS);
}
