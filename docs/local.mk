EXTRA_DIST += \
	%D%/kernels.md \
	%D%/language.md \
	%D%/plan-format.md \
	%D%/search.md
