#compdef tdlc tdlrun
# zsh completion for tdlc and tdlrun.  Commands, options and their values are
# asked of the program itself, so this is never behind it.

# The options of a program, or of one of its commands.
_tdl_options() {
	"$@" --help 2>/dev/null | grep -oE '^ +(-., )?--?[A-Za-z0-9-]+' |
		grep -oE -- '--?[A-Za-z0-9-]+$'
}

# _tdl_values OPTION PROGRAM [COMMAND]: completes to the values that the option
# names; fails where it names none.
_tdl_values() {
	local option=${1#--}
	shift
	local -a values
	values=(${(f)"$("$@" --help=$option 2>/dev/null)"})
	(($#values)) && compadd -a values
}

_tdl() {
	local cur=$words[CURRENT] before= program=$words[1]
	local -a of=($program) all
	((CURRENT > 1)) && before=$words[CURRENT-1]
	if [[ $program:t == tdlc ]]; then
		if ((CURRENT == 2)) || [[ $words[2] == help ]]; then
			all=(help ${(f)"$($program --help 2>/dev/null |
				sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')"})
			[[ $cur == -* ]] && all=(--help --version)
			compadd -a all
			return
		fi
		of+=($words[2])
	fi
	if [[ $cur == --*=* ]]; then
		compset -P '*='
		_tdl_values ${cur%%=*} $of || _files
	elif [[ $cur == -* ]]; then
		all=(${(f)"$(_tdl_options $of)"})
		compadd -a all
	elif [[ $before == --?* ]] && _tdl_values $before $of; then
		return
	elif [[ $program:t == tdlc && $words[2] == (doc|verify) ||
		$words[2] == explain && $CURRENT == 3 ]]; then
		all=(${(f)"$($program ops 2>/dev/null | awk '/^[a-z]/ { print $1 }')"})
		compadd -a all
		_files
	else
		_files
	fi
}

_tdl "$@"
