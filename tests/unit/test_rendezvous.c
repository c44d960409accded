/* Tests: runtime/comm */
/* Processes that find each other through files: meetings, what they share,
 * files of a run that was killed, peers that fail or die. */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "runtime/comm/heartbeat.h"
#include "runtime/comm/rendezvous.h"
#include "tests/unit/suite.h"

enum { MOST = 5 };

static char folder[] = "/tmp/test_rendezvous.XXXXXX";

typedef struct member {
	int rank, n;
	double patience;
	void *run, *link;
	plan_pipeline all;
	plan p;
	plan_instr program[1];
} member;

/* The body of a process; its exit status. */
typedef int life(member *m);

static bool join(member *m)
{
	comm_options o = { folder, m->rank, m->n, m->patience };
	failure f = { 0 };
	int rank = -1;
	if (!comm_rendezvous.start(&o, &m->run, &rank, &f)) {
		fprintf(stderr, "%s\n", f.text);
		return false;
	}
	m->p = (plan){ .mesh = { 1, { m->n } }, .program = m->program };
	m->all = (plan_pipeline){ .nstages = 1, .stages = &m->p };
	m->link = comm_rendezvous.open(m->run, &m->all, &f);
	return m->link && rank == m->rank;
}

static void leave(member *m, cli_status status)
{
	comm_rendezvous.close(m->link);
	comm_rendezvous.end(m->run, status);
}

/* Runs n processes and returns what they say on standard error; status[r] is
 * that of rank r, 128 and more where a signal ended it. */
static char *run(int n, double patience, life *of, int *status)
{
	static char text[4096];
	int out[2];
	pid_t child[MOST];
	size_t at = 0;
	ssize_t got;
	ck_assert_int_eq(pipe(out), 0);
	for (int r = 0; r < n; r++) {
		child[r] = fork();
		if (child[r] == 0) {
			member m = { .rank = r, .n = n, .patience = patience };
			dup2(out[1], STDERR_FILENO);
			close(out[0]);
			close(out[1]);
			_exit(join(&m) ? of(&m) : 99);
		}
	}
	close(out[1]);
	while (at < sizeof(text) - 1 &&
	       (got = read(out[0], text + at, sizeof(text) - 1 - at)) > 0)
		at += (size_t)got;
	text[at] = '\0';
	close(out[0]);
	for (int r = 0; r < n; r++) {
		int x;
		waitpid(child[r], &x, 0);
		status[r] = WIFEXITED(x) ? WEXITSTATUS(x) : 128 + WTERMSIG(x);
	}
	return text;
}

static int count_files(void)
{
	DIR *d = opendir(folder);
	int n = 0;
	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

/* ---- meetings ---------------------------------------------------------- */

/* The number of ranks whose number is wrong; one more if some are missing. */
static int gather_wrong(member *m, uint64_t x)
{
	arena *a = arena_new();
	int n, wrong = 0;
	const uint64_t *all = comm_rendezvous.gather(m->run, a,
						     x - (uint64_t)m->rank, &n);
	for (int r = 0; r < n; r++)
		wrong += all[r] != x - (uint64_t)r;
	arena_free(a);
	return wrong + (n != m->n);
}

static int meet_often(member *m)
{
	const communicator *c = &comm_rendezvous;
	int first, n, neighbours, wrong = 0;
	c->here(m->link, &first, &n, &neighbours);
	wrong += first != m->rank || n != 1 || neighbours != m->n;
	wrong += c->neighbour(m->link) != m->rank;
	for (int i = 0; i < 60; i++) {
		int root = i % m->n;
		char data[1000], want[1000];
		memset(want, i, sizeof(want));
		memset(data, m->rank == root ? i : 255, sizeof(data));
		wrong += c->sum(m->link, m->rank + i) !=
			 m->n * (m->n - 1) / 2 + m->n * i;
		wrong += c->greatest(m->link, -m->rank - i) != -i;
		wrong += gather_wrong(m, UINT64_MAX - (uint64_t)i);
		/* Some come late. */
		if (i % m->n == m->rank)
			usleep(2000);
		c->share(m->link, root, data, 1000);
		wrong += memcmp(data, want, sizeof(data)) != 0;
		c->share(m->link, root, data, 0);
		wrong += !c->barrier(m->link, m->rank);
	}
	leave(m, CLI_OK);
	return wrong ? 1 : 0;
}

START_TEST(test_meetings)
{
	int n = _i, status[MOST];
	char *text = run(n, 0, meet_often, status);
	for (int r = 0; r < n; r++)
		ck_assert_msg(status[r] == 0, "rank %d: %d %s", r, status[r],
			      text);
	ck_assert_str_eq(text, "");
	ck_assert_int_eq(count_files(), 0);
}
END_TEST

/* ---- what was there before --------------------------------------------- */

/* Notices of a run that was killed, one of which says that all is well, and
 * what is no heartbeat. */
START_TEST(test_stale)
{
	int status[MOST];
	char path[200];
	uint64_t joined[] = { 11, 12, 13 };
	for (int r = 0; r < 3; r++) {
		heartbeat old = { .self = joined[r], .run = 11, .begun = true,
				  .status = HEARTBEAT_RUNS, .met = 1000,
				  .host = "gone" };
		snprintf(path, sizeof(path), "%s/tdlrun.%d", folder, r);
		ck_assert(heartbeat_write(path, &old, r == 0 ? 3 : 0, joined));
	}
	snprintf(path, sizeof(path), "%s/tdlrun.3", folder);
	FILE *f = fopen(path, "w");
	fputs("tdlrun's notice 2\n1 2", f);
	fclose(f);
	snprintf(path, sizeof(path), "%s/tdlrun.data-b-7", folder);
	fclose(fopen(path, "w"));
	run(4, 0, meet_often, status);
	for (int r = 0; r < 4; r++)
		ck_assert_int_eq(status[r], 0);
	ck_assert_int_eq(count_files(), 0);
}
END_TEST

START_TEST(test_notice)
{
	char path[200];
	uint64_t joined[2] = { 7, UINT64_MAX }, got[2];
	heartbeat y, x = { .self = UINT64_MAX, .run = 5, .begun = true,
			   .beat = 17, .status = HEARTBEAT_RUNS, .host = "n-1",
			   .met = 9, .brought = { { 9, INT64_MIN }, { 8, -1 } },
			   .steps = 3, .waits = true, .at = -1 };
	snprintf(path, sizeof(path), "%s/x", folder);
	ck_assert(!heartbeat_read(path, &y, 0, NULL));
	ck_assert(heartbeat_write(path, &x, 2, joined));
	memset(&y, 0, sizeof(y));
	ck_assert(heartbeat_read(path, &y, 2, got));
	ck_assert(y.self == x.self && y.run == x.run && y.begun && y.waits);
	ck_assert(y.beat == 17 && y.status == HEARTBEAT_RUNS && y.met == 9);
	ck_assert(y.brought[0].at == 9 && y.brought[0].value == INT64_MIN);
	ck_assert(y.steps == 3 && y.at == -1 && !strcmp(y.host, "n-1"));
	ck_assert(got[0] == 7 && got[1] == UINT64_MAX);
	/* All that is left of one that was cut off is no heartbeat. */
	struct stat s;
	stat(path, &s);
	for (off_t n = s.st_size - 2; n >= 0; n--) {
		ck_assert_int_eq(truncate(path, n), 0);
		ck_assert(!heartbeat_read(path, &y, 2, got));
	}
	unlink(path);
}
END_TEST

/* ---- failures ---------------------------------------------------------- */

static int fail_alone(member *m)
{
	if (m->rank == 1) {
		usleep(300000);
		fprintf(stderr, "rank 1 says why\n");
		leave(m, CLI_INPUT);
	}
	comm_rendezvous.barrier(m->link, m->rank);
	pause();
	return 0;
}

/* The others do not wait until their patience ends. */
START_TEST(test_failed)
{
	int status[MOST];
	double begun = clock_seconds();
	char *text = run(4, 60, fail_alone, status);
	ck_assert_str_eq(text, "rank 1 says why\n");
	for (int r = 0; r < 4; r++)
		ck_assert_int_eq(status[r], CLI_INPUT);
	ck_assert(clock_seconds() - begun < 60);
}
END_TEST

/* Rank 0 dies without a word; what it last did is known. */
static int die_alone(member *m)
{
	static const int reached = 2;
	static const comm_transfer first = { 0, 0, 0 };
	static comm_progress x;
	static plan_buffer buffers[1];
	static plan_tensor tensors[1] = { { .name = "w" } };
	m->p.ninstrs = 1;
	m->p.buffers = buffers;
	m->p.tensors = tensors;
	m->program[0].collective = COLL_ALL_GATHER;
	x.ntransfers = 1;
	x.transfers = &first;
	x.reached = &reached;
	atomic_store(&x.steps, 5);
	comm_rendezvous.watch(m->link, &x);
	comm_rendezvous.barrier(m->link, m->rank);
	usleep(1200000);
	if (m->rank == 0)
		raise(SIGKILL);
	pause();
	return 0;
}

START_TEST(test_dead)
{
	int status[MOST];
	char *text = run(4, 2, die_alone, status);
	const char *want = "tdlrun: rank 0 on '";
	ck_assert_msg(!strncmp(text, want, strlen(want)), "%s", text);
	ck_assert_msg(strstr(text, "' has not been heard from for 2 seconds; "
			     "it was in step 5, after instruction 0 "
			     "(all-gather of 'w')\n") != NULL, "%s", text);
	ck_assert_ptr_eq(strchr(text, '\n'), strrchr(text, '\n'));
	ck_assert_int_eq(status[0], 128 + SIGKILL);
	for (int r = 1; r < 4; r++)
		ck_assert_int_eq(status[r], CLI_MACHINE);
}
END_TEST

/* Rank 2, in a stage of its own, has yet to come to a message for which rank 1
 * waits; ranks 0 and 3 wait for rank 1 in turn. */
static int stand_alone(member *m)
{
	static const comm_transfer before[] = { { 1, 0, 4 }, { 0, 9, 10 } };
	static const comm_transfer behind[] = { { 0, 7, 3 }, { 0, 5, 12 } };
	static int reached[2];
	static comm_progress x;
	bool sides = m->rank == 1 || m->rank == 2;
	x.ntransfers = 2;
	x.transfers = sides ? before : behind;
	x.reached = reached;
	reached[0] = sides ? 0 : 3;
	reached[1] = m->rank == 1;
	atomic_store(&x.steps, 3);
	atomic_store(&x.waits, true);
	comm_rendezvous.watch(m->link, &x);
	pause();
	return 0;
}

START_TEST(test_stands)
{
	int status[MOST];
	char *text = run(4, 2, stand_alone, status);
	const char *want = "tdlrun: rank 2 on '";
	ck_assert_msg(!strncmp(text, want, strlen(want)), "%s", text);
	ck_assert_msg(strstr(text, "' has made no progress for 2 seconds"),
		      "%s", text);
	for (int r = 0; r < 4; r++)
		ck_assert_int_eq(status[r], CLI_MACHINE);
}
END_TEST

/* Long past the patience of 1 s, for `of` of them in the step before. */
static int wait_long(member *m, int steps, int of)
{
	static const int reached = 0;
	static const comm_transfer first = { 0, 3, 0 };
	static comm_progress x;
	x.ntransfers = 1;
	x.transfers = &first;
	x.reached = &reached;
	atomic_store(&x.steps, m->rank < of ? steps - 1 : steps);
	atomic_store(&x.waits, m->rank >= of);
	comm_rendezvous.watch(m->link, &x);
	usleep(3000000);
	return 0;
}

/* Rank 0 reads what it trains on, or writes a checkpoint. */
static int wait_for_host(member *m)
{
	return wait_long(m, 9, 1);
}

/* Modules are loaded, connections made, graphs captured. */
static int wait_for_start(member *m)
{
	return wait_long(m, 2, 0);
}

START_TEST(test_long)
{
	int status[MOST];
	char *text = run(3, 1, _i ? wait_for_host : wait_for_start, status);
	ck_assert_str_eq(text, "");
	for (int r = 0; r < 3; r++)
		ck_assert_int_eq(status[r], CLI_OK);
}
END_TEST

START_TEST(test_wrong_ranks)
{
	comm_options o = { folder, 3, 3, 0 };
	failure f = { 0 };
	void *x;
	int own;
	ck_assert(!comm_rendezvous.start(&o, &x, &own, &f));
	ck_assert_int_eq(f.status, CLI_USAGE);
	ck_assert(strstr(f.text, "no rank 3 of 3") != NULL);
	f = (failure){ 0 };
	o = (comm_options){ folder, -1, -1, 0 };
	unsetenv("OMPI_COMM_WORLD_RANK");
	unsetenv("PMI_RANK");
	unsetenv("RANK");
	unsetenv("SLURM_PROCID");
	ck_assert(!comm_rendezvous.start(&o, &x, &own, &f));
	ck_assert_int_eq(f.status, CLI_USAGE);
	setenv("SLURM_PROCID", "2", 1);
	setenv("SLURM_NTASKS", "8", 1);
	int64_t rank, ranks;
	ck_assert(rendezvous_rank(&rank, &ranks) && rank == 2 && ranks == 8);
	setenv("RANK", "1", 1);
	setenv("WORLD_SIZE", "x", 1);
	ck_assert(rendezvous_rank(&rank, &ranks) && rank == 2);
	setenv("WORLD_SIZE", "4", 1);
	ck_assert(rendezvous_rank(&rank, &ranks) && rank == 1 && ranks == 4);
}
END_TEST

static void make_folder(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
	arena *a = arena_new();
	ck_assert_int_eq(system(arena_printf(a, "rm -rf '%s'", folder)), 0);
	arena_free(a);
}

Suite *suite(void)
{
	Suite *s = suite_create("rendezvous");
	TCase *t = tcase_create("rendezvous");
	tcase_add_unchecked_fixture(t, make_folder, remove_folder);
	tcase_add_loop_test(t, test_meetings, 1, MOST + 1);
	tcase_add_test(t, test_stale);
	tcase_add_test(t, test_notice);
	tcase_add_test(t, test_failed);
	tcase_add_test(t, test_dead);
	tcase_add_test(t, test_stands);
	tcase_add_loop_test(t, test_long, 0, 2);
	tcase_add_test(t, test_wrong_ranks);
	suite_add_tcase(s, t);
	return s;
}
