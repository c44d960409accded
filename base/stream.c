#include "config.h"

#include "base/stream.h"

#include <stdlib.h>

static void drop(void *of)
{
	text_stream *s = of;
	if (s->to)
		fclose(s->to);
	free(s->text);
}

/* Returns NULL, or ends the current call. */
static void *no_memory(void)
{
	if (memory_current())
		memory_fail(MEMORY_EXHAUSTED);
	return NULL;
}

FILE *text_stream_open(text_stream *s)
{
	s->text = NULL;
	s->len = 0;
	s->to = open_memstream(&s->text, &s->len);
	if (!s->to)
		return no_memory();
	memory_guard_on(&s->guard, drop, s);
	return s->to;
}

char *text_stream_close(text_stream *s, arena *a, size_t *len)
{
	FILE *to = s->to;
	s->to = NULL;
	char *copy = fclose(to) == 0 ? arena_strndup(a, s->text, s->len) : NULL;
	*len = s->len;
	memory_guard_off(&s->guard);
	free(s->text);
	return copy ? copy : no_memory();
}
