# Neither is in the file; two forms at once; a fault; a file that is not there.
tdlc doc nothing parts/marks.tdl
tdlc doc parts/marks.tdl --format=html --json
tdlc doc parts/faulty.tdl
tdlc doc parts/absent.tdl
