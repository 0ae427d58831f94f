import { describe, expect, it } from 'vitest';
import { type ErrorFacts, limitOf, readError } from './limit.ts';

describe('the limit behind an error', () => {
  it.each<[ErrorFacts, string | undefined]>([
    [{ status: 400, type: 'invalid_request_error', message: 'bad field' }, undefined],
    [{ status: 404, message: 'no such model' }, undefined],
    [{ type: 'max_output_tokens', message: 'exceeded the output token maximum' }, undefined],
    [{ message: 'something broke' }, undefined],
    [{}, undefined],
    [{ status: 401, message: 'invalid x-api-key' }, 'auth'],
    [{ status: 403, message: 'forbidden' }, 'auth'],
    [{ message: 'Unauthorized Check your access token.' }, 'auth'],
    [{ type: 'authentication_failed' }, 'auth'],
    [{ status: 402 }, 'quota'],
    [{ status: 429, type: 'insufficient_quota', message: 'You exceeded your current quota' }, 'quota'],
    [{ status: 400, message: 'Your credit balance is too low to access the API' }, 'quota'],
    [{ type: 'billing_error invalid_request_error' }, 'quota'],
    [{ status: 429, type: 'usage_limit_reached' }, 'usage'],
    [{ message: 'You have exhausted your daily quota on this model.' }, 'usage'],
    [{ status: 429, type: 'rate_limit', message: "You've hit your session limit · resets 3pm" }, 'usage'],
    [{ status: 429, message: "You're out of extra usage · resets 9pm (UTC)" }, 'usage'],
    [{ status: 429, type: 'rate_limit_error', message: 'Too many requests' }, 'overload'],
    [{ status: 429, message: 'Rate limit reached for gpt-9 on tokens per min' }, 'overload'],
    [{ status: 400, message: 'prompt is too long: 216221 tokens > 200000 maximum' }, 'context'],
    [{ message: 'Context Limit Reached: the context window limit' }, 'context'],
    [{ type: 'context_length_exceeded' }, 'context'],
    [{ status: 413 }, 'context'],
    [{ status: 500, message: 'Internal server error' }, 'overload'],
    [{ status: 529, type: 'overloaded_error', message: 'Overloaded' }, 'overload'],
    [{ message: 'Connection error.' }, 'overload'],
    [{ message: 'read ECONNRESET' }, 'overload'],
    [{ message: 'connect ECONNREFUSED 127.0.0.1:8080' }, undefined],
    [{ type: 'server_error', message: 'Unable to connect to API (ConnectionRefused)' }, undefined],
  ])('%j is %s', (error, kind) => {
    expect(limitOf(error)?.kind).toBe(kind);
  });

  it('is a usage limit as soon as a rate limit has a time to reset', () => {
    expect(limitOf({ status: 429, message: 'slow down', resetsAt: 5_000 })).toEqual({
      kind: 'usage',
      resetsAt: 5_000,
      message: 'slow down',
    });
  });
});

describe('an error told as text', () => {
  it('is taken apart into status, type and message', () => {
    const text =
      '429 {"type":"error","error":{"type":"rate_limit_error","message":"slow down"},"request_id":"r"}';
    expect(readError(text)).toEqual({ status: 429, type: 'rate_limit_error', message: 'slow down' });
  });

  it.each([
    ['[API Error: 400 the prompt is bad]', 400],
    ['API Error: Request rejected (429) · rate limit', 429],
    ['HTTP status 503: try again', 503],
    ['{"status":502,"message":"bad gateway"}', 502],
    ['the prompt has 512 tokens too many', undefined],
    ['Connection error.', undefined],
  ])('%j has the status %s', (text, status) => {
    expect(readError(text).status).toBe(status);
  });

  it('is told by Google with other names for status and type', () => {
    const text = '[API Error: {"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}]';
    expect(readError(text)).toMatchObject({ status: 429, type: 'RESOURCE_EXHAUSTED', message: 'slow down' });
  });

  it('may tell when the limit ends', () => {
    const text = '{"error":{"type":"usage_limit_reached","message":"enough","resets_at":1794772484}}';
    expect(limitOf(readError(text))).toEqual({
      kind: 'usage',
      message: 'enough',
      resetsAt: 1_794_772_484_000,
    });
  });

  it('is its own message where there is nothing to take apart', () => {
    expect(readError('Connection error.')).toEqual({
      status: undefined,
      type: undefined,
      message: 'Connection error.',
    });
  });
});
