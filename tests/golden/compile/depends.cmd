# A rule, and a target for each file that may go.
cp parts/*.tdl "$tmp" && cd "$tmp" || exit
tdlc compile uses.tdl -o ops.tdd -MD && cat ops.d
tdlc compile uses.tdl -o 'a b$#.tdd' -MD -MF other.dep && cat other.dep
