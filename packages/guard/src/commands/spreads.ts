import type { Call } from '../call.ts';
import { spend, stepCost } from '../shell.ts';

/** Copies the files that the command wrote into a folder along with the folder. */
export function spreads(call: Call, from: string, to: string): void {
  const folder = call.path(from);
  for (const [path, content] of call.shell.world.files.below(folder)) {
    // A folder that is copied into itself doubles each time.
    spend(call.shell.world, stepCost);
    const copy = `${to}/${path.slice(folder.length + 1)}`;
    call.save(copy, content);
  }
}
