EXTRA_DIST += \
	%D%/README.md \
	%D%/TdlConfig.cmake.in \
	%D%/TdlConfigVersion.cmake.in \
	%D%/tdl.bash \
	%D%/tdl.zsh \
	%D%/vim/ftdetect.vim \
	%D%/vim/syntax.vim

# ---- other builds: pkg-config, Autoconf, CMake ----------------------------------

pkgconfigdir = $(libdir)/pkgconfig
nodist_pkgconfig_DATA = %D%/tdl.pc
aclocaldir = $(datadir)/aclocal
dist_aclocal_DATA = %D%/tdl.m4
cmakedir = $(datadir)/cmake/Tdl
nodist_cmake_DATA = %D%/TdlConfig.cmake %D%/TdlConfigVersion.cmake
CLEANFILES += $(nodist_cmake_DATA)

fill_in = $(AM_V_GEN)$(MKDIR_P) $(@D) && sed \
	-e 's|@bindir[@]|$(bindir)|g' \
	-e 's|@includedir[@]|$(includedir)|g' \
	-e 's|@libdir[@]|$(libdir)|g' \
	-e 's|@pkgdatadir[@]|$(pkgdatadir)|g' \
	-e 's|@VERSION[@]|$(VERSION)|g'
%D%/TdlConfig.cmake: $(srcdir)/%D%/TdlConfig.cmake.in Makefile
	$(fill_in) $(srcdir)/%D%/TdlConfig.cmake.in >$@
%D%/TdlConfigVersion.cmake: $(srcdir)/%D%/TdlConfigVersion.cmake.in Makefile
	$(fill_in) $(srcdir)/%D%/TdlConfigVersion.cmake.in >$@

# ---- shells and editors --------------------------------------------------------

vscodedir = $(pkgdatadir)/vscode
dist_vscode_DATA = \
	%D%/vscode/language-configuration.json \
	%D%/vscode/package.json
vscodesyntaxdir = $(vscodedir)/syntaxes
dist_vscodesyntax_DATA = %D%/vscode/syntaxes/tdl.tmLanguage.json

# These are installed under names other than ours.
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
vimdir = $(datadir)/vim/vimfiles
install-data-local:
	$(MKDIR_P) '$(DESTDIR)$(bashcompletiondir)' \
		'$(DESTDIR)$(zshcompletiondir)' \
		'$(DESTDIR)$(vimdir)/ftdetect' '$(DESTDIR)$(vimdir)/syntax'
	$(INSTALL_DATA) $(srcdir)/%D%/tdl.bash \
		'$(DESTDIR)$(bashcompletiondir)/tdlc'
	$(INSTALL_DATA) $(srcdir)/%D%/tdl.bash \
		'$(DESTDIR)$(bashcompletiondir)/tdlrun'
	$(INSTALL_DATA) $(srcdir)/%D%/tdl.zsh \
		'$(DESTDIR)$(zshcompletiondir)/_tdlc'
	$(INSTALL_DATA) $(srcdir)/%D%/vim/ftdetect.vim \
		'$(DESTDIR)$(vimdir)/ftdetect/tdl.vim'
	$(INSTALL_DATA) $(srcdir)/%D%/vim/syntax.vim \
		'$(DESTDIR)$(vimdir)/syntax/tdl.vim'
uninstall-local:
	rm -f '$(DESTDIR)$(bashcompletiondir)/tdlc' \
		'$(DESTDIR)$(bashcompletiondir)/tdlrun' \
		'$(DESTDIR)$(zshcompletiondir)/_tdlc' \
		'$(DESTDIR)$(vimdir)/ftdetect/tdl.vim' \
		'$(DESTDIR)$(vimdir)/syntax/tdl.vim'
	test -z '$(libtdl_links)' || \
		(cd '$(DESTDIR)$(libdir)' && rm -f $(libtdl_links))

# ---- manual pages: what the programs say to --help -----------------------------

tdlc_pages = \
	%D%/man/tdlc-check.1 \
	%D%/man/tdlc-compare.1 \
	%D%/man/tdlc-compile.1 \
	%D%/man/tdlc-coverage.1 \
	%D%/man/tdlc-diff.1 \
	%D%/man/tdlc-doc.1 \
	%D%/man/tdlc-explain.1 \
	%D%/man/tdlc-export.1 \
	%D%/man/tdlc-fmt.1 \
	%D%/man/tdlc-ops.1 \
	%D%/man/tdlc-plan.1 \
	%D%/man/tdlc-place.1 \
	%D%/man/tdlc-profile.1 \
	%D%/man/tdlc-report.1 \
	%D%/man/tdlc-score.1 \
	%D%/man/tdlc-show.1 \
	%D%/man/tdlc-simulate.1 \
	%D%/man/tdlc-solve.1 \
	%D%/man/tdlc-verify.1

if MANUALS
dist_man_MANS = %D%/man/tdlrun.1
if TDLC
dist_man_MANS += %D%/man/tdlc.1 $(tdlc_pages)
endif
endif
MAINTAINERCLEANFILES += %D%/man/tdlrun.1 %D%/man/tdlc.1 $(tdlc_pages)

# The pages are made again when what they say may have changed, not whenever
# the program was linked: a release carries them.
to_manual = $(AM_V_GEN)$(MKDIR_P) $(@D) && $(HELP2MAN) --no-info --output=$@
%D%/man/tdlrun.1: $(tdlrun_SOURCES) configure.ac | tdlrun$(EXEEXT)
	$(to_manual) -n 'run a plan of tdlc' ./tdlrun
%D%/man/tdlc.1: $(tdlc_SOURCES) configure.ac | tdlc$(EXEEXT)
	$(to_manual) -n 'partition tensor computations over devices' ./tdlc
$(tdlc_pages): $(tdlc_SOURCES) configure.ac | tdlc$(EXEEXT)
	$(to_manual) --help-option="$(@F:tdlc-%.1=%) --help" \
		--version-string='$(@F:.1=) (tdlc) $(VERSION)' \
		-n "`./tdlc --help | sed -n 's/^  $(@F:tdlc-%.1=%) *//p'`" \
		./tdlc
