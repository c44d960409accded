# Sums that 63 bits must hold: of a graph, of all devices in all turns, of stages.
status() { "$@" || echo "-> $?"; }
plan() { status tdlc plan stages_tied.tdl --train --topology h100-cluster "$@" 2>&1 | grep -vE "predicted|speed|search|^  model|by s|moves most|^ *[0-9]+ .*s  "; }
