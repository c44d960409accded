EXTRA_DIST += \
	%D%/descriptor.md \
	%D%/json.md \
	%D%/kernels.md \
	%D%/language.md \
	%D%/plan-format.md \
	%D%/search.md \
	%D%/solver.md
