#!/bin/sh
# tdlc under valgrind, in the place of tdlc: a fault shows in the output and in
# the exit status.
exec "$VALGRIND" -q --error-exitcode=99 --leak-check=full \
	--errors-for-leak-kinds=definite,possible "$TDLC_ALONE" "$@"
