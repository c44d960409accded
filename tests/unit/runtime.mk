runtime_libs = runtime/libruntime.a plan/libplan.a base/libbase.a \
	$(LIBZIP_LIBS) $(ZLIB_LIBS) $(unit_libs)

if TDLC
unit_tests += %D%/test_codegen
%C%_test_codegen_LDADD = compiler/codegen/libcodegen.a $(runtime_libs)
endif
