#include "config.h"

#include "runtime/run/profile_file.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"

profile *profile_file_open(session *s)
{
	const char *path = s->o->profile;
	diag_sink *sink = diag_sink_new(s->a);
	profile *p = profile_new(s->a);
	if (!file_exists(path) || profile_read(p, sink, path))
		return p;
	fail_of(&s->f, sink);
	return NULL;
}

bool profile_file_write(session *s, profile *p)
{
	const char *path = s->o->profile;
	if (!s->leads)
		return true;
	p->made = "tdlrun " PACKAGE_VERSION;
	const char *text = profile_text(s->a, p);
	return file_write(path, text, strlen(text)) ||
	       fail_with(&s->f, CLI_MACHINE, "%s: %s", path, strerror(errno));
}
