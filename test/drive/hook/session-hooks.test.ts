import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readJournal } from '../../../src/journal/journal.ts';
import { makeTempDir, removeTempDir } from '../../../src/os/files/temp.ts';
import { certificate } from '../../support/certificate.ts';
import { startHookServer } from '../../support/hook-server.ts';
import { barePath, fireHook, type Ran, plugin as source } from '../../support/hooks.ts';

let room: string;
let plugin: string;
let sessions: string;
let env: Record<string, string>;

beforeEach(() => {
  room = makeTempDir('ralph-hooks-');
  plugin = join(room, "a copy's plugin");
  cpSync(source, plugin, { recursive: true });
  const home = join(room, 'home');
  sessions = join(home, '.local/state/ralph/sessions');
  mkdirSync(home);
  env = { HOME: home, PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, RALPH_TRUST: '1' };
});

afterEach(() => removeTempDir(room));

/** Runs the hook of an event as a host does that reads hooks.json. */
function fire(event: string, input: object, extra: Record<string, string> = {}): Promise<Ran> {
  const whole = { session_id: 's', cwd: room, ...input };
  return fireHook(event, whole, { cwd: room, env: { ...env, ...extra }, plugin });
}

async function fired(event: string, input: object, extra?: Record<string, string>) {
  const { code, stdout, stderr } = await fire(event, input, extra);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout === '' ? null : JSON.parse(stdout);
}

describe('the hooks of the plugin', () => {
  it('run a loop to its end from any folder: started, sent back, verified, accepted', async () => {
    const transcript_path = join(room, 'transcript.jsonl');
    const task = 'fix $(touch pwned) `touch pwned` "quoted" \\ and\nmore 🚀';
    await fired('UserPromptSubmit', {
      prompt: `/ralph-loop ${task} --verify 'test -e ready'`,
      transcript_path,
    });
    expect((await fired('Stop', { transcript_path, last_assistant_message: 'more' })).reason).toContain(
      `Original task: ${task}`,
    );
    const content = [{ type: 'tool_use', id: 't', name: 'Bash', input: {} }];
    writeFileSync(
      transcript_path,
      `${JSON.stringify({ type: 'assistant', message: { role: 'assistant', content } })}\n`,
    );
    const claim = { transcript_path, last_assistant_message: '<promise>DONE</promise>' };
    expect((await fired('Stop', claim)).reason).toContain(
      'Your claim was checked with "test -e ready", which failed',
    );
    writeFileSync(join(room, 'ready'), '');
    appendFileSync(transcript_path, '{"type":"assistant","message":{"role":"assistant","content":[]}}\n');
    expect((await fired('Stop', claim)).systemMessage).toContain('PROMISE_ACCEPTED');
    expect(readdirSync(sessions)).toEqual(['runs']);
    expect(existsSync(join(room, 'pwned'))).toBe(false);
  });

  it('keep to what the user and the host say: quotes, stop, an error, BLOCKED, a rewritten transcript', async () => {
    const transcript_path = join(room, 'transcript.jsonl');
    const write = (...entries: object[]) =>
      appendFileSync(transcript_path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    const says = (text: string, extra: object = {}) => {
      const work = { type: 'tool_use', id: text, name: 'Bash', input: {} };
      const content = [work, { type: 'text', text }];
      write({ type: 'assistant', uuid: text, message: { role: 'assistant', content }, ...extra });
      return fired('Stop', { transcript_path, last_assistant_message: text });
    };
    const types = async (prompt: string) => {
      const output = await fired('UserPromptSubmit', { prompt, transcript_path });
      write({ type: 'user', message: { role: 'user', content: prompt } });
      return output;
    };
    mkdirSync(join(room, '.claude'));
    writeFileSync(join(room, '.claude/ralph-loop.local.md'), '---\nactive: true\n---\n');
    const started = await types('/ralph-loop "fix a" and b');
    expect(started.systemMessage).toContain('.claude/ralph-loop.local.md');
    expect((await says('One.')).reason).toMatch(/iteration 1 of 50[\s\S]*Original task: "fix a" and b$/);
    expect((await types('stop')).systemMessage).toContain('/ralph-resume goes on');
    expect(await says('I stop.')).toBeNull();
    expect((await types('/ralph-resume')).systemMessage).toContain('goes on: iteration 1 of 50');
    expect((await says('API Error: 529', { isApiErrorMessage: true })).reason).toContain('iteration 1 of 50');
    const blocked = await says('<promise>BLOCKED: no key</promise>');
    expect(blocked.systemMessage).toContain(
      'BLOCKED after 1 iteration: no key. /ralph-resume goes on with it',
    );
    expect((await types('/ralph-resume')).systemMessage).toContain('goes on: iteration 1 of 50');
    truncateSync(transcript_path);
    expect((await says('All.\n\n<promise>DONE</promise>')).systemMessage).toContain('PROMISE_ACCEPTED');
  });

  it('tell a person that the loop is over, as the settings of the folder say, and the journal how that went', async () => {
    const hook = await startHookServer();
    mkdirSync(join(room, '.ralph'));
    const notify = { webhook: hook.url, command: ['false'] };
    writeFileSync(join(room, '.ralph/settings.json'), JSON.stringify({ notify }));
    await fired('UserPromptSubmit', { prompt: '/ralph-loop x' });
    const blocked = '<promise>BLOCKED: the password is hunter2hunter2</promise>';
    const secret = { DB_PASSWORD: 'hunter2hunter2' };
    const { systemMessage } = await fired('Stop', { last_assistant_message: blocked }, secret);
    expect(systemMessage).toContain('BLOCKED');
    expect(hook.received).toHaveLength(1);
    expect(JSON.parse(hook.received[0]?.body ?? '')).toMatchObject({
      kind: 'blocked',
      outcome: 'BLOCKED',
      body: 'the password is [redacted:DB_PASSWORD]',
    });
    const [run = ''] = readdirSync(join(sessions, 'runs'));
    const { events } = readJournal(join(sessions, 'runs', run, 'journal.ndjson'));
    expect(events.slice(-3)).toMatchObject([
      { type: 'run.ended' },
      { type: 'notified', channel: 'webhook', ok: true },
      { type: 'notified', channel: 'command', ok: false },
    ]);
  });

  it('start with certificates and a compile cache of their own; the user has theirs in what they run and notify', async () => {
    const certificates = join(room, 'own certificates.pem');
    writeFileSync(certificates, certificate);
    const own = { NODE_EXTRA_CA_CERTS: certificates, NODE_COMPILE_CACHE: join(room, 'cache') };
    const hook = await startHookServer(200, '', 'https');
    mkdirSync(join(room, '.ralph'));
    writeFileSync(join(room, '.ralph/settings.json'), JSON.stringify({ notify: { webhook: hook.url } }));
    const verify =
      'printf "%s|%s|%s" "$NODE_EXTRA_CA_CERTS" "$NODE_COMPILE_CACHE" "$RALPH_CA_CERTS$RALPH_COMPILE_CACHE" > seen; exit 1';
    await fired('UserPromptSubmit', { prompt: `/ralph-loop x --min-tool-calls 0 --verify '${verify}'` }, own);
    await fired('Stop', { last_assistant_message: '<promise>DONE</promise>' }, own);
    expect(readFileSync(join(room, 'seen'), 'utf8')).toBe(`${certificates}|${own.NODE_COMPILE_CACHE}|`);
    await fired('Stop', { last_assistant_message: '<promise>BLOCKED: x</promise>' }, own);
    expect(hook.received).toHaveLength(1);
  });

  it('end the loop all the same where the settings are wrong', async () => {
    mkdirSync(join(room, '.ralph'));
    writeFileSync(join(room, '.ralph/settings.json'), '{"notify": 1}');
    await fired('UserPromptSubmit', { prompt: '/ralph-loop x' });
    const blocked = '<promise>BLOCKED: x</promise>';
    expect((await fired('Stop', { last_assistant_message: blocked })).systemMessage).toContain('BLOCKED');
    const [run = ''] = readdirSync(join(sessions, 'runs'));
    const { events } = readJournal(join(sessions, 'runs', run, 'journal.ndjson'));
    expect(events.at(-1)).toMatchObject({ type: 'notice', text: expect.stringContaining('notify is 1') });
  });

  it.each([
    ['Stop', { last_assistant_message: '<promise>DONE</promise>' }],
    ['SessionStart', { source: 'resume' }],
    ['UserPromptSubmit', { prompt: 'Fix the tests' }],
    ['UserPromptSubmit', { prompt: 'Rename *.json to **/*' }],
    ['PostToolUse', { transcript_path: fileURLToPath(import.meta.url) }],
    ['UserPromptExpansion', { command_name: 'help', command_args: '' }],
  ])('do not even start node at %s where no loop is', async (event, input) => {
    expect(await fired(event, input, withoutNode())).toBeNull();
    expect(existsSync(sessions)).toBe(false);
  });

  it('find the loop of a session whatever its id is', async () => {
    for (const session_id of ['team/session 1', 'é', 'x'.repeat(300)]) {
      await fired('UserPromptSubmit', { prompt: '/ralph-loop x', session_id });
      const transcript_path = join(room, 'interrupted.jsonl');
      await fired('Stop', { session_id, transcript_path });
      const message = { role: 'user', content: '[Request interrupted by user]' };
      writeFileSync(transcript_path, `${JSON.stringify({ type: 'user', message })}\n`);
      const told = await fired('UserPromptSubmit', { prompt: 'What now?', session_id, transcript_path });
      expect(told.systemMessage).toContain('paused');
      await fired('UserPromptSubmit', { prompt: '/cancel-ralph', session_id });
      rmSync(transcript_path);
    }
  });

  it('take megabytes of input as they are', async () => {
    const task = `fix ${'words and * '.repeat(100_000)}end`;
    expect(await fired('UserPromptSubmit', { prompt: task }, withoutNode())).toBeNull();
    await fired('UserPromptSubmit', { prompt: `/ralph-loop ${task}` });
    const [name = ''] = readdirSync(sessions).filter((file) => file.endsWith('.json'));
    expect(JSON.parse(readFileSync(join(sessions, name), 'utf8')).loop.task).toBe(task);
  });

  it('find the work and the usage at the end of a transcript of 500 MB', async () => {
    const transcript_path = join(room, 'huge.jsonl');
    await fired('UserPromptSubmit', { prompt: '/ralph-loop x', transcript_path });
    writeFileSync(transcript_path, '');
    truncateSync(transcript_path, 500 * 1024 * 1024);
    const content = [{ type: 'tool_use', id: 't', name: 'Bash', input: {} }];
    const message = { role: 'assistant', content, usage: { input_tokens: 190_000 } };
    appendFileSync(transcript_path, `\n${JSON.stringify({ type: 'assistant', message })}\n`);
    const { hookSpecificOutput } = await fired('PostToolUse', { transcript_path });
    expect(hookSpecificOutput.additionalContext).toContain('at about 95%');
    const claim = { transcript_path, last_assistant_message: '<promise>DONE</promise>' };
    expect((await fired('Stop', claim)).systemMessage).toContain('PROMISE_ACCEPTED');
  });

  it('read a command in JSON of several lines', async () => {
    const input = {
      hook_event_name: 'UserPromptSubmit',
      session_id: 's',
      cwd: room,
      prompt: '/ralph-loop "a  b"',
    };
    const { stdout } = await fireHook('UserPromptSubmit', JSON.stringify(input, null, 2), {
      cwd: room,
      env,
      plugin,
    });
    expect(JSON.parse(stdout).hookSpecificOutput.additionalContext).toContain('a  b');
  });

  it.each([
    ['an agent of a run', () => ({ RALPH_RUN_ID: 'r' })],
    [
      'a session while any has a loop',
      async () => {
        await fired('UserPromptSubmit', { prompt: '/ralph-loop x', session_id: 'other' });
        return {};
      },
    ],
    [
      'a folder below an active PRD',
      () => {
        mkdirSync(join(room, 'project'));
        writeFileSync(join(room, 'project/.ralph-active'), '{}');
        return { CLAUDE_PROJECT_DIR: join(room, 'project/src') };
      },
    ],
  ])('tell %s how full its context is, by the tokens in the transcript', async (_name, prepare) => {
    const extra: Record<string, string> = await prepare();
    const transcript_path = join(room, 'small.jsonl');
    const message = {
      role: 'assistant',
      content: [],
      usage: { input_tokens: 3, cache_read_input_tokens: 181_000 },
    };
    writeFileSync(transcript_path, `${JSON.stringify({ type: 'assistant', message })}\n`);
    const answer = await fired('PostToolUse', { transcript_path }, extra);
    expect(answer.hookSpecificOutput.additionalContext).toContain('[CRITICAL] Context usage is at about 91%');
    expect(await fired('PostToolUse', { transcript_path }, extra)).toBeNull();
    await fired('SessionStart', { source: 'compact' }, extra);
    expect(await fired('PostToolUse', { transcript_path }, extra)).not.toBeNull();
  });

  it.each([
    ['an XDG folder', () => ({ XDG_STATE_HOME: join(room, 'x d g') })],
    ['a relative XDG folder, which does not count', () => ({ XDG_STATE_HOME: 'relative' })],
    ['an empty XDG folder', () => ({ XDG_STATE_HOME: '' })],
  ])('find their loop with %s', async (_name, extra) => {
    await fired('UserPromptSubmit', { prompt: '/ralph-loop x' }, extra());
    expect(await fired('Stop', {}, extra())).toHaveProperty('decision', 'block');
  });

  it.each([[[]], [['']], [['install']]])('do nothing when the gate is called with %j', async (words) => {
    await fired('UserPromptSubmit', { prompt: '/ralph-loop x' });
    const input = JSON.stringify({ session_id: 's', last_assistant_message: '$(touch pwned) `touch pwned`' });
    const gate = join(plugin, 'hooks/gate.sh');
    const { status, stdout, stderr } = spawnSync('/bin/sh', [gate, ...words], { cwd: room, env, input });
    expect([status, `${stdout}${stderr}`]).toEqual([0, '']);
    expect(existsSync(join(room, 'pwned'))).toBe(false);
  });

  it.each([
    ['with a PATH that holds node and nothing else', () => ({ PATH: barePath(room, 'node') })],
    ['without a home', () => ({ HOME: '', XDG_STATE_HOME: join(env.HOME ?? '', '.local/state') })],
  ])('run a loop %s', async (_name, prepare) => {
    const extra: Record<string, string> = prepare();
    await fired('UserPromptSubmit', { prompt: '/ralph-loop "x y" --min-tool-calls 0' }, extra);
    expect((await fired('Stop', { last_assistant_message: 'more' }, extra)).reason).toContain('x y');
    const claim = { last_assistant_message: '<promise>DONE</promise>' };
    expect((await fired('Stop', claim, extra)).systemMessage).toContain('PROMISE_ACCEPTED');
  });

  it('write nothing into their own folder', async () => {
    const listing = () => readdirSync(plugin, { recursive: true }).map(String).sort();
    const before = listing();
    await fired('UserPromptSubmit', { prompt: '/ralph-loop x' });
    await fired('Stop', {});
    await fired('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'cp a b && rm -rf dist' } });
    expect(listing()).toEqual(before);
  });

  it('say so where there is no node, and let the agent stop', async () => {
    await fired('UserPromptSubmit', { prompt: '/ralph-loop x' });
    expect(await fire('Stop', {}, withoutNode())).toEqual({
      code: 1,
      stdout: '',
      stderr: 'ralph: node is not on the PATH, so the stop hook cannot run\n',
    });
  });

  it('let a cancel beat a stop that is late, a hundred times', async () => {
    for (let round = 0; round < 100; round++) {
      const session_id = `race-${round}`;
      await fired('UserPromptSubmit', { prompt: '/ralph-loop x', session_id });
      const [stop, cancel] = await Promise.all([
        fire('Stop', { session_id, last_assistant_message: 'more' }),
        fire('UserPromptSubmit', { prompt: '/cancel-ralph', session_id }),
      ]);
      expect(stop.stderr + cancel.stderr).toBe('');
      expect(cancel.stdout).toContain('CANCELLED');
      expect(['', 'block']).toContain(stop.stdout === '' ? '' : JSON.parse(stop.stdout).decision);
      expect(readdirSync(sessions)).toEqual(['runs']);
    }
    const ended = readdirSync(join(sessions, 'runs'));
    expect(ended).toHaveLength(100);
    for (const run of ended) {
      const { events, damaged } = readJournal(join(sessions, 'runs', run, 'journal.ndjson'));
      expect(damaged).toBe(0);
      expect(events.at(-1)).toMatchObject({ type: 'run.ended', outcome: 'CANCELLED' });
    }
  }, 240_000);
});

function withoutNode(): Record<string, string> {
  return { PATH: barePath(room, 'nothing') };
}
