import type { Clock } from '../system/clock.ts';
import type { Environment } from '../system/program.ts';
import type { Tmux } from '../system/tmux.ts';
import type { Driven } from './driven.ts';
import { markText } from './runner.ts';

/** Agents take Enter for a part of the paste if it comes with it. */
const enterMs = 500;

/** Gives the agent a text, once: the mark of the pane changes with the paste. */
export async function typeIn(
  env: Environment,
  clock: Clock,
  tmux: Tmux,
  one: Driven,
  text: string,
): Promise<void> {
  const { pane, loop, name } = one;
  if (!pane) return;
  const place = { name, launch: loop.launch, prompted: true };
  await tmux.paste(pane.id, text, markText(env, place));
  one.pane = { ...pane, place };
  await clock.sleep(enterMs);
  await tmux.sendKeys(pane.id, 'Enter');
}
