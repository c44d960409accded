/* Streams, events and graphs of the fake driver; all with the lock held. */
#ifndef TDL_TESTS_CUDA_FAKE_QUEUE_H
#define TDL_TESTS_CUDA_FAKE_QUEUE_H

#include "driver.h"

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

/* A capture in progress. */
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

/* ---- queue.c ------------------------------------------------------------- */

FAKE_HIDDEN extern CUstream streams; /* all */
FAKE_HIDDEN extern long progressed;  /* pieces of work that were done */

FAKE_HIDDEN void *take(size_t n, size_t size); /* zero, never NULL */
FAKE_HIDDEN job *new_job(const fake_work *w);
FAKE_HIDDEN void drop_job(job *j);
FAKE_HIDDEN node *keep(node *n);
FAKE_HIDDEN void drop(node *n);
FAKE_HIDDEN void drop_graph(CUgraph g);
FAKE_HIDDEN void drop_capture(capture *c);
FAKE_HIDDEN void set_of(set *s, int n, const int *at);
FAKE_HIDDEN void unite(set *s, const set *with);

FAKE_HIDDEN CUresult do_work(const fake_work *w, int device, bool first);
/* Does all up to a point; the error of the device's context. */
FAKE_HIDDEN CUresult finish_point(node *n, int device);
FAKE_HIDDEN CUresult query(const node *n, int device);

/* The stream that a handle means; NULL where it means none. */
FAKE_HIDDEN CUstream resolve(CUstream handle);
/* Work at the end of a stream; NULL: a point. */
FAKE_HIDDEN node *append(CUstream s, job *j);
FAKE_HIDDEN void add_dep(node *n, node *on);

/* Does what a stream has; the error of its context. */
FAKE_HIDDEN CUresult finish_stream(CUstream s);

/* The device of a stream; -1 where it is none. */
FAKE_HIDDEN int stream_device(CUstream s);

/* Whether it captures. */
FAKE_HIDDEN bool captures_now(CUstream s);

/* ---- graph.c ------------------------------------------------------------- */

/* As fake_enqueue(), with the lock held. */
FAKE_HIDDEN CUresult enqueue(CUstream s, const fake_work *w);

/* Invalidates the capture of a stream; returns the error for that. */
FAKE_HIDDEN CUresult spoil_capture(CUstream s);

#endif
