/* jansson for code that runs in a memory_call() (base/memory.h), and JSON
 * strings of arbitrary text.
 *
 * While a memory is current, each value that one of the functions below makes
 * is entered in a list, which holds a reference to it.  When the call ends,
 * however it ends, the remaining values are freed.  A failure to make a value
 * ends the call. jansson takes its memory from malloc(), so JSON values do not
 * count towards a quota. */
#ifndef TDL_BASE_JSON_H
#define TDL_BASE_JSON_H

#include <jansson.h>

/* Returns a JSON string of any bytes.  If the text is not valid UTF-8, each
 * byte that is not ASCII becomes '?'. */
json_t *json_of_text(const char *text);

/* The text of j in arena a, formatted as by json_dumps(). */
struct arena;
char *json_text(struct arena *a, const json_t *j, size_t flags);

/* The functions behind the macros below. json_made() registers a new value;
 * NULL ends the call. */
json_t *json_made(json_t *j);
/* The same for a value that may be NULL for reasons other than lack of
 * memory. */
json_t *json_made_if(json_t *j, int representable);
/* Registers a value that was read; NULL if the text is at fault. */
json_t *json_was_read(json_t *j);
/* Checks the status of a function that put a value into another. */
int json_was_put(int status, const json_t *value);

/* Frees the values of the innermost call; called by memory_call(). */
struct memory;
void json_values_end(struct memory *m);

#ifndef JSON_PLAIN /* base/json.c */
#define json_object() json_made(json_object())
#define json_array() json_made(json_array())
#define json_integer(x) json_made(json_integer(x))
#define json_pack(...) json_made(json_pack(__VA_ARGS__))
#define json_real(x) json_finite(x)
#define json_string(x) json_utf8(x)
#define json_loadb(...) json_was_read(json_loadb(__VA_ARGS__))
#define json_load_callback(...) json_was_read(json_load_callback(__VA_ARGS__))
#define json_object_set_new(o, key, x) json_put_member(o, key, x)
#define json_array_append_new(a, x) json_put_last(a, x)
#endif

/* NULL if x is not finite, or not UTF-8, as with jansson's own functions. */
json_t *json_finite(double x);
json_t *json_utf8(const char *x);
int json_put_member(json_t *object, const char *key, json_t *x);
int json_put_last(json_t *array, json_t *x);

#endif
