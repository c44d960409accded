# An operator that the file imports; then of the library.
tdlc doc factor imported parts/marks.tdl
tdlc doc conv1d --opdefs ../../../opdefs
