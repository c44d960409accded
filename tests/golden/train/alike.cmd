# The last step's terms are three; those of the steps before it have one kernel.
tdlc plan alike.tdl -k 1 --train -o "$tmp/plan" >/dev/null
grep -o '^{"name":"gate_grad_s[^"]*"' "$tmp/plan" | sort | uniq -c
