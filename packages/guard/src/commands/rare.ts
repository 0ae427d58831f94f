import type { Handlers } from '../call.ts';
import { agents } from './agents.ts';
import { archives } from './archives.ts';
import { awk } from './awk.ts';
import { cloud } from './cloud.ts';
import { containers } from './containers.ts';
import { databases } from './databases.ts';
import { foreign } from './foreign.ts';
import { keys } from './keys.ts';
import { powershell } from './other-languages.ts';
import { releases } from './releases.ts';
import { byName } from './rules.ts';
import { sharing } from './sharing.ts';
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
  releases,
  sharing,
  transfers,
  archives,
  terminals,
  system,
  keys,
  agents,
);
