/* tdlrun --profile: the file to which what is measured is added. */
#ifndef TDL_RUNTIME_RUN_PROFILE_FILE_H
#define TDL_RUNTIME_RUN_PROFILE_FILE_H

#include "plan/profile.h"
#include "runtime/run/session.h"

/* The profile that the file has, or an empty one; NULL with the failure set. */
profile *profile_file_open(session *s);

/* Writes it, in the process that leads.  False with the failure set. */
bool profile_file_write(session *s, profile *p);

#endif
