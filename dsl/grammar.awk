# Prints the grammar of TDL in EBNF, in Markdown: awk -f grammar.awk scan.l gram.y
#
# What bison needs and readers do not is undone: actions and names of parts go;
# a rule with an empty alternative is optional where it is used; recursion to
# the left becomes repetition, but in expressions, whose operators are told
# apart by precedence.

BEGIN {
	BREAK = "\001"
}

function fail(what) {
	print FILENAME ": " what >"/dev/stderr"
	failed = 1
	exit 1
}

# ---- the scanner: the patterns of tokens without a spelling of their own ----

FILENAME ~ /scan\.l$/ {
	if (/^[^ \t%}].* \{$/)
		pattern = substr($0, 1, length($0) - 2)
	if (pattern != "" && match($0, /TOK_[A-Za-z_]+/)) {
		token = substr($0, RSTART + 4, RLENGTH - 4)
		if (token !~ /error/ && !(token in patterns))
			lexical[++nlexical] = token
		patterns[token] = pattern
		pattern = ""
	}
	if (/^}/)
		pattern = ""
	next
}

# ---- the grammar: spellings, precedence, then the rules as one text ---------

/^%%/ {
	part++
	next
}

part == 0 && /^%token/ {
	line = $0
	while (match(line, /[A-Z]+ "[^"]*"/)) {
		word = substr(line, RSTART, RLENGTH)
		line = substr(line, RSTART + RLENGTH)
		name = word
		sub(/ .*/, "", name)
		sub(/^[^"]*"/, "", word)
		sub(/"$/, "", word)
		gsub(/\\\\/, "\\", word)
		if (word ~ /^'.*'$/)
			spelling[name] = substr(word, 2, length(word) - 2)
	}
	next
}

part == 0 && /^%(left|nonassoc|precedence) / {
	level[++nlevels] = $0
	next
}

part == 1 && /^\/\* ---- / {
	title = $0
	gsub(/^\/\* -+ | -* ?-+ \*\/$|-+ \*\/$/, "", title)
	sub(/ +$/, "", title)
	text = text " TITLE<" title "> "
	next
}

part == 1 {
	text = text " " $0
}

# ---- rules ------------------------------------------------------------------

function strip(s,    out, i, c, depth, action) {
	while (match(s, /\/\*([^*]|\*[^\/])*\*\//))
		s = substr(s, 1, RSTART - 1) " " substr(s, RSTART + RLENGTH)
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		if (c == "{") {
			if (depth++ == 0)
				action = ""
		} else if (c == "}") {
			if (--depth == 0 && action ~ /dsl_not_yet/)
				out = out " NOTYET "
		} else if (depth == 0) {
			out = out c
		} else {
			action = action c
		}
	}
	gsub(/\[[a-z]+\]/, "", out)	# expr[c]
	gsub(/%prec [A-Z]+/, "", out)
	gsub(/:/, " : ", out)
	gsub(/\|/, " | ", out)
	gsub(/;/, " ; ", out)
	return out
}

# Splits the rules: alt[name, 1..count[name]], each " A B C ".
function read_rules(s,    n, i, w, name, at) {
	while (match(s, /TITLE<[^>]*>/)) {
		title = substr(s, RSTART + 6, RLENGTH - 7)
		gsub(/ /, "_", title)
		s = substr(s, 1, RSTART - 1) " TITLE=" title " " \
		    substr(s, RSTART + RLENGTH)
	}
	n = split(s, w, /[ \t]+/)
	for (i = 1; i <= n; i++) {
		if (w[i] == "")
			continue
		if (w[i] ~ /^TITLE=/) {
			order[++norder] = w[i]
		} else if (name == "") {
			name = w[i]
			order[++norder] = name
			count[name] = 1
			alt[name, 1] = " "
		} else if (w[i] == ";") {
			name = ""
		} else if (w[i] == "|") {
			alt[name, ++count[name]] = " "
		} else if (w[i] != ":" && w[i] != "%empty") {
			at = count[name]
			alt[name, at] = alt[name, at] w[i] " "
		}
	}
}

# Drops an alternative.
function drop(name, i) {
	for (; i < count[name]; i++)
		alt[name, i] = alt[name, i + 1]
	count[name]--
}

function drop_faults(name,    i) {
	for (i = count[name]; i >= 1; i--)
		if (alt[name, i] ~ / (error|NOTYET) /)
			drop(name, i)
}

# Takes out the empty alternative of a rule that is not recursive.
function find_optional(name,    i) {
	for (i = count[name]; i >= 1; i--)
		if (alt[name, i] ~ ("^ " name " "))
			return
	for (i = count[name]; i >= 1; i--)
		if (alt[name, i] == " ") {
			optional[name] = 1
			drop(name, i)
		}
}

# Writes `to` for each use of a symbol.
function replace(symbol, to,    name, i, s, p, find) {
	find = " " symbol " "
	for (name in count)
		for (i = 1; i <= count[name]; i++) {
			s = alt[name, i]
			while ((p = index(s, find)))
				s = substr(s, 1, p) to \
				    substr(s, p + length(find) - 1)
			alt[name, i] = s
		}
}

function uses(symbol,    name, i, s, n) {
	for (name in count)
		for (i = 1; i <= count[name]; i++) {
			s = alt[name, i]
			n += gsub(" " symbol " ", " ", s)
		}
	return n
}

function remove(name) {
	delete count[name]
}

# A rule of one symbol is that symbol; the list behind an optional rule takes
# its name.
function inline_rules(    i, j, name, only) {
	for (i = 1; i <= norder; i++) {
		name = order[i]
		if (!(name in count) || count[name] != 1)
			continue
		only = alt[name, 1]
		gsub(/ /, "", only)
		if (alt[name, 1] != " " only " ")
			continue
		if (!optional[name] || only in spelling) {
			remove(name)
			replace(name, (optional[name] ? "?" : "") only)
		} else if (only == name "1") {
			replace(name, "?" name)
			replace(only, name)
			count[name] = count[only]
			for (j = 1; j <= count[only]; j++)
				alt[name, j] = alt[only, j]
			remove(only)
			optional[name] = 0
		}
	}
}

# A list that only one other rule uses stands there. It has been used once more,
# by itself.
function inline_lists(    i, name) {
	for (i = 1; i <= norder; i++) {
		name = order[i]
		if (!(name in count) || name !~ /1$/ || uses(name) > 2)
			continue
		rendered[name] = recursive(name)
		remove(name)
	}
}

# ---- printing ---------------------------------------------------------------

# As it is printed; BREAK stands for a blank where no line is broken.
function symbol(s) {
	if (s in rendered)
		return rendered[s]
	if (s in spelling)
		return "\"" spelling[s] "\""
	if (s ~ /^\?/)
		return "[" BREAK symbol(substr(s, 2)) BREAK "]"
	if (optional[s])
		return "[" BREAK s BREAK "]"
	if (s ~ /^[A-Z]+$/ && !(s in patterns))
		fail("the token " s " has neither spelling nor pattern")
	if (s ~ /^[a-z]/ && !(s in count))
		fail("there is no rule " s)
	return s
}

function sequence(s,    n, w, i, out) {
	n = split(s, w, " ")
	for (i = 1; i <= n; i++)
		out = out (i > 1 ? " " : "") symbol(w[i])
	return out
}

function alternatives(list, n,    i, out) {
	for (i = 1; i <= n; i++)
		out = out (i > 1 ? " | " : "") list[i]
	return out
}

# The same, in parentheses where there are several.
function group(list, n) {
	return n > 1 ? "( " alternatives(list, n) " )" : list[1]
}

function is_binary(name,    i) {
	for (i = 1; i <= count[name]; i++)
		if (alt[name, i] ~ ("^ " name " .* " name " $"))
			return 1
	return 0
}

# A rule with recursion to the left.
function recursive(name,    i, s, nb, nt, same, first, tail, bases, tails) {
	for (i = 1; i <= count[name]; i++) {
		s = alt[name, i]
		if (s ~ ("^ " name " ")) {
			sub("^ " name " ", " ", s)
			tails[++nt] = sequence(s)
		} else if (s != " ") {
			bases[++nb] = sequence(s)
		}
	}
	# x { "," x } where each tail is a base behind the same symbol
	first = tails[1]
	sub(/ .*/, "", first)
	same = nb == nt
	for (i = 1; i <= nt; i++)
		if (tails[i] != first " " bases[i])
			same = 0
	tail = same ? first " " group(bases, nb) : alternatives(tails, nt)
	if (nb == 0)
		return "{ " tail " }"
	return group(bases, nb) " { " tail " }"
}

# Prints words with an indent, in lines of at most 78 columns.
function fold(head, indent, s,    n, w, i, line) {
	n = split(s, w, " ")
	line = head
	for (i = 1; i <= n; i++) {
		if (length(line) + 1 + length(w[i]) > 78) {
			print_line(line)
			line = indent w[i]
		} else {
			line = line " " w[i]
		}
	}
	print_line(line)
}

function print_line(line) {
	gsub(BREAK, " ", line)
	print line
}

function print_rule(name,    i, left, list) {
	for (i = 1; i <= count[name]; i++) {
		left = left || alt[name, i] ~ ("^ " name " ")
		list[i] = sequence(alt[name, i])
	}
	if (left && !is_binary(name)) {
		fold(name " =", "      ", recursive(name))
	} else if (length(name " = " alternatives(list, count[name])) <= 78) {
		print_line(name " = " alternatives(list, count[name]))
	} else {
		for (i = 1; i <= count[name]; i++)
			fold(i > 1 ? "    |" : name " =", "      ",
			     list[i])
	}
}

function is_prefix(token,    i) {
	for (i = 1; i <= count["expr"]; i++)
		if (alt["expr", i] ~ ("^ " token " "))
			return 1
	return token == "NEGATIVE"
}

function print_precedence(    i, w, n, j, row) {
	print "\nFrom loose to tight:\n\n| operators | |\n|---|---|"
	for (i = 1; i <= nlevels; i++) {
		n = split(level[i], w, " ")
		row = ""
		for (j = 2; j <= n; j++)
			row = row (row == "" ? "" : " ") "`" \
			      (w[j] == "NEGATIVE" ? "-" : spelling[w[j]]) "`"
		print "| " row " | " (w[1] == "%left" ? "to the left" : \
		      w[1] == "%nonassoc" ? "do not chain" : \
		      is_prefix(w[2]) ? "before their operand" : \
		      "take all that follows") " |"
	}
}

function print_rules(    i, title, open, gap) {
	for (i = 1; i <= norder; i++) {
		if (order[i] ~ /^TITLE=/) {
			title = substr(order[i], 7)
			gsub(/_/, " ", title)
			print (open ? "```\n" : "") "\n## " \
			      toupper(substr(title, 1, 1)) substr(title, 2) \
			      "\n\n```ebnf"
			open = 1
			gap = 0
		} else if (order[i] in count) {
			if (gap)
				print ""
			gap = 1
			print_rule(order[i])
		}
	}
	print "```"
}

function print_tokens(    i) {
	print "\n## Tokens\n\nRegular expressions, as flex has them.  Blanks " \
	      "and line ends separate tokens and\nmean nothing else; `//` " \
	      "begins a comment, up to the end of the line.  Of the\nwords " \
	      "only those of definitions are reserved; the others are names " \
	      "wherever they\ncannot be meant as words.  MIDDLE and TAIL " \
	      "follow a HEAD; elsewhere `}` is a token of its\nown.\n\n```"
	for (i = 1; i <= nlexical; i++)
		printf "%-6s %s\n", lexical[i], patterns[lexical[i]]
	print "```"
}

END {
	if (failed)
		exit 1
	read_rules(strip(text))
	for (i = 1; i <= norder; i++)
		if (order[i] in count)
			drop_faults(order[i])
	for (i = 1; i <= norder; i++)
		if (order[i] in count)
			find_optional(order[i])
	inline_rules()
	inline_lists()
	print "# The grammar of TDL\n\n" \
	      "Made from dsl/gram.y and dsl/scan.l.  `x y` is x and then y, " \
	      "`x | y` one of them,\n`[ x ]` x or nothing, `{ x }` any " \
	      "number of x, none included.  Words and marks\nstand between " \
	      "`\"`; names in capitals are at the end."
	print_rules()
	print "\n## Precedence"
	print_precedence()
	print_tokens()
}
