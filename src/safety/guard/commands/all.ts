import type { Handlers } from '../model.ts';
import { files } from './files.ts';
import { foreign } from './foreign.ts';
import { gitCommands } from './git.ts';
import { network } from './network.ts';
import { packages } from './packages.ts';
import { serviceHandlers } from './services.ts';
import { shells } from './shells.ts';
import { system } from './system.ts';
import { text } from './text.ts';
import { wrappers } from './wrappers.ts';

/** Every program that the guard knows, by name. */
export const allHandlers: Handlers = {
  ...system,
  ...wrappers,
  ...text,
  ...files,
  ...shells,
  ...gitCommands,
  ...network,
  ...packages,
  ...serviceHandlers,
  ...foreign,
};
