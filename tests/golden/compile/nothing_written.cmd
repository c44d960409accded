tdlc compile parts/conv1d.tdl parts/wrong.tdl -o "$tmp/x.tdd" -MD || echo "-> $?"
ls "$tmp"
