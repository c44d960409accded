# A program in CUDA, as source; nothing is written where there can be none.
tdlc plan emit-cuda.tdl --opdefs ../../../opdefs --model factored -k 2 --emit-cuda "$tmp/none"
echo "-> $?"
ls "$tmp"
tdlc plan emit-cuda.tdl --opdefs ../../../opdefs --model doubled -k 2 --emit-cuda "$tmp/program" >"$tmp/said"
(cd "$tmp/program" && ls -R && cat plan.cu)
tdlc plan emit-cuda.tdl --opdefs ../../../opdefs --model doubled -k 2 --frontier --emit-cuda "$tmp/program"
