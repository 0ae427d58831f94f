// Streams of Claude Code to feed to a loop: a recorded one of the usual size, and generated ones of any size.
import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const fixtures = fileURLToPath(new URL('../../src/agents/claude/fixtures', import.meta.url));
const session = { session_id: '0b0e5a6e-1f2d-4c3b-9a48-7d6c5b4a3f21', parent_tool_use_id: null };
const init = {
  type: 'system',
  subtype: 'init',
  cwd: '/home/dev/project',
  model: 'claude-opus-5-5',
  ...session,
};
const result = {
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: 'More to do.',
  num_turns: 9,
  ...session,
};

/** One turn of some 29 KB with several tool calls and no claim, put together from recorded ones. */
export function recordedStream() {
  const recordings = readdirSync(fixtures).filter((name) =>
    /^2\.1\.325-(big-output|multi-block|non-ascii|subagent|todo|tool)/.test(name),
  );
  const lines = recordings.flatMap((name) => readFileSync(join(fixtures, name), 'utf8').trim().split('\n'));
  const work = lines.filter((line) => ['assistant', 'user'].includes(JSON.parse(line).type));
  const text = [JSON.stringify(init), ...work, JSON.stringify(result)].join('\n');
  return `${text.replaceAll('<promise>DONE</promise>', 'There is more to do.')}\n`;
}

/** Writes a stream of about `mb` megabytes: text, tool calls and their results, in lines of 0.2 to 30 KB. */
export function writeStream(path, mb) {
  const block = Buffer.from(someWork(4 * 1024 * 1024));
  const fd = openSync(path, 'w');
  writeSync(fd, `${JSON.stringify(init)}\n`);
  for (let written = 0; written < mb * 1024 * 1024; written += block.length) writeSync(fd, block);
  writeSync(fd, `${JSON.stringify(result)}\n`);
  closeSync(fd);
}

/** Writes a turn with one tool whose result is a single line of about `mb` megabytes. */
export function writeLongLine(path, mb) {
  const random = createRandom(2);
  // Half of it, because it stands there twice; the rest is what escaping adds.
  const output = someCode(random, 30 * 1024).repeat(mb * 16);
  const lines = [init, toolUse('toolu_long', random), toolResult('toolu_long', output), result];
  const fd = openSync(path, 'w');
  for (const line of lines) writeSync(fd, `${JSON.stringify(line)}\n`);
  closeSync(fd);
}

function someWork(bytes) {
  const random = createRandom(1);
  let block = '';
  for (let call = 0; block.length < bytes; call += 1) {
    const id = `toolu_${String(call).padStart(8, '0')}`;
    const text = { type: 'text', text: someCode(random, between(random, 50, 1500)) };
    // Most results are short and a few are long, as those of real tools.
    const size = 100 * 150 ** (random() ** 1.5);
    const turn = [assistant(text, random), toolUse(id, random), toolResult(id, someCode(random, size))];
    for (const event of turn) block += `${JSON.stringify(event)}\n`;
  }
  return block;
}

function toolUse(id, random) {
  const edit = random() < 0.5;
  const input = edit
    ? {
        file_path: '/home/dev/project/src/queue.ts',
        old_string: someCode(random, between(random, 80, 600)),
        new_string: someCode(random, between(random, 80, 1500)),
      }
    : { command: someCode(random, 80), description: 'Run the tests of the queue' };
  return assistant({ type: 'tool_use', id, name: edit ? 'Edit' : 'Bash', input }, random);
}

function assistant(block, random) {
  const usage = { input_tokens: between(random, 1, 9000), output_tokens: between(random, 1, 900) };
  const message = {
    id: 'msg_01',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5-5',
    content: [block],
    usage,
  };
  return { type: 'assistant', message, ...session };
}

/** Claude Code tells each output twice, once as the model sees it. */
function toolResult(id, output) {
  const content = [{ tool_use_id: id, type: 'tool_result', content: output, is_error: false }];
  const tool_use_result = { stdout: output, stderr: '', interrupted: false, isImage: false };
  return { type: 'user', message: { role: 'user', content }, ...session, tool_use_result };
}

const words =
  `const return await queue items the and of to is error async function test expect retry deadline value 0x1f 1024
=> { } ( ) === "empty" 'utf8' \t // https://example.com/a?b=c ./src/queue.ts:42:7 user_id camelCaseName`.split(
    /[ \n]/,
  );

/** Something between prose and code, with the quotes, tabs and line ends that have to be escaped in JSON. */
function someCode(random, chars) {
  // One character above Latin-1 makes V8 take another path for the whole text; one text in ten has some.
  let text = random() < 0.1 ? '✓ größer ' : '';
  while (text.length < chars) {
    const word = words[Math.floor(random() * words.length)];
    text += random() < 0.1 ? `${word}\n  ` : `${word} `;
  }
  return text;
}

function between(random, low, high) {
  return Math.floor(low + random() * (high - low));
}

/** The same numbers in every run. */
function createRandom(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
