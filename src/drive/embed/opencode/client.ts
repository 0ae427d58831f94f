import { isObject } from '../../../core/json.ts';
import type { Log } from '../embedded-loop.ts';
import { answerOf, type HostMessage } from '../host-messages.ts';
import type { Toast } from '../types.ts';
import type { LogEntry, OpenCodeClient, PromptBody } from './types.ts';

/** Adapts OpenCode's client to the functions that a driver needs. */
export function createHost(client: OpenCodeClient, directory: string) {
  const at = (id: string) => ({ path: { id }, query: { directory } });

  const getMessages = (id: string) => client.session.messages(at(id));

  async function injectPrompt(id: string, text: string): Promise<unknown> {
    const { data = [] } = await answerOf(getMessages(id));
    const body = { parts: [{ type: 'text' as const, text }], ...modelOf(data) };
    return client.session.promptAsync({ ...at(id), body });
  }

  /** Shows a toast without waiting: there may be no screen. */
  function showToast(toast: Toast): void {
    quietly(() => client.tui.showToast({ body: toast }));
  }

  function write(level: LogEntry['level'], message: string, extra: Readonly<Record<string, unknown>> = {}) {
    quietly(() => client.app.log({ body: { service: 'ralph-loop', level, message, extra } }));
  }

  const log: Log = {
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
  };
  return { getMessages, injectPrompt, showToast, log };
}

/** Returns the agent and model of the session: without them, OpenCode falls back to the project's defaults. */
function modelOf(messages: readonly HostMessage[]): Omit<PromptBody, 'parts'> {
  const info: unknown = messages.findLast((message) => message.info?.role === 'user')?.info;
  if (!isObject(info)) return {};
  const { agent } = info;
  const model = isObject(info.model) ? info.model : {};
  const { providerID, modelID } = model;
  const variant = info.variant ?? model.variant;
  return {
    ...(typeof agent === 'string' ? { agent } : {}),
    ...(typeof providerID === 'string' && typeof modelID === 'string'
      ? { model: { providerID, modelID } }
      : {}),
    ...(typeof variant === 'string' ? { variant } : {}),
  };
}

function quietly(call: () => Promise<unknown>): void {
  try {
    Promise.resolve(call()).catch(() => {});
  } catch {}
}
