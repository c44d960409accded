tdlc check pi.tdl && tdlc fmt - <pi.tdl
tdlc compile --gradients -o - pi.tdl
tdlc verify wave pi.tdl
tdlc show pi.tdl
echo 'op f(x[N]) -> y[N] = lambda pi, j: x[j]' | tdlc check -
