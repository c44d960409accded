# Files are rewritten where they lie, atomically, and only where they change;
# what does not parse stays as it is.
cp parts/*.tdl "$tmp" && cd "$tmp" || exit
echo 'op wrong(' >wrong.tdl
touch -d 2001-01-01 neat.tdl
tdlc fmt messy.tdl neat.tdl wrong.tdl || echo "-> $?"
cat messy.tdl wrong.tdl
[ neat.tdl -ot messy.tdl ] && echo untouched
cp messy.tdl once.tdl
tdlc fmt messy.tdl
cmp once.tdl messy.tdl
ls
