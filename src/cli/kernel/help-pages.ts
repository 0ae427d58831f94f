import { ralph } from '../ralph/commands.ts';
import { swarm } from '../swarm/commands.ts';
import { commandHelp, groupHelp, programHelp } from './help.ts';
import type { Program } from './spec.ts';

/** Every page of help by the words before `--help`. The build writes them to files, so that no other code is loaded. */
export const helpPages: ReadonlyMap<string, string> = new Map([...pagesOf(ralph), ...pagesOf(swarm)]);

function pagesOf(program: Program): (readonly [words: string, page: string])[] {
  const { name, commands, groups = {} } = program;
  return [
    [name, programHelp(program)],
    ...Object.keys(groups).map((group) => [`${name} ${group}`, groupHelp(program, group)] as const),
    ...Object.entries(commands).map(
      ([words, spec]) => [`${name} ${words}`, commandHelp(name, words, spec)] as const,
    ),
  ];
}
