import type { Call } from '../call.ts';
import { hasGlob, parentProcess, UNKNOWN } from '../marks.ts';

export const agent = /ralph|claude|codex|gemini|opencode|swarm/;

/** Denies to end, stop or attach to the agent, its loop or all processes. */
export function checkProcess(call: Call, target: string): void {
  const all = hasGlob(target) || (target.includes(UNKNOWN) && listsProc(call));
  if (target === '1' || target === '-1' || target === '0' || all)
    call.deny('process', target === '1' ? 'ends the first process' : 'ends all processes of the user');
  if (target === parentProcess || agent.test(target) || (target.includes(UNKNOWN) && soughtAgent(call)))
    call.deny('process', 'ends the agent or its loop', 'Finish the task instead.');
}

function listsProc({ shell }: Call): boolean {
  return shell.world.steps.some(
    ({ words }) => words[0] === 'ls' && words.some((word) => /^\/proc\/?$/.test(word)),
  );
}

function soughtAgent({ shell }: Call): boolean {
  const { steps, effects } = shell.world;
  if (effects.some((effect) => effect.kind === 'read' && /\/\.ralph\/|\/state\/ralph\//.test(effect.path)))
    return true;
  return (
    steps.some(({ words }) => words[0] === 'ps') &&
    steps.some(
      ({ words }) =>
        /^([efrz]?grep|rg|g?awk|sed)$/.test(words[0] ?? '') &&
        words.slice(1).some((word) => agent.test(word.replace(/[[\]]/g, ''))) &&
        !words.includes('-v'),
    )
  );
}
