# A rule, and a target for each file that may go.
cp parts/*.tdl "$tmp" && cd "$tmp" || exit
tdlc compile uses.tdl -o ops.tdd -MD && cat ops.d
tdlc compile uses.tdl -o 'a b$#.tdd' -MD -MF other.dep && cat other.dep
tdlc compile uses.tdl -o ops.tdd -MD -MF other.dep -MT '$(dir)/one' -MT two &&
	head -1 other.dep
tdlc compile uses.tdl -o ops.tdd -MT two 2>&1 | head -1
tdlc compile uses.tdl -o ops.tdd -MD -MT '' 2>&1 | head -1
# A warning as an error: nothing is written.
echo 'op f(x[N]) -> y[N] = let z = lambda i < N: x[i] lambda i: x[i]' >warned.tdl
tdlc compile warned.tdl -o warned.tdd -Werror && echo compiled
ls warned.tdd 2>/dev/null
tdlc check warned.tdl -Werror
tdlc check warned.tdl --diagnostics=sarif
