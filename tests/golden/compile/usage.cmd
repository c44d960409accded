status() { "$@" || echo "-> $?"; }
status tdlc compile -o x
status tdlc compile parts/conv1d.tdl
status tdlc compile parts/conv1d.tdl -o x --emit=c
status tdlc compile parts/conv1d.tdl -o x --emit=cuda
status tdlc compile parts/conv1d.tdl -o x --emit=tea
status tdlc compile parts/conv1d.tdl -o x -MF d
status tdlc compile parts/conv1d.tdl -o - -MD
status tdlc compile parts/conv1d.tdl -o "$tmp/no/such/x"
ls "$tmp"
