# A model in TDL has no operators but those of the library.
tdlc coverage ../model/features.tdl --model values -k 3 --opdefs ../../../opdefs
tdlc coverage ../model/features.tdl --opdefs ../../../opdefs
