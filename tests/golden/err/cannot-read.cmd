tdlc check absent.tdl
