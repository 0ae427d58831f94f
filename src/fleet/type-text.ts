import type { Tmux } from '../system/tmux.ts';

/** How a text gets into a window. */
export type Typing = {
  /** Clear the line first; a dialog would take that for a no. */
  readonly clear: boolean;
  readonly enter: boolean;
};

/** Types into the window of a worker, as a person would. */
export async function typeText(
  tmux: Tmux,
  pane: string,
  text: string,
  { clear, enter }: Typing,
): Promise<void> {
  // Agents offer completions that Enter would take instead of what was typed.
  if (clear) await tmux.sendKeys(pane, 'Escape', 'C-u');
  await tmux.sendText(pane, text);
  if (enter) await tmux.sendKeys(pane, 'Enter');
}
