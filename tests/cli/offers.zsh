# What zsh offers for a line: offers.zsh FOLDER LINE, the script being _cleft in the folder.
# Completion needs a terminal, so one is made.
zmodload zsh/zpty
local folder=$1 line=$2 read
zpty z zsh -f -i
zpty -w z "PS1= PS2= ; stty -echo 2>/dev/null; fpath=(${(qq)folder} \$fpath); cd ${(qq)PWD}"
zpty -w z '
autoload -Uz compinit && compinit -D -u
null-line() { BUFFER= ; zle -I }
compadd() {
    local -a hits
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return $?; fi
    builtin compadd -A hits "$@"
    (( $#hits )) && print -r -l -- "offer:"${^hits}
    builtin compadd "$@"
}
finish() { compstate[insert]= ; compstate[list]= ; print "offers end" }
comppostfuncs=(finish)
zstyle ":completion:*" insert-tab false
bindkey "^I" complete-word
print "ready to complete"'
while zpty -r z read; do [[ $read == *"ready to complete"[$'\r\n']* ]] && break; done
zpty -w -n z "$line"$'\t'
while zpty -r z read; do
    [[ $read == *offer:* ]] && print -r -- ${${read##*offer:}%%[$'\r\n']*}
    [[ $read == *"offers end"* ]] && break
done
zpty -d z
