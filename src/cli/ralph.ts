#!/usr/bin/env node
import { enter } from './entry.ts';

enter('ralph', (words) => import('./start-ralph.ts').then(({ startRalph }) => startRalph(words)));
