# bash completion for tdlc and tdlrun.  Commands and options are asked of the
# program itself, so this is never behind it.

_tdl_options()
{
	"$@" --help 2>/dev/null | grep -oE '^ +(-., )?--?[A-Za-z-]+' |
		grep -oE -- '--?[A-Za-z-]+$'
}

_tdl_commands()
{
	echo help
	"$1" --help 2>/dev/null |
		sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

_tdlc()
{
	local cur=${COMP_WORDS[COMP_CWORD]} words
	COMPREPLY=()
	if ((COMP_CWORD == 1)) || [[ ${COMP_WORDS[1]} == help ]]; then
		words=$(_tdl_commands "$1")
		[[ $cur == -* ]] && words='--help --version'
	elif [[ $cur == -* ]]; then
		words=$(_tdl_options "$1" "${COMP_WORDS[1]}")
	elif [[ ${COMP_WORDS[1]} == @(doc|verify) ||
		${COMP_WORDS[1]} == explain && $COMP_CWORD == 2 ]]; then
		words=$("$1" ops 2>/dev/null | awk '/^[a-z]/ { print $1 }')
	fi
	mapfile -t COMPREPLY < <(compgen -W "${words-}" -- "$cur")
}

_tdlrun()
{
	local cur=${COMP_WORDS[COMP_CWORD]}
	COMPREPLY=()
	[[ $cur == -* ]] || return 0
	mapfile -t COMPREPLY < <(compgen -W "$(_tdl_options "$1")" -- "$cur")
}

complete -o default -F _tdlc tdlc
complete -o default -F _tdlrun tdlrun
