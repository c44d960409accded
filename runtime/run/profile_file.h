/* tdlrun --profile: the file to which measurements are added. */
#ifndef TDL_RUNTIME_RUN_PROFILE_FILE_H
#define TDL_RUNTIME_RUN_PROFILE_FILE_H

#include "plan/profile.h"
#include "runtime/run/session.h"

/* The profile in the file, or an empty one; NULL with the failure set. */
profile *profile_file_open(session *s);

/* Writes the profile, in the process that leads.  Returns false with the
 * failure set. */
bool profile_file_write(session *s, profile *p);

#endif
