tdlc doc same rows parts/marks.tdl --json
