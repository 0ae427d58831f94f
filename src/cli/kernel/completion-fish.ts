import { type Flag, journals, type Offer, type Place, type Table } from './completion-table.ts';

/** Lines of `complete`, each with the command that it belongs to as its condition. */
export function fishCompletion(table: Table): string {
  const { name, defaultCommand, words, groups, places } = table;
  return `# fish completion of ${name}. Once: ${name} completion fish > ~/.config/fish/completions/${name}.fish
function __${name}_first
    test (count (commandline -opc)) -eq 1
end

function __${name}_in -a command
    set -l words (commandline -opc) '${defaultCommand}'
    string match -q -- '-*' $words[2]; and set words[2] '${defaultCommand}'
    test "$words[2]" = "$command"; or test "$words[2] $words[3]" = "$command"
end

function __${name}_group -a group
    set -l words (commandline -opc)
    test (count $words) -eq 2; and test "$words[2]" = $group
end

function __${name}_after -a option
    set -l words (commandline -opc)
    test "$words[-1]" = $option
end

function __${name}_runs
    set -l journals ${journals}
    echo latest
    test (count $journals) -gt 0; and string replace -r '.*/([^/]+)/[^/]+$' '$1' -- $journals[-1..1]
end

complete -c ${name} -f
complete -c ${name} -n __${name}_first -l version -d 'show the version'
${words
  .map(([word, summary]) => `complete -c ${name} -n __${name}_first -a ${word} -d ${quote(summary)}`)
  .join('\n')}
${groups
  .flatMap(([group, words]) =>
    words.map(
      ([word, summary]) =>
        `complete -c ${name} -n '__${name}_group ${group}' -a ${word} -d ${quote(summary)}`,
    ),
  )
  .join('\n')}
${places.flatMap((place) => linesOf(table, place)).join('\n')}
`;
}

function linesOf(table: Table, { name, flags, offer }: Place): string[] {
  const complete = `complete -c ${table.name} -n '__${table.name}_in "${name}"'`;
  // Where no word is typed yet, the words are the commands.
  const words = `complete -c ${table.name} -n 'not __${table.name}_first; and __${table.name}_in "${name}"'`;
  const argument = offer === 'nothing' ? [] : [`${words} -k ${find(table, offer)}`];
  return [...argument, ...flags.flatMap((flag) => flagLines(table, complete, flag))];
}

function flagLines(table: Table, complete: string, { words, help, value }: Flag): string[] {
  const names = words.map((word) => (word.startsWith('--') ? `-l ${word.slice(2)}` : `-s ${word.slice(1)}`));
  const line = `${complete} ${names.join(' ')} -d ${quote(help)}`;
  if (value === null) return [line];
  const found = find(table, value.offer);
  if (!value.optional) return [`${line} -r -k ${found}`];
  // fish itself offers a value that may be left out only after "=".
  const after = words.map((word) => `__${table.name}_after ${word}`).join('; or ');
  return [`${line} -k ${found}`, `complete -c ${table.name} -n '${after}' -k ${found}`];
}

function find({ name }: Table, offer: Offer): string {
  if (typeof offer !== 'string') return `-f -a ${quote(offer.map(quote).join(' '))}`;
  switch (offer) {
    case 'files':
      return '-F';
    case 'programs':
      return "-f -a '(__fish_complete_command)'";
    case 'runs':
      return `-f -a '(__${name}_runs)'`;
    case 'nothing':
      return '-f';
  }
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
