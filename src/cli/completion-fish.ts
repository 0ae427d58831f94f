import {
  type Flag,
  groupsOf,
  journals,
  type Offer,
  type Place,
  placesOf,
  wordsOf,
} from './completion-table.ts';
import type { Program } from './spec.ts';

/** Lines of `complete`, each with the command that it belongs to as its condition. */
export function fishCompletion(program: Program): string {
  const { name, defaultCommand = '' } = program;
  const places = placesOf(program);
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
${wordsOf(program)
  .map(([word, summary]) => `complete -c ${name} -n __${name}_first -a ${word} -d ${quote(summary)}`)
  .join('\n')}
${groupsOf(program)
  .flatMap(([group, words]) =>
    words.map(
      ([word, summary]) =>
        `complete -c ${name} -n '__${name}_group ${group}' -a ${word} -d ${quote(summary)}`,
    ),
  )
  .join('\n')}
${places.flatMap((place) => linesOf(program, place)).join('\n')}
`;
}

function linesOf(program: Program, { name, flags, offer }: Place): string[] {
  const complete = `complete -c ${program.name} -n '__${program.name}_in "${name}"'`;
  // Where no word is typed yet, the words are the commands.
  const words = `complete -c ${program.name} -n 'not __${program.name}_first; and __${program.name}_in "${name}"'`;
  const argument = offer === 'nothing' ? [] : [`${words} -k ${find(program, offer)}`];
  return [...argument, ...flags.flatMap((flag) => flagLines(program, complete, flag))];
}

function flagLines(program: Program, complete: string, { words, help, value }: Flag): string[] {
  const names = words.map((word) => (word.startsWith('--') ? `-l ${word.slice(2)}` : `-s ${word.slice(1)}`));
  const line = `${complete} ${names.join(' ')} -d ${quote(help)}`;
  if (value === null) return [line];
  const found = find(program, value.offer);
  if (!value.optional) return [`${line} -r -k ${found}`];
  // fish itself offers a value that may be left out only after "=".
  const after = words.map((word) => `__${program.name}_after ${word}`).join('; or ');
  return [`${line} -k ${found}`, `complete -c ${program.name} -n '${after}' -k ${found}`];
}

function find({ name }: Program, offer: Offer): string {
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
