# Bytes that are to be counted in 63 bits: of a graph, of what all devices move in
# all turns, and, with stages, of what those of one move.
status() { "$@" || echo "-> $?"; }
plan() { status tdlc plan parts/net.tdl --train --topology h100-cluster -D batch=137438953472 "$@" 2>&1 | sed -n '1p;/micro.*by/p;/communication/p;/->/p'; }
plan -k 8 -D depth=400
plan -k 1024 -D depth=40 --micro-batches 16
plan -k 1024 -D depth=40 --micro-batches 16 --stages 2
plan -k 64 -D depth=40 --micro-batches 16 --stages 8
