tdlc doc parts/marks.tdl --format=html -o "$tmp/page.html" && cat "$tmp/page.html"
