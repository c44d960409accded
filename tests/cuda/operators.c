#include "config.h"

#include "tests/cuda/operators.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/gradient/gradient.h"
#include "compiler/verify/trial.h"

enum { MAX_FILES = 200, DRAWS = 200, MOST_POINTS = 1 << 24 };

/* ---- the library ------------------------------------------------------- */

static int by_name(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

static int list_files(arena *a, const char *folder, const char **files)
{
	DIR *d = opendir(folder);
	int n = 0;
	if (!d)
		return 0;
	for (struct dirent *e; (e = readdir(d)) && n < MAX_FILES;) {
		size_t len = strlen(e->d_name);
		if (len > 4 && !strcmp(e->d_name + len - 4, ".tdl"))
			files[n++] = arena_printf(a, "%s/%s", folder,
						  e->d_name);
	}
	closedir(d);
	qsort(files, (size_t)n, sizeof(*files), by_name);
	return n;
}

static tdl_modules *load(arena *a, const char *folder)
{
	const char *files[MAX_FILES];
	diag_sink *s = diag_sink_new(a);
	tdl_modules *m = dsl_new(a, s, &folder, 1);
	int n = list_files(a, folder, files);
	dsl_set_library(m, files, n);
	for (int i = 0; i < n; i++)
		dsl_load(m, files[i]);
	if (diag_errors(s))
		diag_print(s, stderr, false);
	return n && !diag_errors(s) ? m : NULL;
}

/* Adds the operators that compute gradients to the set. */
static void load_gradients(arena *a, tdl_modules *m)
{
	int n = strmap_count(m->ops);
	const ast_op **ops = ARENA_ARRAY(a, const ast_op *, n);
	for (int i = 0; i < n; i++)
		ops[i] = strmap_value(m->ops, i);
	for (int i = 0; i < n; i++) {
		gradient *g;
		int count = ops[i]->faulty || ops[i]->grad_of
				    ? 0
				    : gradient_derive(a, m, ops[i], &g);
		for (int j = 0; j < count; j++)
			if (g[j].op && !g[j].zero)
				gradient_load(m, &g[j]);
	}
}

/* ---- kernels ----------------------------------------------------------- */

static void add(arena *a, kernel_list *to, const kernel *k)
{
	for (int i = 0; i < to->n; i++)
		if (kernel_equal(to->at[i], k))
			return;
	vec_push(a, to, k);
}

static bool add_shape(arena *a, const tdl_modules *m, const ast_op *op,
		      const role *roles, rng *r, kernel_list *to)
{
	call_site site = {.place = "test"};
	draw d;
	if (!draw_signature(a, r, op, roles, &d))
		return false;
	expansion *x = expand_op(a, m, diag_sink_new(a), op, d.types, d.attrs,
				 site);
	for (int i = 0; x && i < x->nstages; i++) {
		int64_t n = kernel_points(x->stages[i].kernel);
		if (n < 0 || n > MOST_POINTS)
			return false;
	}
	for (int i = 0; x && i < x->nstages; i++)
		if (x->stages[i].kernel->body)
			add(a, to, x->stages[i].kernel);
	return x && x->nstages;
}

int operators_list(arena *a, const char *opdefs, int shapes, uint64_t seed,
		   kernel_list *to)
{
	tdl_modules *m = load(a, opdefs);
	rng r = {seed};
	int nops = 0;
	if (!m)
		return -1;
	load_gradients(a, m);
	for (int i = 0; i < strmap_count(m->ops); i++) {
		const ast_op *op = strmap_value(m->ops, i);
		const role *roles = roles_of(a, op);
		int found = 0;
		for (int j = 0; j < DRAWS && found < shapes; j++)
			found += add_shape(a, m, op, roles, &r, to);
		nops += found > 0;
	}
	return nops;
}
