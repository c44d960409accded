#include "config.h"

#include "libtdl/blocks.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/stream.h"
#include "base/vec.h"
#include "libtdl/name_groups.h"

typedef VEC(int) numbers;

typedef struct block {
	const char *prefix;
	int part;
	numbers members;
} block;

typedef VEC(block) block_list;

/* ---- names ------------------------------------------------------------- */

static bool ends_part(char c)
{
	return c == '.' || c == '/';
}

/* The length of the first `depth' parts of a name, without the separator. */
static size_t prefix_length(const char *name, int depth)
{
	size_t n = strspn(name, "./");
	for (;; n++) {
		if (name[n] == '\0')
			return n;
		if (ends_part(name[n]) && --depth == 0)
			return n;
	}
}

static int parts_of(const char *name)
{
	int n = 1;
	for (name += strspn(name, "./"); *name; name++)
		n += ends_part(*name);
	return n;
}

/* ---- blocks ------------------------------------------------------------ */

/* Numbers operators by the first `depth' parts of their names; 0: by all parts.
 * Returns how many numbers there are. */
static int by_prefix(arena *a, const named_graph *g, int depth, int *of)
{
	strmap *known = strmap_new(a);
	int n = 0, *number;
	for (int i = 0; i < g->n; i++) {
		const char *name = g->names[i];
		size_t length = prefix_length(name, depth);
		const char *key = arena_printf(a, "%.*s", (int)length, name);
		number = strmap_get(known, key);
		if (!number) {
			number = ARENA_NEW(a, int);
			*number = n++;
			strmap_put(known, key, number);
		}
		of[i] = *number;
	}
	return n;
}

static int most_of(int x, int y)
{
	return x > y ? x : y;
}

/* Finds the part of each operator of block b, whose members are ascending.  It
 * is the greatest number of times that a path to the operator leaves the block
 * and comes back, plus 1.  `left' has room for a number per operator. */
static void find_parts(const named_graph *g, const int *of, const numbers *b,
		       int *part, int *left)
{
	int begin = b->at[0], end = b->at[b->n - 1], mine = of[begin];
	for (int i = begin; i <= end; i++) {
		left[i] = of[i] == mine ? 1 : 0;
		for (int j = g->first[i]; j < g->first[i + 1]; j++) {
			int from = g->reads[j];
			bool leaves = from >= begin && of[from] == mine &&
				      of[i] != mine;
			if (from >= begin)
				left[i] = most_of(left[i], left[from] + leaves);
		}
		if (of[i] == mine)
			part[i] = left[i];
	}
}

/* The blocks by the first `depth' parts of names, split into their own parts,
 * in the order of their first operators.  of[] is set to each operator's
 * block. */
static block_list find_blocks(arena *a, const named_graph *g, int depth,
			      int *of)
{
	int n = by_prefix(a, g, depth, of);
	numbers *members = ARENA_ARRAY(a, numbers, n);
	int *part = ARENA_ARRAY(a, int, g->n);
	int *left = ARENA_ARRAY(a, int, g->n);
	strmap *known = strmap_new(a);
	block_list all = { 0 };
	for (int i = 0; i < g->n; i++)
		vec_push(a, &members[of[i]], i);
	for (int b = 0; b < n; b++)
		find_parts(g, of, &members[b], part, left);
	for (int i = 0; i < g->n; i++) {
		const char *key = arena_printf(a, "%d %d", of[i], part[i]);
		int *number = strmap_get(known, key);
		if (!number) {
			size_t length = prefix_length(g->names[i], depth);
			vec_push(a, &all, ((block){ arena_printf(
				a, "%.*s", (int)length, g->names[i]),
				part[i], { 0 } }));
			number = ARENA_NEW(a, int);
			*number = all.n - 1;
			strmap_put(known, key, number);
		}
		of[i] = *number;
		vec_push(a, &all.at[*number].members, i);
	}
	return all;
}

/* ---- groups ------------------------------------------------------------ */

static int compare_texts(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* The common property of equal blocks: the kinds of their operators, in any
 * order. */
static const char *kind_of(arena *a, const named_graph *g, const block *b)
{
	int n = b->members.n;
	const char **kinds = ARENA_ARRAY(a, const char *, n);
	text_stream s;
	size_t length;
	for (int i = 0; i < n; i++)
		kinds[i] = g->kinds[b->members.at[i]];
	if (n == 1)
		return kinds[0];
	qsort(kinds, (size_t)n, sizeof(*kinds), compare_texts);
	FILE *to = text_stream_open(&s);
	fprintf(to, "%d", b->part);
	for (int i = 0; i < n; i++)
		fprintf(to, "\n%s", kinds[i]);
	const char *text = text_stream_close(&s, a, &length);
	return text ? text : "";
}

static blocks group_blocks(arena *a, const named_graph *g, block_list all,
			   const int *of)
{
	const char **names = ARENA_ARRAY(a, const char *, all.n);
	const char **kinds = ARENA_ARRAY(a, const char *, all.n);
	for (int b = 0; b < all.n; b++) {
		const block *x = &all.at[b];
		bool one = x->members.n == 1;
		names[b] = one ? g->names[x->members.at[0]] : x->prefix;
		kinds[b] = kind_of(a, g, x);
	}
	name_groups named = group_names(a, all.n, names, kinds);
	block_group *groups = ARENA_ARRAY(a, block_group, named.n);
	int *group = ARENA_ARRAY(a, int, g->n);
	for (int i = 0; i < named.n; i++) {
		const name_group *x = &named.at[i];
		const block *first = &all.at[x->members[0]];
		int n = first->members.n;
		groups[i] = (block_group){ x->name, n == 1 ? 1 : first->part,
					   x->n, n, first->members.at };
		for (int j = 0; j < x->n; j++) {
			const numbers *in = &all.at[x->members[j]].members;
			for (int m = 0; m < in->n; m++)
				group[in->at[m]] = i;
		}
	}
	return (blocks){ of, group, named.n, groups };
}

static blocks unfolded(arena *a, const named_graph *g)
{
	int *of = ARENA_ARRAY(a, int, g->n);
	block_list all = { 0 };
	for (int i = 0; i < g->n; i++) {
		vec_push(a, &all, ((block){ g->names[i], 1, { 0 } }));
		vec_push(a, &all.at[i].members, i);
		of[i] = i;
	}
	return group_blocks(a, g, all, of);
}

blocks blocks_of(arena *a, const named_graph *g, int most)
{
	blocks found = unfolded(a, g);
	int depth = 1;
	for (int i = 0; i < g->n; i++)
		depth = most_of(depth, parts_of(g->names[i]) - 1);
	for (; most > 0 && found.ngroups > most && depth > 0; depth--) {
		int *of = ARENA_ARRAY(a, int, g->n);
		found = group_blocks(a, g, find_blocks(a, g, depth, of), of);
	}
	return found;
}

bool blocks_are_folded(const blocks *b)
{
	for (int i = 0; i < b->ngroups; i++)
		if (b->groups[i].n > 1)
			return true;
	return false;
}
