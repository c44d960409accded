/* Runs independent parts of a call in several threads: searches that share
 * nothing.
 *
 * Each part runs in a memory of its own (base/memory.h) that draws on the
 * call's memory.  An arena with a result that a part leaves there belongs to
 * the call once jobs_run() returns.  Results must not depend on the order in
 * which parts end, so no part may read what another one changes. */
#ifndef TDL_BASE_JOBS_H
#define TDL_BASE_JOBS_H

typedef struct job_set {
	int n;
	/* Does part i, in any thread, with the caller's locale. */
	void (*run)(void *arg, int i);
	/* Called in the caller's thread when part i begins; may be NULL. */
	void (*begun)(void *arg, int i);
	void *arg;
} job_set;

/* Runs all parts in at most nthreads threads, lower numbers first.  With one
 * thread, runs them in the caller's thread one after the other.  If a part's
 * call ends early, so does the caller's, once all parts have ended. */
void jobs_run(const job_set *j, int nthreads);

/* Returns the number of processors on which this process may run.  Stores the
 * number of the machine's processors in *all, unless all is NULL. */
int processors(int *all);

#endif
