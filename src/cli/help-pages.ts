import { ralph } from './commands.ts';
import { programHelp } from './help.ts';
import { swarm } from './swarm-commands.ts';

/** The help pages as text; the build puts them into the entries, so that showing one loads nothing else. */
export const helpPages = { ralph: programHelp(ralph), swarm: programHelp(swarm) };
