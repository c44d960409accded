/* Capture in the fake driver: events, graphs, and their launches. */
#include <stdlib.h>
#include <string.h>

#include "queue.h"

static _Thread_local CUstreamCaptureMode thread_mode;
static capture *captures[64];
static int ncaptures;

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
	/* Events that were recorded keep the capture, but not its graph. */
	drop_graph(c->graph);
	c->graph = NULL;
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

/* Whether this wait is one that FAKE_CUDA_DROP has. */
static bool is_dropped(void)
{
	static long waits;
	const char *s = getenv("FAKE_CUDA_DROP");
	return s && ++waits == atol(s);
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
	if (is_dropped())
		return leave(CUDA_SUCCESS);
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
	if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY)
		note("a graph has the priorities of its streams");
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
