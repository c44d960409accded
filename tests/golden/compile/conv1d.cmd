# The descriptor of docs/descriptor.md.
tdlc compile parts/conv1d.tdl --emit=json -o -
