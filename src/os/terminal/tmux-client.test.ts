import { afterEach, describe, expect, it } from 'vitest';
import { attachClient, type TmuxClient } from './tmux-client.ts';

let client: TmuxClient;

/** A program that says this to the first line that it reads, whoever it is. */
function pretend(...lines: string[]): TmuxClient {
  const script =
    'const [text] = process.argv.slice(1); process.stdin.once("data", () => process.stdout.write(text))';
  client = attachClient(
    [process.execPath, '-e', script, lines.map((line) => `${line}\n`).join('')],
    process.env,
  );
  return client;
}

afterEach(() => client.close());

describe('a client in control mode', () => {
  it('gives each command its answer, and null for one that failed', async () => {
    const answers = await pretend(
      ...['%begin 1 1 0', 'attached', '%end 1 1 0', '%session-changed $0 fleet'],
      ...['%begin 1 7 1', 'schön 🙂', '', '%end 1 7 1', '%window-add @4'],
      ...['%begin 1 8 1', "can't find pane: %9", '%error 1 8 1', '%begin 1 9 1', '%end 1 9 1'],
    ).ask(['a', 'b', 'c']);
    expect(answers).toEqual(['schön 🙂\n', null, '']);
    expect(client.isOpen()).toBe(true);
  });

  it('reads lines of a screen that look like its own as text', async () => {
    const screen = ['%end 1 6 1', '%error 1 7 0', '%begin 1 8 1', '%exit', ' %end 1 7 1'];
    const answers = await pretend('%begin 1 7 1', ...screen, '%end 1 7 1').ask(['a']);
    expect(answers).toEqual([screen.join('\n')]);
  });

  it.each([
    ['an answer that a screen ended too early', ['%begin 1 7 1', 'x', '%end 1 7 1', 'rest', '%end 1 7 1']],
    [
      'an end without a beginning',
      ['%begin 1 7 1', '%end 1 7 1', '%begin 1 8 1', '%end 1 8 1', '%end 1 9 1'],
    ],
    ['a server that goes', ['%begin 1 7 1', '%end 1 7 1', '%exit']],
    ['something that is no tmux', ['hello']],
  ])('is given up after %s', async (_, lines) => {
    expect(await pretend(...lines).ask(['a', 'b', 'c'])).toBeNull();
    expect(client.isOpen()).toBe(false);
    expect(await client.ask(['a'])).toBeNull();
  });

  it('is given up when there is no such program', async () => {
    client = attachClient(['/nowhere/tmux'], process.env);
    expect(await client.ask(['a'])).toBeNull();
  });
});
