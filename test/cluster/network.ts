import { execFileSync, spawnSync } from 'node:child_process';
import { onTestFinished } from 'vitest';

/** A machine of its own as far as the network goes: its only way out is a cable to this one. */
export type NetworkRoom = {
  /** Where this machine can be reached from there. */
  readonly address: string;
  /** Words before a command that make it run there. */
  readonly through: readonly string[];
  cut(): void;
  mend(): void;
};

/** What keeps a network from being made here; null where nothing does. */
export const whyNoNetwork = ((): string | null => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'network namespaces need root on Linux';
  const name = `try-${process.pid}`;
  const made = spawnSync('ip', ['netns', 'add', name], { encoding: 'utf8' });
  spawnSync('ip', ['netns', 'del', name]);
  return made.status === 0 ? null : `no network namespaces here: ${made.stderr ?? 'ip is not installed'}`;
})();

let made = 0;

export function makeRoom(): NetworkRoom {
  const id = `${process.pid % 50_000}-${made++}`;
  const [name, here, there] = [`room-${id}`, `vh${id}`, `vr${id}`];
  const subnet = `10.${150 + (made % 50)}.${process.pid % 250}`;
  const ip = (...words: string[]) => execFileSync('ip', words, { stdio: 'pipe' });
  onTestFinished(() => {
    spawnSync('ip', ['link', 'del', here]);
    spawnSync('ip', ['netns', 'del', name]);
  });
  ip('netns', 'add', name);
  ip('link', 'add', here, 'type', 'veth', 'peer', 'name', there);
  ip('link', 'set', there, 'netns', name);
  ip('addr', 'add', `${subnet}.1/24`, 'dev', here);
  ip('link', 'set', here, 'up');
  ip('netns', 'exec', name, 'ip', 'addr', 'add', `${subnet}.2/24`, 'dev', there);
  for (const link of ['lo', there]) ip('netns', 'exec', name, 'ip', 'link', 'set', link, 'up');
  return {
    address: `${subnet}.1`,
    through: ['ip', 'netns', 'exec', name],
    cut: () => ip('link', 'set', here, 'down'),
    mend: () => ip('link', 'set', here, 'up'),
  };
}
