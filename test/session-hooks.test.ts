import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readJournal } from '../src/store/journal.ts';
import { makeTempDir, removeTempDir } from '../src/system/temp.ts';
import { certificate } from './support/certificate.ts';
import { copyBuilt } from './support/copy.ts';
import { startHookServer } from './support/hook-server.ts';

const source = fileURLToPath(new URL('../plugins/claude-code', import.meta.url));
let room: string;
let plugin: string;
let sessions: string;
let env: Record<string, string>;

beforeEach(() => {
  room = makeTempDir('ralph-hooks-');
  plugin = join(room, "a copy's $(plugin)");
  copyBuilt(source, plugin);
  const home = join(room, 'home');
  sessions = join(home, '.local/state/ralph/sessions');
  mkdirSync(home);
  env = { HOME: home, PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
});

afterEach(() => removeTempDir(room));

type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Runs the hook of an event as a host does that reads hooks.json. */
function fire(event: string, input: object, extra: Record<string, string> = {}): Promise<Ran> {
  const text = JSON.stringify({ hook_event_name: event, session_id: 's', cwd: room, ...input });
  return fireText(event, text, extra);
}

function fireText(event: string, text: string, extra: Record<string, string>): Promise<Ran> {
  const { hooks } = JSON.parse(readFileSync(join(plugin, 'hooks/hooks.json'), 'utf8'));
  const [{ command, args }] = hooks[event][0].hooks;
  const words = args.map((word: string) => word.replace('$' + '{CLAUDE_PLUGIN_ROOT}', () => plugin));
  const child = spawn(command, words, { cwd: room, env: { ...env, ...extra } });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  child.stdin.on('error', () => {});
  child.stdin.end(text);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
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
    expect((await fired('Stop', claim)).systemMessage).toContain('PROMISE_ACCEPTED');
    expect(readdirSync(sessions)).toEqual(['ended']);
    expect(existsSync(join(room, 'pwned'))).toBe(false);
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
    const [run = ''] = readdirSync(join(sessions, 'ended'));
    const { events } = readJournal(join(sessions, 'ended', run, 'journal.ndjson'));
    expect(events.slice(-3)).toMatchObject([
      { type: 'run.ended' },
      { type: 'notified', channel: 'webhook', ok: true },
      { type: 'notified', channel: 'command', ok: false },
    ]);
  });

  it('start without the extra certificates of the user, who has them in what they run and notify', async () => {
    const certificates = join(room, 'own certificates.pem');
    writeFileSync(certificates, certificate);
    const own = { NODE_EXTRA_CA_CERTS: certificates };
    const hook = await startHookServer(200, '', 'https');
    mkdirSync(join(room, '.ralph'));
    writeFileSync(join(room, '.ralph/settings.json'), JSON.stringify({ notify: { webhook: hook.url } }));
    const verify = 'printf "%s|%s" "$NODE_EXTRA_CA_CERTS" "$RALPH_CA_CERTS" > seen; exit 1';
    await fired('UserPromptSubmit', { prompt: `/ralph-loop x --min-tool-calls 0 --verify '${verify}'` }, own);
    await fired('Stop', { last_assistant_message: '<promise>DONE</promise>' }, own);
    expect(readFileSync(join(room, 'seen'), 'utf8')).toBe(`${certificates}|`);
    await fired('Stop', { last_assistant_message: '<promise>BLOCKED: x</promise>' }, own);
    expect(hook.received).toHaveLength(1);
  });

  it('end the loop all the same where the settings are wrong', async () => {
    mkdirSync(join(room, '.ralph'));
    writeFileSync(join(room, '.ralph/settings.json'), '{"notify": 1}');
    await fired('UserPromptSubmit', { prompt: '/ralph-loop x' });
    const blocked = '<promise>BLOCKED: x</promise>';
    expect((await fired('Stop', { last_assistant_message: blocked })).systemMessage).toContain('BLOCKED');
    const [run = ''] = readdirSync(join(sessions, 'ended'));
    const { events } = readJournal(join(sessions, 'ended', run, 'journal.ndjson'));
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
    expect(await fired(event, input, { PATH: withoutNode() })).toBeNull();
    expect(existsSync(sessions)).toBe(false);
  });

  it('do not start node for words of a session while only another has a loop', async () => {
    await fired('UserPromptSubmit', { prompt: '/ralph-loop x', session_id: 'other-session' });
    expect(await fired('UserPromptSubmit', { prompt: 'Fix the tests' }, { PATH: withoutNode() })).toBeNull();
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

  it('take megabytes of input as they are, and do not keep a shell busy with them', async () => {
    const task = `fix ${'words and * '.repeat(200_000)}end`;
    await fired('UserPromptSubmit', { prompt: `/ralph-loop ${task}`, session_id: 'session-one' });
    const [name = ''] = readdirSync(sessions).filter((file) => file.endsWith('.json'));
    expect(JSON.parse(readFileSync(join(sessions, name), 'utf8')).loop.task).toBe(task);
    const other = { prompt: task, session_id: 'other' };
    expect(await fired('UserPromptSubmit', other, { PATH: withoutNode() })).toBeNull();
  });

  it('look at the context again only when it can have passed the next threshold', async () => {
    const transcript_path = join(room, 'long.jsonl');
    const window = { CLAUDE_CONTEXT_WINDOW: '1000' };
    const blind = { ...window, PATH: withoutNode() };
    const afterCall = async (size: number, extra: Record<string, string>) => {
      writeFileSync(transcript_path, 'x'.repeat(size));
      return fire('PostToolUse', { transcript_path, tool_response: '}'.repeat(100_000) }, extra);
    };
    expect((await afterCall(2200, window)).stdout).toContain('NOTICE');
    expect(await afterCall(2210, blind)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect((await afterCall(2400, window)).stdout).toContain('past 60%');
    expect((await afterCall(3600, window)).stdout).toContain('CRITICAL');
    expect(await afterCall(40_000, blind)).toEqual({ code: 0, stdout: '', stderr: '' });
    await fired('SessionStart', { source: 'compact' }, window);
    expect((await afterCall(3600, window)).stdout).toContain('CRITICAL');
  });

  it('read a transcript path with a blank before it', async () => {
    const transcript_path = join(room, 'short.jsonl');
    writeFileSync(transcript_path, 'x');
    const text = JSON.stringify({ session_id: 's', transcript_path }, null, 1);
    expect(await fireText('PostToolUse', text, { PATH: withoutNode() })).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });

  it.each([
    ['an XDG folder', () => ({ XDG_STATE_HOME: join(room, 'x d g') })],
    ['a relative XDG folder, which does not count', () => ({ XDG_STATE_HOME: 'relative' })],
    ['an empty XDG folder', () => ({ XDG_STATE_HOME: '' })],
  ])('find their loop with %s', async (_name, extra) => {
    await fired('UserPromptSubmit', { prompt: '/ralph-loop x' }, extra());
    expect(await fired('Stop', {}, extra())).toHaveProperty('decision', 'block');
  });

  it('run nothing of what the agent says where a host starts the command without its words', async () => {
    const { hooks } = JSON.parse(readFileSync(join(plugin, 'hooks/hooks.json'), 'utf8'));
    for (const [{ hooks: commands }] of Object.values<[{ hooks: { command: string }[] }]>(hooks)) {
      const child = spawn(commands[0]?.command ?? '', [], { cwd: room, env });
      child.stdin.on('error', () => {});
      child.stdin.end(JSON.stringify({ last_assistant_message: '$(touch pwned) `touch pwned`' }));
      await once(child, 'close');
    }
    expect(existsSync(join(room, 'pwned'))).toBe(false);
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
      expect(readdirSync(sessions)).toEqual(['ended']);
    }
    const ended = readdirSync(join(sessions, 'ended'));
    expect(ended).toHaveLength(100);
    for (const run of ended) {
      const { events, damaged } = readJournal(join(sessions, 'ended', run, 'journal.ndjson'));
      expect(damaged).toBe(0);
      expect(events.at(-1)).toMatchObject({ type: 'run.ended', outcome: 'CANCELLED' });
    }
  }, 240_000);
});

/** A path with all that the guards may use, and no node. */
function withoutNode(): string {
  const bin = join(room, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const name of ['sh', 'cat', 'dd', 'nice', 'wc']) {
    const found = ['/bin', '/usr/bin'].map((folder) => join(folder, name)).find((path) => existsSync(path));
    if (found && !existsSync(join(bin, name))) symlinkSync(found, join(bin, name));
  }
  return bin;
}
