/* The independent parts of a call, by several threads at once: searches that
 * know nothing of each other.
 *
 * A thread works in a memory of its own (base/memory.h), which takes from that
 * of the call; what a part leaves there, an arena with its result, is the
 * call's when jobs_run() returns.  Results must not depend on which part ends
 * first, so a part sees nothing that another one changes. */
#ifndef TDL_BASE_JOBS_H
#define TDL_BASE_JOBS_H

typedef struct job_set {
	int n;
	/* Does part i, in any thread, with the caller's locale. */
	void (*run)(void *arg, int i);
	/* Is told of part i, in the caller's thread, when it begins; NULL. */
	void (*begun)(void *arg, int i);
	void *arg;
} job_set;

/* Runs all parts, by that many threads at most, those of lower numbers first;
 * with one thread in the caller's own, one after the other.  If one of them
 * ends early, so does the caller's call, when all have ended. */
void jobs_run(const job_set *j, int nthreads);

/* The processors that this process may run on; *all, may be NULL: the number of
 * processors of the machine. */
int processors(int *all);

#endif
