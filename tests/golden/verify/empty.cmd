# What is divided by an extent of 0 is so at no point: of tensors without
# elements operators are what they are of others.
tdlc verify empty.tdl
tdlc explain tiled empty.tdl --shape x=0x4 -D n=2 -k 2
tdlc explain blocks empty.tdl --shape x=3x0 -k 2
tdlc explain sums empty.tdl --shape x=0x4 -k 2
tdlc explain sums empty.tdl --shape x=4x0 -k 2
cat >"$tmp/m.tdl" <<'END'
model empty() {
    input x[2, 0]
    input z[0, 4]
    y = tile(x, outer = [2], n = 3)
    w = tile(z, outer = [], n = 2)
    output y, w
}
END
tdlc plan "$tmp/m.tdl" -k 2 -o "$tmp/plan" >"$tmp/out"
tdlrun "$tmp/plan" --verify | grep verified
tdlrun "$tmp/plan" --verify --kernels interpreter | grep verified
