#!/usr/bin/env node
import { appendFileSync, readFileSync } from 'node:fs';
import { messageOf } from '../core/error.ts';
import { openAcpSession, speaksAcp } from './acp-session.ts';
import { acpFormat } from './formats/acp.ts';
import { createIds, lastAnswerOnly, usageOnce } from './formats/format.ts';
import { formats } from './formats/registry.ts';
import { writeAll } from './output.ts';
import { playTurn, usageOf } from './play.ts';
import { readPrompt } from './prompt.ts';
import { assertScript, type Script, type ScriptTurn } from './script.ts';
import { type Call, filesOf, takeTurn } from './traces.ts';

/** Exit codes of the fake agent itself, which no real agent has. */
const wrongScript = 96;
const wrongPrompt = 97;
const brokenPipe = 141;

main().then(
  (code) => process.exit(code),
  (error) => {
    if (error instanceof Error && 'code' in error && error.code === 'EPIPE') process.exit(brokenPipe);
    writeAll(2, `fake agent: ${messageOf(error)}\n`);
    process.exit(wrongScript);
  },
);

async function main(): Promise<number> {
  const { path, turn: turnOption, args } = ownArguments(process.argv.slice(2));
  const script = readScript(path);
  const usual = formats[script.agent];
  if (args[0] === '--version') {
    writeAll(1, `${script.version ?? usual.version}\n`);
    return 0;
  }
  const number = turnOption ?? takeTurn(path);
  const ids = createIds(number);
  const acp = speaksAcp(args) ? openAcpSession(ids.session) : null;
  if (speaksAcp(args) && acp === null) return 0;
  const prompt = acp?.text ?? readPrompt(args);
  const turn = turnOf(script, number, acp !== null);
  const cwd = process.cwd();
  if (script.record)
    recordCall(path, { turn: number, pid: process.pid, argv: args, prompt, cwd, env: ownEnvironment() });

  const missing = turn.expectPrompt?.find((text) => !prompt.includes(text));
  if (missing !== undefined) {
    writeAll(2, `fake agent: turn ${number} expected the prompt to contain ${JSON.stringify(missing)}\n`);
    return wrongPrompt;
  }
  const format = acp === null ? usual : acpFormat(usual, acp);
  const streams =
    format.streamWords.length === 0 || args.some((arg) => format.streamWords.includes(lastPart(arg)));
  const usage = usageOf(turn);
  const status = await playTurn(turn, {
    writer: streams ? format.open({ prompt, cwd, ids, usage, usageOnce: usageOnce(usage) }) : lastAnswerOnly,
    tools: format.tools,
    ids,
    cwd,
    acp,
    values: { prompt, iteration: process.env.RALPH_ITERATION ?? `${number}` },
    childrenFile: filesOf(path).children,
  });
  return turn.exitCode ?? (status === null ? 0 : format.exitCode(status));
}

/** Splits off our own options, which come first; the real CLI would get the rest. */
function ownArguments(argv: readonly string[]): { path: string; turn: number | null; args: string[] } {
  let path = process.env.RALPH_FAKE_SCRIPT ?? '';
  let turn: number | null = null;
  let rest = [...argv];
  for (;;) {
    const [flag, value = ''] = rest;
    if (flag === '--script') path = value;
    else if (flag === '--turn') turn = Number(value);
    else break;
    rest = rest.slice(2);
  }
  if (path === '') throw new Error('no script: give --script FILE first, or set RALPH_FAKE_SCRIPT');
  if (turn !== null && !(Number.isInteger(turn) && turn > 0))
    throw new Error('--turn needs a number from 1 on');
  return { path, turn, args: rest };
}

function readScript(path: string): Script {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`cannot read the script ${path}: ${messageOf(error)}`);
  }
  assertScript(value);
  return value;
}

/** Returns a turn of the script. An agent that speaks ACP and exits with a failure of its own answers nothing more. */
function turnOf(script: Script, number: number, isAcp: boolean): ScriptTurn {
  const turn = script.turns[number - 1] ?? (script.after === 'fail' ? undefined : script.turns.at(-1));
  if (turn === undefined)
    throw new Error(`the script has ${script.turns.length} turns and this is turn ${number}`);
  return isAcp && turn.exitCode ? { ...turn, noResult: true } : turn;
}

function recordCall(path: string, call: Call): void {
  appendFileSync(filesOf(path).calls, `${JSON.stringify(call)}\n`);
}

function ownEnvironment(): Call['env'] {
  const { RALPH_RUN_ID, RALPH_ITERATION } = process.env;
  return {
    ...(RALPH_RUN_ID === undefined ? {} : { RALPH_RUN_ID }),
    ...(RALPH_ITERATION === undefined ? {} : { RALPH_ITERATION }),
  };
}

/** Returns the value of `--flag=value`, or the whole word. */
function lastPart(arg: string): string {
  return arg.startsWith('--') ? arg.slice(arg.indexOf('=') + 1) : arg;
}
