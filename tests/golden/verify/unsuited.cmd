tdlc verify unsuited.tdl
echo "exit status $?"
tdlc verify near unsuited.tdl
tdlc verify missing unsuited.tdl
