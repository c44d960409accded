EXTRA_DIST += \
	%D%/language.md \
	%D%/plan-format.md
