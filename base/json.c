#include "config.h"

#include "base/json.h"

#include "base/arena.h"

json_t *json_of_text(const char *text)
{
	json_t *j = json_string(text);
	if (j)
		return j;
	arena *tmp = arena_new();
	char *clean = arena_strdup(tmp, text);
	for (char *p = clean; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	j = json_string(clean);
	arena_free(tmp);
	return j;
}
