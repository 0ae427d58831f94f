import { textOf } from '../agents/events.ts';
import { asRecord, type JsonRecord, parseRecord, str } from '../agents/json.ts';
import { toolCall } from './formats/acp.ts';
import type { ToolCall } from './formats/format.ts';
import { retryWhenBusy, writeAll } from './output.ts';
import { readChunk } from './prompt.ts';

/** The agent's side of one session of the Agent Client Protocol. `prompt` is the id of the request with the prompt. */
export type AcpSession = NonNullable<ReturnType<typeof openAcpSession>>;

/** True if the arguments ask for the protocol, in the words of any agent. */
export function speaksAcp(args: readonly string[]): boolean {
  return args.some((arg) => arg === 'acp' || arg === '--acp');
}

/** Answers requests until there is a prompt. Null if the client goes away before. */
export function openAcpSession(newSession: string) {
  const lines = createLines();
  let session = newSession;
  let promptId: unknown;
  let requests = 0;
  for (let line = lines.next(); line !== null; line = lines.next()) {
    const { id, method, params } = parseRecord(line) ?? {};
    const { sessionId, prompt } = asRecord(params);
    if (method === 'session/prompt') {
      promptId = id;
      return { session, prompt: id, text: textOf(prompt), ask, listen, untilClosed };
    }
    if (method === 'session/load' || method === 'session/resume') session = str(sessionId) ?? session;
    if (id !== undefined) reply({ id, ...answerTo(str(method), session) });
  }
  return null;

  /** True if the client allows the call. */
  function ask(call: ToolCall): boolean {
    requests += 1;
    const id = `permission-${requests}`;
    const options = [
      { optionId: 'once', kind: 'allow_once', name: 'Allow once' },
      { optionId: 'always', kind: 'allow_always', name: 'Always allow' },
      { optionId: 'reject', kind: 'reject_once', name: 'Reject' },
    ];
    const params = { sessionId: session, toolCall: toolCall(call), options };
    reply({ id, method: 'session/request_permission', params });
    for (let line = lines.next(); line !== null; line = lines.next()) {
      const answer = parseRecord(line) ?? {};
      if (answer.id === id) return asRecord(asRecord(answer.result).outcome).optionId === 'once';
    }
    return false;
  }

  /** Answers the prompt when the client cancels it. Needs the event loop. */
  function listen(): void {
    process.stdin.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes('session/cancel')) reply({ id: promptId, result: { stopReason: 'cancelled' } });
    });
    // The client is gone.
    process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM'));
  }

  /** Waits until the client closes the input. */
  function untilClosed(): void {
    while (lines.next() !== null);
  }
}

const capabilities = { loadSession: true, sessionCapabilities: { resume: {} } };

function answerTo(method: string | undefined, sessionId: string): object {
  if (method === 'initialize') {
    const agentInfo = { name: 'fake-agent', version: '1.0.0' };
    return { result: { protocolVersion: 1, agentCapabilities: capabilities, authMethods: [], agentInfo } };
  }
  if (method === 'session/new') return { result: { sessionId } };
  if (method === 'session/load' || method === 'session/resume') return { result: {} };
  return { error: { code: -32_601, message: `Method not found: ${method}` } };
}

function reply(message: JsonRecord): void {
  writeAll(1, `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

/** Reads standard input line by line, and waits for each. */
function createLines() {
  const chunk = Buffer.allocUnsafe(64 * 1024);
  let rest = Buffer.alloc(0);
  return {
    next(): string | null {
      for (;;) {
        const end = rest.indexOf('\n');
        if (end !== -1) {
          const line = rest.toString('utf8', 0, end);
          rest = rest.subarray(end + 1);
          return line;
        }
        const size = retryWhenBusy(() => readChunk(chunk));
        if (size === 0) return null;
        rest = Buffer.concat([rest, chunk.subarray(0, size)]);
      }
    },
  };
}
