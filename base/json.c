#include "config.h"

#define JSON_PLAIN
#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"

/* ---- the values of a call ----------------------------------------------- */

struct json_values {
	int n, cap;
	json_t *at[];
};

/* Frees values to which nothing else refers. */
static void sweep(struct json_values *v)
{
	int n = v->n;
	v->n = 0;
	for (int i = 0; i < n; i++)
		if (v->at[i]->refcount == 1)
			json_decref(v->at[i]);
		else
			v->at[v->n++] = v->at[i];
}

static size_t size_of(int cap)
{
	return sizeof(struct json_values) + (size_t)cap * sizeof(json_t *);
}

/* Makes room for one more value.  Ends the call if there is no memory. */
static struct json_values *make_room(memory *m)
{
	struct json_values *v = m->values;
	if (v && v->n == v->cap)
		sweep(v);
	if (v && v->n <= v->cap / 2)
		return v;
	int cap = v ? 2 * v->cap : 64;
	struct json_values *more = memory_take(m, size_of(cap), false);
	*more = (struct json_values){ .cap = cap };
	if (v) {
		more->n = v->n;
		memcpy(more->at, v->at, (size_t)v->n * sizeof(*v->at));
		memory_give(m, v, size_of(v->cap));
	}
	m->values = more;
	return more;
}

/* Values in the list may be parts of others in it.  These survive the first
 * loop; other parts have no other owner and are freed there. */
void json_values_end(memory *m)
{
	struct json_values *v = m->values;
	for (int i = 0; v && i < v->n; i++) {
		if (json_is_object(v->at[i]))
			json_object_clear(v->at[i]);
		if (json_is_array(v->at[i]))
			json_array_clear(v->at[i]);
	}
	for (int i = 0; v && i < v->n; i++) {
		v->at[i]->refcount = 1;
		json_decref(v->at[i]);
	}
	if (v)
		memory_give(m, v, size_of(v->cap));
}

json_t *json_was_read(json_t *j)
{
	memory *m = memory_current();
	if (!m || !j || j->refcount == (size_t)-1)
		return j;
	struct json_values *v = m->values;
	if (!v || v->n == v->cap) {
		memory_guard g;
		memory_guard_on(&g, (void (*)(void *))json_delete, j);
		v = make_room(m);
		memory_guard_off(&g);
	}
	v->at[v->n++] = json_incref(j);
	return j;
}

json_t *json_made_if(json_t *j, int representable)
{
	if (!j && representable && memory_current())
		memory_fail(MEMORY_JSON);
	return json_was_read(j);
}

json_t *json_made(json_t *j)
{
	return json_made_if(j, 1);
}

int json_was_put(int status, const json_t *value)
{
	if (status && value && memory_current())
		memory_fail(MEMORY_JSON);
	return status;
}

/* ---- making them -------------------------------------------------------- */

json_t *json_finite(double x)
{
	return json_made_if(json_real(x), isfinite(x));
}

json_t *json_utf8(const char *x)
{
	return json_was_read(json_string(x));
}

int json_put_member(json_t *object, const char *key, json_t *x)
{
	return json_was_put(json_object_set_new(object, key, x), x);
}

int json_put_last(json_t *array, json_t *x)
{
	return json_was_put(json_array_append_new(array, x), x);
}

json_t *json_of_text(const char *text)
{
	json_t *j = json_string(text);
	if (j)
		return json_was_read(j);
	arena *tmp = arena_new();
	char *clean = arena_strdup(tmp, text);
	for (char *p = clean; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	j = json_string(clean);
	arena_free(tmp);
	return json_made(j);
}

char *json_text(arena *a, const json_t *j, size_t flags)
{
	size_t n = json_dumpb(j, NULL, 0, flags);
	if (n == 0 && memory_current())
		memory_fail(MEMORY_JSON);
	char *text = arena_alloc(a, n + 1);
	json_dumpb(j, text, n, flags);
	return text;
}
