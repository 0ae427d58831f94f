import type { HookHost } from '../../agents/host.ts';
import { asRecord, count, parseRecord } from '../../agents/json.ts';
import { fileSize, scanLinesBack, utf8Of } from '../../os/files/scan-lines.ts';
import type { Environment } from '../../os/process/program.ts';
import { type Reply, type SessionContext, silent } from '../session/hook-reply.ts';
import { keepAlert, lastAlert } from './context-alerts.ts';
import type { HookInput } from './input.ts';

type Severity = 'NOTICE' | 'WARNING' | 'CRITICAL';

const texts: Readonly<Record<Severity, string>> = {
  NOTICE:
    'Be mindful of remaining space. Plan to finish your current task within this session. If you discover follow-up work, add new stories to tasks.json — the next iteration will pick them up.',
  WARNING:
    'Finish your current task and commit soon. Do not start additional tasks. If work remains, create new stories in tasks.json for the next iteration and capture any implementation details or insights in progress.txt so the next iteration has full context.',
  CRITICAL:
    'Wrap up immediately. Do NOT start new work. Instead: (1) create tasks in tasks.json for any remaining work, (2) write implementation details, insights, and handoff notes to progress.txt, (3) commit all changes, (4) stop. The next iteration will continue from where you left off.',
};

const thresholds: readonly (readonly [percent: number, severity: Severity])[] = [
  [50, 'NOTICE'],
  [60, 'NOTICE'],
  [70, 'WARNING'],
  [80, 'WARNING'],
  [90, 'CRITICAL'],
];

/** Tells the agent after a tool call that it passed a threshold of context use, each once in a session. */
export function contextHook(
  _host: HookHost,
  { sessionId, transcriptPath: path, subagent }: HookInput,
  { env }: SessionContext,
): Reply {
  if (path === null || subagent) return silent;
  const use = contextUse(path, env) ?? 0;
  const [percent, severity] = thresholds.findLast(([threshold]) => use >= threshold) ?? [0, 'NOTICE'];
  const id = sessionId ?? path;
  if (percent <= lastAlert(env, id)) return silent;
  keepAlert(env, id, percent);
  const rounded = Math.min(100, Math.round(use));
  return {
    kind: 'context',
    message: `[${severity}] Context usage is at about ${rounded}% (past ${percent}%). ${texts[severity]}`,
  };
}

const defaultWindow = 200_000;
const defaultCharsPerToken = 4;
/** Lines from the end to search for the newest usage. */
const mostLines = 500;

/**
 * Returns the share of the context window that a session has used, in percent: by the tokens of the newest answer or, if
 * none reports them, by the size of the transcript. Null if the transcript cannot be read.
 */
export function contextUse(transcript: string, env: Environment): number | null {
  try {
    const size = fileSize(transcript);
    if (size === null) return null;
    const perToken = positive(env.RALPH_CHARS_PER_TOKEN) ?? defaultCharsPerToken;
    const tokens = reportedTokens(transcript) ?? size / perToken;
    return (tokens / (positive(env.CLAUDE_CONTEXT_WINDOW) ?? defaultWindow)) * 100;
  } catch {
    return null;
  }
}

/** Returns the tokens that the newest answer of the main thread read and wrote; after a compaction these are few again. */
function reportedTokens(path: string): number | null {
  let tokens: number | null = null;
  let lines = 0;
  scanLinesBack(path, 0, {
    wants: (ends) => ends.includes('"usage"'),
    visit(line) {
      if (line.includes('"usage"') && line.includes('"assistant"')) tokens = tokensIn(line);
      return tokens === null && ++lines < mostLines;
    },
  });
  return tokens;
}

function tokensIn(line: string): number | null {
  const { type, isSidechain, message } = parseRecord(utf8Of(line)) ?? {};
  if (type !== 'assistant' || isSidechain === true) return null;
  const usage = asRecord(asRecord(message).usage);
  const names = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens'];
  const sum = names.reduce((total, name) => total + count(usage[name]), 0);
  return sum > 0 ? sum : null;
}

function positive(text: string | undefined): number | null {
  const value = Number(text);
  return text !== undefined && text.trim() !== '' && Number.isFinite(value) && value > 0 ? value : null;
}
