# bash completion for tdlc and tdlrun.  Commands, options and their values are
# asked of the program itself, so this is never behind it.

_tdl_options()
{
	"$@" --help 2>/dev/null | grep -oE '^ +(-., )?--?[A-Za-z0-9-]+' |
		grep -oE -- '--?[A-Za-z0-9-]+$'
}

_tdl_commands()
{
	echo help
	"$1" --help 2>/dev/null |
		sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# _tdl_values PROGRAM [COMMAND]: where the word that is completed is the value of
# an option, as in `--algorithm=to` or `--algorithm to`, completes it to the
# values that the option names.  Bash takes `=` for a word of its own, mostly.
_tdl_values()
{
	local n=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} before= option values
	if [[ $cur == = ]]; then
		cur=
		option=${COMP_WORDS[n - 1]}
	elif [[ ${COMP_WORDS[n - 1]} == = ]]; then
		option=${COMP_WORDS[n - 2]}
	elif [[ $cur == --*=* ]]; then
		option=${cur%%=*}
		before=$option=
		cur=${cur#*=}
	else
		option=${COMP_WORDS[n - 1]}
	fi
	[[ $option == --?* ]] || return
	values=$("$@" "--help=${option#--}" 2>/dev/null) && [[ $values ]] ||
		return
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "$values" -- "$cur")
}

_tdlc()
{
	local cur=${COMP_WORDS[COMP_CWORD]} words
	COMPREPLY=()
	if ((COMP_CWORD > 1)) && _tdl_values "$1" "${COMP_WORDS[1]}"; then
		return
	elif ((COMP_CWORD == 1)) || [[ ${COMP_WORDS[1]} == help ]]; then
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
	! _tdl_values "$1" || return 0
	[[ $cur == -* ]] || return 0
	mapfile -t COMPREPLY < <(compgen -W "$(_tdl_options "$1")" -- "$cur")
}

complete -o default -F _tdlc tdlc
complete -o default -F _tdlrun tdlrun
