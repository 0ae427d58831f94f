import { createClient } from '../../../agents/acp/client.ts';
import type { AgentAdapter } from '../../../agents/adapter.ts';
import { asRecord, parseRecord, str } from '../../../agents/json.ts';
import { createTurnReader } from '../../../agents/turn.ts';
import { createLineSplitter } from '../../../os/process/lines.ts';
import { startProcess } from '../../../os/process/process.ts';
import { firstLine, type HealthCheck, resultsOf } from './health-check.ts';
import type { Place } from './probe.ts';

const prompt = 'Answer with the word "ready" and nothing else. Use no tools.';
const turnMs = 60_000;

/** Proves that an agent speaks the Agent Client Protocol: `initialize` and one short turn, in which it may do nothing. */
export async function checkAcp(
  adapter: AgentAdapter,
  program: string,
  { cwd, env, stop }: Place,
  flags: readonly string[],
): Promise<HealthCheck> {
  const { ok, error } = resultsOf('agent.acp', adapter.name);
  const task = { prompt, permissions: 'read', flags, asRoot: false } as const;
  const command = adapter.command(task, null, 'stream');
  const client = createClient({ cwd, prompt, version: __VERSION__ });
  const reader = createTurnReader(adapter);
  const say = (message: object | null) =>
    message && running.input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  let name = adapter.name;
  let stderr = '';
  const lines = createLineSplitter((line) => {
    const text = line.toString('utf8');
    const { id, method, result } = parseRecord(text) ?? {};
    const { name: title, version = '' } = asRecord(asRecord(result).agentInfo);
    name = str(title) === undefined ? name : `${title} ${version}`.trim();
    reader.push(text);
    if (method === undefined) say(client.next({ id, result }));
    else if (id !== undefined) say({ id, result: { outcome: { outcome: 'cancelled' } } });
    if (!reader.ended) return;
    running.finish();
    running.input.close();
  });
  const running = startProcess({
    argv: [program, ...command.args],
    cwd,
    env: { ...env, ...command.env },
    runId: `doctor-${process.pid}`,
    stdin: `${JSON.stringify({ jsonrpc: '2.0', ...client.opening })}\n`,
    keepsInput: true,
    idleMs: null,
    hardMs: turnMs,
    stop,
    onStdout: lines.push,
    onStderr: (chunk) => {
      stderr = `${stderr}${chunk}`.slice(-2000);
    },
  });
  const { exitCode, cause } = await running.done;
  const { end, error: why = '' } = reader.finish({ exitCode, cause, stderrTail: stderr });
  if (end === 'finished') return ok(`${name} opened a session and answered a prompt`);
  const told = cause === 'hard-timeout' ? `no answer within ${turnMs / 1000} s` : firstLine(why) || end;
  return error(`it gave no turn by the Agent Client Protocol: ${told}`, adapter.login ?? adapter.install);
}
