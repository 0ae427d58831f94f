import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { installFakeAgent } from '../../../src/testkit/index.ts';
import { makeRepo, type Repo } from '../../support/repo.ts';
import type { Case } from '../case.ts';

/** A message of the agent's session, as Claude Code has it. */
export type SessionMessage = {
  readonly type: 'assistant' | 'user';
  readonly parent_tool_use_id: string | null;
  readonly message: { readonly role: string; readonly content: readonly { type: string; text?: string }[] };
};

export type AgentSession = Repo & {
  /** Lets the agent take its next turn. */
  turn(
    prompt: string,
  ): Promise<{ readonly messages: readonly SessionMessage[]; readonly error: string | null }>;
};

/** A session whose agent is the scripted one: its stream has the messages that a host would keep. */
export async function openSession({ turns }: Case): Promise<AgentSession> {
  const repo = makeRepo({ files: { 'README.md': 'x\n' } });
  const agent = await installFakeAgent(repo.bin, { agent: 'claude', script: { turns } });
  return {
    ...repo,
    async turn(prompt) {
      const words = ['-p', '--output-format', 'stream-json', '--verbose'];
      const child = spawn(agent.path, words, { cwd: repo.cwd, env: { ...process.env, ...repo.env } });
      child.stdin.end(prompt);
      const ended = once(child, 'close');
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
      const [code] = await ended;
      const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      const isError = code !== 0 || lines.some(({ type, is_error }) => type === 'result' && is_error);
      return {
        messages: lines.filter(({ type }) => type === 'assistant' || type === 'user'),
        error: isError ? stderr.trim() : null,
      };
    },
  };
}
