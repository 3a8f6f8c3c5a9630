# completion of matchpost for bash 4 or newer; made by `matchpost completion bash`

# set _matchpost_words to the words of a key; the status is 1 for an unknown key
_matchpost_table() {
    _matchpost_words=
    case $1 in
@TABLE@
    *)
        return 1
        ;;
    esac
}

# print the numbers of the account's matches, of game $1 if it is not empty
_matchpost_boards() {
    local file=${XDG_CACHE_HOME:-$HOME/.cache}/matchpost/boards line= word
    if [[ ! -r ${XDG_CONFIG_HOME:-$HOME/.config}/matchpost/login.json ]]; then
        return
    elif [[ -r $file ]]; then
        IFS= read -r line <"$file"
        # for the next time
        (matchpost completion boards &>/dev/null &)
    else
        IFS= read -r -t 0.05 line < <(matchpost completion boards 2>/dev/null)
    fi
    for word in $line; do
        if [[ -z $1 || $word == "$1":* ]]; then
            printf '%s ' "${word##*:}"
        fi
    done
}

_matchpost() {
    local current=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD - 1]}
    local command= key= game= word value= _matchpost_words
    local -a line=()
    COMPREPLY=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        if [[ -n $value ]]; then
            value=
        elif [[ -z $command && $word == --url ]] || _matchpost_table "value $command $word"; then
            value=$word
        elif [[ $word != -* && -z $command ]]; then
            command=$word
        elif [[ $word != -* ]]; then
            line+=("$word")
        fi
    done
    if [[ $value == --url ]]; then
        return
    elif [[ -n $value ]]; then
        key="value $command $last"
    elif [[ $current == -* ]]; then
        key="flags $command"
    elif [[ -z $command ]]; then
        key=commands
    else
        key="arguments $command"
    fi
    _matchpost_table "$key" || return
    if [[ $_matchpost_words == @line ]]; then
        _matchpost_table games
        if [[ -n ${line[0]} && " $_matchpost_words " == *" ${line[0]} "* ]]; then
            game=${line[0]}
            line[0]=GAME
        fi
        key="line ${line[*]}"
        _matchpost_table "${key% }" || return
    fi
    case $_matchpost_words in
    @files)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        return
        ;;
    @boards)
        _matchpost_words=$(_matchpost_boards "$game")
        ;;
    @none)
        return
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$_matchpost_words" -- "$current")
}

complete -F _matchpost matchpost
