#!/bin/sh
# Processes that NCCL connects, 2, 4 and 8 of them, on the GPUs that are there;
# where that is one, as the ranks of as many hosts, which talk over the loopback
# device.  They give what one worker gives; one that dies ends all.
. "${srcdir:-.}/tests/gpu/lib.sh"

"$TDLRUN" "$tmp/none" --backend cuda --comm nccl 2>&1 |
	grep -q 'not built in' && skip 'tdlrun was built without NCCL'
LIMIT=${TDL_GPU_PATIENCE:-300}

# rank R N COMMAND...: becomes a command that runs rank R of N
rank() {
	r=$1 n=$2
	shift 2
	exec env NCCL_HOSTID="tdl-$r" NCCL_SOCKET_IFNAME=lo NCCL_NET=Socket \
		NCCL_MNNVL_ENABLE=0 NCCL_MAX_CTAS=2 NCCL_CUMEM_ENABLE=0 \
		NCCL_NVLS_ENABLE=0 "$@" --backend cuda --comm nccl \
		--rendezvous "$tmp/meet" --rank "$r" --ranks "$n"
}

# ranks N PLAN OPTION...: the status of rank 0, after all have ended
ranks() {
	n=$1
	shift
	mkdir -p "$tmp/meet"
	for i in $(seq 1 $((n - 1))); do
		( rank "$i" "$n" timeout "$LIMIT" "$TDLRUN" "$@" ) \
			>"$tmp/out-$i" 2>"$tmp/err-$i" &
	done
	got=0
	( rank 0 "$n" timeout "$LIMIT" "$TDLRUN" "$@" ) || got=$?
	wait
	rm -rf "$tmp/meet"
	return $got
}

for plan in mlp-2 mlp-4 mlp-8 resnet-2 alexnet-4 gpt2-8 moe-4 stages-4; do
	n=${plan##*-}
	expect 0 ranks "$n" "$plans/$plan.plan" --steps 3 --verify
	prints 'communication .*, as planned'
	prints 'memory .*, as planned'
	prints ' verified '
	echo "$plan: $(tail -n 1 "$tmp/out")"
done

# Rank 1 is killed while all run.
mkdir -p "$tmp/meet"
long="$plans/mlp-2.plan --steps 1000000000"
# shellcheck disable=SC2086 # words
( rank 1 2 "$TDLRUN" $long ) >/dev/null 2>&1 &
victim=$!
( sleep 15; kill -KILL "$victim" ) &
begin=$(date +%s)
# shellcheck disable=SC2086
expect 4 eval '( rank 0 2 timeout 60 "$TDLRUN" $long )'
seconds=$(($(date +%s) - begin))
[ "$seconds" -le 40 ] || fail "a dead peer was noticed after $seconds s"
says 'rank 1'
kill -KILL "$victim" 2>/dev/null
wait
finish
