import { quoteWord } from '../../core/words.ts';
import { type Flag, journals, type Offer, type Place, type Table } from './completion-table.ts';

/** Can be sourced, and can be a file in the fpath. */
export function zshCompletion(table: Table): string {
  const { name, defaultCommand, words, places } = table;
  return `#compdef ${name}
# zsh completion of ${name}. In ~/.zshrc: eval "$(${name} completion zsh)"
_${name}_runs() {
  local expl
  local -a runs
  runs=(${journals}(NOn:h:t))
  _wanted -V runs expl run compadd -- latest $runs
}

_${name}() {
  local command=$words[2]
  local -a commands version
  if ((CURRENT == 2)) && [[ $command != -* ]]; then
    commands=(
${described(words)}
    )
    _describe command commands
    return
  fi
  if [[ $command == -* ]]; then
    command='${defaultCommand}'
    ((CURRENT == 2)) && version=('--version[show the version]')
  else
    shift words
    ((CURRENT--))
  fi
${groupCases(table)}  case $command in
${places.map((place) => argumentsOf(table, place)).join('\n')}
  esac
}

if [[ $funcstack[1] == _${name} ]]; then
  _${name} "$@"
else
  (($+functions[compdef])) || { autoload -Uz compinit && compinit -i; }
  compdef _${name} ${name}
fi
`;
}

function described(words: readonly [string, string][]): string {
  return words.map(([word, summary]) => `      ${quoteWord(`${word}:${summary}`)}`).join('\n');
}

/** The second word of a group; after it, the command is both words. */
function groupCases(table: Table): string {
  const groups = table.groups.map(
    ([group, words]) => `    ${group})
      if ((CURRENT == 2)); then
        commands=(
${described(words)}
        )
        _describe command commands
        return
      fi
      command="$command $words[2]"
      shift words
      ((CURRENT--))
      ;;`,
  );
  return groups.length === 0 ? '' : `  case $command in\n${groups.join('\n')}\n  esac\n`;
}

function argumentsOf(table: Table, { name, flags, offer }: Place): string {
  const argument = offer === 'nothing' ? [] : [quoteWord(`1:${table.name} ${name}:${find(table, offer)}`)];
  const specs = [...argument, ...flags.flatMap((flag) => specsOf(table, flag))];
  const lines = ['_arguments -s -S $version', ...specs].join(' \\\n        ');
  return `    ${quoteWord(name)})\n      ${lines}\n      ;;`;
}

/** One spec for each word of an option; each rules the others out, unless it may be repeated. */
function specsOf(table: Table, { words, help, value, repeats }: Flag): string[] {
  const before = repeats ? '*' : `(${words.join(' ')})`;
  return words.map((word) => {
    const explained = `[${help.replace(/[\\[\]]/g, '\\$&')}]`;
    if (value === null) return quoteWord(`${before}${word}${explained}`);
    const attached = word.startsWith('--') ? '=' : '+';
    const message = `${value.optional ? '::' : ':'}${value.name}:${find(table, value.offer)}`;
    return quoteWord(`${before}${word}${attached}${explained}${message}`);
  });
}

/** The action of a spec; a space is none. */
function find({ name }: Table, offer: Offer): string {
  if (typeof offer !== 'string')
    return `(${offer.map((word) => word.replace(/[\s\\()]/g, '\\$&')).join(' ')})`;
  switch (offer) {
    case 'files':
      return '_files';
    case 'programs':
      return '_command_names -e';
    case 'runs':
      return `_${name}_runs`;
    case 'nothing':
      return ' ';
  }
}
