# Sourced by the tests that run tdlrun as MPI processes, after lib.sh.
# shellcheck shell=sh disable=SC2154
"$TDLRUN" --comm mpi "$tmp/none" 2>&1 | grep -q 'not built in' &&
	skip 'tdlrun was built without MPI'
command -v mpirun >/dev/null || skip 'there is no mpirun'

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_base_warn_component_unused=0
# Open MPI keeps to the end some of what it allocates.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"

# ranks N PLAN ARGUMENT...
ranks() {
	n=$1
	shift
	timeout 120 mpirun --oversubscribe -n "$n" "$TDLRUN" "$@" --comm mpi
}
