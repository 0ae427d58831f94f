import type { ModelError } from './script.ts';

/** What both of OpenAI's APIs say when something is wrong. */
export function openAiErrorBody({ type = 'server_error', message = 'scripted error' }: ModelError): unknown {
  return { error: { message, type, param: null, code: type } };
}

export function openAiLimit(resetsAt: number): ModelError {
  const message = 'The usage limit has been reached';
  const type = 'usage_limit_reached';
  const resets = {
    plan_type: 'plus',
    resets_at: Math.floor(resetsAt / 1000),
    resets_in_seconds: Math.max(0, Math.ceil((resetsAt - Date.now()) / 1000)),
  };
  return { status: 429, body: { error: { message, type, param: null, code: type, ...resets } } };
}
