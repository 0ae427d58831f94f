export const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/** The script of each shell: it asks `PROGRAM completion SHELL -- WORDS` what can be typed next. */
export const completionScripts: Readonly<Record<Shell, (program: string) => string>> = {
  // From bash 3.2 on, which macOS has: no mapfile, no `source <(...)`, and compopt only where there is one.
  bash: (name) => `# bash completion of ${name}. In ~/.bashrc: eval "$(${name} completion bash)"
_${name}_offer() {
  local word
  printf -v word %q "$1" && COMPREPLY+=("$word")
}

_${name}() {
  local line cur=\${COMP_WORDS[COMP_CWORD]}
  cur=\${cur#[\\'\\"=]}
  COMPREPLY=()
  # Where nothing is offered, bash would offer files.
  compopt +o default 2>/dev/null
  while IFS= read -r line; do
    line=\${line%%$'\\t'*}
    case $line in
      :files) compopt -o default 2>/dev/null ;;
      :programs) while IFS= read -r line; do _${name}_offer "$line"; done < <(compgen -c -- "$cur") ;;
      *) _${name}_offer "$line" ;;
    esac
  done < <(${name} completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}

complete -o default -F _${name} ${name}
`,

  // Can be sourced, and can be a file in the fpath.
  zsh: (name) => `#compdef ${name}
# zsh completion of ${name}. In ~/.zshrc: eval "$(${name} completion zsh)"
_${name}() {
  local line word
  local -a offers
  for line in "\${(@f)$(${name} completion zsh -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    word=\${line%%$'\\t'*}
    case $word in
      '') ;;
      :files) compset -P '--*='; _files ;;
      :programs) compset -P '--*='; _command_names -e ;;
      *) offers+=("\${word//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done
  ((#offers)) && _describe -V ${name} offers
}

if [[ $funcstack[1] == _${name} ]]; then
  _${name} "$@"
else
  (($+functions[compdef])) || { autoload -Uz compinit && compinit -i; }
  compdef _${name} ${name}
fi
`,

  fish: (
    name,
  ) => `# fish completion of ${name}. Once: ${name} completion fish > ~/.config/fish/completions/${name}.fish
function __${name}_offers
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l start (string match -r -- '^--[^=]*=' $current)
    for line in (${name} completion fish -- $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case ':files*'
                printf '%s\\n' "$start"(__fish_complete_path (string replace -r '^--[^=]*=' '' -- $current))
            case ':programs*'
                __fish_complete_command
            case '*'
                echo $line
        end
    end
end

complete -c ${name} -f -k -a '(__${name}_offers)'
`,
};
