# The C text of functions under conditions on values, and on indices.
text() { op=$1; shift; tdlc compile chosen.tdl --emit=c --op=$op -o - "$@" 2>&1; }
{
	text by_value --shape m=9 --shape x=9
	text below --shape m=9 --shape x=9
	text by_index --shape x=5 -D n=9
	text by_either --shape m=9 --shape x=5
	text at --shape m=9 --shape at=9 --shape x=5
	text plain --shape m=9 --shape x=9
} | grep 'error\|[ix]\]'
