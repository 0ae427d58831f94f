import { isObject } from '../../../core/json.ts';
import type { Log } from '../embedded-loop.ts';
import type { HostMessage } from '../host-messages.ts';
import type { Toast } from '../types.ts';
import type { LogEntry, OpenCodeClient, PromptBody } from './types.ts';

/** Adapts OpenCode's client to the functions that a driver needs. */
export function createHost(client: OpenCodeClient, directory: string) {
  const at = (id: string) => ({ path: { id }, query: { directory } });

  async function getMessages(id: string): Promise<readonly HostMessage[]> {
    const { data, error } = await client.session.messages(at(id));
    if (error !== undefined || data === undefined) throw new Error(`no messages: ${textOf(error)}`);
    return data;
  }

  async function injectPrompt(id: string, text: string): Promise<void> {
    const body = { parts: [{ type: 'text' as const, text }], ...modelOf(await getMessages(id)) };
    const { error } = await client.session.promptAsync({ ...at(id), body });
    if (error !== undefined) throw new Error(textOf(error));
  }

  /** Shows a toast without waiting: there may be no screen. */
  function showToast(toast: Toast): void {
    quietly(() => client.tui.showToast({ body: toast }));
  }

  function write(
    level: LogEntry['level'],
    message: string,
    extra: Readonly<Record<string, unknown>> = {},
  ): void {
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

function textOf(error: unknown): string {
  if (isObject(error) && isObject(error.data) && typeof error.data.message === 'string')
    return error.data.message;
  return typeof error === 'string' ? error : (JSON.stringify(error) ?? 'no answer');
}
