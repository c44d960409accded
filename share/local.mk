EXTRA_DIST += \
	%D%/README.md \
	%D%/TdlConfig.cmake.in \
	%D%/TdlConfigVersion.cmake.in \
	%D%/tdl.bash \
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
vimdir = $(datadir)/vim/vimfiles
install-data-local:
	$(MKDIR_P) '$(DESTDIR)$(bashcompletiondir)' \
		'$(DESTDIR)$(vimdir)/ftdetect' '$(DESTDIR)$(vimdir)/syntax'
	$(INSTALL_DATA) $(srcdir)/%D%/tdl.bash \
		'$(DESTDIR)$(bashcompletiondir)/tdlc'
	$(INSTALL_DATA) $(srcdir)/%D%/tdl.bash \
		'$(DESTDIR)$(bashcompletiondir)/tdlrun'
	$(INSTALL_DATA) $(srcdir)/%D%/vim/ftdetect.vim \
		'$(DESTDIR)$(vimdir)/ftdetect/tdl.vim'
	$(INSTALL_DATA) $(srcdir)/%D%/vim/syntax.vim \
		'$(DESTDIR)$(vimdir)/syntax/tdl.vim'
uninstall-local:
	rm -f '$(DESTDIR)$(bashcompletiondir)/tdlc' \
		'$(DESTDIR)$(bashcompletiondir)/tdlrun' \
		'$(DESTDIR)$(vimdir)/ftdetect/tdl.vim' \
		'$(DESTDIR)$(vimdir)/syntax/tdl.vim'
