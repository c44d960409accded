# States and how they get their next values.
tdlc plan kept.tdl -k 2 --train --optimizer sgd,momentum=0.9 -o - |
sed -n '/^"training"/p; /^"tensors"/,/^"nodes"/p; /^"program"/,$p'
