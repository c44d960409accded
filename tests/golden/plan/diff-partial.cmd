# Differences in values that stay partial, and in time; what is partial in memory.
differ() { tdlc diff "$@" | sed '/^predicted/d'; }
late() { tdlc plan micro_batches.tdl --model late -k 2 "$@"; }
late -o "$tmp/a.plan" >/dev/null
late --algorithm data-parallel -o "$tmp/b.plan" >/dev/null
late --algorithm data-parallel --micro-batches 3 -o "$tmp/c.plan" >/dev/null
differ "$tmp/a.plan" "$tmp/b.plan"
differ "$tmp/b.plan" "$tmp/c.plan"
tdlc diff "$tmp/b.plan" "$tmp/c.plan" --json | grep -E '"micro_batches"|over time by'
late --algorithm data-parallel --memory 1
# What else a value that stays partial could be, and one that could stay so.
tdlc explain --plan "$tmp/b.plan" --tensor z.reduce_sum
tdlc explain --plan "$tmp/a.plan" --tensor z.reduce_sum_2 --json | grep -A3 '"layout": "partial'
