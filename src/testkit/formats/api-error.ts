import type { ApiError } from '../script.ts';

/** Returns the name of an error with this status in model APIs. */
export function errorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 402) return 'billing_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  if (status === 529) return 'overloaded_error';
  return status >= 500 ? 'api_error' : 'invalid_request_error';
}

export function isTooLong({ status, message }: ApiError): boolean {
  return status === 400 && /prompt is too long/i.test(message);
}

/** Formats an error as `429 {…}`: status and body of the Anthropic API. */
export function anthropicText({ status, message }: ApiError): string {
  const error = { type: errorType(status), message };
  return `${status} ${JSON.stringify({ type: 'error', error, request_id: 'req_fake' })}`;
}

/** Makes the `error` object of an OpenAI API. */
export function openAiError(error: ApiError) {
  const { status, message, resetsAt } = error;
  if (resetsAt !== undefined) {
    const code = 'usage_limit_reached';
    return { message, type: code, param: null, code, resets_at: resetsAt };
  }
  const type = errorType(status);
  return { message, type, param: null, code: isTooLong(error) ? 'context_length_exceeded' : type };
}
