#include "config.h"

#include "runtime/run/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/intern.h"
#include "base/vec.h"
#include "runtime/run/inputs.h"

/* The file of step N is step-N.npz.  While it is written, its name is
 * longer. */
static const char prefix[] = "step-", suffix[] = ".npz";
static const char unfinished[] = ".npz.tmp";

struct checkpoints {
	arena *a;
	const char *folder;
	bool leads;
	int fd; /* folder, locked; only in the process that leads */
	int64_t keep;
	VEC(int64_t) steps; /* steps with a file, ascending */
};

static const char *path_of(arena *a, const char *folder, int64_t step)
{
	return arena_printf(a, "%s/%s%" PRId64 "%s", folder, prefix, step,
			    suffix);
}

/* ---- the folder -------------------------------------------------------- */

/* The N of step-N.npz; -1 for any other name. */
static int64_t step_of(arena *a, const char *name)
{
	size_t n = strlen(name), skip = strlen(prefix), end = strlen(suffix);
	int64_t step;
	if (n < skip + end || strncmp(name, prefix, skip) ||
	    strcmp(name + n - end, suffix))
		return -1;
	const char *digits = arena_strndup(a, name + skip, n - skip - end);
	return cli_int(digits, 0, INT64_MAX, &step) &&
	       !strcmp(name, arena_printf(a, "%s%" PRId64 "%s", prefix, step,
					  suffix)) ? step : -1;
}

static int compare_steps(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
	return (a > b) - (a < b);
}

/* Lists the folder's files.  Unfinished ones are left out, and removed if the
 * folder is ours. */
static bool list_folder(checkpoints *c, bool ours, failure *f)
{
	DIR *d = opendir(c->folder);
	if (!d)
		return fail_with(f, CLI_INPUT, "%s: cannot read the folder: %s",
				 c->folder, strerror(errno));
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		int64_t step = step_of(c->a, e->d_name);
		if (step >= 0)
			vec_push(c->a, &c->steps, step);
		else if (ours && !strncmp(e->d_name, prefix, strlen(prefix)) &&
			 strstr(e->d_name, unfinished))
			unlinkat(c->fd, e->d_name, 0);
	}
	closedir(d);
	if (c->steps.n > 0)
		qsort(c->steps.at, (size_t)c->steps.n, sizeof(*c->steps.at),
		      compare_steps);
	return true;
}

/* Locks the folder.  A lock ends with its process, however that ends.  A file
 * system without locks is accepted. */
static bool lock_folder(checkpoints *c, failure *f)
{
	if (mkdir(c->folder, 0777) && errno != EEXIST)
		return fail_with(f, CLI_MACHINE, "%s: cannot make the folder: "
				 "%s", c->folder, strerror(errno));
	c->fd = open(c->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->fd < 0)
		return fail_with(f, CLI_MACHINE, "%s: cannot open the folder: "
				 "%s", c->folder, strerror(errno));
	if (flock(c->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return fail_with(f, CLI_MACHINE, "%s: another run writes its "
				 "checkpoints there", c->folder);
	return true;
}

checkpoints *checkpoints_open(arena *a, const char *folder, bool leads,
			      int64_t keep, failure *f)
{
	checkpoints *c = ARENA_NEW(a, checkpoints);
	*c = (checkpoints){ .a = a, .folder = folder, .fd = -1,
			    .leads = leads, .keep = keep };
	if ((!leads || lock_folder(c, f)) && list_folder(c, leads, f))
		return c;
	checkpoints_close(c);
	return NULL;
}

void checkpoints_close(checkpoints *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

const char *checkpoints_newest(const checkpoints *c)
{
	return c->steps.n == 0 ? NULL :
	       path_of(c->a, c->folder, c->steps.at[c->steps.n - 1]);
}

/* ---- the position ------------------------------------------------------ */

static const char format[] = "tdl-checkpoint";

/* A byte array for the note, in a. */
static array note_of(arena *a, const plan *p, const position *at)
{
	json_t *j = json_pack(
		"{s:s, s:i, s:s, s:I, s:I, s:I, s:I, s:I, s:b, s:I, s:f, s:I}",
		"format",
		format, "version", 1, "model", p->model, "step",
		(json_int_t)at->step, "epoch", (json_int_t)at->epoch,
		"in_epoch", (json_int_t)at->in_epoch, "samples",
		(json_int_t)at->samples, "batch", (json_int_t)at->batch,
		"shuffle", at->shuffle, "seed", (json_int_t)at->seed,
		"epoch_loss", at->loss, "epoch_losses",
		(json_int_t)at->losses);
	json_t *fixed = json_array();
	for (int i = 0; i < p->nfixed; i++)
		json_array_append_new(fixed, json_string(p->fixed[i]));
	json_object_set_new(j, "fixed", fixed);
	char *text = json_dumps(j, JSON_COMPACT);
	array x = { .name = CHECKPOINT_NOTE, .type = DT_U8, .ndim = 1,
		    .data = arena_strdup(a, text ? text : "") };
	x.dims[0] = (int64_t)strlen(x.data);
	free(text);
	json_decref(j);
	return x;
}

static bool parse_note(const array *x, position *at)
{
	json_int_t version, step, epoch, in_epoch, samples, batch, seed;
	json_int_t losses = 0;
	double loss = 0;
	const char *is;
	int shuffle;
	json_t *j = json_loadb(x->data, (size_t)x->dims[0], 0, NULL);
	bool good = j && !json_unpack(
		j, "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:I, s?f, s?I}",
		"format",
		&is, "version", &version, "step", &step, "epoch", &epoch,
		"in_epoch", &in_epoch, "samples", &samples, "batch", &batch,
		"shuffle", &shuffle, "seed", &seed, "epoch_loss", &loss,
		"epoch_losses", &losses);
	good = good && !strcmp(is, format) && version == 1 && step >= 0 &&
	       epoch >= 0 && in_epoch >= 0 && samples > 0 && batch > 0;
	if (good)
		*at = (position){ step, epoch, in_epoch, samples, batch,
				  shuffle, seed, loss, losses };
	json_decref(j);
	return good;
}

/* Reads the note of a checkpoint, in a.  x->data is NULL if it has none. */
static bool load_note(arena *a, npz *z, array *x, failure *f)
{
	enum { MAX_NOTE = 1 << 24 };
	*x = (array){ .name = CHECKPOINT_NOTE, .type = DT_U8 };
	if (!npz_shape(z, x, f))
		return false;
	if (x->ndim != 1 || x->dims[0] > MAX_NOTE)
		return true;
	x->data = arena_alloc(a, (size_t)x->dims[0] + 1);
	return npz_read(z, x, f);
}

static bool read_note(arena *a, npz *z, const char *path, position *at,
		      failure *f)
{
	array x = { .name = CHECKPOINT_NOTE };
	if (!npz_has(z, x.name))
		return fail_with(f, CLI_INPUT, "%s: this is not a checkpoint "
				 "of tdlrun", path);
	if (!load_note(a, z, &x, f))
		return false;
	return (x.data && parse_note(&x, at)) ||
	       fail_with(f, CLI_INPUT, "%s: '%s' does not say where the run "
			 "stood", path, x.name);
}

/* ---- writing ----------------------------------------------------------- */

/* Writes a file, and then its new name, safely to the disk. */
static bool publish(const checkpoints *c, const char *from, const char *to)
{
	int fd = open(from, O_RDONLY | O_CLOEXEC);
	bool good = fd >= 0 && fsync(fd) == 0;
	int why = errno;
	if (fd >= 0)
		close(fd);
	errno = why;
	return good && rename(from, to) == 0 && fsync(c->fd) == 0;
}

static bool write_file(const checkpoints *c, int64_t step, int n,
		       const array *arrays, failure *f)
{
	const char *path = path_of(c->a, c->folder, step);
	const char *tmp = arena_printf(c->a, "%s/%s%" PRId64 "%s", c->folder,
				       prefix, step, unfinished);
	bool good = npz_write(tmp, n, arrays, f);
	if (good && !publish(c, tmp, path))
		good = fail_with(f, CLI_MACHINE, "%s: cannot write: %s", path,
				 strerror(errno));
	if (!good)
		unlink(tmp);
	return good;
}

/* Removes the files beyond the number to keep. */
static void prune(checkpoints *c)
{
	int64_t gone = c->keep > 0 ? c->steps.n - c->keep : 0;
	if (gone <= 0)
		return;
	for (int64_t i = 0; i < gone && c->leads; i++)
		unlink(path_of(c->a, c->folder, c->steps.at[i]));
	c->steps.n -= (int)gone;
	memmove(c->steps.at, c->steps.at + gone,
		(size_t)c->steps.n * sizeof(*c->steps.at));
}

bool checkpoints_write(checkpoints *c, executor *m, const plan *p,
		       const position *at, failure *f)
{
	arena *work = arena_new();
	int n, *states = plan_states(work, p, &n);
	array *x = arrays_of(work, p, states, n, f);
	array *all = ARENA_ARRAY(work, array, n + 1);
	bool good = x != NULL;
	for (int i = 0; good && i < n; i++) {
		good = executor_state_get(m, &x[i], f);
		all[i] = x[i];
		if (!strcmp(x[i].name, CHECKPOINT_NOTE))
			good = fail_with(f, CLI_INPUT, "a state cannot be "
					 "called '%s', as the note in "
					 "checkpoints is", x[i].name);
	}
	all[n] = note_of(work, p, at);
	good = good && (!c->leads || write_file(c, at->step, n + 1, all, f));
	if (good && (c->steps.n == 0 ||
		     c->steps.at[c->steps.n - 1] != at->step))
		vec_push(c->a, &c->steps, at->step);
	if (good)
		prune(c);
	arrays_free(x, n);
	arena_free(work);
	return good;
}

/* ---- reading ----------------------------------------------------------- */

/* Checks that the names in a file are those of the states and the note. */
static bool check_names(const plan *p, npz *z, const char *path, failure *f)
{
	arena *work = arena_new();
	int n, *states = plan_states(work, p, &n);
	strmap *known = strmap_new(work);
	bool good = true;
	strmap_put(known, CHECKPOINT_NOTE, known);
	for (int i = 0; i < n; i++)
		strmap_put(known, p->tensors[states[i]].name, known);
	for (int i = 0; good && npz_name(z, i); i++)
		if (!strmap_get(known, npz_name(z, i)))
			good = fail_with(f, CLI_INPUT, "%s: it is of another "
					 "model or optimizer: the plan has no "
					 "state '%.200s'", path,
					 npz_name(z, i));
	arena_free(work);
	return good;
}

/* Reads a state and gives it to the executor, unless that is NULL. */
static bool read_state(executor *m, const plan *p, int tensor, npz *z,
		       failure *f)
{
	arena *work = arena_new();
	array *x = arrays_of(work, p, &tensor, 1, f);
	bool good = x && npz_read(z, x, f);
	if (good && m)
		good = executor_state_set(m, x, f);
	arrays_free(x, 1);
	arena_free(work);
	return good;
}

/* Reads all states from a file. */
static bool read_states(executor *m, const plan *p, npz *z, failure *f)
{
	arena *work = arena_new();
	int n, *states = plan_states(work, p, &n);
	bool good = true;
	for (int i = 0; good && i < n; i++)
		good = read_state(m, p, states[i], z, f);
	arena_free(work);
	return good;
}

/* Whether an array is a single number.  A checkpoint has only those that were
 * trained, another file may have all of the model. */
static bool is_number(npz *z, const char *name)
{
	static const dtype types[] = { DT_F32, DT_F64, DT_F16, DT_BF16 };
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		array x = { .name = name, .type = types[i] };
		failure none = { 0 };
		if (npz_shape(z, &x, &none))
			return x.ndim == 0;
	}
	return false;
}

/* Refuses a weight in the file that is a constant of the plan. */
static bool check_fixed(const plan *p, npz *z, const char *path, failure *f)
{
	bool trained = npz_has(z, CHECKPOINT_NOTE);
	for (int i = 0; i < p->nfixed; i++)
		if (npz_has(z, p->fixed[i]) &&
		    (trained || !is_number(z, p->fixed[i])))
			return fail_with(f, CLI_INPUT, "%s: the weight '%s' "
					 "is a constant in this plan; 'tdlc "
					 "plan --evaluate', with --train-only "
					 "for single numbers, makes one in "
					 "which weights are states", path,
					 p->fixed[i]);
	return true;
}

/* Reads the names of weights that the checkpoint's training did not change and
 * did not store; they are those of the model.  Empty if there is no note. */
static bool read_unchanged(arena *a, npz *z, strmap *names, failure *f)
{
	array x;
	if (!npz_has(z, CHECKPOINT_NOTE))
		return true;
	if (!load_note(a, z, &x, f))
		return false;
	json_t *j = x.data ? json_loadb(x.data, (size_t)x.dims[0], 0, NULL)
			   : NULL;
	json_t *fixed = json_object_get(j, "fixed");
	for (size_t i = 0; i < json_array_size(fixed); i++) {
		const char *name = json_string_value(json_array_get(fixed, i));
		if (name)
			strmap_put(names, arena_strdup(a, name), names);
	}
	json_decref(j);
	return true;
}

/* Reads the states that a file has.  States that no run changes have to be
 * there, except weights that the file's own training did not change. */
static bool read_some(executor *m, const plan *p, npz *z, const char *path,
		      failure *f)
{
	arena *work = arena_new();
	int n, *states = plan_states(work, p, &n), nread = 0;
	strmap *unchanged = strmap_new(work);
	bool good = check_fixed(p, z, path, f) &&
		    read_unchanged(work, z, unchanged, f);
	for (int i = 0; good && i < n; i++) {
		const plan_tensor *t = &p->tensors[states[i]];
		if (!npz_has(z, t->name) &&
		    (t->next >= 0 || strmap_get(unchanged, t->name)))
			continue;
		good = read_state(m, p, states[i], z, f);
		nread++;
	}
	arena_free(work);
	return good && (nread > 0 ||
			fail_with(f, CLI_INPUT, "%s: it has none of the plan's "
				  "states", path));
}

static bool restore(executor *m, const plan *p, const char *path, position *at,
		    failure *f)
{
	arena *work = arena_new();
	npz *z = npz_open(work, path, f);
	bool good = z && read_note(work, z, path, at, f) &&
		    check_names(p, z, path, f) && read_states(m, p, z, f);
	if (z)
		npz_close(z);
	arena_free(work);
	return good;
}

/* Adds to a failure which older checkpoint is intact. */
static void name_older(const checkpoints *c, const plan *p, failure *f)
{
	failure why = *f;
	for (int i = c->steps.n - 1; i-- > 0;) {
		const char *path = path_of(c->a, c->folder, c->steps.at[i]);
		position at;
		failure other = { 0 };
		if (!restore(NULL, p, path, &at, &other))
			continue;
		*f = (failure){ 0 };
		fail_with(f, why.status, "%s; %s is whole: the run goes on "
			  "from there if the newer ones are removed", why.text,
			  path);
		return;
	}
}

bool checkpoints_restore(checkpoints *c, executor *m, const plan *p,
			 position *at, failure *f)
{
	if (restore(m, p, checkpoints_newest(c), at, f)) {
		prune(c); /* a killed run may have left them */
		return true;
	}
	name_older(c, p, f);
	return false;
}

/* The newest checkpoint of a folder; NULL, with *f set, if there is none. */
static const char *newest_of(arena *a, const char *folder, failure *f)
{
	checkpoints c = { .a = a, .folder = folder, .fd = -1 };
	if (!list_folder(&c, false, f))
		return NULL;
	if (c.steps.n == 0)
		fail_with(f, CLI_INPUT, "%s: there is no checkpoint in it",
			  folder);
	return checkpoints_newest(&c);
}

const char *checkpoint_path(arena *a, const char *path, failure *f)
{
	struct stat st;
	bool is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	return is_folder ? newest_of(a, path, f) : path;
}

bool checkpoint_load(executor *m, const plan *p, const char *path, failure *f)
{
	arena *work = arena_new();
	path = checkpoint_path(work, path, f);
	npz *z = path ? npz_open(work, path, f) : NULL;
	bool good = z && read_some(m, p, z, path, f);
	if (z)
		npz_close(z);
	arena_free(work);
	return good;
}
