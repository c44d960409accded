/* Does a point of run-gpu's list and writes what came of it into a report:
 *
 *	point begin DIR TITLE
 *	point do [OPTION]... DIR POINT NAME -- COMMAND [ARGUMENT]...
 *	point skip DIR POINT NAME REASON
 *	point end DIR
 *
 * `do' runs a command, of which --ranks=N starts N that meet by --rendezvous,
 * and kills it and its children after --limit=SECONDS (600).  A point is done
 * where the command ends with 0, or --status=N; skipped where that is 77, or 4
 * and it says that a library, a GPU or memory is missing; failed otherwise.
 * --kill=SECONDS kills the last rank, whose status does not count then.
 * `do' ends with 0, 77 or 1 likewise; `end' with 1 where a point has failed.
 *
 * DIR then has report.txt, with a line for each point, report.json, and all
 * that the commands printed, NUMBER.out and NUMBER.err.  An object that one
 * prints is in report.json; --show=KEY shows a number of it in the line.
 *
 * It is linked statically and asks for no other program: where it runs there
 * may be no more than a kernel. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	DONE = 0,
	FAILED = 1,
	USAGE = 2,
	MISSING = 4, /* tdlrun's: the machine lacks something */
	SKIPPED = 77,
	MAX_RANKS = 64,
	MAX_SHOWN = 8,
	TEXT = 1 << 20, /* bytes of output that are looked at */
	REASON = 600,
};

typedef struct point {
	const char *folder, *name, *point;
	char **command;
	int ncommand, nranks, limit, number;
	int status; /* that it is to have */
	int kill;   /* seconds after which the last rank is killed; 0: never */
	int nshown;
	const char *shown[MAX_SHOWN];
	double seconds;
	bool late; /* it was killed */
} point;

static void die(const char *what)
{
	fprintf(stderr, "point: %s: %s\n", what, strerror(errno));
	exit(FAILED);
}

/* ---- files --------------------------------------------------------------- */

static FILE *open_in(const char *folder, const char *name, const char *mode)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *f = fopen(path, mode);
	if (!f && *mode != 'r')
		die(path);
	return f;
}

/* The end of a file, at most TEXT - 1 bytes of it; "" where there is none. */
static char *end_of(const char *folder, const char *name)
{
	char *text = calloc(TEXT, 1);
	FILE *f = open_in(folder, name, "r");
	if (!text)
		die("memory");
	if (f) {
		if (fseek(f, -(TEXT - 1L), SEEK_END) != 0)
			rewind(f);
		text[fread(text, 1, TEXT - 1, f)] = '\0';
		fclose(f);
	}
	return text;
}

/* A line into the report, and onto the terminal. */
static void say(const char *folder, const char *fmt, ...)
{
	FILE *f = open_in(folder, "report.txt", "a");
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	vfprintf(f, fmt, ap);
	vprintf(fmt, again);
	va_end(again);
	va_end(ap);
	fflush(stdout);
	if (fclose(f) != 0)
		die("report.txt");
}

static void write_string(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < ' ' || c > '~') /* so that it is UTF-8 */
			fprintf(f, "\\u%04x", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

/* ---- running ------------------------------------------------------------- */

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The name of what rank r prints: "7.out", "7.rank-1.err". */
static const char *file_of(const point *p, int r, const char *what, char *to)
{
	if (r == 0)
		sprintf(to, "%d.%s", p->number, what);
	else
		sprintf(to, "%d.rank-%d.%s", p->number, r, what);
	return to;
}

static void redirect(const point *p, int r, const char *what, int to)
{
	char name[64];
	FILE *f = open_in(p->folder, file_of(p, r, what, name), "w");
	dup2(fileno(f), to);
}

/* In the child: becomes rank r.  On one GPU the ranks pass for as many hosts,
 * which NCCL connects by the loopback device. */
static void become(const point *p, int r)
{
	char host[32], meet[4096], rank[16], ranks[16];
	char **argv = calloc((size_t)p->ncommand + 7, sizeof(*argv));
	int n = p->ncommand;
	setpgid(0, 0);
	memcpy(argv, p->command, (size_t)n * sizeof(*argv));
	if (p->nranks > 1) {
		snprintf(meet, sizeof(meet), "%s/%d.meet", p->folder,
			 p->number);
		snprintf(host, sizeof(host), "tdl-%d", r);
		snprintf(rank, sizeof(rank), "%d", r);
		snprintf(ranks, sizeof(ranks), "%d", p->nranks);
		mkdir(meet, 0700);
		setenv("NCCL_HOSTID", host, 1);
		char *more[] = {"--rendezvous", meet, "--rank", rank,
				"--ranks", ranks};
		memcpy(argv + n, more, sizeof(more));
	}
	redirect(p, r, "out", 1);
	redirect(p, r, "err", 2);
	if (!freopen("/dev/null", "r", stdin))
		fclose(stdin);
	execvp(argv[0], argv);
	fprintf(stderr, "cannot run '%s': %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* Waits for the end of one, and kills it at a time; its status, and whether it
 * was killed. */
static int wait_for(pid_t pid, double end, bool *killed)
{
	int status;
	for (;;) {
		pid_t got = waitpid(pid, &status, WNOHANG);
		if (got == pid)
			break;
		if (got < 0 && errno != EINTR)
			return 127;
		if (now() > end) {
			*killed = true;
			kill(-pid, SIGKILL);
			while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
				continue;
			break;
		}
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
	kill(-pid, SIGKILL); /* children that were left */
	return WIFEXITED(status) ? WEXITSTATUS(status)
				 : 128 + WTERMSIG(status);
}

/* Runs the point; the status of rank 0, or one that is not 0. */
static int run(point *p)
{
	pid_t pids[MAX_RANKS];
	double begin = now();
	int status = 0, last = p->nranks - 1;
	bool ignored = false;
	fflush(NULL);
	for (int r = 0; r < p->nranks; r++) {
		pids[r] = fork();
		if (pids[r] < 0)
			die("fork");
		if (pids[r] == 0)
			become(p, r);
	}
	if (p->kill)
		wait_for(pids[last--], begin + p->kill, &ignored);
	for (int r = 0; r <= last; r++) {
		int got = wait_for(pids[r], begin + p->limit, &p->late);
		if (status == 0)
			status = got;
	}
	p->seconds = now() - begin;
	return status;
}

/* ---- judging ------------------------------------------------------------- */

/* Writes the reason that the point gives when it is not done to `to': the line
 * that begins with "SKIP: ", else the end of standard error, or of the
 * output. */
static void find_reason(const point *p, int status, char *to)
{
	char name[64];
	char *err = end_of(p->folder, file_of(p, 0, "err", name));
	char *out = end_of(p->folder, file_of(p, 0, "out", name));
	char *skip = strstr(out, "SKIP: ");
	const char *s = *err ? err : out;
	size_t n = strlen(s);
	if (p->late)
		snprintf(to, REASON, "it had not ended after %d s", p->limit);
	else if (status == SKIPPED && skip)
		snprintf(to, REASON, "%.*s",
			 (int)strcspn(skip + strlen("SKIP: "), "\n"),
			 skip + strlen("SKIP: "));
	else if (n)
		snprintf(to, REASON, "status %d: %s", status,
			 n < REASON - 40 ? s : s + n - (REASON - 40));
	else
		snprintf(to, REASON, "status %d", status);
	for (n = strlen(to); n && to[n - 1] == '\n'; n--)
		to[n - 1] = '\0';
	free(err);
	free(out);
}

static int judge(const point *p, int status, const char *reason)
{
	static const char *const missing[] = {"there is no GPU",
					      "there is no library",
					      "not built in",
					      "bytes of memory free"};
	if (status == p->status && !p->late)
		return DONE;
	if (status == SKIPPED)
		return SKIPPED;
	for (int i = 0; i < 4 && status == MISSING; i++)
		if (strstr(reason, missing[i]))
			return SKIPPED;
	return FAILED;
}

static const char *word_of(int state)
{
	return state == DONE ? "done" : state == SKIPPED ? "skipped" : "failed";
}

/* ---- the report ---------------------------------------------------------- */

/* The number of a key of an object, "?" where it has none. */
static void show(const char *object, const char *key, char *to, size_t size)
{
	char word[100];
	snprintf(word, sizeof(word), "\"%s\":", key);
	const char *at = object ? strstr(object, word) : NULL;
	at = at ? at + strlen(word) : NULL;
	at = at ? at + strspn(at, " \n") : NULL;
	if (at)
		snprintf(to, size, "%.6g", strtod(at, NULL));
	else
		snprintf(to, size, "?");
}

static void write_row(const point *p, int state, const char *reason,
		      const char *result)
{
	FILE *f = open_in(p->folder, "rows", "a");
	fputs("{\"point\": ", f);
	write_string(f, p->point);
	fputs(", \"name\": ", f);
	write_string(f, p->name);
	fprintf(f, ", \"state\": \"%s\", \"seconds\": %.3f, \"number\": %d",
		word_of(state), p->seconds, p->number);
	if (*reason) {
		fputs(", \"reason\": ", f);
		write_string(f, reason);
	}
	fputs(", \"command\": [", f);
	for (int i = 0; i < p->ncommand; i++) {
		fputs(i ? ", " : "", f);
		write_string(f, p->command[i]);
	}
	fprintf(f, "]%s%s}\n", result ? ", \"result\": " : "",
		result ? result : "");
	if (fclose(f) != 0)
		die("rows");
}

/* The object that the command printed; NULL for none.  A line of it breaks no
 * row. */
static char *result_of(const point *p, char *out)
{
	size_t n = strlen(out);
	while (n && strchr(" \n", out[n - 1]))
		out[--n] = '\0';
	if (!p->ncommand || !n || out[0] != '{' || out[n - 1] != '}')
		return NULL;
	for (char *c = out; *c; c++)
		if (*c == '\n')
			*c = ' ';
	return out;
}

static int report(const point *p, int state, const char *reason)
{
	char name[64], figures[400] = "";
	char *out = p->ncommand ?
		end_of(p->folder, file_of(p, 0, "out", name)) : calloc(1, 1);
	char *result = out ? result_of(p, out) : NULL;
	for (int i = 0; i < p->nshown && state == DONE; i++) {
		char figure[60];
		size_t n = strlen(figures);
		show(result, p->shown[i], figure, sizeof(figure));
		snprintf(figures + n, sizeof(figures) - n, "  %s %s",
			 p->shown[i], figure);
	}
	say(p->folder, "%-8s %s  %-46s %7.1f s%s\n", word_of(state), p->point,
	    p->name, p->seconds, figures);
	if (state != DONE)
		say(p->folder, "            %s\n", reason);
	write_row(p, state, state == DONE ? "" : reason, result);
	free(out);
	return state;
}

/* Counts the rows of a state. */
static int count_rows(const char *folder, const char *state)
{
	char word[64];
	int n = 0;
	char *line = NULL;
	size_t size = 0;
	FILE *f = open_in(folder, "rows", "r");
	snprintf(word, sizeof(word), "\", \"state\": \"%s", state);
	while (f && getline(&line, &size, f) > 0)
		n += strstr(line, word) != NULL;
	if (f)
		fclose(f);
	free(line);
	return n;
}

/* ---- commands ------------------------------------------------------------ */

static int begin(const char *folder, const char *title)
{
	char path[4096];
	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		die(folder);
	snprintf(path, sizeof(path), "%s/rows", folder);
	if (access(path, F_OK) == 0) {
		errno = EEXIST;
		die(path);
	}
	fclose(open_in(folder, "rows", "w"));
	say(folder, "%s\n", title);
	return DONE;
}

static int end(const char *folder)
{
	FILE *from = open_in(folder, "rows", "r");
	int done = count_rows(folder, "done"), c, before = '\n';
	int failed = count_rows(folder, "failed");
	int skipped = count_rows(folder, "skipped");
	if (!from)
		die("rows");
	FILE *to = open_in(folder, "report.json", "w");
	fprintf(to, "{\"done\": %d, \"failed\": %d, \"skipped\": %d, "
		"\"points\": [\n", done, failed, skipped);
	for (bool first = true; (c = fgetc(from)) != EOF; before = c) {
		if (before == '\n' && !first)
			fputs(",\n", to);
		if (c != '\n')
			fputc(c, to);
		first = false;
	}
	fputs("\n]}\n", to);
	fclose(from);
	if (fclose(to) != 0)
		die("report.json");
	say(folder, "%d done, %d failed, %d skipped\n", done, failed, skipped);
	return failed ? FAILED : DONE;
}

static bool option(point *p, const char *arg)
{
	char rest;
	if (!strncmp(arg, "--show=", 7) && p->nshown < MAX_SHOWN) {
		p->shown[p->nshown++] = arg + 7;
		return true;
	}
	return (sscanf(arg, "--status=%d%c", &p->status, &rest) == 1) ||
	       (sscanf(arg, "--kill=%d%c", &p->kill, &rest) == 1 &&
		p->kill > 0) ||
	       (sscanf(arg, "--ranks=%d%c", &p->nranks, &rest) == 1 &&
		p->nranks > 0 && p->nranks <= MAX_RANKS) ||
	       (sscanf(arg, "--limit=%d%c", &p->limit, &rest) == 1 &&
		p->limit > 0);
}

static int do_point(int argc, char **argv)
{
	point p = {.nranks = 1, .limit = 600};
	char reason[REASON];
	int i = 0;
	while (i < argc && !strncmp(argv[i], "--", 2))
		if (!option(&p, argv[i++]))
			return USAGE;
	if (argc - i < 5 || strcmp(argv[i + 3], "--"))
		return USAGE;
	p.folder = argv[i];
	p.point = argv[i + 1];
	p.name = argv[i + 2];
	p.command = argv + i + 4;
	p.ncommand = argc - i - 4;
	p.number = 1 + count_rows(p.folder, "");
	int status = run(&p);
	find_reason(&p, status, reason);
	return report(&p, judge(&p, status, reason), reason);
}

static int skip_point(char **argv)
{
	point p = {.folder = argv[0], .point = argv[1], .name = argv[2]};
	p.number = 1 + count_rows(p.folder, "");
	return report(&p, SKIPPED, argv[3]);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int status = USAGE;
	if (!strcmp(what, "begin") && argc == 4)
		status = begin(argv[2], argv[3]);
	else if (!strcmp(what, "do"))
		status = do_point(argc - 2, argv + 2);
	else if (!strcmp(what, "skip") && argc == 6)
		status = skip_point(argv + 2);
	else if (!strcmp(what, "end") && argc == 3)
		status = end(argv[2]);
	if (status == USAGE)
		fprintf(stderr, "usage: point begin|do|skip|end ..\n");
	return status;
}
