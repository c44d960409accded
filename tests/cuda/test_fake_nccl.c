/* The fake NCCL: ranks are processes of their own. */
#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nccl.h>

#include "fakes.h"

typedef int rank_fn(ncclComm_t comm, int rank, int nranks, CUstream s);

/* The number of n ranks that find something wrong. */
static int ranks(int n, rank_fn *f)
{
	int wrong_ranks = 0, status;
	ncclUniqueId id;
	pid_t children[8];
	GOOD(ncclGetUniqueId(&id));
	for (int r = 0; r < n; r++) {
		children[r] = fork();
		if (children[r])
			continue;
		char host[20];
		ncclComm_t comm;
		snprintf(host, sizeof host, "host-%d", r);
		setenv("NCCL_HOSTID", host, 1);
		begin(r + 1);
		GOOD(ncclCommInitRank(&comm, n, id, r));
		_exit(!f(comm, r, n, stream()));
	}
	for (int r = 0; r < n; r++) {
		ck_assert_int_eq(waitpid(children[r], &status, 0), children[r]);
		wrong_ranks += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	}
	return wrong_ranks;
}

static int collectives(ncclComm_t comm, int rank, int n, CUstream s)
{
	enum {
		COUNT = 500,
	};
	const CUdeviceptr x = counting(COUNT * n, (float)(1000 * rank), s);
	const CUdeviceptr y = memory(sizeof(float) * COUNT * (size_t)n);
	bool good = true;
	GOOD(ncclAllReduce(at(x), at(y), COUNT, ncclFloat, ncclSum, comm, s));
	good = good && element(y, 7, s) ==
			       (float)(500 * n * (n - 1) + 7 * n);
	GOOD(ncclReduceScatter(at(x), at(y), COUNT, ncclFloat, ncclMax, comm,
			       s));
	good = good && element(y, 3, s) ==
			       (float)(1000 * (n - 1) + rank * COUNT + 3);
	GOOD(ncclAllGather(at(x), at(y), COUNT, ncclFloat, comm, s));
	good = good && element(y, COUNT + 5, s) == 1005;
	GOOD(ncclAlltoAll(at(x), at(y), COUNT, ncclFloat, comm, s));
	good = good && element(y, COUNT + 5, s) ==
			       (float)(1000 + rank * COUNT + 5);
	GOOD(ncclBroadcast(at(x), at(y), COUNT, ncclFloat, 1, comm, s));
	good = good && element(y, 9, s) == 1009;
	GOOD(ncclGroupStart());
	GOOD(ncclSend(at(x), COUNT, ncclFloat, (rank + 1) % n, comm, s));
	GOOD(ncclRecv(at(y), COUNT, ncclFloat, (rank + n - 1) % n, comm, s));
	GOOD(ncclGroupEnd());
	good = good && element(y, 2, s) ==
			       (float)(1000 * ((rank + n - 1) % n) + 2);
	return good;
}

static int split(ncclComm_t comm, int rank, int n, CUstream s)
{
	ncclComm_t half;
	int size, number;
	GOOD(ncclCommSplit(comm, rank % 2, n - rank, &half, NULL));
	GOOD(ncclCommCount(half, &size));
	GOOD(ncclCommUserRank(half, &number));
	const CUdeviceptr x = counting(2, (float)rank, s);
	GOOD(ncclAllReduce(at(x), at(x), 2, ncclFloat, ncclSum, half, s));
	const float sum = element(x, 0, s);
	GOOD(ncclCommDestroy(half));
	/* The greatest rank has the least key. */
	return size == n / 2 && number == (n - 1 - rank) / 2 &&
	       sum == (rank % 2 ? 4 : 2);
}

static int in_graph(ncclComm_t comm, int rank, int n, CUstream s)
{
	CUgraph graph;
	CUgraphExec exec;
	const CUdeviceptr x = counting(3, 1, s);
	(void)rank;
	GOOD(cuStreamSynchronize(s));
	GOOD(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	GOOD(ncclAllReduce(at(x), at(x), 3, ncclFloat, ncclSum, comm, s));
	GOOD(cuStreamEndCapture(s, &graph));
	GOOD(cuGraphInstantiate(&exec, graph, 0));
	GOOD(cuGraphLaunch(exec, s));
	GOOD(cuGraphLaunch(exec, s));
	return element(x, 0, s) == (float)(n * n);
}

/* Leaves while there is a graph of its calls, or after that. */
static int abort_captured(ncclComm_t comm, CUstream s, bool live)
{
	CUgraph graph;
	CUgraphExec exec;
	const CUdeviceptr x = counting(3, 1, s);
	GOOD(cuStreamSynchronize(s));
	GOOD(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	GOOD(ncclAllReduce(at(x), at(x), 3, ncclFloat, ncclSum, comm, s));
	GOOD(cuStreamEndCapture(s, &graph));
	GOOD(cuGraphInstantiate(&exec, graph, 0));
	GOOD(cuGraphDestroy(graph));
	if (!live)
		GOOD(cuGraphExecDestroy(exec));
	signal(SIGALRM, SIG_DFL);
	alarm(2);
	GOOD(ncclCommAbort(comm));
	return 1;
}

static int after_graph(ncclComm_t comm, int rank, int n, CUstream s)
{
	(void)rank;
	(void)n;
	return abort_captured(comm, s, false);
}

static int before_graph(ncclComm_t comm, int rank, int n, CUstream s)
{
	(void)rank;
	(void)n;
	return abort_captured(comm, s, true);
}

static int mismatched(ncclComm_t comm, int rank, int n, CUstream s)
{
	ncclResult_t error = ncclSuccess;
	const CUdeviceptr x = counting(8, 0, s);
	(void)n;
	GOOD(ncclAllReduce(at(x), at(x), rank ? 8 : 4, ncclFloat, ncclSum, comm,
			   s));
	for (int i = 0; i < 5000 && !error; i++) {
		usleep(1000);
		cuStreamQuery(s);
		GOOD(ncclCommGetAsyncError(comm, &error));
	}
	GOOD(ncclCommAbort(comm));
	GOOD(cuStreamSynchronize(s));
	return error == ncclInvalidUsage;
}

/* A rank that does not come any more; the others can leave. */
static int deserted(ncclComm_t comm, int rank, int n, CUstream s)
{
	ncclResult_t error = ncclSuccess;
	const CUdeviceptr x = counting(8, 0, s);
	(void)n;
	if (rank == 1)
		_exit(0);
	GOOD(ncclAllReduce(at(x), at(x), 8, ncclFloat, ncclSum, comm, s));
	/* The child stays known until its parent has waited for it. */
	for (int i = 0; i < 300 && !error; i++) {
		usleep(1000);
		cuStreamQuery(s);
		GOOD(ncclCommGetAsyncError(comm, &error));
	}
	IS(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	GOOD(ncclCommAbort(comm));
	GOOD(cuStreamSynchronize(s));
	return 1;
}

static int refused(ncclComm_t comm, int rank, int n, CUstream s)
{
	float host[4];
	const CUdeviceptr x = counting(8, 0, s);
	(void)rank;
	IS(ncclAllReduce(host, at(x), 4, ncclFloat, ncclSum, comm, s),
	   ncclInvalidArgument);
	IS(ncclAllReduce(at(x), at(x), 9, ncclFloat, ncclSum, comm, s),
	   ncclInvalidArgument);
	IS(ncclAllReduce(at(x), at(x + 4), 4, ncclFloat, ncclSum, comm, s),
	   ncclInvalidArgument);
	IS(ncclSend(at(x), 1, ncclFloat, n, comm, s), ncclInvalidArgument);
	return 1;
}

/* Buffers are registered where they are, once they are, and while no call uses
 * them. */
static int registration(ncclComm_t comm, int rank, int n, CUstream s)
{
	void *p, *handle, *again, *none;
	float host[4];
	(void)n;
	GOOD(ncclMemAlloc(&p, 4096));
	const CUdeviceptr x = (CUdeviceptr)(uintptr_t)p, y = memory(64);
	IS(ncclCommRegister(comm, host, sizeof host, &none),
	   ncclInvalidArgument);
	IS(ncclCommRegister(comm, p, 0, &none), ncclInvalidArgument);
	IS(ncclCommRegister(comm, p, 4097, &none), ncclInvalidArgument);
	GOOD(ncclCommRegister(comm, p, 4096, &handle));
	GOOD(ncclCommRegister(comm, (char *)p + 64, 64, &again));
	GOOD(ncclCommDeregister(comm, again));
	GOOD(ncclCommDeregister(comm, NULL));
	IS(ncclCommDeregister(comm, host), ncclInvalidUsage);
	GOOD(cuMemsetD8Async(x, 0, 4096, s));
	GOOD(ncclAllReduce(p, p, 1024, ncclFloat, ncclSum, comm, s));
	GOOD(cuStreamSynchronize(s));
	IS(ncclMemFree(p), ncclInvalidUsage);
	IS(cuMemFree(x), CUDA_ERROR_INVALID_VALUE);
	GOOD(ncclCommDeregister(comm, handle));
	IS(ncclCommDeregister(comm, handle), ncclInvalidUsage);
	GOOD(ncclMemFree(p));
	IS(ncclMemFree(at(y)), ncclInvalidArgument);
	/* The driver's memory, and what is turned off, is registered in vain.
	 */
	GOOD(ncclCommRegister(comm, at(y), 64, &handle));
	setenv("NCCL_LOCAL_REGISTER", "0", 1);
	GOOD(ncclCommRegister(comm, at(y), 64, &none));
	IS(none != NULL, false);
	if (rank > 0)
		GOOD(ncclCommDeregister(comm, handle));
	IS(ncclCommDestroy(comm), rank > 0 ? ncclSuccess : ncclInvalidUsage);
	return 1;
}

/* A buffer that a call uses, at once or in a graph, stays registered. */
static int registered_in_graph(ncclComm_t comm, int rank, int n, CUstream s)
{
	CUgraph graph;
	CUgraphExec exec;
	void *p, *handle;
	(void)rank;
	(void)n;
	GOOD(ncclMemAlloc(&p, 64));
	GOOD(ncclCommRegister(comm, p, 64, &handle));
	GOOD(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	GOOD(ncclAllReduce(p, p, 16, ncclFloat, ncclSum, comm, s));
	GOOD(cuStreamEndCapture(s, &graph));
	GOOD(cuGraphInstantiate(&exec, graph, 0));
	GOOD(cuGraphDestroy(graph));
	IS(ncclCommDeregister(comm, handle), ncclInvalidUsage);
	GOOD(cuGraphExecDestroy(exec));
	GOOD(ncclCommDeregister(comm, handle));
	GOOD(ncclMemFree(p));
	return 1;
}

/* One rank's buffer is registered, the others' are not. */
static int registered_by_one(ncclComm_t comm, int rank, int n, CUstream s)
{
	ncclResult_t error = ncclSuccess;
	void *p, *handle;
	(void)n;
	GOOD(ncclMemAlloc(&p, 64));
	if (rank == 0)
		GOOD(ncclCommRegister(comm, p, 64, &handle));
	GOOD(cuMemsetD8Async((CUdeviceptr)(uintptr_t)p, 0, 64, s));
	GOOD(ncclAllReduce(p, p, 16, ncclFloat, ncclSum, comm, s));
	for (int i = 0; i < 5000 && !error; i++) {
		usleep(1000);
		cuStreamQuery(s);
		GOOD(ncclCommGetAsyncError(comm, &error));
	}
	GOOD(ncclCommAbort(comm));
	return error == ncclInvalidUsage;
}

static rank_fn *const rank_tests[] = {
	collectives, split, in_graph, after_graph, deserted, refused,
	registration, registered_in_graph,
};

START_TEST(test_ranks)
{
	ck_assert_int_eq(ranks(4, rank_tests[_i]), 0);
}
END_TEST

/* One at least is told; the others wait for it. */
START_TEST(test_mismatch)
{
	ck_assert_int_lt(ranks(4, mismatched), 4);
	ck_assert_int_lt(ranks(2, registered_by_one), 2);
}
END_TEST

/* None comes back. */
START_TEST(test_abort_of_captured)
{
	ck_assert_int_eq(ranks(2, before_graph), 2);
}
END_TEST

START_TEST(test_one_gpu)
{
	ncclUniqueId id;
	ncclComm_t comm;
	int status;
	GOOD(ncclGetUniqueId(&id));
	const pid_t child = fork();
	begin(1);
	IS(ncclCommInitRank(&comm, 2, id, child == 0), ncclInvalidUsage);
	if (child == 0)
		_exit(0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

void add_nccl_tests(TCase *t)
{
	tcase_add_loop_test(t, test_ranks, 0,
			    sizeof rank_tests / sizeof rank_tests[0]);
	tcase_add_test(t, test_mismatch);
	tcase_add_test(t, test_abort_of_captured);
	tcase_add_test(t, test_one_gpu);
}
