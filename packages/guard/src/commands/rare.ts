import type { Handlers } from '../call.ts';
import { agents } from './agents.ts';
import { archives } from './archives.ts';
import { awk } from './awk.ts';
import { cloud } from './cloud.ts';
import { codecs } from './codecs.ts';
import { containers } from './containers.ts';
import { databases } from './databases.ts';
import { disks } from './disks.ts';
import { distro } from './distro.ts';
import { foreign } from './foreign.ts';
import { keys } from './keys.ts';
import { powershell } from './powershell.ts';
import { releases } from './releases.ts';
import { byName } from './rules.ts';
import { sharing } from './sharing.ts';
import { sockets } from './sockets.ts';
import { system } from './system.ts';
import { terminals } from './terminals.ts';
import { transfers } from './transfers.ts';

export const rarePrograms: Handlers = byName(
  powershell,
  awk,
  foreign,
  cloud,
  containers,
  databases,
  distro,
  releases,
  sharing,
  sockets,
  transfers,
  archives,
  codecs,
  terminals,
  system,
  keys,
  agents,
  disks,
);
