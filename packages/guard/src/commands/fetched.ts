import type { Call } from '../call.ts';
import { NETWORK } from '../marks.ts';
import { spend, stepCost } from '../shell.ts';

/** Remembers a folder as fetched: the same command must not run what is in it. */
export function keepFetched(call: Call, folder: string): void {
  call.shell.world.fetched.set(call.path(folder), NETWORK);
}

export function fetchesFolder(call: Call, url: string, folder: string | undefined): void {
  const isRemote = /^(\w+:\/\/|[\w.-]+@[\w.-]+:)/.test(url) && !url.startsWith('file:');
  const name = /([^/:]+?)(?:\.git)?\/*$/.exec(url)?.[1];
  if (isRemote && name !== undefined) keepFetched(call, folder ?? name);
}

export function fetchesFiles(call: Call, sources: readonly string[], target: string): void {
  for (const source of sources) {
    if (!/^([\w.-]+@)?[\w.-]+:|^\w+:\/\//.test(source)) continue;
    call.keep(target, NETWORK);
    call.keep(`${target}/${source.split(/[/:]/).at(-1)}`, NETWORK);
  }
}

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
