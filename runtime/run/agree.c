#include "config.h"

#include "runtime/run/agree.h"

#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/vec.h"
#include "runtime/run/checkpoint.h"

/* A file that cannot be read counts as 0. */
typedef struct subject {
	const char *what; /* such as "another plan" */
	uint64_t digest;
} subject;

typedef struct subjects {
	arena *a;
	VEC(subject) of;
} subjects;

/* ---- digests ----------------------------------------------------------- */

static void add(subjects *x, const char *what, uint64_t digest)
{
	subject s = { what, digest };
	vec_push(x->a, &x->of, s);
}

static void add_number(subjects *x, const char *option, double v)
{
	add(x, arena_printf(x->a, "another --%s", option),
	    hash_bytes(HASH_SEED, &v, sizeof(v)));
}

static void add_text(subjects *x, const char *option, const char *text)
{
	add(x, arena_printf(x->a, "another --%s", option),
	    text ? hash_bytes(HASH_SEED, text, strlen(text)) : HASH_SEED);
}

static uint64_t npz_digest_of(const char *path)
{
	arena *work = arena_new();
	failure f = { 0 };
	npz *z = npz_open(work, path, &f);
	uint64_t digest = z ? npz_digest(z) : 0;
	if (z)
		npz_close(z);
	arena_free(work);
	return digest;
}

static uint64_t file_digest(const char *path)
{
	char block[1 << 16];
	uint64_t digest = HASH_SEED;
	FILE *from = fopen(path, "r");
	if (!from)
		return 0;
	for (size_t n; (n = fread(block, 1, sizeof(block), from)) > 0;)
		digest = hash_bytes(digest, block, n);
	bool good = !ferror(from);
	fclose(from);
	return good ? digest : 0;
}

typedef uint64_t digest_fn(const char *path);

/* Adds the content of the file that an option names, if it is given. */
static void add_file(subjects *x, const char *option, const char *path,
		     digest_fn *digest)
{
	add(x, arena_printf(x->a, "another --%s", option),
	    path ? digest(path) : HASH_SEED);
}

/* The digest of a file of states, or of the newest one in a folder. */
static uint64_t states_digest(const char *path)
{
	arena *work = arena_new();
	failure f = { 0 };
	path = checkpoint_path(work, path, &f);
	uint64_t digest = path ? npz_digest_of(path) : 0;
	arena_free(work);
	return digest;
}

static void add_options(subjects *x, const options *o)
{
	add_number(x, "backend", o->backend);
	add_number(x, "kernels", o->kernels);
	add_number(x, "tf32", o->tf32);
	add_number(x, "outputs", o->outputs != NULL);
	add_number(x, "verify", o->verify);
	add_number(x, "profile", o->profile != NULL);
	add_number(x, "shuffle", o->shuffle);
	add_number(x, "steps", (double)o->steps);
	add_number(x, "epochs", (double)o->epochs);
	add_number(x, "seed", (double)o->seed);
	add_number(x, "learning-rate", o->learning_rate);
	add_number(x, "lr-schedule", o->schedule);
	add_number(x, "warmup", (double)o->warmup);
	add_number(x, "checkpoint-every", (double)o->every);
	add_number(x, "resume", o->resume);
	add_number(x, "generate", (double)o->generate);
	add_text(x, "token-input", o->token_input);
	add_text(x, "logits", o->logits);
}

static void add_files(subjects *x, const options *o)
{
	add_file(x, "kernels-from", o->library, file_digest);
	add_file(x, "inputs", o->inputs, npz_digest_of);
	add_file(x, "data", o->data, npz_digest_of);
	add_file(x, "prompt", o->prompt, npz_digest_of);
	add_file(x, "evaluate", o->evaluate, file_digest);
	add_file(x, "evaluate-data", o->evaluate_data, npz_digest_of);
	add_file(x, "parameters", o->parameters, states_digest);
	add_number(x, "checkpoint", o->checkpoint != NULL);
	add(x, "another checkpoint to go on from",
	    o->checkpoint && o->resume ? states_digest(o->checkpoint)
				       : HASH_SEED);
}

/* ---- comparing --------------------------------------------------------- */

/* The value that most ranks have; if there are several, that of the lowest
 * rank. */
static uint64_t most_frequent(const uint64_t *all, int n)
{
	uint64_t found = 0;
	int most = 0;
	for (int i = 0; i < n && most <= n / 2; i++) {
		int count = 0;
		for (int j = 0; j < n; j++)
			count += all[j] == all[i];
		if (count > most) {
			most = count;
			found = all[i];
		}
	}
	return found;
}

static bool all_equal(const uint64_t *all, int n)
{
	for (int i = 1; i < n; i++)
		if (all[i] != all[0])
			return false;
	return true;
}

/* "rank 2 has another --steps", for a few of the ranks that differ. */
static const char *tell(arena *a, const subject *s, const uint64_t *all, int n)
{
	enum { FEW = 8 };
	uint64_t usual = most_frequent(all, n);
	const char *text = "";
	int count = 0;
	bool missing = usual == 0;
	for (int i = 0; i < n; i++) {
		if (all[i] == usual)
			continue;
		if (count++ < FEW)
			text = arena_printf(a, "%s%s%d", text,
					    count > 1 ? ", " : "", i);
		missing |= all[i] == 0;
	}
	return arena_printf(a, "rank%s %s%s %s %s%s", count > 1 ? "s" : "",
			    text, count > FEW ? " and more" : "",
			    count > 1 ? "have" : "has", s->what,
			    missing ? ", or none that can be read" : "");
}

/* Whether the processes differ.  A first meeting shows whether more are needed.
 * All ranks gather, or none if there is only this process. */
static bool differ(const session *s, const communicator *c, const subjects *x)
{
	uint64_t digest = HASH_SEED;
	for (int i = 0; i < x->of.n; i++)
		digest = hash_i64(digest, (int64_t)x->of.at[i].digest);
	int n;
	const uint64_t *all = c->gather(s->run, x->a, digest, &n);
	return all && !all_equal(all, n);
}

/* Compares the subjects.  All processes list the same subjects, whatever their
 * options. */
static bool compare(session *s, const communicator *c, const subjects *x)
{
	const char *text = NULL;
	if (!differ(s, c, x))
		return true;
	for (int i = 0; i < x->of.n; i++) {
		const subject *of = &x->of.at[i];
		int n;
		const uint64_t *all = c->gather(s->run, x->a, of->digest, &n);
		if (!all || all_equal(all, n))
			continue;
		const char *more = tell(x->a, of, all, n);
		text = text ? arena_printf(x->a, "%s; %s", text, more) : more;
	}
	return fail_with(&s->f, CLI_INPUT, "the processes of a run need the "
			 "same plan, data and options: %s", text);
}

bool agree(session *s, const communicator *c)
{
	if (!c->gather)
		return true;
	arena *work = arena_new();
	subjects x = { .a = work };
	add(&x, "another version of tdlrun",
	    hash_str(HASH_SEED, PACKAGE_VERSION));
	add(&x, "another plan", s->pipeline->digest);
	add_options(&x, s->o);
	add_files(&x, s->o);
	bool good = compare(s, c, &x);
	arena_free(work);
	return good;
}
