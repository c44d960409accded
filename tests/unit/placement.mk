# Placement of whole operators.
placement_libs = compiler/placement/libplacement.a $(planners_libs) \
	compiler/analysis/libanalysis.a $(plan_libs) base/libbase.a \
	$(unit_libs)

unit_tests += %D%/test_placement
%C%_test_placement_LDADD = $(placement_libs)

unit_tests += %D%/test_interior
%C%_test_interior_LDADD = $(placement_libs) -lm
