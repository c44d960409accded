tdlc doc parts/marks.tdl
