#!/bin/sh
# Tests: runtime/comm
# Plans of several stages as MPI processes: the same results as with threads,
# the same bytes, checkpoints that either goes on from, whether messages wait
# for their receivers or not; and processes of any stage that are killed, hang,
# or lose messages.
. "${srcdir:-.}/tests/lib.sh"
root=$(cd "${srcdir:-.}" && pwd)
. "$root/tests/mpi_lib.sh"

# plans K NAME ARGUMENT...: a small mlp that trains to $tmp/NAME.plan.
plans() {
	k=$1 name=$2
	shift 2
	expect 0 "$TDLC" plan "$root/examples/models/mlp.tdl" -k "$k" \
		-o "$tmp/$name.plan" -D depth=4 --train "$@"
}

# same NAME ARGUMENT...: threads and processes give the same file and the same
# figures.
same() {
	name=$1
	shift
	expect 0 "$TDLRUN" "$tmp/$name.plan" --outputs "$tmp/threads.npz" "$@"
	expect 0 ranks "$k" "$tmp/$name.plan" --outputs "$tmp/mpi.npz" "$@"
	prints 'communication .*, as planned'
	prints 'memory .*, as planned'
	prints 'of stage 1, as planned'
	cmp "$tmp/threads.npz" "$tmp/mpi.npz" ||
		fail "$name: threads and processes differ"
}

# ---- results -----------------------------------------------------------------

plans 4 small --stages 2 --micro-batches 5 -D batch=13 -D inputs=12 \
	-D width=10 --optimizer adamw
same small --steps 3
plans 3 chunks --stages 3 --micro-batches 4 -D batch=8 -D inputs=12 \
	-D width=3000 --schedule zb
same chunks --steps 2
for kind in vader sm self tcp; do
	export "OMPI_MCA_btl_${kind}_eager_limit=256"
	export "OMPI_MCA_btl_${kind}_rndv_eager_limit=256"
done
plans 5 waits --stages 3 --micro-batches 4 -D batch=8 -D inputs=12 \
	-D width=60 --schedule gpipe
same waits --steps 3 --verify
prints ' verified '

# The first stage is ahead, and sends again what is not taken yet: one outbox
# has one message at a time.
expect 0 "$TDLC" plan "$root/examples/models/mlp.tdl" -k 2 --stages 2 \
	--micro-batches 8 -D batch=64 -D inputs=12 -D width=300 -D depth=4 \
	-o "$tmp/ahead.plan"
k=2
same ahead --steps 2

# ---- training ----------------------------------------------------------------

"${PYTHON:-python3}" - "$tmp/data.npz" <<'END' || skip 'no numpy for the rest'
import sys
import numpy as np
rng = np.random.default_rng(1)
np.savez(sys.argv[1], x=rng.standard_normal((40, 12), dtype=np.float32),
         label=rng.integers(0, 10, 40))
END
plans 3 train --stages 3 --micro-batches 4 -D batch=8 -D inputs=12 \
	-D width=10 --optimizer sgd,momentum=0.9
plans 3 plain --algorithm data-parallel -D batch=8 -D inputs=12 \
	-D width=10 --optimizer sgd,momentum=0.9
train="--data $tmp/data.npz --checkpoint-every 5"
# shellcheck disable=SC2086
expect 0 "$TDLRUN" "$tmp/train.plan" $train --epochs 1 --checkpoint "$tmp/a"
# shellcheck disable=SC2086
expect 0 ranks 3 "$tmp/train.plan" $train --epochs 1 --checkpoint "$tmp/b"
cmp "$tmp/a/step-5.npz" "$tmp/b/step-5.npz" ||
	fail 'training: threads and processes differ'
# shellcheck disable=SC2086
expect 0 ranks 3 "$tmp/plain.plan" $train --epochs 2 --checkpoint "$tmp/b" \
	--resume
prints 'steps 6 to 10'

# ---- processes that stand still, or are gone ---------------------------------

# stopped SIGNAL RANK: in the midst of a run the rank gets the signal; the run
# ends, after whatever time.
stopped() {
	rm -f "$tmp"/pid.* "$tmp/log.csv"
	: >"$tmp/log.csv"
	timeout 120 mpirun --oversubscribe -n 3 sh -c '
		echo $$ >"$0.$OMPI_COMM_WORLD_RANK.new"
		mv "$0.$OMPI_COMM_WORLD_RANK.new" "$0.$OMPI_COMM_WORLD_RANK"
		exec "$@"' "$tmp/pid" "$TDLRUN" "$tmp/train.plan" --comm mpi \
		--data "$tmp/data.npz" --epochs 1000000 --timeout 2 \
		--log "$tmp/log.csv" &
	# Others have been told of that.
	until [ "$(wc -l <"$tmp/log.csv")" -gt 20 ]; do sleep 0.2; done
	sleep 1
	kill "-$1" "$(cat "$tmp/pid.$2")"
	wait $!
}
expect 4 stopped STOP 2
says "rank 2 on '.*' has not been heard from for 2 seconds; it was in step "
says ' of stage 2, '
got=0
stopped KILL 1 >"$tmp/out" 2>"$tmp/err" || got=$?
[ "$got" -ne 0 ] || fail 'a process was killed, and the status is 0'
says 'rank 1 '

# Rank 1, the second stage, lives and does nothing.
cat >"$tmp/wait.tdl" <<'END'
opaque waiter(x[M]) -> y[M] = "waiter"
op waiters(x[N, M]) -> y[N, M] = lambda n, i: waiter(x[n, :])[i]
model waits(batch = 8, n = 4) {
    input x[batch, n]
    param v[n, n]
    param w[n, n]
    y = relu(matmul(x, v))
    z = waiters(matmul(y, w))
    output z
}
END
cat >"$tmp/wait.c" <<'END'
#include <unistd.h>
#include <tdl/kernel.h>
int waiter(const tdl_kernel_call *call)
{
	pause();
	*(float *)call->outputs[0].data = 0;
	return 0;
}
END
if ${CC:-cc} -I"$root/include" -shared -fPIC -o "$tmp/wait.so" "$tmp/wait.c"
then
	expect 0 "$TDLC" plan "$tmp/wait.tdl" -k 2 --stages 2 \
		--micro-batches 2 -o "$tmp/wait.plan"
	expect 4 ranks 2 "$tmp/wait.plan" --kernels-from "$tmp/wait.so" \
		--timeout 2
	says "rank 1 on '.*' has made no progress, .*for 2 seconds; .*in step 1"
	says ' of stage 1, after instruction [0-9]* (message of '
fi

# Rank 1, the middle stage, loses what it sends to the others.
cat >"$tmp/lost.c" <<'END'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
static MPI_Comm beats; /* the first copy, for heartbeats */
int MPI_Comm_dup(MPI_Comm from, MPI_Comm *to)
{
	int r = PMPI_Comm_dup(from, to);
	if (!beats)
		beats = *to;
	return r;
}
int MPI_Isend(const void *data, int n, MPI_Datatype type, int to, int tag,
	      MPI_Comm comm, MPI_Request *r)
{
	static int calls;
	*r = MPI_REQUEST_NULL;
	return comm != beats && ++calls > 9 &&
			       !strcmp(getenv("OMPI_COMM_WORLD_RANK"), "1") ?
		       MPI_SUCCESS :
		       PMPI_Isend(data, n, type, to, tag, comm, r);
}
END
if OMPI_CC=${CC:-cc} mpicc -shared -fPIC -o "$tmp/lost.so" "$tmp/lost.c"; then
	ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0
	expect 4 timeout 120 mpirun --oversubscribe -n 3 env \
		LD_PRELOAD="$tmp/lost.so" "$TDLRUN" "$tmp/train.plan" \
		--comm mpi --data "$tmp/data.npz" --epochs 100 --timeout 3
	says 'all 3 ranks have waited for one another for 3 seconds;'
	says "is furthest behind: it was in step [0-9]* of stage [0-2], "
	says "and waits for instruction [0-9]* (message of '"
	[ "$(grep -c '^tdlrun: ' "$tmp/err")" -eq 1 ] ||
		fail 'more than one rank says it'
fi
# ---- a case of the matrix ----------------------------------------------------

# GPT-2 of 8 layers in 2 stages; or every sixth of all cases.
cases='--every 1000 --from 4 --schedules gpipe,zb gpt2'
[ "${CHECK_ALL:-}" = yes ] && cases='--every 6'
# shellcheck disable=SC2086 # words
expect 0 "${PYTHON:-python3}" "$root/bench/pipelines.py" --comm mpi $cases
prints ' cases well'
finish
