import { quoteWord } from '../../core/words.ts';
import { type Flag, journals, type Offer, type Place, type Table } from './completion-table.ts';

/** Works from bash 3.2 on, which macOS has: no mapfile, no `source <(...)`, and compopt only where there is one. */
export function bashCompletion(table: Table): string {
  const { name, defaultCommand, words, places } = table;
  return `# bash completion of ${name}. In ~/.bashrc: eval "$(${name} completion bash)"
_${name}_offer() {
  local word
  for word in "$@"; do
    [[ $word == "$cur"* ]] && printf -v word %q "$word" && COMPREPLY+=("$word")
  done
}

_${name}_runs() {
  local path
  _${name}_offer latest
  while IFS= read -r path; do
    path=\${path%/*}
    _${name}_offer "\${path##*/}"
  done < <(compgen -G '${journals}')
}

_${name}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]} word
  COMPREPLY=()
  # Where nothing is offered, bash would offer files.
  compopt +o default 2>/dev/null
  # bash cuts --name=value into three words.
  if [[ $cur == '=' ]]; then
    cur=
  elif [[ $prev == '=' ]]; then
    prev=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  cur=\${cur#[\\'\\"]}
  if ((COMP_CWORD == 1)); then
    [[ $cur == -* ]] || _${name}_offer ${words.map(([word]) => word).join(' ')}
    command='${defaultCommand}' prev=
  fi
  [[ $command == -* ]] && command='${defaultCommand}'
${groupCases(table)}
  case "$command $prev" in
${places.flatMap((place) => place.flags.flatMap((flag) => valueCase(table, place, flag))).join('\n')}
  esac

  case "$command $cur" in
${places.map((place) => optionCase(table, place)).join('\n')}
  esac

  ((COMP_CWORD == 1)) && return
  case $command in
${places.flatMap((place) => (place.offer === 'nothing' ? [] : [`    ${quoteWord(place.name)}) ${find(table, place.offer)} ;;`])).join('\n')}
  esac
}

complete -o default -F _${name} ${name}
`;
}

/** The second word of a group; after it, the command is both words. */
function groupCases(table: Table): string {
  const cases = table.groups.map(
    ([group, words]) =>
      `    ${group}) ((COMP_CWORD == 2)) && { _${table.name}_offer ${words.map(([word]) => word).join(' ')}; return; } ;;`,
  );
  if (cases.length === 0) return '';
  const names = table.groups.map(([group]) => group);
  return `  case $command in
${cases.join('\n')}
  esac
  case $command in
    ${names.join(' | ')}) ((COMP_CWORD > 2)) && command="$command \${COMP_WORDS[2]}" ;;
  esac
`;
}

/** After an option that takes a value. Where the value may be left out, an option may follow as well. */
function valueCase(table: Table, place: Place, { words, value }: Flag): string[] {
  if (value === null) return [];
  const pattern = words.map((word) => quoteWord(`${place.name} ${word}`)).join(' | ');
  const found = [find(table, value.offer), 'return'].filter(Boolean).join('; ');
  return [`    ${pattern}) ${value.optional ? `[[ $cur == -* ]] || { ${found}; }` : found} ;;`];
}

function optionCase({ name: program, defaultCommand }: Table, { name, flags }: Place): string {
  const words = flags.flatMap((flag) => flag.words);
  const version = name === defaultCommand ? `; ((COMP_CWORD == 1)) && _${program}_offer --version` : '';
  return `    '${name} -'*) _${program}_offer ${words.join(' ')}${version} ;;`;
}

function find({ name }: Table, offer: Offer): string {
  if (typeof offer !== 'string') return `_${name}_offer ${offer.map(quoteWord).join(' ')}`;
  switch (offer) {
    case 'files':
      return 'compopt -o default 2>/dev/null';
    case 'programs':
      return `while IFS= read -r word; do _${name}_offer "$word"; done < <(compgen -c -- "$cur")`;
    case 'runs':
      return `_${name}_runs`;
    case 'nothing':
      return '';
  }
}
