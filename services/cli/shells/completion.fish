# completion of matchpost for fish; made by `matchpost completion fish`

# print the words of a key with their meanings; the status is 1 for an unknown key
function __matchpost_table
    switch "$argv[1]"
@TABLE@
        case '*'
            return 1
    end
end

# print the numbers of the account's matches, of the game $argv[1] if it is not empty
function __matchpost_boards
    set -l config ~/.config
    set -l cache ~/.cache
    if test -n "$XDG_CONFIG_HOME"
        set config $XDG_CONFIG_HOME
    end
    if test -n "$XDG_CACHE_HOME"
        set cache $XDG_CACHE_HOME
    end
    if not test -r $config/matchpost/login.json
        return
    end
    set -l known
    if test -r $cache/matchpost/boards
        set known (string split -n ' ' < $cache/matchpost/boards)
        # for the next time
        command matchpost completion boards >/dev/null 2>&1 &
        disown 2>/dev/null
    else
        set known (command timeout 0.05 matchpost completion boards 2>/dev/null | string split -n ' ')
    end
    for word in $known
        set -l parts (string split : -- $word)
        if test -z "$argv[1]" -o "$parts[1]" = "$argv[1]"
            echo $parts[2]
        end
    end
end

function __matchpost_complete
    set -l current (commandline -ct)
    set -l words (commandline -opc)
    set -l name ''
    set -l value ''
    set -l game ''
    set -l line
    for word in $words[2..-1]
        if test -n "$value"
            set value ''
        else if begin
                test -z "$name" -a "$word" = --url
                or __matchpost_table "value $name $word" >/dev/null
            end
            set value $word
        else if not string match -q -- '-*' $word
            if test -z "$name"
                set name $word
            else
                set -a line $word
            end
        end
    end
    set -l key "arguments $name"
    if test "$value" = --url
        return
    else if test -n "$value"
        set key "value $name $value"
    else if string match -q -- '-*' $current
        set key "flags $name"
    else if test -z "$name"
        set key commands
    end
    set -l found (__matchpost_table $key)
    if string match -q -- '@line*' $found[1]
        if contains -- "$line[1]" (__matchpost_table games | string replace -r '\t.*' '')
            set game $line[1]
            set line[1] GAME
        end
        set found (__matchpost_table (string join ' ' line $line))
    end
    switch "$found[1]"
        case '@files*'
            __fish_complete_path $current
        case '@boards*'
            __matchpost_boards $game
        case '@none*'
            return
        case '*'
            printf '%s\n' $found
    end
end

complete -c matchpost -f -a '(__matchpost_complete)'
