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
  const cases = {
    'stop hook, 100 KB': [0.1 * MB, 1.25],
    'stop hook, 10 MB': [10 * MB, 1.25],
    'stop hook, 500 MB': [500 * MB, 1.25],
    'stop hook, 50 MB last line': [0.1 * MB, 1.5, 50 * MB],
  };
  const contestants = { 'node empty.cjs': () => time(room, [node, empty]) };
  for (const [name, [bytes, , lastLine]] of Object.entries(cases)) {
    contestants[name] = stopHook(room, name, writeTranscript(room, bytes, lastLine));
  }
  const elsewhere = { ...room, env: { ...room.env, XDG_STATE_HOME: join(room.folder, 'no-loops') } };
  contestants['stop hook, no loop'] = () => hook(elsewhere, 'Stop', { session_id: 'none' });
  contestants['prompt hook, no loop'] = () =>
    hook(elsewhere, 'UserPromptSubmit', { session_id: 'none', prompt: 'Fix the tests' });
  const inRun = { ...room, env: { ...room.env, RALPH_RUN_ID: 'bench', RALPH_GUARD: 'always' } };
  const guard = (command) => ({
    session_id: 'none',
    cwd: room.repo,
    tool_name: 'Bash',
    tool_input: { command },
  });
  contestants['guard hook, everyday command'] = () =>
    hook(inRun, 'PreToolUse', guard('npm test 2>&1 | tail -n 20'));
  contestants['guard hook, parsed command'] = () =>
    hook(inRun, 'PreToolUse', guard('npm test && rm -rf dist'));
  contestants['guard hook, 16 KB'] = () =>
    hook(inRun, 'PreToolUse', guard('cp src/a.ts dist/a.ts; '.repeat(700)));
  contestants['guard hook, no loop'] = () => hook(elsewhere, 'PreToolUse', guard('npm test'));
  const { 'node empty.cjs': floor, ...ours } = await interleave(contestants, { rounds, warmups: 6 });
  return Object.entries(ours).map(([name, figures]) => {
    const atMost = cases[name]?.[1] ?? (name.endsWith('no loop') ? 0.1 : 1.3);
    return compare(name, {
      unit: 'ms',
      ours: figures,
      floor,
      against: 'node empty.cjs',
      budget: { of: 'ratio', atMost },
    });
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
  return () => {
    copyFileSync(kept, file);
    rmSync(file.replace(/json$/, 'ndjson'), { force: true });
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
