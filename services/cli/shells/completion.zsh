#compdef matchpost
# completion of matchpost for zsh; made by `matchpost completion zsh`

# set _matchpost_words to the words of a key, a line each; the status is 1 for an unknown key
_matchpost_table() {
    _matchpost_words=
    case $1 in
@TABLE@
    *)
        return 1
        ;;
    esac
}

# set _matchpost_words to the numbers of the account's matches, of game $1 if it is not empty
_matchpost_boards() {
    local file=${XDG_CACHE_HOME:-$HOME/.cache}/matchpost/boards line= word descriptor
    local -a found
    _matchpost_words=
    if [[ ! -r ${XDG_CONFIG_HOME:-$HOME/.config}/matchpost/login.json ]]; then
        return
    elif [[ -r $file ]]; then
        IFS= read -r line <$file
        # for the next time
        matchpost completion boards &>/dev/null &!
    else
        # by a descriptor, because a command with `< <(...)` waits until all of it has ended
        exec {descriptor}< <(matchpost completion boards 2>/dev/null)
        IFS= read -r -t 0.05 -u $descriptor line
        exec {descriptor}<&-
    fi
    for word in ${=line}; do
        if [[ -z $1 || $word == $1:* ]]; then
            found+=(${word##*:})
        fi
    done
    _matchpost_words=${(F)found}
}

_matchpost() {
    local current=$words[CURRENT] command= key= game= word value= _matchpost_words
    local -a line listed
    for word in "${(@)words[2,CURRENT-1]}"; do
        if [[ -n $value ]]; then
            value=
        elif { [[ -z $command && $word == --url ]] } || _matchpost_table "value $command $word"; then
            value=$word
        elif [[ $word != -* && -z $command ]]; then
            command=$word
        elif [[ $word != -* ]]; then
            line+=("$word")
        fi
    done
    if [[ $value == --url ]]; then
        return 1
    elif [[ -n $value ]]; then
        key="value $command $value"
    elif [[ $current == -* ]]; then
        key="flags $command"
    elif [[ -z $command ]]; then
        key=commands
    else
        key="arguments $command"
    fi
    _matchpost_table "$key" || return 1
    if [[ $_matchpost_words == @line ]]; then
        _matchpost_table games
        for word in ${(f)_matchpost_words}; do
            if [[ -n $line[1] && ${word%%:*} == $line[1] ]]; then
                game=$line[1]
                line[1]=GAME
                break
            fi
        done
        key="line $line"
        _matchpost_table "${key% }" || return 1
    fi
    case $_matchpost_words in
    @files)
        _files
        return
        ;;
    @boards)
        _matchpost_boards "$game"
        ;;
    @none)
        return 1
        ;;
    esac
    listed=("${(@f)_matchpost_words}")
    [[ -n $listed ]] && _describe 'word' listed
}

if [[ $funcstack[1] == _matchpost ]]; then
    _matchpost "$@"
else
    compdef _matchpost matchpost
fi
