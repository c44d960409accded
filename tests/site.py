# Tests: docs
"""The site of the documents: every link leads to a file that is there and to a
place that is in it, nothing is loaded from elsewhere, every document is in the
menu, the search knows each page, and each has as many lists, tables and blocks
as readers of GitHub's Markdown see in it.
"""
import collections
import html.parser
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import urllib.parse

import programs

TREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
DOCS = os.path.join(TREE, "docs")
PARTS = ["blockquote", "h1", "h2", "h3", "li", "ol", "pre", "table", "td",
         "ul"]


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


class Page(html.parser.HTMLParser):
    """Its links, its places, what it loads, and how many parts of each kind
    its text has."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.places = [], [], set()
        self.parts = collections.Counter()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag in PARTS:
            self.parts[tag] += 1
        of = dict(attrs)
        self.places.update(of[k] for k in ("id", "name") if k in of)
        if tag == "a" and "href" in of:
            self.links.append(of["href"])
        if tag in ("img", "script"):
            self.loads.append(of.get("src") or "")
        if tag == "link" and of.get("rel") != "canonical":
            self.loads.append(of.get("href") or "")


def read_pages(root):
    return {os.path.relpath(os.path.join(parent, name), root):
            Page(read(os.path.join(parent, name)))
            for parent, _, names in os.walk(root) for name in names
            if name.endswith(".html")}


def is_dead(root, pages, page, link):
    """None, or what is wrong."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme in ("http", "https", "mailto"):
        return None
    path = urllib.parse.unquote(parts.path)
    path = os.path.normpath(os.path.join(os.path.dirname(page), path)) \
        if path else page
    if os.path.isdir(os.path.join(root, path)):
        path = os.path.normpath(os.path.join(path, "index.html"))
    if not os.path.isfile(os.path.join(root, path)):
        return f"{page}: {link} leads nowhere"
    place = urllib.parse.unquote(parts.fragment)
    if place and path in pages and place not in pages[path].places:
        return f"{page}: {link}: {path} has no such place"
    return None


def check(root):
    pages = read_pages(root)
    pages.pop("404.html", None)  # its links are of the root of a server
    programs.expect(f"{len(pages)} pages", len(pages) > 25)
    for name, page in sorted(pages.items()):
        for link in page.links:
            wrong = is_dead(root, pages, name, link)
            programs.expect(wrong, not wrong)
        for file in page.loads:
            programs.expect(f"{name} loads {file}", "//" not in file)
    start = [urllib.parse.urlsplit(x).path for x in pages["index.html"].links]
    for name in sorted(os.listdir(DOCS)):
        path = f"docs/{name[:-3]}.html".replace("README", "index")
        programs.expect(f"the menu has no {path}",
                        not name.endswith(".md") or path in start)
    index = json.loads(read(os.path.join(root, "search/search_index.json")))
    known = {urllib.parse.urlsplit(d["location"]).path for d in index["docs"]}
    for name in pages:
        programs.expect(f"the search does not know {name}", name in known)


def main_part(text):
    """A page without its menu."""
    text = text[text.index('role="main"'):]
    return text[:text.index("<footer")]


def compare(root):
    """The parts of each page beside those that another reader finds."""
    import markdown_it
    reader = markdown_it.MarkdownIt("gfm-like", {"linkify": False})
    pages = ["README.md", "CONTRIBUTING.md"] + \
        [f"docs/{n}" for n in os.listdir(DOCS) if n.endswith(".md")]
    for name in pages:
        site = name.replace("README", "index").replace(".md", ".html")
        want = Page(reader.render(read(os.path.join(TREE, name)))).parts
        got = Page(main_part(read(os.path.join(root, site)))).parts
        programs.expect(f"{name} has {want}, its page {got}", want == got)


def main():
    if not importlib.util.find_spec("mkdocs"):
        print(f"SKIP: {sys.executable} has no mkdocs "
              "(tests/requirements-site.txt)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as tmp:
        root = os.path.join(tmp, "site")
        done = subprocess.run([sys.executable, f"{DOCS}/site.py", ".", root],
                              capture_output=True, text=True, check=False)
        programs.expect(done.stderr, done.returncode == 0 and not done.stderr)
        check(root)
        if importlib.util.find_spec("markdown_it"):
            compare(root)
    programs.finish()


if __name__ == "__main__":
    main()
