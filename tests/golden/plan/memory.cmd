# What does not fit: by how much, and what is in the way.
status() { "$@" || echo "-> $?"; }
status tdlc plan kept.tdl -k 2 --train --memory 100
status tdlc plan kept.tdl -k 2 --train --optimizer adamw --memory 1151
status tdlc plan kept.tdl -k 2 --train --optimizer adamw --memory 1152 |
sed -n '/memory/p'
status tdlc plan kept.tdl -k 2 --memory 1 -o "$tmp/none.plan"
[ ! -e "$tmp/none.plan" ] || echo "it was written"
status tdlc plan kept.tdl -k 2 --memory 0
status tdlc plan kept.tdl -k 2 --memory much
