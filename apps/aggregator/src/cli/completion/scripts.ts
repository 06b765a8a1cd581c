/**
 * Completion scripts. They only ask `switchboard complete` for candidates, so that they stay valid when commands
 * change. Candidates are never expanded by the shell: names of tools come from servers.
 */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** Printed instead of candidates where file names are expected. */
export const FILES = ':files';

/** `compgen -W` is not used: it would run commands within the candidates. */
const bash = String.raw`_switchboard() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == ${FILES} ]]; then
      compopt -o default 2>/dev/null
      return
    fi
    COMPREPLY+=("${'$'}{line%%$'\t'*}")
  done < <(switchboard complete -- "${'$'}{COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _switchboard switchboard`;

const zsh = String.raw`#compdef switchboard
_switchboard() {
  local line
  local -a candidates
  while IFS= read -r line; do
    if [[ $line == ${FILES} ]]; then
      _files
      return
    fi
    candidates+=("${'$'}{${'$'}{line%%$'\t'*}//:/\\:}:${'$'}{line#*$'\t'}")
  done < <(switchboard complete -- "${'$'}{(@)words[2,CURRENT]}" 2>/dev/null)
  _describe switchboard candidates
}
if [[ $funcstack[1] == _switchboard ]]; then
  _switchboard "$@"
else
  compdef _switchboard switchboard
fi`;

const fish = String.raw`function __switchboard_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (switchboard complete -- $words[2..-1] 2>/dev/null)
  if test "$found" = "${FILES}"
    __fish_complete_path (commandline -ct)
  else
    printf '%s\n' $found
  end
end
complete -c switchboard -f -a '(__switchboard_complete)'`;

export const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };
