import type { Handler, Handlers } from '../model.ts';
import { agents } from './agents.ts';
import { answers } from './answers.ts';
import { archives } from './archives.ts';
import { awk } from './awk.ts';
import { cloud } from './cloud.ts';
import { codecs } from './codecs.ts';
import { containers } from './containers.ts';
import { databases } from './databases.ts';
import { disks } from './disks.ts';
import { distro } from './distro.ts';
import { files } from './files.ts';
import { foreign } from './foreign.ts';
import { git } from './git.ts';
import { keys } from './keys.ts';
import { packages } from './packages.ts';
import { patches } from './patches.ts';
import { patterns } from './patterns.ts';
import { powershell } from './powershell.ts';
import { processes } from './processes.ts';
import { releases } from './releases.ts';
import { searches } from './searches.ts';
import { sed } from './sed.ts';
import { sharing } from './sharing.ts';
import { shells } from './shells.ts';
import { sockets } from './sockets.ts';
import { system } from './system.ts';
import { terminals } from './terminals.ts';
import { text } from './text.ts';
import { transfers } from './transfers.ts';
import { wrappers } from './wrappers.ts';

/** What the guard knows of each program; of two rules for one name, the later counts. */
const handlers: Handlers = {
  ...disks,
  ...processes,
  ...agents,
  ...keys,
  ...system,
  ...wrappers,
  ...searches,
  ...terminals,
  ...text,
  ...patterns,
  ...sed,
  ...codecs,
  ...answers,
  ...files,
  ...archives,
  ...patches,
  ...shells,
  ...git,
  ...transfers,
  ...sockets,
  ...sharing,
  ...packages,
  ...releases,
  ...distro,
  ...databases,
  ...containers,
  ...cloud,
  ...foreign,
  ...awk,
  ...powershell,
};

export function handlerOf(name: string): Handler | undefined {
  return Object.hasOwn(handlers, name) ? handlers[name] : undefined;
}

export function programNames(): readonly string[] {
  return Object.keys(handlers);
}
