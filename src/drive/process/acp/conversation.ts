import { type AcpMessage, createClient, requestIds } from '../../../agents/acp/client.ts';
import { failedMethod } from '../../../agents/acp/parse.ts';
import { asRecord, parseRecord, str } from '../../../agents/json.ts';
import { messageOf } from '../../../core/error.ts';
import type { ProcessInput } from '../../../os/process/spawn.ts';
import type { RunSpec } from '../run-spec.ts';
import { type AcpTurn, createPermissions } from './permissions.ts';

/** Time for an agent to start and to open a session. */
const openingMs = 120_000;
const methodNotFound = -32_601;
const internalError = -32_603;

/** Opens the turn of an agent that is talked to by the Agent Client Protocol. */
export function openConversation(spec: RunSpec, turn: AcpTurn) {
  const { prompt, resumeSession, addLine } = turn;
  const client = createClient({
    cwd: spec.cwd,
    prompt,
    ...(resumeSession === undefined ? {} : { resumeSession }),
    version: spec.version,
  });
  let input: ProcessInput | null = null;
  const send = (message: AcpMessage | null) => {
    if (message !== null) input?.write(lineOf(message));
  };
  const permissions = createPermissions(spec, turn);
  const cancelTimer = spec.clock.timer(openingMs, () => {
    const message = `it opened no session within ${openingMs / 1000} s: does it speak the Agent Client Protocol?`;
    addLine(JSON.stringify({ method: failedMethod, params: { message } }));
  });

  async function answer(id: unknown, method: string, params: unknown): Promise<void> {
    try {
      if (method === 'session/request_permission')
        return send({ id, result: await permissions.answer(asRecord(params)) });
      send({ id, error: { code: methodNotFound, message: `"${method}" is not offered` } });
    } catch (error) {
      send({ id, error: { code: internalError, message: messageOf(error) } });
    }
  }

  return {
    /** First line for its standard input. */
    opening: lineOf(client.opening),
    connect(processInput: ProcessInput): void {
      input = processInput;
    },
    /** Answers a line of the agent, if it wants an answer. */
    hear(line: string) {
      const message = parseRecord(line);
      if (message === undefined) return;
      const method = str(message.method);
      if (method === 'session/update') return permissions.note(asRecord(asRecord(message.params).update));
      if (method !== undefined) {
        if (message.id !== undefined) void answer(message.id, method, message.params);
        return;
      }
      if (message.id === requestIds.session) cancelTimer();
      send(client.next(message));
    },
    /** Asks the agent to stop its turn. */
    cancel: () => send(client.cancel()),
    /** Says nothing any more: the process is gone. */
    close(): void {
      input = null;
      cancelTimer();
    },
  };
}

function lineOf(message: AcpMessage): string {
  return `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
}
