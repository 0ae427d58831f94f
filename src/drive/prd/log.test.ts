import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aSavedLoop } from '../../../test/core/loop-examples.ts';
import type { EventBody, JournalEvent } from '../../journal/events.ts';
import { ensureDir } from '../../os/files/files.ts';
import { makeTempDir, removeTempDir } from '../../os/files/temp.ts';
import { keepLogs } from './log.ts';
import { prdPaths } from './tasks.ts';

let room: string;
let paths: ReturnType<typeof prdPaths>;
let warnings: string[];

beforeEach(() => {
  room = makeTempDir('prd-log-');
  paths = prdPaths(join(room, 'ralph'));
  ensureDir(paths.root);
  warnings = [];
});

afterEach(() => removeTempDir(room));

const redactor = {
  text: (text: string) => text.replaceAll('hunter2', '[redacted]'),
  stream: () => ({ push: (chunk: Buffer) => chunk, end: () => Buffer.alloc(0) }),
};
const counts = { total: 2, done: 1, needsReview: 0, changesRequested: 0, open: 1 };
const event = (body: EventBody): JournalEvent => ({ v: 1, seq: 1, at: '2026-01-02T03:04:05.000Z', ...body });

function iteration(story: string): void {
  const logs = keepLogs('r1', paths, redactor, (text) => warnings.push(text));
  logs.journal(event({ type: 'prd.iteration', iteration: 1, mode: 'implement', story, counts, stories: [] }));
  logs.agent({ type: 'text', text: 'The key is hunter2.\u001b[2J' });
  logs.agent({ type: 'tool-start', id: 't', name: 'Bash', summary: 'npm test' });
  const problems = ['not approved: no.'];
  const checked = {
    iteration: 1,
    mode: 'implement',
    ok: false,
    problems,
    undone: true,
    complete: false,
  } as const;
  logs.journal(event({ type: 'prd.checked', ...checked, counts, stories: [] }));
  logs.journal(
    event({
      type: 'decision',
      iteration: 1,
      kind: 'continue',
      because: { code: 'no-claim', text: 'why' },
      loop: aSavedLoop(),
    }),
  );
}

describe('the logs of a PRD', () => {
  it('tell what the agent said and did, without secrets and control sequences', () => {
    iteration('US-001');
    const log = readFileSync(paths.log('r1', 1), 'utf8');
    expect(log).toContain('# iteration 1, implement, US-001');
    expect(log).toContain('The key is [redacted].');
    expect(log).not.toContain('\u001b');
    expect(log).toContain('> Bash npm test');
    expect(log).toContain('tasks.json: not approved: no. (undone)');
    expect(readFileSync(join(paths.logs, '.gitignore'), 'utf8')).toBe('*\n');
  });

  it('have a row for each iteration, which no spreadsheet takes for a formula', () => {
    for (const story of ['a,"b"', '=1+1']) iteration(story);
    const rows = readFileSync(paths.summary, 'utf8').split('\n');
    expect(rows[0]).toBe('run,iteration,mode,story,started,seconds,end,commits,done,total,undone,decision');
    expect(rows[1]).toBe('r1,1,implement,"a,""b""",2026-01-02T03:04:05.000Z,,,,1,2,true,continue');
    expect(rows[2]).toContain(",'=1+1,");
  });

  it('never end a loop', () => {
    mkdirSync(paths.summary, { recursive: true });
    iteration('US-001');
    expect(warnings).toEqual([expect.stringContaining('the logs of this PRD cannot be written')]);
  });
});
