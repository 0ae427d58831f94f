#!/usr/bin/env node
import { enter } from '../kernel/entry.ts';

enter('ralph', (words) => import('./commands.ts').then(({ startRalph }) => startRalph(words)));
