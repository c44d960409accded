# Models, and blocks.
tdlc doc ../model/features.tdl --opdefs ../../../opdefs
tdlc doc ../model/features.tdl values linear --json --opdefs ../../../opdefs
tdlc doc relu nothing ../model/features.tdl --opdefs ../../../opdefs
