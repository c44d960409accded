# What is computed with the product before it has the bits of what is computed
# apart, as the judge does, however it reads that.
cd "$tmp" || exit
cat >edge.tdl <<'E'
op zmm(x[n, k], w[k, m]) -> y[n, m] = lambda i, j: Sum(lambda t: x[i, t] * w[t, j])
op edge(y[n, m]) -> u[n, m] = lambda i, j: y[i, 0] * y[i, j]
model edges(n = 4, k = 3) {
    input x[n, k]
    param w[k, 1]
    e = edge(zmm(x, w))
    output e
}
E
# A text with three times as many copies of it is not written.
cat >many.tdl <<'E'
op zmm(x[n, k], w[k, m]) -> y[n, m] = lambda i, j: Sum(lambda t: x[i, t] * w[t, j])
op many(y[n, m]) -> u[n, m] = lambda i, j:
    max(y[i, j], 0.5) + max(y[i, j], 1.0) + max(y[i, j], 1.5) * max(y[i, j], 2.0) +
    min(y[i, j], 2.5) * min(y[i, j], 3.0)
model deep(n = 4, k = 3) {
    input x[n, k]
    param w[k, 2]
    e = many(many(many(zmm(x, w))))
    output e
}
E
for model in edge many; do
	tdlc plan $model.tdl -k 1 --no-fuse -o p.plan >/dev/null
	tdlrun p.plan --verify | grep verified
	grep -o 'TDL_KERNEL' p.plan | wc -l
done
