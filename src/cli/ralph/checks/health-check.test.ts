import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { processIdentity } from '../../../os/process/process-identity.ts';
import { probe } from './health-check.ts';

function place() {
  const stop = new AbortController();
  return { cwd: tmpdir(), env: process.env, stop: stop.signal, abort: () => stop.abort() };
}

/** The process whose id was printed; null when it has ended. */
function processIn(text: string) {
  expect(text).toMatch(/^\d+\n/);
  return processIdentity(Number.parseInt(text, 10));
}

describe('probe', () => {
  it('gives what a program printed on both outputs, without control sequences', async () => {
    const answer = await probe(['sh', '-c', "printf '\\033[31mout\\n'; echo err >&2; exit 0"], place());
    expect(answer).toEqual({ ok: true, text: 'out\n\nerr\n' });
  });

  it('gives what a program that fails printed', async () => {
    expect(await probe(['sh', '-c', 'echo no; exit 3'], place())).toEqual({ ok: false, text: 'no\n\n' });
  });

  it('gives a program no input', async () => {
    expect(await probe(['sh', '-c', 'cat; echo end'], place())).toMatchObject({ ok: true, text: 'end\n\n' });
  });

  it('says that a program is not there', async () => {
    expect(await probe(['no-such-program-here'], place())).toMatchObject({
      ok: false,
      failure: 'not on the PATH',
    });
  });

  it('ends a program that does not answer, with what it started', async () => {
    const { ok, text, failure } = await probe(['sh', '-c', 'sleep 600 & echo $!; wait'], place(), 300);
    expect({ ok, failure }).toEqual({ ok: false, failure: 'no answer within 300ms' });
    expect(processIn(text)).toBe(null);
  });

  it('ends what a program left running', async () => {
    const { ok, text } = await probe(['sh', '-c', 'sleep 600 >/dev/null 2>&1 & echo $!'], place());
    expect(ok).toBe(true);
    expect(processIn(text)).toBe(null);
  });

  it('stops when it is told to, also before it began', async () => {
    const here = place();
    const answer = probe(['sleep', '600'], here);
    here.abort();
    expect(await answer).toMatchObject({ ok: false, failure: 'stopped' });
    expect(await probe(['sleep', '600'], here)).toMatchObject({ ok: false, failure: 'stopped' });
  });
});
