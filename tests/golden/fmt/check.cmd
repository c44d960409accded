status() { "$@" || echo "-> $?"; }
status tdlc fmt --check parts/messy.tdl parts/neat.tdl
status tdlc fmt --check parts/neat.tdl
status tdlc fmt --check - <parts/messy.tdl
status tdlc fmt
status tdlc fmt no-such.tdl
