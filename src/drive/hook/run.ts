import { dirname } from 'node:path';
import { hostOf as claudeCode } from '../../agents/claude/host.ts';
import { host as codex } from '../../agents/codex/host.ts';
import { host as gemini } from '../../agents/gemini/host.ts';
import type { HookHost } from '../../agents/host.ts';
import { messageOf } from '../../core/error.ts';
import { readStdin, writeStdio } from '../../os/process/stdio.ts';
import type { HookContext, Reply } from '../session/hook-reply.ts';
import { type HookInput, parseHookInput } from './input.ts';
import { hookOutput } from './output.ts';

type Hook = (host: HookHost, input: HookInput, context: HookContext) => Reply | Promise<Reply>;

/**
 * Runs a hook as a program: the host as the first argument (Claude Code without one), input from stdin, one JSON document
 * or nothing to stdout, exit code 0 whatever happens.
 */
export async function runHook(hook: Hook): Promise<void> {
  const host = [codex, gemini].find(({ name }) => name === process.argv[2]) ?? claudeCode(process.env);
  // The built files are in a folder below that of the hooks.
  const driver = dirname(__dirname);
  const warn = (line: string) => void writeStdio(2, `${line}\n`);
  const context = { env: process.env, now: Date.now, driver, version: __VERSION__, warn };
  try {
    const input = parseHookInput(readStdin());
    writeStdio(1, hookOutput(host, input.event, await hook(host, input, context)));
  } catch (error) {
    warn(`ralph: the hook failed: ${messageOf(error)}`);
  }
}
