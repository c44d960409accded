"""Makes a site of static HTML, with search, of the documents: `make site`.

	site.py BUILD OUT

BUILD is the build folder, whose docs/ has what is made, OUT the folder of the
site.  MkDocs makes it; the menu is that of docs/README.md.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TOUR = [f"examples/tour/{name}.md" for name in
        ("operator", "pytorch", "plan", "threads", "mpi", "training")]
PAGES = ["README.md", "CONTRIBUTING.md", "examples/README.md",
         "examples/models/README.md", *TOUR]
MADE = ["docs/grammar.md", "docs/library.md"]
# A block's file, behind its language, which MkDocs would not take for a block.
NAMED_BLOCK = re.compile(r"^```(\w+) (\S+)[^\n]*$", re.M)
LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)\s]*)?\)")
MKDOCS = [sys.executable, "-m", "mkdocs"]


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def place(source, folder, name):
    """Copies a page or a file to where its links lead as in the tree."""
    to = os.path.join(folder, name)
    os.makedirs(os.path.dirname(to), exist_ok=True)
    shutil.copyfile(source, to)


def place_page(source, folder, name):
    """The same of a page; the name of a block's file is a line before it."""
    place(source, folder, name)
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        f.write(NAMED_BLOCK.sub(r"`\2`:\n\n```\1", read(source)))


def linked_files(folder):
    """What the pages link to and is none, as seen from the tree."""
    for parent, _, names in os.walk(folder):
        for name in names:
            text = read(os.path.join(parent, name))
            for target, _ in LINK.findall(text):
                path = os.path.join(os.path.relpath(parent, folder), target)
                yield os.path.normpath(path)


def stage(build, folder):
    pages = PAGES + ["docs/" + n for n in os.listdir(f"{TREE}/docs")
                     if n.endswith(".md")]
    for name in pages:
        place_page(os.path.join(TREE, name), folder, name)
    for name in MADE:
        place_page(os.path.join(build, name), folder, name)
    for name in sorted(set(linked_files(folder))):
        source = os.path.join(TREE, name)
        if os.path.isfile(source) and \
                not os.path.exists(os.path.join(folder, name)):
            place(source, folder, name)


def title(folder, page):
    first = read(os.path.join(folder, page)).lstrip().splitlines()[0]
    return first.lstrip("# ")


def menu(folder):
    """The sections of docs/README.md with the pages of their tables."""
    sections = [{"Start": ["README.md", "docs/README.md",
                           "examples/README.md", "examples/models/README.md"]},
                {"Tour": TOUR}]
    for part in read(os.path.join(folder, "docs/README.md")).split("\n## ")[1:]:
        pages = re.findall(r"^\| \[[^]]*\]\(([^)#]+\.md)\)", part, re.M)
        pages = [os.path.normpath(os.path.join("docs", p)) for p in pages]
        if pages:
            sections.append({part.splitlines()[0]: pages})
    sections.append({"Reference": MADE})
    return [{section: [{title(folder, p): p} for p in pages]}
            for entry in sections for section, pages in entry.items()]


def settings(folder, out):
    return {
        "site_name": "tdlc",
        "docs_dir": folder,
        "site_dir": os.path.abspath(out),
        "use_directory_urls": False,  # links work in files, too
        "theme": {"name": "mkdocs", "color_mode": "auto",
                  "user_color_mode_toggle": True, "highlightjs": False,
                  "navigation_depth": 3},
        "plugins": ["search"],
        "markdown_extensions": ["tables", "fenced_code", "toc"],
        "nav": menu(folder),
    }


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    build, out = sys.argv[1:]
    with tempfile.TemporaryDirectory() as tmp:
        folder = os.path.join(tmp, "pages")
        stage(build, folder)
        # JSON is YAML.
        config = os.path.join(tmp, "mkdocs.yml")
        with open(config, "w", encoding="utf-8") as f:
            json.dump(settings(folder, out), f)
        done = subprocess.run(MKDOCS + ["build", "--quiet", "--clean", "-f",
                                        config], check=False)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
