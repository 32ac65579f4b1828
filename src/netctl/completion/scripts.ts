/**
 * Scripts by which shells complete words: they call `netctl __complete` with the words up to the cursor. A line
 * of the output is a word, a tab and its description; `:files` asks for the names of files.
 */

const BASH = `# bash completion of netctl: source <(netctl completion bash)
_netctl() {
  local line word gap rest=$COMP_LINE known words=()
  # bash divides words at = and :, and replaces only what follows the last of them.
  for word in "\${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    gap=$rest
    [[ -n $word ]] && gap=\${rest%%"$word"*}
    rest=\${rest#"$gap$word"}
    if [[ -z $gap && \${#words[@]} -gt 0 ]]; then words[-1]+=$word; else words+=("$word"); fi
  done
  word=\${words[-1]}
  known=\${word%"\${word##*[=:]}"}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o default
      return
    fi
    line=\${line%%$'\\t'*}
    COMPREPLY+=("\${line#"$known"}")
  done < <("\${words[0]}" __complete "\${words[@]:1}" 2>/dev/null)
}
complete -F _netctl netctl contiv-netctl
`;

const ZSH = `#compdef netctl contiv-netctl
# zsh completion of netctl: source <(netctl completion zsh)
_netctl() {
  local line
  local -a described
  for line in "\${(@f)$("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == :files ]]; then
      _files
      return
    fi
    [[ -n $line ]] && described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe 'netctl' described
}
compdef _netctl netctl contiv-netctl
`;

/** fish has a completion for another program of this name, which only a file in this folder replaces. */
const FISH = `# fish completion of netctl: netctl completion fish > ~/.config/fish/completions/netctl.fish
function __netctl_complete
  set -l words (commandline -opc)
  set -l program $words[1]
  set -e words[1]
  set -l current (commandline -ct)
  set -l found ($program __complete $words "$current" 2>/dev/null)
  if test "$found" = ":files"
    __fish_complete_path "$current"
  else
    printf '%s\\n' $found
  end
end
for program in netctl contiv-netctl
  complete -c $program -f -a '(__netctl_complete)'
end
`;

export const completionScripts: Readonly<Record<string, string>> = {
  bash: BASH,
  zsh: ZSH,
  fish: FISH,
};
