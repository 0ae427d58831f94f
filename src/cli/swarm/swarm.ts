#!/usr/bin/env node
import { enter } from '../kernel/entry.ts';

enter('swarm', (words) => import('./commands.ts').then(({ startSwarm }) => startSwarm(words)));
