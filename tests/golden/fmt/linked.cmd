# A link stays a link, to a file that keeps its mode.
echo 'op f(x[N]) -> y[N] = lambda i:   x[i]' >"$tmp/file.tdl"
cd "$tmp" && chmod 640 file.tdl && ln -s file.tdl link.tdl || exit
tdlc fmt link.tdl
stat -c '%N %a' link.tdl
stat -c '%N %a' file.tdl
cat file.tdl
