#!/bin/sh
# Tests: runtime/comm
# Workers as MPI processes: the same results, bit for bit, as with threads, the
# same bytes, checkpoints that either goes on from, and failures that end all.
. "${srcdir:-.}/tests/lib.sh"
root=$(cd "${srcdir:-.}" && pwd)
. "$root/tests/mpi_lib.sh"

# plans K NAME ARGUMENT...: examples/models/NAME.tdl to $tmp/NAME.plan
plans() {
	k=$1 name=$2
	shift 2
	expect 0 "$TDLC" plan "$root/examples/models/$name.tdl" -k "$k" \
		-o "$tmp/$name.plan" "$@"
}

# same NAME ARGUMENT...: threads and processes give the same file, the same
# figures, and what one worker gives.
same() {
	name=$1
	shift
	expect 0 "$TDLRUN" "$tmp/$name.plan" --outputs "$tmp/threads.npz" "$@"
	expect 0 ranks "$k" "$tmp/$name.plan" --outputs "$tmp/mpi.npz" \
		--verify "$@"
	prints 'communication .*, as planned'
	prints 'memory .*, as planned'
	prints 'verified'
	cmp "$tmp/threads.npz" "$tmp/mpi.npz" ||
		fail "$name: threads and processes differ"
}

# ---- results -----------------------------------------------------------------

plans 4 mlp -D batch=12 -D inputs=20 -D width=18 -D depth=3 --train \
	--optimizer adamw
same mlp --steps 3
# Where it is measured each transfer is done in its own turn: the same bits.
expect 0 ranks 4 "$tmp/mlp.plan" --steps 3 --outputs "$tmp/mpi.npz" --verify \
	--profile "$tmp/profile.json"
prints 'communication .*, as planned'
prints 'verified'
cmp "$tmp/threads.npz" "$tmp/mpi.npz" || fail 'measuring changes results'
expect 0 "$TDLC" simulate "$tmp/mlp.plan" --profile "$tmp/profile.json"
prints '100.0 % of the instructions. time measured'
# A trace has what all processes did.
expect 0 "$TDLRUN" "$tmp/mlp.plan" --trace "$tmp/threads.json"
expect 0 ranks 4 "$tmp/mlp.plan" --trace "$tmp/mpi.json"
for file in threads mpi; do
	grep -o '"cat":"[^"]*","ph":"X","pid":[0-9]*' "$tmp/$file.json" |
		sort | uniq -c >"$tmp/$file.done"
done
[ "$(wc -l <"$tmp/mpi.done")" -ge 8 ] || fail 'nothing is in a trace'
cmp "$tmp/threads.done" "$tmp/mpi.done" || fail 'other instructions'
expect 0 "$TDLC" report "$tmp/mlp.plan" --trace "$tmp/mpi.json" \
	-o "$tmp/mpi.html"
plans 4 resnet -D depth=18 -D batch=4 -D image=33 -D width=8 -D classes=7
same resnet
plans 3 gpt2 -D layers=2 -D heads=3 -D width=24 -D tokens=9 -D batch=3 \
	-D vocabulary=50 --train
same gpt2 --steps 2
plans 4 bert -D layers=1 -D heads=4 -D width=16 -D tokens=6 -D batch=2 \
	-D vocabulary=40 --train --algorithm megatron
same bert --steps 2

# ---- training ----------------------------------------------------------------

plans 4 mlp -D batch=8 -D inputs=6 -D width=10 -D depth=2 --train \
	--optimizer sgd,momentum=0.9
"${PYTHON:-python3}" - "$tmp/data.npz" <<'END' || skip 'no numpy for the rest'
import sys
import numpy as np
rng = np.random.default_rng(1)
np.savez(sys.argv[1], x=rng.standard_normal((40, 6), dtype=np.float32),
         label=rng.integers(0, 10, 40))
END
train="--data $tmp/data.npz --shuffle --seed 5 --checkpoint-every 2"
# shellcheck disable=SC2086
expect 0 "$TDLRUN" "$tmp/mlp.plan" $train --epochs 2 --checkpoint "$tmp/a"
# shellcheck disable=SC2086
expect 0 ranks 4 "$tmp/mlp.plan" $train --epochs 2 --checkpoint "$tmp/b" \
	--log "$tmp/b.csv"
cmp "$tmp/a/step-10.npz" "$tmp/b/step-10.npz" ||
	fail 'training: threads and processes differ'
[ "$(wc -l <"$tmp/b.csv")" -eq 11 ] || fail 'a log of 10 steps and a header'
rm "$tmp/b/step-10.npz" "$tmp/b/step-8.npz"
# shellcheck disable=SC2086
expect 0 ranks 4 "$tmp/mlp.plan" $train --epochs 2 --checkpoint "$tmp/b" \
	--resume
cmp "$tmp/a/step-10.npz" "$tmp/b/step-10.npz" ||
	fail 'resumed by processes: it differs'

# ---- processes that do not fit each other ------------------------------------

# odd RANK PLAN ARGUMENT... -- PLAN ARGUMENT...: four processes, of which one,
# RANK, has the second plan and arguments.
odd() {
	at=$1
	shift
	usual='' before=--np\ $at after=--np\ $((3 - at))
	while [ "$1" != -- ]; do
		usual="$usual $1"
		shift
	done
	shift
	[ "$at" -gt 0 ] || before=
	[ "$at" -lt 3 ] || after=
	# shellcheck disable=SC2086
	timeout 120 mpirun --oversubscribe \
		${before:+$before "$TDLRUN" $usual --comm mpi :} \
		-n 1 "$TDLRUN" "$@" --comm mpi \
		${after:+: $after "$TDLRUN" $usual --comm mpi}
}

mlp='-D batch=8 -D inputs=6 -D width=10 -D depth=2 --train'
here="$tmp/here.plan"
cp "$tmp/mlp.plan" "$here"
other() {	# ARGUMENT...: another plan of the same model
	# shellcheck disable=SC2086
	expect 0 "$TDLC" plan "$root/examples/models/mlp.tdl" -k 4 \
		-o "$tmp/there.plan" $mlp "$@"
}
data="--data $tmp/data.npz"
other --optimizer sgd,momentum=0.8
# shellcheck disable=SC2086
expect 1 odd 3 "$here" $data -- "$tmp/there.plan" $data
says 'need the same plan, data and options: rank 3 has another plan$'
other --optimizer sgd,momentum=0.9 --algorithm data-parallel
# shellcheck disable=SC2086
expect 1 odd 0 "$here" $data -- "$tmp/there.plan" $data
says 'rank 0 has another plan$'
"${PYTHON:-python3}" - "$tmp" <<'END'
import sys
import numpy as np
with np.load(f"{sys.argv[1]}/data.npz") as f:
    x, label = f["x"], f["label"]
np.savez(f"{sys.argv[1]}/short.npz", x=x[:32], label=label[:32])
x[17, 3] += 1
np.savez(f"{sys.argv[1]}/moved.npz", x=x, label=label)
END
for file in short moved none; do
	# shellcheck disable=SC2086
	expect 1 odd 1 "$here" $data -- "$here" --data "$tmp/$file.npz"
	says 'rank 1 has another --data'
done
# shellcheck disable=SC2086
expect 1 odd 2 "$here" $data --seed 4 -- "$here" $data --seed 5 --steps 3
says 'rank 2 has another --steps; rank 2 has another --seed$'
# shellcheck disable=SC2086
expect 1 odd 2 "$here" $data -- "$here"
says 'rank 2 has another --data$'
# shellcheck disable=SC2086
expect 1 odd 1 "$here" $data -- "$tmp/none.plan" $data
says 'rank 1: its plan cannot be used'

# ---- processes that stand still ----------------------------------------------

# The run ends, after whatever time, and names the rank.
stopped() {	# RANK
	rm -f "$tmp"/pid.*
	timeout 120 mpirun --oversubscribe -n 4 sh -c '
		echo $$ >"$0.$OMPI_COMM_WORLD_RANK.new"
		mv "$0.$OMPI_COMM_WORLD_RANK.new" "$0.$OMPI_COMM_WORLD_RANK"
		exec "$@"' "$tmp/pid" "$TDLRUN" "$here" --comm mpi \
		--data "$tmp/data.npz" --epochs 1000000 --timeout 2 \
		--log "$tmp/still.csv" &
	# In the midst of it, when others have been told of that.
	until [ "$(wc -l <"$tmp/still.csv")" -gt 20 ]; do sleep 0.2; done
	sleep 2
	kill -STOP "$(cat "$tmp/pid.$1")"
	wait $!
}
for rank in 0 2; do
	: >"$tmp/still.csv"
	expect 4 stopped "$rank"
	says "rank $rank on '.*' has not been heard from for 2 seconds; it was"
done
cat >"$tmp/wait.tdl" <<'END'
import "reduce.tdl"
opaque waiter(x[M]) -> y[M] = "waiter"
op waiters(x[N, M]) -> y[N, M] = lambda n, i: waiter(x[n, :])[i]
model waits(batch = 8) {
    input x[batch, 4]
    y = waiters(x)
    z = reduce_sum(y, axes = [0])
    output z
}
END
cat >"$tmp/wait.c" <<'END'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tdl/kernel.h>
int waiter(const tdl_kernel_call *call)
{
	if (!strcmp(getenv("OMPI_COMM_WORLD_RANK"), "1"))
		pause();
	*(float *)call->outputs[0].data = 0;
	return 0;
}
END
if ${CC:-cc} -I"$root/include" -shared -fPIC -o "$tmp/wait.so" "$tmp/wait.c"
then
	expect 0 "$TDLC" plan "$tmp/wait.tdl" -k 2 -o "$tmp/wait.plan"
	expect 4 ranks 2 "$tmp/wait.plan" --kernels-from "$tmp/wait.so" \
		--timeout 2
	says "rank 1 on '.*' has made no progress, .*for 2 seconds; .*in step 1"
fi
# preload NAME: $tmp/NAME.so of $tmp/NAME.c, if it can be.
preload() {
	OMPI_CC=${CC:-cc} mpicc -shared -fPIC -o "$tmp/$1.so" "$tmp/$1.c" -ldl
}
with() {	# NAME N PLAN ARGUMENT...: N ranks with $tmp/NAME.so
	so=$tmp/$1.so n=$2
	shift 2
	timeout 120 mpirun --oversubscribe -n "$n" env LD_PRELOAD="$so" \
		"$TDLRUN" "$@" --comm mpi
}
ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0
# Ranks on one processor sleep while they wait for one that takes a second.
# Open MPI alone would look, or yield, tens of thousands of times.
cat >"$tmp/late.c" <<'END'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tdl/kernel.h>
int waiter(const tdl_kernel_call *call)
{
	if (!strcmp(getenv("OMPI_COMM_WORLD_RANK"), "1"))
		usleep(250000);
	*(float *)call->outputs[0].data = 0;
	return 0;
}
END
cat >"$tmp/looks.c" <<'END'
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
static long looks, yields, waits;
int sched_yield(void)
{
	yields++;
	return (int)syscall(SYS_sched_yield);
}
int MPI_Testall(int n, MPI_Request *r, int *done, MPI_Status *s)
{
	looks++;
	return PMPI_Testall(n, r, done, s);
}
int MPI_Waitall(int n, MPI_Request *r, MPI_Status *s)
{
	waits++;
	return PMPI_Waitall(n, r, s);
}
int MPI_Finalize(void)
{
	fprintf(stderr, "looks: %ld\nyields: %ld\nwaits: %ld\n", looks,
		yields, waits);
	return PMPI_Finalize();
}
END
# most WHAT N: no rank has done that more often.
most() {
	sed -n "s/^$1: //p" "$tmp/err" | sort -n | tail -n 1 >"$tmp/most"
	[ "$(cat "$tmp/most")" -le "$2" ] ||
		fail "a rank has $(cat "$tmp/most") $1"
}
if ${CC:-cc} -I"$root/include" -shared -fPIC -o "$tmp/late.so" "$tmp/late.c" &&
	command -v taskset >/dev/null && preload looks
then
	one=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
	expect 0 taskset -c "$one" timeout 120 mpirun --bind-to none \
		--oversubscribe -n 2 env LD_PRELOAD="$tmp/looks.so" \
		"$TDLRUN" "$tmp/wait.plan" --comm mpi \
		--kernels-from "$tmp/late.so"
	most looks 20000
	most yields 1000
	most waits 0
fi

# Rank 1 loses what it sends, and all wait: for it, or for those that do.
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
static int is_lost(MPI_Comm comm)
{
	static int calls;
	return comm != beats && ++calls > atoi(getenv("LOST_AFTER")) &&
	       !strcmp(getenv("OMPI_COMM_WORLD_RANK"), "1");
}
int MPI_Isend(const void *data, int n, MPI_Datatype type, int to, int tag,
	      MPI_Comm comm, MPI_Request *r)
{
	*r = MPI_REQUEST_NULL;
	return is_lost(comm) ? MPI_SUCCESS :
			       PMPI_Isend(data, n, type, to, tag, comm, r);
}
int MPI_Ialltoallv(const void *from, const int *nfrom, const int *froms,
		   MPI_Datatype x, void *to, const int *nto, const int *tos,
		   MPI_Datatype y, MPI_Comm comm, MPI_Request *r)
{
	static char none;
	if (is_lost(MPI_COMM_WORLD))
		return PMPI_Irecv(&none, 1, MPI_BYTE, 0, 999, MPI_COMM_WORLD,
				  r);
	return PMPI_Ialltoallv(from, nfrom, froms, x, to, nto, tos, y, comm, r);
}
END
if preload lost; then
	for LOST_AFTER in 0 25; do
		export LOST_AFTER
		# shellcheck disable=SC2086
		expect 4 with lost 4 "$here" $data --epochs 100 --timeout 2
		says 'all 4 ranks have waited for one another for 2 seconds;'
		says "rank [0-3] on '.*' is furthest behind: it was in step "
		says 'and waits for instruction [0-9]* ([a-z-]* of '
		[ "$(grep -c '^tdlrun: ' "$tmp/err")" -eq 1 ] ||
			fail 'more than one rank says it'
	done
	# Two ranks, of which each waits for the other; and three.
	LOST_AFTER=0
	for k in 2 3; do
		plans $k mlp -D batch=12 -D inputs=6 -D width=12 -D depth=2
		expect 4 with lost $k "$tmp/mlp.plan" --timeout 3
		says "all $k ranks have waited for one another for 3 seconds"
		says "rank [0-$((k - 1))] on '.*' is furthest behind: it was in"
	done
	LOST_AFTER=1000000
	# shellcheck disable=SC2086
	expect 0 with lost 4 "$here" $data --epochs 1
fi
# One message of rank 1 is spoiled: --verify finds that, if floats are in it.
cat >"$tmp/spoiled.c" <<'END'
#include <math.h>
#include <mpi.h>
#include <stdio.h>
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
static void spoil(const void *data, int nbytes)
{
	static int calls;
	float *x = (float *)data;
	int count = 0;
	if (strcmp(getenv("OMPI_COMM_WORLD_RANK"), "1") ||
	    calls++ != atoi(getenv("SPOILED")))
		return;
	for (int i = 0; i < nbytes / 4; i++)
		if (fabsf(x[i]) > 1e-10f && fabsf(x[i]) < 1e10f) {
			x[i] *= -1.5f;
			count++;
		}
	fprintf(stderr, "spoiled: %d\n", count);
}
int MPI_Isend(const void *data, int n, MPI_Datatype type, int to, int tag,
	      MPI_Comm comm, MPI_Request *r)
{
	if (comm != beats)
		spoil(data, n);
	return PMPI_Isend(data, n, type, to, tag, comm, r);
}
int MPI_Ialltoallv(const void *from, const int *nfrom, const int *froms,
		   MPI_Datatype x, void *to, const int *nto, const int *tos,
		   MPI_Datatype y, MPI_Comm comm, MPI_Request *r)
{
	int n, end = 0;
	MPI_Comm_size(comm, &n);
	for (int i = 0; i < n; i++)
		if (froms[i] + nfrom[i] > end)
			end = froms[i] + nfrom[i];
	spoil(from, end);
	return PMPI_Ialltoallv(from, nfrom, froms, x, to, nto, tos, y, comm, r);
}
END
if preload spoiled; then
	plans 4 mlp -D batch=8 -D inputs=6 -D width=10 -D depth=2 --train
	found=0
	for SPOILED in 1 5 6 8 11 12; do
		export SPOILED
		got=0
		with spoiled 4 "$tmp/mlp.plan" --verify >"$tmp/out" \
			2>"$tmp/err" || got=$?
		case $got:$(sed -n 's/^spoiled: //p' "$tmp/err") in
		0:0 | 0:) prints ' verified ' ;;
		5:[1-9]*) prints ' different ' && found=$((found + 1)) ;;
		*) fail "message $SPOILED is spoiled, and the status $got" ;;
		esac
	done
	[ "$found" -ge 3 ] || fail "floats in $found messages only"
fi
# Rank 1 has no thread, or no memory, for the heartbeat.
cat >"$tmp/none.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
void *__libc_calloc(size_t n, size_t size);
static int opens;
static int fails(const char *what, const void *caller)
{
	Dl_info of;
	return opens && !strcmp(getenv("OMPI_COMM_WORLD_RANK"), "1") &&
	       !strcmp(getenv("NONE_OF"), what) && dladdr(caller, &of) &&
	       strstr(of.dli_fname, "tdlrun");
}
int MPI_Comm_size(MPI_Comm comm, int *n)
{
	opens = 1;
	return PMPI_Comm_size(comm, n);
}
int pthread_create(pthread_t *to, const pthread_attr_t *a,
		   void *(*f)(void *), void *x)
{
	static int (*real)(pthread_t *, const pthread_attr_t *,
			   void *(*)(void *), void *);
	if (fails("threads", __builtin_return_address(0)))
		return EAGAIN;
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	return real(to, a, f, x);
}
void *calloc(size_t n, size_t size)
{
	return fails("memory", __builtin_return_address(0)) ?
		       NULL : __libc_calloc(n, size);
}
END
if preload none; then
	for NONE_OF in threads memory nothing; do
		export NONE_OF
		# ASan has the memory in its own hands.
		[ $NONE_OF = memory ] && grep -q __asan_init "$TDLRUN" &&
			continue
		status=4
		[ $NONE_OF = nothing ] && status=0
		# shellcheck disable=SC2086
		expect "$status" with none 4 "$here" $data --epochs 1
		[ $NONE_OF = nothing ] ||
			says 'a rank has no memory or no thread to monitor'
	done
fi
expect 2 "$TDLRUN" "$here" --timeout 3
says -- '--timeout needs --comm mpi or nccl'
expect 2 "$TDLRUN" "$here" --comm mpi --rendezvous "$tmp/meet"
says -- '--rendezvous needs --comm nccl'

# ---- failures ----------------------------------------------------------------

expect 4 "$TDLRUN" "$tmp/mlp.plan" --comm mpi
says "4 workers, and there is 1 MPI process: start it with 'mpirun -n 4"
expect 4 ranks 2 "$tmp/mlp.plan"
says 'the plan has 4 workers, and there are 2 MPI processes'
mv "$tmp/mlp.plan" "$tmp/train.plan"
plans 2 mlp -D batch=8 -D inputs=6 -D width=10 -D depth=2
# shellcheck disable=SC2086
expect 1 ranks 4 "$tmp/train.plan" $train --epochs 1 --checkpoint "$tmp/c" \
	--evaluate "$tmp/mlp.plan" --evaluate-data "$tmp/data.npz"
says 'mlp.plan is for 2 workers, .*train.plan for 4'
mv "$tmp/train.plan" "$tmp/mlp.plan"
expect 2 timeout 120 mpirun --oversubscribe -n 4 "$TDLRUN" "$tmp/mlp.plan"
says '--comm mpi is missing'
expect 1 ranks 2 "$tmp/nothing.plan"
says 'cannot read'
expect 4 ranks 4 "$tmp/mlp.plan" --outputs /nowhere/x.npz
says '/nowhere/x.npz'
finish
