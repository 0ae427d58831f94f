#!/usr/bin/env node
import { enter } from './entry.ts';

enter('swarm', (words) => import('./start-swarm.ts').then(({ startSwarm }) => startSwarm(words)));
