import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { host as claudeCode } from '../../agents/claude/host.ts';
import { makeTempDir, removeTempDir } from '../../os/files/temp.ts';
import type { HookContext } from '../session/hook-reply.ts';
import { listEndedLoops, listSessionLoops } from '../session/session-loops.ts';
import { parseHookInput } from './input.ts';
import { hookOutput } from './output.ts';
import { promptHook } from './prompt.ts';
import { sessionStartHook } from './session-start.ts';

let room: string;
let transcript: string;
let clock: number;
let context: HookContext;

beforeEach(() => {
  room = makeTempDir('ralph-prompt-');
  transcript = join(room, 'transcript.jsonl');
  clock = 1_800_000_000_000;
  const env = { ...process.env, XDG_STATE_HOME: join(room, 'state') };
  context = { env, now: () => ++clock, driver: room, version: '0.0.0', warn() {} };
});

afterEach(() => removeTempDir(room));

function send(extra: object) {
  const input = { session_id: 's', transcript_path: transcript, cwd: room, ...extra };
  const parsed = parseHookInput(JSON.stringify(input));
  const output = hookOutput(claudeCode, parsed.event, promptHook(claudeCode, parsed, context));
  return output === '' ? null : JSON.parse(output);
}

function submit(prompt: string, extra: object = {}) {
  return send({ hook_event_name: 'UserPromptSubmit', prompt, ...extra });
}

function expand(name: string, args: string, extra: object = {}) {
  return send({ hook_event_name: 'UserPromptExpansion', command_name: name, command_args: args, ...extra });
}

function stopSettings(command: string): string {
  return JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } });
}

function loop() {
  return listSessionLoops(context.env)[0];
}

describe('a loop command', () => {
  it.each([
    ['the bare name', () => submit('/ralph-loop "fix it"')],
    ["a plugin's name", () => submit('/ralphkit:ralph-loop "fix it"')],
    ["the host's own event", () => expand('ralphkit:ralph-loop', '"fix it"')],
    ["the host's own event of a user's command", () => expand('ralph-loop', '"fix it"')],
    ['the other loop', () => submit('/ulw-loop "fix it"')],
  ])('starts a loop by %s', (_name, start) => {
    expect(start().hookSpecificOutput.additionalContext).toContain('fix it');
    expect(loop()?.loop.task).toBe('fix it');
  });

  it('tells the agent the task, the stopping rule, the strictness and the safety valve', () => {
    const { hookSpecificOutput, systemMessage } = submit(
      '/ralph-loop "fix it" --completion-promise OK --verify "npm test"',
    );
    const told = hookSpecificOutput.additionalContext;
    expect(hookSpecificOutput.hookEventName).toBe('UserPromptSubmit');
    for (const part of [
      'fix it',
      'Only when the task is fully done',
      '<promise>OK</promise>',
      'no space inside the tag',
      'If the task is not done, do not output the promise',
      'npm test',
    ])
      expect(told).toContain(part);
    expect(systemMessage).toContain('at most 50 iterations, done is <promise>OK</promise>');
  });

  it('keeps its messages short where the task is long, and names a file with all of it', () => {
    const task = `${'"a\n\u{1f389}'.repeat(12_000)}end`;
    const output = submit(`/ralph-loop ${task}`);
    expect(output.hookSpecificOutput.additionalContext.length).toBeLessThan(10_000);
    expect(loop()?.loop.task).toBe(task);
    const [, file = ''] = /Read all of it: (.*)\]/.exec(output.hookSpecificOutput.additionalContext) ?? [];
    expect(readFileSync(file, 'utf8')).toBe(task);
    expect(output.hookSpecificOutput.additionalContext).toContain(`of ${task.length} characters`);
  });

  it.each([
    ['the state of another plugin', '.claude/ralph-loop.local.md', '---\nactive: true\n'],
    ['a stop hook of another loop', '.claude/settings.json', stopSettings('node ~/my-ralph/stop.js')],
  ])('warns of %s', (_name, file, content) => {
    mkdirSync(join(room, '.claude'));
    writeFileSync(join(room, file), content);
    expect(submit('/ralph-loop "fix it"').systemMessage).toContain(
      `may send the agent back here, too: see ${file}`,
    );
  });

  it.each([
    ['a stop hook that does something else', stopSettings('notify-send done')],
    ['our own', stopSettings('/bin/sh /opt/ralphkit/plugins/claude-code/hooks/gate.sh stop')],
    ['settings that cannot be read', '{'],
  ])('does not warn of %s', (_name, content) => {
    mkdirSync(join(room, '.claude'));
    writeFileSync(join(room, '.claude/settings.json'), content);
    expect(submit('/ralph-loop "fix it"').systemMessage).toMatch(/\/cancel-ralph ends it\.$/);
  });

  it('takes the task byte for byte from either event', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.boolean(), (raw, expanded) => {
        const task = `x${raw.replaceAll('--', '-')}x`;
        const id = { session_id: `s${clock}` };
        if (expanded) expand('ralph-loop', task, id);
        else submit(`/ralph-loop ${task}`, id);
        expect(
          listSessionLoops(context.env).find((state) => state.sessionId === id.session_id)?.loop.task,
        ).toBe(task);
      }),
      { numRuns: 50 },
    );
  });

  it('starts once, though one prompt comes as two events', () => {
    const prompt = { prompt_id: 'p1' };
    expect(submit('/ralphkit:ralph-loop fix it', prompt)).not.toBeNull();
    const { run } = loop() ?? {};
    expect(expand('ralphkit:ralph-loop', 'fix it', prompt)).toBeNull();
    expect(loop()?.run).toBe(run);
  });

  it('is refused while the session has a loop', () => {
    submit('/ralph-loop first', { prompt_id: 'p1' });
    const { decision, reason } = submit('/ralph-loop second', { prompt_id: 'p2' });
    expect(decision).toBe('block');
    expect(reason).toContain('/cancel-ralph ends it');
    expect(loop()?.loop.task).toBe('first');
  });

  it('with a mistake is answered with the usage, and leaves no state', () => {
    for (const args of [
      '',
      '--max-iterations 3',
      'x --frob',
      'x --completion-promise ""',
      'x --max-iterations none',
    ]) {
      expect(submit(`/ralph-loop ${args}`)).toMatchObject({
        decision: 'block',
        reason: expect.stringContaining('Usage:'),
      });
    }
    expect(existsSync(join(room, 'state'))).toBe(false);
  });

  it.each([
    'fix the ralph-loop please',
    'what does /ralph-loop do?',
    '/ralph-looper x',
    '/help',
    'a\n/ralph-loop x',
  ])('is not read out of %j', (prompt) => {
    expect(submit(prompt)).toBeNull();
    expect(existsSync(join(room, 'state'))).toBe(false);
  });
});

describe('a command about the loop', () => {
  it.each(['/cancel-ralph', '/ralphkit:ralph-status', '/ralph-pause', '/ralph-resume'])(
    '%s says so when there is none',
    (prompt) => {
      expect(submit(prompt)).toMatchObject({
        decision: 'block',
        reason: expect.stringContaining('no Ralph loop'),
      });
    },
  );

  it('shows the status without a model call', () => {
    submit('/ralph-loop "fix it" --max-iterations 9 --verify "npm test"');
    const { decision, reason } = submit('/ralph-status');
    expect(decision).toBe('block');
    expect(reason).toMatch(/active, iteration 0 of 9/);
    expect(reason).toContain('Verified with: npm test');
  });

  it('shows in its status the work and the time that were asked for', () => {
    submit('/ralph-loop "fix it" --min-tool-calls 4 --on-promise-no-work warn --max-time 2h');
    const { reason } = submit('/ralph-status');
    expect(reason).toContain('with a warning below 4 tool calls (0 tool calls so far)');
    expect(reason).toContain('at most 2h');
  });

  it('cancels at once, and keeps the record', () => {
    submit('/ralph-loop fix it');
    expect(submit('/cancel-ralph').reason).toMatch(/^Ralph loop ended: CANCELLED after 0 iterations/);
    expect(loop()).toBeUndefined();
    expect(listEndedLoops(context.env)[0]?.loop.outcome).toBe('CANCELLED');
  });

  it('pauses and goes on, with the task told again', () => {
    submit('/ralph-loop fix it');
    expect(submit('/ralph-pause').decision).toBe('block');
    expect(submit('/ralph-pause').reason).toContain('paused already');
    expect(loop()?.status).toBe('paused');
    const resumed = submit('/ralph-resume', { prompt_id: 'p9' });
    expect(resumed.hookSpecificOutput.additionalContext).toContain('fix it');
    expect(loop()?.status).toBe('active');
    expect(expand('ralphkit:ralph-resume', '', { prompt_id: 'p9' })).toBeNull();
  });
});

describe('other words of the user', () => {
  it('pause a loop that was broken off with Escape, and say so once', () => {
    submit('/ralph-loop fix it');
    const content = [{ type: 'text', text: '[Request interrupted by user]' }];
    appendFileSync(transcript, `${JSON.stringify({ type: 'user', message: { role: 'user', content } })}\n`);
    expect(submit('What is 2 + 2?').systemMessage).toContain('Ralph loop paused');
    expect(submit('And 3 + 3?')).toBeNull();
  });

  it('do not disturb a loop that runs', () => {
    submit('/ralph-loop fix it');
    expect(submit('Please use tabs')).toBeNull();
    expect(loop()?.revision).toBe(1);
  });
});

describe('a session that starts again', () => {
  function wake(source: string, extra: object = {}) {
    const input = {
      session_id: 's',
      transcript_path: transcript,
      hook_event_name: 'SessionStart',
      source,
      ...extra,
    };
    const reply = sessionStartHook(claudeCode, parseHookInput(JSON.stringify(input)), context);
    return reply.kind === 'context' ? reply.message : null;
  }

  it('is told its task after a compaction and a resume, not otherwise', () => {
    submit('/ralph-loop fix it');
    expect(wake('compact')).toContain('fix it');
    expect(wake('resume')).toContain('fix it');
    for (const source of ['startup', 'clear', 'fork']) expect(wake(source)).toBeNull();
  });

  it('is told that its loop is paused', () => {
    submit('/ralph-loop fix it');
    submit('/ralph-pause');
    expect(wake('resume')).toContain('paused until the user types /ralph-resume');
  });

  it('under a new id takes its loop along by its transcript, and never that of another session', () => {
    submit('/ralph-loop fix it');
    expect(wake('resume', { session_id: 'other', transcript_path: join(room, 'other.jsonl') })).toBeNull();
    expect(wake('resume', { session_id: 'renamed' })).toContain('fix it');
    expect(listSessionLoops(context.env).map(({ sessionId }) => sessionId)).toEqual(['renamed']);
  });
});
