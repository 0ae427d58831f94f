import { asRecord, type JsonRecord, list, num, str } from '../json.ts';

/** Message of the Agent Client Protocol, without its `jsonrpc` field. */
export type AcpMessage = { readonly [key: string]: unknown };

/** The version of the protocol that we speak. */
export const protocolVersion = 1;

/** Ids of our requests. A turn needs one of each, so that a response can be recognised by its id alone. */
export const requestIds = { initialize: 1, session: 2, mode: 3, prompt: 4 } as const;

/** Task of one turn. */
export type AcpTask = {
  readonly cwd: string;
  readonly prompt: string;
  /** Session to continue, if the agent can. */
  readonly resumeSession?: string;
  /** Our own version. */
  readonly version: string;
};

/** The client's side of one turn, which walks through initialize, a session, its mode and the prompt. */
export function createClient(task: AcpTask) {
  let sessionId: string | undefined;
  const { cwd, prompt, version } = task;
  const request = (name: keyof typeof requestIds, method: string, params: object): AcpMessage => ({
    id: requestIds[name],
    method,
    params,
  });
  const askPrompt = () =>
    request('prompt', 'session/prompt', { sessionId, prompt: [{ type: 'text', text: prompt }] });
  return {
    /** The message to send first. */
    opening: request('initialize', 'initialize', {
      protocolVersion,
      // It runs its commands and writes its files itself.
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: 'ralph', version },
    }),
    /** Returns the message that follows a response of the agent; null if there is none. */
    next({ id, result }: JsonRecord): AcpMessage | null {
      const answer = asRecord(result);
      if (id === requestIds.mode) return askPrompt();
      if (result === undefined) return null;
      if (id === requestIds.initialize && num(answer.protocolVersion) === protocolVersion) {
        const { method, ...more } = sessionRequest(asRecord(answer.agentCapabilities), task.resumeSession);
        return request('session', method, { cwd, mcpServers: [], ...more });
      }
      if (id !== requestIds.session) return null;
      sessionId = str(answer.sessionId) ?? task.resumeSession;
      return asksFirst(answer.modes)
        ? askPrompt()
        : request('mode', 'session/set_mode', { sessionId, modeId });
    },
    /** Returns the message that stops the turn; null before there is a session. */
    cancel: (): AcpMessage | null =>
      sessionId === undefined ? null : { method: 'session/cancel', params: { sessionId } },
  };
}

/** The mode in which agents ask before they act; settings of the user may have chosen a looser one. */
const modeId = 'default';

function asksFirst(modes: unknown): boolean {
  const { currentModeId, availableModes } = asRecord(modes);
  return currentModeId === modeId || !list(availableModes).some((mode) => asRecord(mode).id === modeId);
}

/** Continues a session by the way that the agent offers; one that offers none begins a new one. */
function sessionRequest(
  { loadSession, sessionCapabilities }: JsonRecord,
  sessionId: string | undefined,
): { readonly method: string; readonly sessionId?: string } {
  if (sessionId === undefined) return { method: 'session/new' };
  if (asRecord(sessionCapabilities).resume) return { method: 'session/resume', sessionId };
  return loadSession === true ? { method: 'session/load', sessionId } : { method: 'session/new' };
}
