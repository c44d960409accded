tdlc verify --strict small_floats.tdl | sed -n '$s/.*; //p'
