// What a stop hook costs at the end of every turn, by the size of the transcript, and the guard before every tool call,
// against the start of Node itself.
import { closeSync, copyFileSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compare, interleave } from './support/measure.mjs';
import { clockProblem, launch, time } from './support/room.mjs';

export { clockProblem as problem };

const node = process.execPath;
const plugin = fileURLToPath(new URL('../plugins/claude-code', import.meta.url));
const { hooks } = JSON.parse(readFileSync(join(plugin, 'hooks/hooks.json'), 'utf8'));
const MB = 1024 * 1024;

export async function run(room, { rounds = 31 }) {
  const empty = room.write('empty.cjs', '');
  const elsewhere = { ...room, env: { ...room.env, XDG_STATE_HOME: join(room.folder, 'no-loops') } };
  const inRun = { ...room, env: { ...room.env, RALPH_RUN_ID: 'bench', RALPH_GUARD: 'always' } };
  const call = (command) => ({ ...plain, tool_name: 'Bash', tool_input: { command } });
  const plain = { session_id: 'none', cwd: room.repo };
  const stop = (name, ...sizes) => [1.7, stopHook(room, name, writeTranscript(room, ...sizes))];
  /** Each with the ratio that it may have at most; null is no budget. */
  const cases = {
    'stop hook, 100 KB': stop('100 KB', 0.1 * MB),
    'stop hook, 10 MB': stop('10 MB', 10 * MB),
    'stop hook, 500 MB': stop('500 MB', 500 * MB),
    'stop hook, 50 MB last line': stop('50 MB line', 0.1 * MB, 50 * MB),
    'stop hook, no loop': [0.15, () => hook(elsewhere, 'Stop', plain)],
    'prompt hook, no loop': [0.15, () => hook(elsewhere, 'UserPromptSubmit', { ...plain, prompt: 'Fix it' })],
    'context hook, no loop': [0.15, () => hook(elsewhere, 'PostToolUse', call('npm test'))],
    'guard hook, no loop': [0.15, () => hook(elsewhere, 'PreToolUse', call('npm test'))],
    'guard hook, everyday command': [
      1.5,
      () => hook(inRun, 'PreToolUse', call('npm test 2>&1 | tail -n 20')),
    ],
    'guard hook, with rules': [2, () => hook(inRun, 'PreToolUse', call('npm test && rm -rf dist'))],
    'guard hook, 16 KB': [null, () => hook(inRun, 'PreToolUse', call('cp src/a.ts dist/a.ts; '.repeat(700)))],
  };
  const contestants = Object.entries(cases).map(([name, [, act]]) => [name, act]);
  const { floor, ...ours } = await interleave(
    { floor: () => time(room, [node, empty]), ...Object.fromEntries(contestants) },
    { rounds, warmups: 6 },
  );
  return Object.entries(ours).map(([name, figures]) => {
    const [atMost] = cases[name];
    const budget = atMost === null ? null : { of: 'ratio', atMost };
    return compare(name, { unit: 'ms', ours: figures, floor, against: 'node empty.cjs', budget });
  });
}

/** A loop that is asked again and again at the same point: the turn that ends is the whole transcript. */
function stopHook(room, name, transcript) {
  // Hosts take UUIDs, which are file names as they are.
  const id = name.replace(/\W+/g, '-');
  const session = { session_id: id, transcript_path: transcript, cwd: room.repo };
  const state = join(room.env.HOME, '.local/state/ralph/sessions');
  const prompt = '/ralph-loop "Fix the tests" --max-iterations 100000';
  const started = { ...session, transcript_path: `${transcript}.new`, prompt };
  hook(room, 'UserPromptSubmit', started);
  const file = join(state, `${id}.json`);
  const kept = `${file}.kept`;
  const text = readFileSync(file, 'utf8').replace(`${transcript}.new`, transcript);
  room.write('state', text);
  copyFileSync(join(room.folder, 'state'), kept);
  const journal = join(state, 'runs', JSON.parse(text).run, 'journal.ndjson');
  return () => {
    copyFileSync(kept, file);
    rmSync(journal, { force: true });
    return hook(room, 'Stop', { ...session, last_assistant_message: 'Still working.' });
  };
}

/** Runs a hook as the host does, and gives its milliseconds. */
function hook(room, event, input) {
  const line = hooks[event][0].hooks[0].command.replace(`\${CLAUDE_PLUGIN_ROOT}`, plugin);
  const file = room.write('input.json', JSON.stringify({ hook_event_name: event, ...input }));
  const { ms, stderr } = launch(room, ['/bin/sh', '-c', line], { input: file });
  if (stderr !== '') throw new Error(`${event} failed: ${stderr}`);
  return ms;
}

function writeTranscript(room, bytes, lastLine = 0) {
  const path = join(room.folder, `${bytes}-${lastLine}.jsonl`);
  const entry = (type, message) => `${JSON.stringify({ isSidechain: false, type, message })}\n`;
  const turn = [
    entry('assistant', { role: 'assistant', content: [{ type: 'text', text: 'Let me look. '.repeat(20) }] }),
    entry('assistant', {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 't', name: 'Bash', input: { command: 'npm test' } }],
    }),
    entry('user', {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't', content: 'ok '.repeat(1000) }],
    }),
  ].join('');
  const fd = openSync(path, 'w');
  const block = turn.repeat(Math.max(1, Math.floor(Math.min(bytes, MB) / turn.length)));
  for (let written = 0; written < bytes; written += block.length) writeSync(fd, block);
  if (lastLine > 0) {
    const content = [{ type: 'tool_result', tool_use_id: 't', content: 'x'.repeat(lastLine) }];
    writeSync(fd, entry('user', { role: 'user', content }));
  }
  closeSync(fd);
  if (statSync(path).size < bytes) throw new Error('the transcript is too short');
  return path;
}
