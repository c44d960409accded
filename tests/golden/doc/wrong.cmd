# Neither is in the file; the second has a fault; the third is not there.
tdlc doc nothing parts/marks.tdl
tdlc doc parts/faulty.tdl
tdlc doc parts/absent.tdl
