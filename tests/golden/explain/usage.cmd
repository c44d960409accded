status() { "$@" || echo "-> $?"; }
status tdlc explain
status tdlc explain parts/language.tdl
status tdlc explain nothing parts/language.tdl
status tdlc explain matmul parts/language.tdl --shape a=2x3
status tdlc explain matmul parts/language.tdl --shape a=2x3 --shape z=3
status tdlc explain matmul parts/language.tdl --shape a=2xx3
status tdlc explain matmul parts/language.tdl -D axis=1
status tdlc explain conv2d parts/language.tdl -D strides=1,x --shape x=1
status tdlc explain conv2d parts/language.tdl -D strides
status tdlc explain matmul parts/language.tdl -k 65
status tdlc explain matmul parts/language.tdl --format=shardy -k 2
status tdlc explain matmul parts/language.tdl --shape a=2x3 --shape b=4x5
status tdlc explain conv2d parts/language.tdl --shape x=2x3x9x9 --shape w=4x3x3x3 -D strides=0,1
