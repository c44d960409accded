status() { "$@" || echo "-> $?"; }
status tdlc compile parts/rows.tdl parts/map.tdl --emit=cuda -o -
status tdlc compile parts/rows.tdl --emit=cuda --op cols -o -
status tdlc compile parts/map.tdl --emit=cuda --shape x=3x4 -o -
status tdlc compile parts/map.tdl --emit=cuda --shape x=3x4 --shape b=5 -o -
status tdlc compile parts/map.tdl --emit=cuda --shape x=3x4 --shape z=5 -o -
status tdlc compile parts/map.tdl --emit=cuda -D axis=1 -o -
status tdlc compile parts/map.tdl --emit=json --shape x=3x4 -o -
