# Operators whole on devices.
status() { "$@" || echo "-> $?"; }
plan() { status tdlc plan micro_batches.tdl --model small -D batch=4 --train "$@"; }
plan -k 2 --algorithm heft -o "$tmp/a.plan" | grep -vE 'predicted|memory'
grep -E '"(version|schedule|algorithm)"' "$tmp/a.plan"
plan -k 3 --algorithm balanced --json | grep -E '"(algorithm|devices|layers|stages)"'
plan -k 2 --algorithm single | sed -n '/stage /,$p' | cut -c 1-32
# What does not fit.
plan -k 2 --algorithm metf --memory 40 -o "$tmp/none.plan"
[ ! -e "$tmp/none.plan" ] || echo "it was written"
# Options.
plan -k 2 --algorithm heft --stages 2 --micro-batches 2
plan -k 2 --algorithm heft --micro-batches 2
plan -k 2 --algorithm heft --frontier
plan -k 2 --algorithm heft --pin 'w1=replicated'
plan -k 2 --algorithm load
